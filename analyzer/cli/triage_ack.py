"""`mwms-triage ack`: acknowledge or mute a group of failures, or link it to a ticket."""

import argparse
import re
import time
from collections.abc import Sequence
from pathlib import Path

from analyzer.cli.options.configuration import add_configuration_options, configured, naming_origins
from analyzer.cli.options.printing import as_toml
from analyzer.cli.options.standard import command_parser, examples
from analyzer.cli.options.times import day
from analyzer.cli.options.triage import TABLES, parser
from analyzer.model.errors import UsageError
from analyzer.triage.database.acknowledgements import (
    Acknowledgement,
    acknowledge,
    acknowledgements,
    find_group,
    withdraw,
)
from analyzer.triage.database.history import History, as_usage_errors, default_history_url, open_history
from analyzer.triage.dates import date_of
from analyzer.triage.publish.phrasing import acknowledged


def acknowledge_group(argv: Sequence[str]) -> str:
    """Acknowledge, mute, note or link a group of failures as the arguments say; return a line on the result.

    Raises:
        UsageError: an argument is wrong, or the history has no such group.
    """
    given, settings = configured(_parser(), argv, (), TABLES, parser())
    if given.print_config:
        return as_toml("triage", settings)
    until = day("--until", given.until) if given.until else None
    if until and until < date_of(time.time()):
        raise UsageError(f"--until {until}: this date has passed")
    if given.ticket and not re.match(r"https?://", given.ticket):
        raise UsageError(f"--ticket {given.ticket}: give a URL")
    with naming_origins(settings), open_history(_history(given)) as history, as_usage_errors():
        return _store(history, given, until)


def _store(history: History, given: argparse.Namespace, until: str | None) -> str:
    group = find_group(history, given.group)
    if given.clear:
        withdraw(history, group)
        return f"{group}: no longer acknowledged\n"
    known = acknowledgements(history).get(group, Acknowledgement(group))
    note, ticket, muted = given.note or known.note, given.ticket or known.ticket, given.mute or known.muted
    changed = Acknowledgement(group, until or known.until, note, ticket, muted, time.time())
    acknowledge(history, changed)
    return f"{group}: {acknowledged(changed, until or '')}; the pages show it from the next call on\n"


def _parser() -> argparse.ArgumentParser:
    shown = examples(
        "mwms-triage ack 3f2a -o /srv/triage --until 2026-12-01 --note 'waits for new disks'",
        "mwms-triage ack 3f2a -o /srv/triage --clear",
    )
    description = (
        "Acknowledges a group: it is no longer notified, and no longer sets the exit status. "
        "A second call changes only what it names."
    )
    made = command_parser("mwms-triage ack", description, shown)
    add = made.add_argument
    named = "the group's identifier on the index page, or its first characters"
    add("group", nargs="?", default="", metavar="GROUP", help=named)
    add("-o", "--output", metavar="DIR", help="output directory of mwms-triage")
    add("--history", metavar="URL", help="the database, if it is not DIR/history.sqlite")
    add("--until", metavar="DATE", help="last night for which this holds (default: as before, else no end)")
    add("--note", default="", metavar="TEXT", help="why, shown beside the group")
    add("--ticket", metavar="URL", help="link to a ticket, shown beside the group")
    add("--mute", action="store_true", help="also leave the group out of the digests")
    add("--clear", action="store_true", help="withdraw the acknowledgement")
    add_configuration_options(made)
    made.set_defaults(**{table: {} for table in TABLES})
    return made


def _history(given: argparse.Namespace) -> str:
    if given.history:
        return str(given.history)
    if not given.output:
        raise UsageError("give -o DIR with a history.sqlite in it, or --history URL")
    if not (Path(given.output) / "history.sqlite").exists():
        raise UsageError(
            f"-o {given.output}: there is no history.sqlite in it; give the directory of the triage"
        )
    return default_history_url(Path(given.output))
