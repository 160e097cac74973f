"""Notifications against real servers: each event once, retried, and none of acknowledged groups."""

from __future__ import annotations

import json
import socketserver
import threading
from collections.abc import Iterator
from email import message_from_string
from email.policy import default
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar
from xml.etree import ElementTree as ET

import pytest

from analyzer.cli.triage import main
from analyzer.triage.notify import delivery
from analyzer.triage.publish.feed import ATOM
from tests.triage.conftest import Desk

pytestmark = pytest.mark.processes


class Hook(BaseHTTPRequestHandler):
    """Keeps what is posted; answers 500 as often as `failures` says."""

    posted: ClassVar[list[Any]] = []
    failures: ClassVar[list[int]] = []

    def do_POST(self) -> None:
        """Answer."""
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        failing = bool(self.failures and self.failures.pop())
        if not failing:
            self.posted.append((self.path, body))
        self.send_response(500 if failing else 200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Print nothing."""


class Mail(socketserver.StreamRequestHandler):
    """Speaks as much SMTP as a client needs, and keeps the messages."""

    messages: ClassVar[list[str]] = []

    def handle(self) -> None:
        """Answer each command until the client leaves."""
        self.wfile.write(b"220 here\r\n")
        while line := self.rfile.readline():
            word = line[:4].upper()
            self.wfile.write({b"DATA": b"354 go on\r\n", b"QUIT": b"221 bye\r\n"}.get(word, b"250 ok\r\n"))
            if word == b"DATA":
                lines = iter(self.rfile.readline, b".\r\n")
                self.messages.append(b"".join(lines).decode())
                self.wfile.write(b"250 ok\r\n")


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A web server on the loopback; its address."""
    monkeypatch.setattr(delivery, "_PAUSES_SECONDS", (0.0, 0.0, 0.0))
    Hook.posted.clear()
    Hook.failures.clear()
    with ThreadingHTTPServer(("127.0.0.1", 0), Hook) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.fixture
def mail() -> Iterator[str]:
    """A mail server on the loopback; its address."""
    Mail.messages.clear()
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Mail) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_address[1]}"
        server.shutdown()


