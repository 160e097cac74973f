"""`mwms-triage`: diagnose the new runs below some roots and report what is new, known or recurring."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer import __version__
from analyzer.cli.entrypoint import run_command, write_stdout
from analyzer.model.errors import UsageError

if TYPE_CHECKING:
    from analyzer.triage.night import RunExaminer, TriageResult

_EXIT_CODES = """exit status:
  0    nothing new failed
  1    a run that is new or changed failed or is degraded
  2    wrong usage, a rule file is wrong, or another mwms-triage is at work
  3    nothing new failed, but a new run is inconclusive or could not be examined
  4    no run was found
  70   internal error
  130  interrupted; the next call goes on from there"""
_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command("mwms-triage", lambda: _run(_parser().parse_args(argv)))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mwms-triage",
        description="Diagnoses the runs that are new since the last call; lists new and recurring failures.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("roots", nargs="+", metavar="ROOT", help="a directory with runs below it, or s3://… or gs://…")
    add(
        "-o",
        "--output",
        metavar="DIR",
        required=True,
        help="reports, index page, history; or s3://… or gs://…",
    )
    add("--history", metavar="URL", help="a database instead of DIR/history.sqlite: postgresql+psycopg://…")
    add("--since", metavar="WHEN", help="skip runs last written before: 3d, 12h, or 2026-11-20")
    add(
        "--backfill",
        action="store_true",
        help="file runs under the date of their end, as the first call does",
    )
    add(
        "--limit",
        metavar="N",
        type=_positive,
        help="examine at most N runs; the next call goes on",
    )
    add("--timeout", metavar="TIME", default="15m", help="time limit for one run (default: 15m)")
    add(
        "--settle", metavar="TIME", default="10m", help="skip runs written to within this time (default: 10m)"
    )
    add("--keep", metavar="TIME", default="90d", help="how long reports are kept (default: 90d)")
    add("--keep-history", metavar="TIME", help="how long runs and nights are kept (default: for ever)")
    add("--reports-url", metavar="URL", help="where DIR is served, for links from elsewhere: https://…")
    add("--wait", metavar="TIME", default="10m", help="how long to wait for another call (default: 10m)")
    add("--runs", metavar="GLOB", help="which directories below ROOT are the runs, such as */run")
    add("--rules", metavar="DIR", action="append", default=[], help="another directory of rules")
    add("--processes", metavar="N", type=_positive, help="default: one for each core")
    add("--scheduler", metavar="URL", help="examine on a Dask cluster instead: tcp://…")
    add(
        "--fail-on",
        choices=("failed", "degraded"),
        default="degraded",
        help="lowest severity that exits with 1 (default: degraded)",
    )
    add("--now", help=argparse.SUPPRESS)
    add("--version", action="version", version=f"mwms-triage {__version__}")
    return parser


def _run(arguments: argparse.Namespace) -> int:
    _require_modules("triage", "sqlalchemy", "pebble", "fsspec", "prometheus_client")
    from analyzer.triage.locks import WaitPolicy
    from analyzer.triage.night import TriageOptions, triage

    now = _timestamp(arguments.now) if arguments.now else time.time()
    rules = tuple(str(_directory(name).resolve()) for name in arguments.rules)
    order = TriageOptions(
        roots=arguments.roots,
        folder=arguments.output,
        history=arguments.history or _default_history(arguments.output),
        now=now,
        since=_since(arguments.since, now) if arguments.since else 0.0,
        limit=arguments.limit,
        settle=_seconds("--settle", arguments.settle),
        keep=_seconds("--keep", arguments.keep),
        keep_history=_seconds("--keep-history", arguments.keep_history) if arguments.keep_history else None,
        reports_url=(arguments.reports_url or "").rstrip("/"),
        backfill=arguments.backfill,
        wait=WaitPolicy(_seconds("--wait", arguments.wait), _warn),
        pattern=arguments.runs,
        rules=rules,
        digest=_digest(rules),
    )
    night = triage(order, _engine(arguments))
    write_stdout(_summary_line(night))
    write_stdout(f"Index: {arguments.output.rstrip('/')}/index.html\n")
    return _status(night, arguments.fail_on)


def _engine(arguments: argparse.Namespace) -> RunExaminer:
    from analyzer.triage.examine.workers import ProcessPoolExaminer, available_cores

    if arguments.scheduler:
        _require_modules("cluster", "distributed")
        from analyzer.triage.examine.cluster import DaskExaminer

        return DaskExaminer(arguments.scheduler, _seconds("--timeout", arguments.timeout))
    return ProcessPoolExaminer(
        arguments.processes or available_cores(), _seconds("--timeout", arguments.timeout)
    )


def _default_history(folder: str) -> str:
    from analyzer.triage.database.history import default_history_url

    if "://" in folder:
        raise UsageError(f"-o {folder}: a store holds no database; give --history postgresql+psycopg://…")
    return default_history_url(Path(folder))


def _warn(text: str) -> None:
    print(f"mwms-triage: {text}", file=sys.stderr)


def _positive(given: str) -> int:
    """Return a whole number above 0; argparse reports other text."""
    if (number := int(given)) < 1:
        raise argparse.ArgumentTypeError(f"{given}: give a whole number above 0")
    return number


def _digest(rules: Sequence[str]) -> str:
    """Return the digest of all rules; loading them here reports an invalid rule before any run is read."""
    from analyzer.pipeline import load_rules

    return load_rules([Path(each) for each in rules]).digest


def _summary_line(night: TriageResult) -> str:
    failed = sum(each.verdict in {"failed", "degraded"} for each in night.unreported)
    said = f"{night.date}: {night.found} runs, {night.examined} examined, {failed} of them failed or degraded"
    more = [f"{night.waiting} still being written"] * (night.waiting > 0)
    more += [f"{night.left} left for the next time"] * (night.left > 0)
    return ", ".join([said, *more]) + "\n"


def _status(night: TriageResult, fail_on: str) -> int:
    bad = {"failed"} if fail_on == "failed" else {"failed", "degraded"}
    if any(each.verdict in bad for each in night.unreported):
        return 1
    cannot_tell = any(each.verdict == "inconclusive" or each.problem for each in night.unreported)
    return 3 if cannot_tell or night.unlisted else 0


def _require_modules(extra: str, *modules: str) -> None:
    if missing := [each for each in modules if find_spec(each) is None]:
        raise UsageError(f"{', '.join(missing)} not installed; run: pip install 'mwms-analyze[{extra}]'")


def _directory(name: str) -> Path:
    if not Path(name).is_dir():
        raise UsageError(f"--rules {name}: no such directory")
    return Path(name)


def _seconds(option: str, given: str) -> float:
    """Return a duration in seconds, given as `90`, `90s`, `15m`, `12h`, `3d` or `2w`."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw]?)", given)
    if not match:
        raise UsageError(f"{option} {given}: give a length of time, such as 90s, 15m, 12h or 3d")
    return float(match[1]) * _UNITS[match[2] or "s"]


def _since(given: str, now: float) -> float:
    return now - _seconds("--since", given) if given[-1] in _UNITS else _timestamp(given)


def _timestamp(given: str) -> float:
    try:
        return float(given) if re.fullmatch(r"\d{9,11}(\.\d+)?", given) else _date_timestamp(given)
    except ValueError:
        raise UsageError(f"{given}: give a length of time such as 3d, or a date such as 2026-11-20") from None


def _date_timestamp(given: str) -> float:
    moment = datetime.fromisoformat(given)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()


if __name__ == "__main__":
    sys.exit(main())
