"""Sends one event to a webhook, to Slack, by e-mail, or to a command.

A channel is a text: `https://…` (webhook), `slack+https://…`, `smtp://…` or `smtps://…`, with `$NAME` for a
value of the environment; or a command for the shell.
"""

import json
import os
import smtplib
import subprocess
import urllib.request
from collections.abc import Callable, Mapping
from email.message import EmailMessage
from html import escape
from typing import Any
from urllib.parse import SplitResult, parse_qs, unquote, urlsplit

from analyzer.model.errors import UsageError
from analyzer.triage.notify.events import text_lines

Event = dict[str, Any]
Send = Callable[[Event], str]
"""Sends an event and returns the URL of the ticket that it made, or an empty text."""
_TIMEOUT_SECONDS = 20.0
_COMMAND_SECONDS = 60.0
_MAX_HEADER = 150


def sender(channel: str) -> Send:
    """Return the function that sends events to a URL.

    Raises:
        UsageError: the URL is none of the supported ones, or names an unset environment variable.
    """
    url = os.path.expandvars(channel)
    parts = urlsplit(url.removeprefix("slack+"))
    if "$" in url:
        raise UsageError(f"--notify {printable(channel)}: a variable of the URL is not set")
    if parts.scheme in {"http", "https"} and parts.hostname:
        body = slack_message if url.startswith("slack+") else dict
        return lambda event: _post(parts.geturl(), body(event))
    mail = parts.scheme in {"smtp", "smtps"} and not url.startswith("slack+") and parts.hostname
    if mail and parse_qs(parts.query).get("to"):
        return lambda event: _mail(parts, event)
    allowed = "https://…, slack+https://… or smtp://HOST?from=…&to=…"
    raise UsageError(f"--notify {printable(channel)}: give {allowed}")


def command_sender(command: str) -> Send:
    """Return the function that runs a shell command, with the event in its environment and as JSON on stdin.

    The variables are `MWMS_TITLE`, `MWMS_GROUP`, `MWMS_LINK` and so on, and `MWMS_TEXT` for all as lines.
    """
    return lambda event: _run(command, event)


def printable(channel: str) -> str:
    """Return a channel without its secrets: scheme and host only."""
    parts = urlsplit(channel)
    return f"{parts.scheme}://{parts.hostname}/…" if parts.hostname else channel


def slack_message(event: Event) -> Event:
    """Return an event as Slack blocks; all text is plain, so nothing in it is markup."""
    plain = {"type": "plain_text", "emoji": False}
    body = "\n".join(text_lines(event))
    blocks: list[Any] = [
        {"type": "header", "text": plain | {"text": event["title"][:_MAX_HEADER]}},
        {"type": "section", "text": plain | {"text": body}},
    ]
    if event["link"]:
        button = {"type": "button", "text": plain | {"text": "Open report"}, "url": event["link"]}
        blocks.append({"type": "actions", "elements": [button]})
    return {"text": escape(event["title"], quote=False), "blocks": blocks}


def _post(url: str, body: Mapping[str, Any]) -> str:
    data = json.dumps(body, ensure_ascii=False).encode()
    headers = {"Content-Type": "application/json; charset=utf-8", "User-Agent": "mwms-triage"}
    request = urllib.request.Request(url, data, headers)  # noqa: S310 - `sender` admits http and https only
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS):  # noqa: S310
        return ""


def _mail(parts: SplitResult, event: Event) -> str:
    options = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    message = EmailMessage()
    message["Subject"], message["To"] = event["title"], options["to"]
    message["From"] = options.get("from", "mwms-triage@localhost")
    message["Message-ID"] = f"<{event['id']}@mwms-triage>"
    message.set_content("\n".join(text_lines(event)) + "\n")
    connect = smtplib.SMTP_SSL if parts.scheme == "smtps" else smtplib.SMTP
    with connect(parts.hostname or "", parts.port or 0, timeout=_TIMEOUT_SECONDS) as server:
        if options.get("starttls"):
            server.starttls()
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(message)
    return ""


def _run(command: str, event: Event) -> str:
    variables = {f"MWMS_{name.upper()}": _variable(value) for name, value in event.items()}
    variables["MWMS_TEXT"] = "\n".join(text_lines(event))
    done = subprocess.run(  # noqa: S603 - the command is the user's own; the event reaches it as data only
        ["/bin/sh", "-c", command],
        input=json.dumps(event, ensure_ascii=False),
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        errors="replace",
        timeout=_COMMAND_SECONDS,
        check=False,
    )
    if done.returncode:
        raise OSError(f"exit status {done.returncode}: {' '.join(done.stderr.split())[-200:]}")
    words = done.stdout.split()
    return next((word for word in words if word.startswith(("https://", "http://"))), "")


def _variable(value: object) -> str:
    text = ", ".join(map(str, value)) if isinstance(value, list) else "" if value is None else str(value)
    return text.replace("\0", "")
