"""`mwms-analyze`: diagnose one run; print the result and write the report."""

import argparse
import atexit
import io
import os
import re
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout, suppress
from math import inf
from pathlib import Path

from analyzer.cli import targets
from analyzer.cli.inputs import local_paths, rule_directory, runs_within
from analyzer.cli.options.configuration import add_configuration_options, configured, naming_origins
from analyzer.cli.options.printing import as_toml
from analyzer.cli.options.standard import add_standard_options, command_parser
from analyzer.cli.polars_threads import limit_polars_threads
from analyzer.cli.targets import Targets
from analyzer.cli.terminal.entrypoint import run_command, write_stdout
from analyzer.cli.terminal.progress_bar import ProgressBar
from analyzer.model.budget import Limits
from analyzer.model.errors import UsageError, missing_extra
from analyzer.model.findings import Outcome, Verdict
from analyzer.model.options import AnalysisOptions
from analyzer.model.run import Diagnosis
from analyzer.pipeline import analyze
from analyzer.render import FORMATS, render
from analyzer.render.explain import explain
from analyzer.render.phrasing import how_it_went
from analyzer.render.text import terminal

_EPILOG = """examples:
  mwms-analyze ./run_dir
  mwms-analyze worker-0.log worker-1.log
  mwms-analyze ./run_dir --format json -o -
  mwms-analyze ./run_dir --against ./good_run --redact topology
  kubectl logs -l job=train --prefix --tail=-1 | mwms-analyze -

exit status:
  0    healthy, or degraded with --fail-on failed
  1    failed or degraded, and a cause is named, however unsure; with --verify, a quote is not in the files
  2    wrong usage, several jobs at once, a rule file is wrong, or --post failed
  3    failed with an unknown cause, or not enough data
  4    nothing could be read
  70   internal error
  130  interrupted"""

_RUN = "a run directory, an archive, log files, s3://… or gs://…, or - for standard input"
XPROF_SECONDS = 120.0
"""Time limit in seconds for XProf on all traces of a run; a single trace can take minutes."""


