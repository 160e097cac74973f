"""Options of `mwms-triage`."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from analyzer.cli.options.configuration import Setting, add_configuration_options, configured
from analyzer.cli.options.standard import add_standard_options, command_parser
from analyzer.model.errors import UsageError

_EPILOG = """examples:
  mwms-triage /srv/runs -o /srv/triage
  mwms-triage s3://bucket/runs -o /srv/triage --since 3d --notify https://hooks.example/T1
  mwms-triage --config mwms.toml --print-config
  mwms-triage ack 37a45dcd -o /srv/triage --until 2026-12-01    # acknowledge a failure

exit status:
  0    nothing new failed
  1    a run that is new or changed failed or is degraded
  2    wrong usage, a rule file is wrong, or another mwms-triage is at work
  3    nothing new failed, but a new run is inconclusive or could not be diagnosed
  4    no run was found
  70   internal error
  130  interrupted; the next call continues there"""
TABLES = ("owners", "muted")
"""Tables of strings that the configuration file may hold."""


def parsed(argv: Sequence[str] | None) -> tuple[argparse.Namespace, dict[str, Setting]]:
    """Return the options in effect, and name → setting with its origin; only a file can give the `TABLES`.

    Raises:
        UsageError: the configuration file or a variable is wrong, or ROOT or -o is missing.
    """
    options, settings = configured(parser(), argv, ["roots"], TABLES)
    if not options.print_config and not (options.roots and options.output):
        raise UsageError("give ROOT and -o DIR, on the command line or in the configuration file")
    return options, settings


def parser() -> argparse.ArgumentParser:
    """Return the parser of `mwms-triage`."""
    description = "Diagnoses the runs that are new since the last call; lists new and recurring failures."
    made = command_parser("mwms-triage", description, _EPILOG)
    _add_runs(made)
    _add_work(made)
    _add_outputs(made)
    add_configuration_options(made)
    made.add_argument("--now", help=argparse.SUPPRESS)
    add_standard_options(made)
    made.set_defaults(owners={}, muted={})
    return made


def _add_runs(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where runs and outputs are, and which runs are examined."""
    add = parser.add_argument
    add("roots", nargs="*", metavar="ROOT", help="a directory with runs below it, or s3://… or gs://…")
    add("-o", "--output", metavar="DIR", help="reports, index page, history; or s3://… or gs://…")
    add("--history", metavar="URL", help="a database instead of DIR/history.sqlite: postgresql+psycopg://…")
    add("--since", metavar="WHEN", help="skip runs last written before: 3d, 12h, or 2026-11-20")
    dated = "file runs under the date of their end, as on the first call"
    add("--backfill", action="store_true", help=dated)
    add("--limit", metavar="N", type=_positive, help="examine at most N runs; the next call continues")
    add("--timeout", metavar="TIME", default="15m", help="time limit for one run (default: 15m)")
    settled = "skip runs modified within this time (default: 10m)"
    add("--settle", metavar="TIME", default="10m", help=settled)


def _add_work(parser: argparse.ArgumentParser) -> None:
    """Add the options that say how long results are kept, and how runs are found and examined."""
    add = parser.add_argument
    add("--keep", metavar="TIME", default="90d", help="how long reports are kept (default: 90d)")
    add("--keep-history", metavar="TIME", help="how long runs and nights are kept (default: forever)")
    add("--reports-url", metavar="URL", help="where DIR is served, for links from elsewhere: https://…")
    add("--wait", metavar="TIME", default="10m", help="how long to wait for another call (default: 10m)")
    add("--runs", metavar="GLOB", help="which directories below ROOT are the runs, such as */run")
    add("--relist", action="store_true", help="list object stores in full now (default: once a week)")
    add("--rules", metavar="DIR", action="append", default=[], help="add the rules of a directory")
    again = "re-examine all runs diagnosed with other rules (default: those that these may explain better)"
    add("--again", action="store_true", help=again)
    used = "use the rules and readers of installed packages (default: yes)"
    add("--packs", action=argparse.BooleanOptionalAction, default=True, help=used)
    add("--processes", metavar="N", type=_positive, help="default: one for each core")
    add("--scheduler", metavar="URL", help="examine on a Dask cluster instead: tcp://…")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options for the exit status, the digests and the notifications."""
    add = parser.add_argument
    lowest = "lowest severity that exits with 1 (default: degraded)"
    add("--fail-on", choices=("failed", "degraded"), default="degraded", help=lowest)
    add("--layout", metavar="PATTERN", help="what directories mean: {team}/{job}/{run} (default: a guess)")
    add("--digest-by", choices=("team", "job", "owner"), help="also write digests/NAME.md for each of them")
    sent = "report new failures to https://…, slack+https://…, or smtp://HOST?from=…&to=…"
    add("--notify", metavar="URL", action="append", default=[], help=sent)
    called = "shell command for each new failure, which MWMS_TITLE, MWMS_LINK … describe"
    add("--on-new", metavar="COMMAND", action="append", default=[], help=called)


def _positive(given: str) -> int:
    """Parse a whole number above 0.

    Raises:
        ArgumentTypeError: the text is anything else.
    """
    if not given.isdecimal() or not int(given):
        raise argparse.ArgumentTypeError(f"{given}: give a whole number above 0")
    return int(given)
