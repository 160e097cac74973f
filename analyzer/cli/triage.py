"""`mwms-triage`: diagnose the new runs below some roots and report what is new, known or recurring."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.cli.inputs import rule_directory
from analyzer.cli.options.configuration import Setting, naming_origins
from analyzer.cli.options.printing import as_toml
from analyzer.cli.options.times import day, seconds, since, timestamp
from analyzer.cli.options.triage import parsed
from analyzer.cli.terminal.entrypoint import interrupted_by_sigterm, run_command, write_stdout
from analyzer.model.errors import UsageError, missing_extra
from analyzer.render.formatting import plural

if TYPE_CHECKING:
    from analyzer.triage.layout import Layout
    from analyzer.triage.night import RunExaminer, TriageResult

_MAX_NIGHTS = 3


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command, or `mwms-triage ack`, and return its exit status."""
    given = sys.argv[1:] if argv is None else argv
    if given[:1] == ["ack"]:
        return run_command("mwms-triage", lambda: _acknowledge(given[1:]))
    return run_command("mwms-triage", lambda: _configured_run(given))


def _acknowledge(argv: Sequence[str]) -> int:
    _require_modules("triage", "sqlalchemy")
    from analyzer.cli.triage_ack import acknowledge_group

    write_stdout(acknowledge_group(argv))
    return 0


def _configured_run(argv: Sequence[str]) -> int:
    arguments, settings = parsed(argv)
    with naming_origins(settings):
        return _run(arguments, settings)


def _run(arguments: argparse.Namespace, settings: Mapping[str, Setting]) -> int:
    if arguments.print_config:
        write_stdout(as_toml("triage", settings))
        return 0
    _require_modules("triage", "sqlalchemy", "pebble", "fsspec", "prometheus_client")
    from analyzer.triage.locks import WaitPolicy
    from analyzer.triage.night import TriageOptions, triage
    from analyzer.triage.notify.delivery import channels

    now = timestamp("--now", arguments.now) if arguments.now else time.time()
    rules = tuple(str(rule_directory(name).resolve()) for name in arguments.rules)
    options = TriageOptions(
        roots=arguments.roots,
        folder=arguments.output,
        history=arguments.history or _default_history(arguments.output),
        now=now,
        since=since(arguments.since, now) if arguments.since else 0.0,
        limit=arguments.limit,
        settle=seconds("--settle", arguments.settle),
        keep=seconds("--keep", arguments.keep),
        keep_history=seconds("--keep-history", arguments.keep_history) if arguments.keep_history else None,
        reports_url=(arguments.reports_url or "").rstrip("/"),
        backfill=arguments.backfill,
        wait=WaitPolicy(seconds("--wait", arguments.wait), _warn),
        pattern=arguments.runs,
        relist=arguments.relist,
        rules=rules,
        packs=arguments.packs,
        again=arguments.again,
        layout=_layout(arguments),
        digest_by=arguments.digest_by or "",
        channels=tuple(channels(arguments.notify, arguments.on_new)),
    )
    if options.channels and not options.reports_url:
        _warn("notifications have no links without --reports-url")
    with interrupted_by_sigterm():
        night = triage(options, _examiner(arguments))
    write_stdout(_summary_line(night, arguments.settle))
    write_stdout(f"Index: {arguments.output.rstrip('/')}/index.html\n")
    return _status(night, arguments.fail_on)


def _examiner(arguments: argparse.Namespace) -> RunExaminer:
    from analyzer.triage.examine.workers import ProcessPoolExaminer, available_cores

    timeout = seconds("--timeout", arguments.timeout)
    if not arguments.scheduler:
        return ProcessPoolExaminer(arguments.processes or available_cores(), timeout)
    _require_modules("cluster", "distributed")
    from analyzer.triage.examine.cluster import DaskExaminer

    return DaskExaminer(arguments.scheduler, timeout)


def _layout(arguments: argparse.Namespace) -> Layout:
    from analyzer.triage.layout import Layout, pattern_regex

    pattern_regex(arguments.layout or "")
    muted = {glob: day(f"muted: {glob} =", until) for glob, until in arguments.muted.items()}
    return Layout(arguments.layout or "", arguments.owners, muted)


def _default_history(folder: str) -> str:
    from analyzer.triage.database.history import default_history_url

    if "://" in folder:
        raise UsageError(f"-o {folder}: a store holds no database; give --history postgresql+psycopg://…")
    return default_history_url(Path(folder))


def _warn(text: str) -> None:
    print(f"mwms-triage: {text}", file=sys.stderr)


def _summary_line(night: TriageResult, settle: str) -> str:
    failed = sum(each.verdict in {"failed", "degraded"} for each in night.unreported)
    line = f"{night.date}: {plural(night.found, 'run')} found, {night.examined - night.unchanged} examined"
    if unread := sum(bool(each.problem) for each in night.unreported):
        line += f" ({unread} could not be diagnosed)"
    line += f", {failed} newly failed or degraded"
    if unclear := sum(each.verdict == "inconclusive" for each in night.unreported):
        line += f", {unclear} inconclusive"
    waited = f"call again {settle} after the last write, or with --settle 0s to take them now"
    more = [f"{night.waiting} still being written ({waited})"] * (night.waiting > 0)
    more += [f"{night.unchanged} written anew with the same content"] * (night.unchanged > 0)
    more += [f"{night.left} left for the next time"] * (night.left > 0)
    kept = f"{night.other_rules} kept as diagnosed with other rules (--again re-examines them)"
    more += [kept] * (night.other_rules > 0)
    return ", ".join([line, *more]) + "\n" + _filed_line(night.filed, night.undated)


def _filed_line(nights: Sequence[str], undated: int) -> str:
    """Return the line that names the earlier `nights` under which runs are filed; empty without any.

    `undated` of these runs state no time.
    """
    if not nights:
        return ""
    more = f" and {len(nights) - _MAX_NIGHTS} more" if len(nights) > _MAX_NIGHTS else ""
    line = f"Runs that ended earlier are filed under their dates: {', '.join(nights[:_MAX_NIGHTS])}{more}\n"
    from analyzer.triage.publish.phrasing import without_time

    return line + (f"{without_time(undated)}\n" if undated else "")


def _status(night: TriageResult, fail_on: str) -> int:
    bad = {"failed"} if fail_on == "failed" else {"failed", "degraded"}
    if any(each.verdict in bad for each in night.unreported):
        return 1
    cannot_tell = any(each.verdict == "inconclusive" or each.problem for each in night.unreported)
    return 3 if cannot_tell or night.unlisted else 0


def _require_modules(extra: str, *modules: str) -> None:
    if missing := [each for each in modules if find_spec(each) is None]:
        raise UsageError(missing_extra(missing[0], extra))


if __name__ == "__main__":
    sys.exit(main())