def process() -> int:
    """Run `main` and exit without interpreter teardown, which would add 0.15 s (a fifth of a small run)."""
    status: int | None = None

    def leave() -> None:
        if status is not None:
            os._exit(status)

    atexit.register(leave)  # handlers run in reverse order, so this one runs last
    status = main()
    return status


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit status."""
    return run_command("mwms-analyze", lambda: _configured_run(argv))


def _configured_run(argv: Sequence[str] | None) -> int:
    parser = _parser()
    arguments, settings = configured(parser, argv, ["paths"])
    if arguments.print_config:
        formats = settings["format"]._replace(value=_shown_formats(arguments))
        write_stdout(as_toml("analyze", {**settings, "format": formats}))
        return 0
    if not arguments.paths:
        parser.error(f"give RUN: {_RUN}")
    compared = {settings[name].origin for name in ("against", "history")}
    if arguments.verify and "command line" in compared:
        raise UsageError("--verify only checks an earlier report: give it without --against and --history")
    with naming_origins(settings):
        return _run(arguments)


def _parser() -> argparse.ArgumentParser:
    description = "Tells which worker broke a distributed TensorFlow job, why, and what to do."
    parser = command_parser("mwms-analyze", description, _EPILOG)
    add = parser.add_argument
    add("paths", nargs="*", metavar="RUN", help=_RUN)
    place = "where the report goes: a file, a directory (one that exists, or DIR/), or - for standard output"
    add("-o", "--output", metavar="FILE|DIR|-", help=place)
    add("--format", metavar="F[,F]", help=f"any of {', '.join(FORMATS)}; html by default")
    sent = "send the report to a webhook, in the one format of --format (default: json); no file without -o"
    add("--post", metavar="URL", help=sent)
    lowest = "lowest severity that exits non-zero (default: degraded)"
    add("--fail-on", choices=("failed", "degraded"), default="degraded", help=lowest)
    add("--rules", metavar="DIR", action="append", default=[], help="add the rules of a directory")
    used = "use the rules and readers of installed packages (default: yes)"
    add("--packs", action=argparse.BooleanOptionalAction, default=True, help=used)
    masked = "what is masked in every output; topology: hosts, addresses, users, directories too"
    add("--redact", choices=("secrets", "topology"), default="secrets", help=f"{masked} (default: secrets)")
    most = f"limits for reading RUN: CPU seconds, unpacked size, or none (default: {Limits()})"
    add("--budget", metavar="LIMITS", default=str(Limits()), help=most)
    colours = ("auto", "always", "never")
    add("--color", choices=colours, default="auto", help="colours in the terminal")
    traced = "print how the verdict follows from the files"
    add("--explain", action=argparse.BooleanOptionalAction, default=False, help=traced)
    add("--against", metavar="GOOD_RUN", help="a healthy run: show what differs from it")
    known = "database of mwms-triage: show when and how often the failure was seen before"
    add("--history", metavar="DB_URL", help=known)
    add("--verify", metavar="REPORT", help="check every quote of an earlier JSON or HTML report against RUN")
    quoted = f"quote what XProf says of the traces, within {XPROF_SECONDS:g} s; needs the extra `profile`"
    add("--xprof", action=argparse.BooleanOptionalAction, default=False, help=quoted)
    add_configuration_options(parser)
    add_standard_options(parser)
    return parser


def _run(arguments: argparse.Namespace) -> int:
    formats = _formats(arguments)
    with local_paths(arguments.paths) as paths, local_paths(_baseline(arguments)) as good_run:
        arguments.against = next(iter(good_run), None)
        if arguments.verify:
            from analyzer.cli.verify import verify

            return verify(paths, Path(arguments.verify))
        if arguments.output == "-" and arguments.explain:
            raise UsageError("--explain prints to standard output, and so does -o -: choose one")
        if arguments.output == "-":
            diagnosis = _analyze(arguments, paths, formats)
            _print(render(diagnosis.document, formats[0]))
        else:
            written = [] if arguments.post and arguments.output is None else formats
            where = targets.resolve_targets(arguments.output, formats, paths)
            if arguments.redact == "topology":
                where = where._replace(suffix=targets.digest_of(arguments.paths))
            diagnosis = _analyze(arguments, paths, (*formats, "text"))
            _report(diagnosis, written, where, arguments.color, explained=arguments.explain)
    _print_warnings(diagnosis, arguments.output)
    if arguments.post:
        _post(arguments.post, diagnosis, formats[0])
    return _status(diagnosis, arguments.fail_on)


def _baseline(arguments: argparse.Namespace) -> list[str]:
    """Return the argument of `--against` as a list of at most one name."""
    if arguments.against == "-":
        raise UsageError("--against -: standard input can only be RUN")
    if arguments.against and "://" not in arguments.against and not Path(arguments.against).exists():
        raise UsageError(f"--against {arguments.against}: no such file or directory")
    return [arguments.against] if arguments.against else []


def _formats(arguments: argparse.Namespace) -> list[str]:
    """Return the formats to render; a webhook gets one, JSON by default."""
    if not arguments.post:
        return targets.chosen_formats(arguments.format, arguments.output)
    from analyzer.cli.webhook import check_webhook

    check_webhook(arguments.post)
    unnamed = arguments.format is None and arguments.output is None
    formats = ["json"] if unnamed else targets.chosen_formats(arguments.format, arguments.output)
    if len(formats) > 1:
        raise UsageError(f"--format {','.join(formats)}: --post takes one format")
    return formats


def _shown_formats(arguments: argparse.Namespace) -> str:
    """Return the value of `--format` as `--print-config` shows it, right or wrong."""
    if arguments.format is None and arguments.output is None and arguments.post:
        return "json"
    return arguments.format or ",".join(targets.chosen_formats(None, arguments.output))


def _post(url: str, diagnosis: Diagnosis, format: str) -> None:  # noqa: A002
    """Send the report to a webhook, and say so on standard error."""
    from analyzer.cli.webhook import post, shown

    post(url, render(diagnosis.document, format), format)
    print(f"mwms-analyze: posted to {shown(url)}", file=sys.stderr)


def _analyze(arguments: argparse.Namespace, paths: Sequence[Path], formats: Sequence[str]) -> Diagnosis:
    """Analyze the paths and return the diagnosis; the renderers are imported while large logs are read."""

    def warm_up() -> None:
        for each in formats:
            FORMATS[each].load()

    _point_out_many_runs(paths)
    limit_polars_threads([*paths, *([arguments.against] if arguments.against else [])])
    with redirect_stdout(sys.stderr), ProgressBar() as progress:  # readers of packages may print
        options = AnalysisOptions(
            rules=tuple(map(rule_directory, arguments.rules)),
            packs=arguments.packs,
            redaction=arguments.redact,
            budget=_limits(arguments.budget),
            against=(arguments.against,) if arguments.against else (),
            xprof_seconds=XPROF_SECONDS if arguments.xprof else 0.0,
            shown_paths=("-",) if "-" in arguments.paths else (),
            progress=progress,
            warm_up=warm_up,
        )
        return _with_history(analyze(paths, options).diagnosis, arguments.history)


def _point_out_many_runs(paths: Sequence[Path]) -> None:
    """Say on standard error that many directories which look like runs are read, which takes a while."""
    for path in paths:
        with suppress(OSError):
            if count := runs_within(path):
                many = f"{path}: reads {count} directories; if each is a job, use mwms-triage"
                print(f"mwms-analyze: {many}", file=sys.stderr)


def _with_history(diagnosis: Diagnosis, url: str | None) -> Diagnosis:
    """Add how often `--history` has seen this failure before, or the reason why it was skipped."""
    if url is None:
        return diagnosis
    try:
        from analyzer.triage.database.earlier_runs import earlier_runs
    except ModuleNotFoundError as error:
        raise UsageError(missing_extra(f"--history: {error.name}", "triage")) from None
    history = earlier_runs(url, diagnosis.document)
    if reason := history.get("skipped"):
        print(f"mwms-analyze: --history was skipped: {reason}", file=sys.stderr)
    return Diagnosis({**diagnosis.document, "history": history})


def _limits(text: str) -> Limits:
    """Parse `60s`, `4GB`, `60s,4GB` or `none`; a limit that is not given has its default."""
    if text == "none":
        return Limits(inf, inf)
    match = re.fullmatch(r"(?:(\d+(?:\.\d+)?)s)?(?:(?:^|,)(\d+(?:\.\d+)?)GB)?", text)
    if not (text and match):
        strange = [part for part in text.split(",") if not re.fullmatch(r"\d+(?:\.\d+)?(?:s|GB)", part)]
        what = f"{strange[0]!r} is neither seconds nor gigabytes" if strange else "seconds come first"
        raise UsageError(f"--budget {text}: {what}; write it like {Limits()}, or none")
    given = zip(match.groups(), Limits(), strict=True)
    return Limits(*(default if part is None else float(part) for part, default in given))


def _print(text: str) -> None:
    """Print a report to standard output as UTF-8, whatever the locale."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")
    write_stdout(text)


