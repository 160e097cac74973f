"""Delivers events once to each channel; what fails is tried again, in this call and in the next ones."""

import hashlib
import smtplib
import subprocess
from collections.abc import Callable, Container, Sequence
from datetime import date, timedelta
from functools import cache
from time import sleep
from typing import NamedTuple

from analyzer.triage.database.acknowledgements import acknowledgements, link_ticket
from analyzer.triage.database.events import has_deliveries, record_delivery, undelivered
from analyzer.triage.database.history import History
from analyzer.triage.layout import Layout
from analyzer.triage.notify.senders import Event, Send, command_sender, printable, sender
from analyzer.triage.publish.context import groups_of_muted_jobs

MAX_EVENTS_PER_CALL = 20
"""Maximum number of events that one call sends to a channel; the next call sends the rest."""
_PAUSES_SECONDS = (0.0, 1.0, 3.0)
_MAX_AGE_DAYS = 7
"""Age in days after which an undelivered event is dropped."""


class Channel(NamedTuple):
    """A channel: its key in the history, its name without secrets, and how to send to it."""

    key: str
    name: str
    send: Send
    kinds: frozenset[str]


def channels(urls: Sequence[str], commands: Sequence[str]) -> list[Channel]:
    """Return the channels of `--notify` and `--on-new`; commands get new failures only.

    Raises:
        UsageError: a URL is not supported.
    """
    every = frozenset({"new", "recurring", "first_failure"})
    return [
        *(Channel(_key(url), name, sender(url), every) for url, name in zip(urls, _names(urls), strict=True)),
        *(Channel(_key(each), "--on-new", command_sender(each), frozenset({"new"})) for each in commands),
    ]


def _names(urls: Sequence[str]) -> list[str]:
    """Return the channels without their secrets; those that then look alike with their places in the list."""
    shown = [printable(url) for url in urls]
    return [
        f"{name} (channel {number})" if shown.count(name) > 1 else name
        for number, name in enumerate(shown, 1)
    ]


def deliver(
    history: History,
    to: Sequence[Channel],
    night: str,
    now: float,
    warn: Callable[[str], None],
    layout: Layout,
) -> None:
    """Send each channel the events of the last 7 days that it has not received.

    Acknowledged groups, and those with runs of muted jobs only, are left out. A new channel begins with the
    events of this night. `warn` gets a line for each channel that fails.
    """
    held = {name for name, said in acknowledgements(history).items() if said.holds(night)}

    @cache
    def muted(date: str) -> Container[str]:
        return groups_of_muted_jobs(history, layout, date, night)

    oldest = (date.fromisoformat(night) - timedelta(days=_MAX_AGE_DAYS)).isoformat()
    for channel in to:
        since = oldest if has_deliveries(history, channel.key) else night
        waiting = undelivered(history, channel.key, since)
        wanted = [
            each
            for each in waiting
            if each["kind"] in channel.kinds
            and each["group"] not in held
            and each["group"] not in muted(each["night"])
        ]
        for event in wanted[:MAX_EVENTS_PER_CALL]:
            problem = _deliver_one(history, channel, event)
            record_delivery(history, event["id"], channel.key, problem, now)
            if problem:
                warn(f"{channel.name}: not notified, and tried again at the next call: {problem}")
                break


def _deliver_one(history: History, channel: Channel, event: Event) -> str:
    """Send an event, in up to three tries, and return the problem of the last one, or an empty text."""
    problem = ""
    for pause in _PAUSES_SECONDS:
        sleep(pause)
        try:
            ticket = channel.send(event)
        except (OSError, smtplib.SMTPException, subprocess.TimeoutExpired, ValueError, KeyError) as error:
            problem = " ".join(f"{type(error).__name__}: {error}".split())[:300]
            continue
        if ticket:
            link_ticket(history, event["group"], ticket)
        return ""
    return problem


def _key(channel: str) -> str:
    return hashlib.blake2b(channel.encode("utf-8", "backslashreplace"), digest_size=16).hexdigest()