def test_each_new_group_is_sent_once_to_every_channel(
    desk: Desk, hook: str, mail: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With its link; not again by a second call, nor by a later night with the same failure."""
    monkeypatch.setenv("HOOK", f"http://{hook}/slack/secret")
    to = ["--notify", f"http://{hook}/generic", "--notify", "slack+$HOOK"]
    to += ["--notify", f"smtp://{mail}?from=triage@example.com&to=oncall@example.com"]
    to += ["--reports-url", "https://triage.example"]
    desk.write("nlp/bert/1", "KeyError: 'label'")
    desk.call(*to)
    desk.call(*to)
    desk.write("nlp/bert/2", "KeyError: 'label'")
    desk.call(*to, now="2026-11-22T06:00:00")
    generic = [body for path, body in Hook.posted if path == "/generic"]
    slack = [body for path, body in Hook.posted if path == "/slack/secret"]
    (event,), (blocks,), (message,) = generic, slack, Mail.messages
    assert (event["kind"], event["team"], event["job"]) == ("new", "nlp", "bert")
    (report,) = {f"reports/{path.name}" for path in (desk.out / "reports").glob("1-*")}
    assert event["link"] == f"https://triage.example/{report}"
    assert blocks["blocks"][-1]["elements"][0]["url"] == event["link"]
    assert blocks["blocks"][0]["text"] == {"type": "plain_text", "emoji": False, "text": event["title"]}
    mailed = message_from_string(message, policy=default)
    assert (mailed["To"], mailed["Subject"]) == ("oncall@example.com", event["title"])
    assert event["link"] in mailed.get_content()


def test_what_fails_is_tried_again(desk: Desk, hook: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Within the call, and at the next one; the secret part of the URL is not printed."""
    to = ["--notify", f"http://{hook}/hooks/secret"]
    desk.write("bad", "KeyError: 1")
    Hook.failures += [1, 1, 1]
    assert desk.call(*to) == 1
    told = capsys.readouterr().err
    assert "not notified" in told
    assert "500" in told
    assert "secret" not in told
    assert Hook.posted == []
    Hook.failures += [1, 1]
    desk.call(*to)
    assert len(Hook.posted) == 1
    desk.call(*to)
    assert len(Hook.posted) == 1


def test_channels_of_one_host_are_told_apart(
    desk: Desk, hook: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """By their places among the options, for the rest of their URLs is secret."""
    desk.write("bad", "KeyError: 1")
    desk.call("--notify", f"http://{hook}/hooks/1", "--notify", f"http://{hook.partition(':')[0]}:1/hooks/2")
    assert "http://127.0.0.1/… (channel 2): not notified" in capsys.readouterr().err


def test_a_new_channel_begins_with_the_night(desk: Desk, hook: str) -> None:
    """It gets no events of earlier nights; a mail without a receiver is refused."""
    desk.write("bad", "KeyError: 1")
    desk.call()
    desk.write("worse", "ValueError: 2")
    desk.call("--notify", f"http://{hook}/", now="2026-11-22T06:00:00")
    assert [body["night"] for _, body in Hook.posted] == ["2026-11-22"]
    assert desk.call("--notify", "smtp://mail.example?from=a@example.com") == 2


def test_a_command_makes_a_ticket(desk: Desk, tmp_path: Path) -> None:
    """It gets the event as variables and JSON; the URL that it prints is the group's ticket."""
    text = "KeyError: '$(touch pwned)`touch pwned`; touch pwned'"
    desk.write("bad", text)
    seen = tmp_path / "seen"
    command = f'printf "%s\\n" "$MWMS_TITLE" "$MWMS_GROUP" >> {seen}; cat > {seen}.json; echo made https://tickets/7'
    desk.call("--on-new", command)
    desk.call("--on-new", command)
    title, group = seen.read_text(encoding="utf-8").splitlines()
    assert json.loads(seen.with_suffix(".json").read_text(encoding="utf-8"))["group"] == group
    assert title == "New failure: user.exception in bad"
    assert 'href="https://tickets/7"' in (desk.out / "index.html").read_text(encoding="utf-8")
    assert not Path("pwned").exists()


def test_feeds_hold_the_events(desk: Desk) -> None:
    """The Atom feed has what RFC 4287 demands of a feed and its entries; the JSON feed has the same items."""
    desk.write("bad", "KeyError: 1")
    desk.call("--reports-url", "https://triage.example")
    feed = ET.fromstring((desk.out / "feed.xml").read_bytes())
    names = {"a": ATOM}
    for required in ("a:id", "a:title", "a:updated", "a:author/a:name", "a:entry/a:id", "a:entry/a:updated"):
        assert feed.findtext(required, namespaces=names), required
    (entry,) = feed.findall("a:entry", names)
    items = json.loads((desk.out / "feed.json").read_text(encoding="utf-8"))["items"]
    assert [item["title"] for item in items] == [entry.findtext("a:title", namespaces=names)]
    assert items[0]["url"] == entry.find("a:link", names).get("href")  # type: ignore[union-attr]
    titled = (desk.out / "digest.md").read_text(encoding="utf-8").splitlines()[0]
    assert titled == "### [Runs of 2026-11-21](https://triage.example/nights/2026-11-21.html)"


def test_acknowledged_groups_are_quiet(desk: Desk, hook: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No notification, exit status or digest line; shown on the page until the date has passed."""
    desk.write("bad", "KeyError: 1")
    desk.call()
    group = json.loads((desk.out / "groups.json").read_text())["groups"][0]["group"]
    ack = ["ack", group[:6], "-o", str(desk.out), "--until", "2099-12-01", "--note", "driver"]
    assert main([*ack, "--ticket", "https://tickets/7"]) == 0
    assert main(["ack", group, "-o", str(desk.out), "--mute"]) == 0
    assert f"{group}: muted until 2099-12-01: driver; ticket https://tickets/7" in capsys.readouterr().out
    to = ["--notify", f"http://{hook}/"]
    desk.write("bad-2", "KeyError: 1")
    assert desk.call(*to, now="2026-11-22T06:00:00") == 0
    assert Hook.posted == []
    assert "muted until 2099-12-01: driver" in (desk.out / "index.html").read_text(encoding="utf-8")
    said = (desk.out / "digest.md").read_text(encoding="utf-8")
    assert "user.exception" not in said
    assert "- and 1 muted" in said
    assert "1 failure muted" in said
    desk.write("bad-3", "KeyError: 1")
    assert desk.call(now="2099-12-02T06:00:00") == 1
    config = desk.out.parent / "triage.toml"
    config.write_text(f'roots = ["runs"]\noutput = "{desk.out}"\n[owners]\n"nlp/*" = "nlp"\n')
    assert main(["ack", "--config", str(config), "--print-config"]) == 0
    assert f'output = "{desk.out}"  # {config}:2' in capsys.readouterr().out
    assert main(["ack", group, "--config", str(config), "--clear"]) == 0
    assert main(["ack", "ffffffff", "-o", str(desk.out)]) == 2
    assert main(["ack", group, "-o", str(desk.out), "--until", "soon"]) == 2
    assert main(["ack", group, "-o", str(desk.out), "--until", "2020-01-01"]) == 2


def test_the_first_failure_of_a_job_is_news(desk: Desk, hook: str) -> None:
    """A failure that is known elsewhere, of a job that was healthy on three nights."""
    desk.write("other/x", "KeyError: 1")
    for day in range(16, 20):
        desk.write(f"team/steady/{day}")
        desk.call(now=f"2026-11-{day}T06:00:00")
    desk.write("team/steady/20", "KeyError: 1")
    desk.call("--notify", f"http://{hook}/", now="2026-11-20T06:00:00")
    kinds = {body["kind"]: body for _, body in Hook.posted}
    assert kinds["first_failure"]["job"] == "steady"
    assert "First failure of the job in 30 nights" in (desk.out / "index.html").read_text(encoding="utf-8")


def test_muted_jobs_are_quiet(desk: Desk, hook: str, capsys: pytest.CaptureFixture[str]) -> None:
    """No notification, exit status or digest line, until the date has passed or another job fails alike."""
    config = desk.out.parent / "triage.toml"
    config.write_text('[muted]\n"nlp/bert/*" = "2026-11-22"\n', encoding="utf-8")
    options = ["--config", str(config), "--notify", f"http://{hook}/"]
    desk.write("nlp/bert/1", "KeyError: 1")
    assert desk.call() == 1
    assert desk.call(*options) == 0
    assert "user.exception" not in (desk.out / "digest.md").read_text(encoding="utf-8")
    assert "user.exception" in (desk.out / "index.html").read_text(encoding="utf-8")
    desk.write("nlp/gpt/1", "KeyError: 1")
    assert desk.call(*options, now="2026-11-22T06:00:00") == 1
    assert "user.exception" in (desk.out / "digest.md").read_text(encoding="utf-8")
    desk.write("nlp/bert/2", "ValueError: 1")
    assert desk.call(*options, now="2026-11-23T06:00:00") == 1
    assert [body["run"] for _, body in Hook.posted] == ["2"]
    config.write_text('[muted]\n"nlp/*" = "soon"\n', encoding="utf-8")
    assert desk.call(*options) == 2
    assert "give a date such as" in capsys.readouterr().err


def without_origins(printed: str) -> list[str]:
    """Return the lines of `--print-config` without the comments that say where values come from."""
    return [line.rpartition("  # ")[0] for line in printed.splitlines()]


def test_options_come_from_one_file(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """The command line has precedence; what is printed is a file again, without secrets."""
    config = desk.out.parent / "triage.toml"
    config.write_text(
        f'roots = ["{desk.runs}"]\noutput = "{desk.out}"\nkeep = "30d"\nfail-on = "failed"\n'
        'notify = ["https://hooks.example/secret"]\nhistory = "postgresql+psycopg://u:hunter2@h/x"\n',
        encoding="utf-8",
    )
    call = ["--config", str(config), "--print-config"]
    assert main([*call, "--keep", "7d"]) == 0
    told = capsys.readouterr().out
    assert 'keep = "7d"' in told
    assert 'fail-on = "failed"' in told
    assert "secret" not in told
    assert "hunter2" not in told
    printed = desk.out.parent / "printed.toml"
    printed.write_text(told, encoding="utf-8")
    assert main(["--config", str(printed), "--print-config"]) == 0
    assert without_origins(capsys.readouterr().out) == without_origins(told)
    for wrong in ('kepe = "7d"', "keep = true", "roots = 7", "keep ="):
        config.write_text(wrong, encoding="utf-8")
        assert main(call) == 2, wrong
    assert "did you mean keep?" in capsys.readouterr().err
    assert main(["--notify", "gopher://x", str(desk.runs), "-o", str(desk.out)]) == 2
    assert main(["-o", str(desk.out)]) == 2
