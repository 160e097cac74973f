"""Options of `mwms-triage`, from the command line and from `triage.toml`."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from analyzer import __version__
from analyzer.model.errors import UsageError

_EXIT_CODES = """exit status:
  0    nothing new failed
  1    a run that is new or changed failed or is degraded
  2    wrong usage, a rule file is wrong, or another mwms-triage is at work
  3    nothing new failed, but a new run is inconclusive or could not be examined
  4    no run was found
  70   internal error
  130  interrupted; the next call goes on from there"""
_NOTIFY = "report new failures to https://…, slack+https://…, or smtp://HOST?from=…&to=…"
_ON_NEW = "shell command for each new failure, which MWMS_TITLE, MWMS_LINK … describe"
_UNITS = {"s": 1.0, "m": 60.0, "h": 3_600.0, "d": 86_400.0, "w": 604_800.0}


def parsed(argv: Sequence[str] | None) -> argparse.Namespace:
    """Return the options in effect, with `owners` of the configuration file.

    Raises:
        UsageError: the configuration file cannot be used, or ROOT or -o is missing.

    """
    found = parser().parse_args(argv)
    roots, owners, more = _from_file(Path(found.config)) if found.config else ([], {}, [])
    if more:
        found = parser().parse_args([*more, *_own(argv)])
    found.roots, found.owners = found.roots or roots, owners
    if not found.print_config and not (found.roots and found.output):
        raise UsageError("give ROOT and -o DIR, on the command line or in the file of --config")
    return found


def _own(argv: Sequence[str] | None) -> Sequence[str]:
    return sys.argv[1:] if argv is None else argv


def _from_file(path: Path) -> tuple[list[str], dict[str, str], list[str]]:
    """Return roots, owners, and all other options of a configuration file as command-line arguments."""
    try:
        given = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--config {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"--config {path}: {error}") from error
    roots, owners = given.pop("roots", []), given.pop("owners", {})
    _require(path, "roots", roots, "a list of texts", _is_texts(roots))
    _require(
        path, "owners", owners, "a table of texts", isinstance(owners, dict) and _is_texts([*owners.values()])
    )
    options = {action.dest.replace("_", "-"): action for action in _options()}
    arguments: list[str] = []
    for name, value in given.items():
        if name not in options:
            near = get_close_matches(name, [*options, "roots", "owners"], 1)
            raise UsageError(
                f"--config {path}: unknown option {name}" + (f"; did you mean {near[0]}?" if near else "")
            )
        arguments += _arguments(path, name, value, options[name])
    return roots, owners, arguments


def _arguments(path: Path, name: str, value: object, action: argparse.Action) -> list[str]:
    if action.nargs == 0:
        _require(path, name, value, "true or false", isinstance(value, bool))
        return [f"--{name}"] if value else []
    if isinstance(action.default, list):
        _require(path, name, value, "a list of texts", _is_texts(value))
        return [f"--{name}={each}" for each in value] if isinstance(value, list) else []
    plain = isinstance(value, str | int) and not isinstance(value, bool)
    _require(path, name, value, "a text or a number", plain)
    return [f"--{name}={value}"]


def _require(path: Path, name: str, value: object, kind: str, holds: bool) -> None:
    if not holds:
        raise UsageError(f"--config {path}: {name} = {value!r}: give {kind}")


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def _options() -> Iterator[argparse.Action]:
    """Yield the options that a configuration file may hold."""
    hidden = {"help", "version", "config", "print_config", "now", "roots"}
    yield from (each for each in parser()._actions if each.dest not in hidden)  # noqa: SLF001 - no public way


def as_toml(options: argparse.Namespace) -> str:
    """Return options as a configuration file; passwords and the paths of notification URLs are masked."""
    lines = [f"roots = {_toml(options.roots)}"]
    for action in _options():
        value = _masked(action.dest, getattr(options, action.dest))
        name = action.dest.replace("_", "-")
        lines.append(f"# {name} =" if value is None else f"{name} = {_toml(value)}")
    lines += ["", "[owners]", *(f"{_toml(glob)} = {_toml(owner)}" for glob, owner in options.owners.items())]
    return "\n".join(lines) + "\n"


def _host_only(url: str) -> str:
    return f"{url.partition('://')[0]}://{urlsplit(url).hostname}/…"


def _toml(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _masked(name: str, value: Any) -> Any:  # noqa: ANN401 - an option's value
    if name == "notify":
        return [
            each if "$" in each else f"{each.partition('://')[0]}://{urlsplit(each).hostname}/…"
            for each in value
        ]
    if name == "history" and value:
        return re.sub(r"(?<=:)[^:/@]+(?=@)", "***", value)
    return value


def parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; defaults of its own stand beside each option."""
    made = argparse.ArgumentParser(
        prog="mwms-triage",
        description="Diagnoses the runs that are new since the last call; lists new and recurring failures.",
        epilog=_EXIT_CODES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = made.add_argument
    add("roots", nargs="*", metavar="ROOT", help="a directory with runs below it, or s3://… or gs://…")
    add(
        "-o",
        "--output",
        metavar="DIR",
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
    add("--layout", metavar="PATTERN", help="what directories mean: {team}/{job}/{run} (default: a guess)")
    add("--digest-by", choices=("team", "job", "owner"), help="also write digests/NAME.md for each of them")
    add("--notify", metavar="URL", action="append", default=[], help=_NOTIFY)
    add("--on-new", metavar="COMMAND", action="append", default=[], help=_ON_NEW)
    add("--config", metavar="FILE", help="read options from a TOML file; the command line has precedence")
    add("--print-config", action="store_true", help="print the options in effect as TOML, and exit")
    add("--now", help=argparse.SUPPRESS)
    add("--version", action="version", version=f"mwms-triage {__version__}")
    return made


def _positive(given: str) -> int:
    """Return a whole number above 0; argparse reports other text."""
    if (number := int(given)) < 1:
        raise argparse.ArgumentTypeError(f"{given}: give a whole number above 0")
    return number


def seconds(option: str, given: str) -> float:
    """Return a duration in seconds, given as `90`, `90s`, `15m`, `12h`, `3d` or `2w`."""
    match = re.fullmatch(r"(\d{1,9}(?:\.\d{1,6})?)([smhdw]?)", given)
    if not match:
        raise UsageError(f"{option} {given}: give a length of time, such as 90s, 15m, 12h or 3d")
    return float(match[1]) * _UNITS[match[2] or "s"]


def since(given: str, now: float) -> float:
    """Return the time, in seconds since the epoch, that lies a duration before `now` or begins a date."""
    return now - seconds("--since", given) if given[-1] in _UNITS else timestamp(given)


def timestamp(given: str) -> float:
    """Return a time in seconds since the epoch, given as such or as a date in UTC."""
    try:
        return float(given) if re.fullmatch(r"\d{9,11}(\.\d+)?", given) else _date_timestamp(given)
    except ValueError:
        raise UsageError(f"{given}: give a length of time such as 3d, or a date such as 2026-11-20") from None


def _date_timestamp(given: str) -> float:
    moment = datetime.fromisoformat(given)
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