def _report(
    diagnosis: Diagnosis, formats: Sequence[str], where: Targets, color: str, *, explained: bool
) -> None:
    paths = where.paths(str(diagnosis.document["run"]["name"]), formats)
    texts = [render(diagnosis.document, each) for each in formats]
    for path, text in zip(paths, texts, strict=True):
        targets.write(path, text)
    on_terminal = sys.stdout.isatty()
    colour = color == "always" or (color == "auto" and on_terminal and "NO_COLOR" not in os.environ)
    write_stdout(terminal(diagnosis.document, colour=colour, width=_width()) + "\n")
    if explained:
        write_stdout(explain(diagnosis.document, _width()) + "\n")
    write_stdout("".join(f"Report: {path}\n" for path in paths))


def _print_warnings(diagnosis: Diagnosis, output: str | None) -> None:
    """Print on standard error which rules failed, and that the run of `--against` is not healthy itself.

    The latter is printed only with `-o -`: otherwise the report in the terminal says it.
    """
    good = diagnosis.document.get("against")
    if output == "-" and good and good.get("verdict") != Verdict.HEALTHY.value:
        print(f"mwms-analyze: --against: compared with {good['run']}, {how_it_went(good)}", file=sys.stderr)
    for finding in diagnosis.document["findings"]:
        if finding["outcome"] == Outcome.ERROR.value:
            print(f"mwms-analyze: rule {finding['rule']} failed: {finding['reason']}", file=sys.stderr)


def _width() -> int:
    columns = os.get_terminal_size().columns if sys.stdout.isatty() else 100
    return min(110, max(40, columns))


def _status(diagnosis: Diagnosis, fail_on: str) -> int:
    """Return the exit status; `_EPILOG` lists them."""
    if diagnosis.verdict in {Verdict.HEALTHY, *([Verdict.DEGRADED] if fail_on == "failed" else [])}:
        return 0
    return 3 if diagnosis.document["cause"] in {None, "unknown"} else 1


if __name__ == "__main__":
    sys.exit(process())
