"""`--verify`: checks that the lines quoted by an earlier diagnosis are still in the files of its run."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from analyzer.cli.terminal.entrypoint import write_stdout
from analyzer.discover import discover, is_report
from analyzer.ingest.raw_lines import lines_at
from analyzer.model.errors import UsageError
from analyzer.redact import redact
from analyzer.render.sanitize import one_line
from analyzer.verify import Mismatch, Quote, lines_to_read, mismatches, quotes

_OFFERED = re.compile(r"""<a id="diagnosis"[^>]{0,200} href='data:application/json,([^']*)'""")
"""Regex for the link in an HTML report that holds its diagnosis."""
_MAX_TEXT = 160
"""Maximum number of characters printed of a quoted line."""


def verify(paths: Sequence[Path], report: Path) -> int:
    """Print the quotes of a JSON or HTML report that are missing from the files; return 1 if any is, else 0.

    Raises:
        UsageError: the report is not a diagnosis, its hosts and addresses were renamed, or another report is
            given as a run.
        NothingReadable: no path leads to a readable file.
    """
    try:
        document = _read(report)
        quoted, about = quotes(document), str(document["run"]["name"])
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"--verify {report}: this is not a diagnosis: {error!r}") from error
    _require_no_report(paths)
    run = discover(paths)
    failed = mismatches(quoted, lines_at(run, lines_to_read(quoted)))
    lines = [*_report_lines(run.name, about, quoted, failed)]
    if report.suffix == ".html":
        lines.append(
            "Of an HTML report, the JSON that it offers for download was verified, not the page itself."
        )
    write_stdout("".join(f"{line}\n" for line in lines))
    return 1 if failed else 0


def _require_no_report(paths: Sequence[Path]) -> None:
    """Raise UsageError if one of several paths is a report of this tool."""
    given = [path for path in paths if len(paths) > 1 and path.is_file()]
    if report := next((path for path in given if is_report(path)), None):
        raise UsageError(f"{report}: a report, and --verify takes one; give the run that it is about")


def _read(report: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(_json_in(report.read_text(encoding="utf-8")))
    except OSError as error:
        raise UsageError(f"--verify {report}: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(
            f"--verify {report}: this is not a JSON or HTML report; create one with --format json"
        ) from error
    if not isinstance(document, dict) or document.get("schema") != "mwms-diagnosis/1":
        raise UsageError(f"--verify {report}: this is not a diagnosis; create one with --format json")
    if document["made_with"]["options"].get("redact") == "topology":
        renamed = "made with --redact topology, which renames hosts, addresses and users"
        raise UsageError(f"--verify {report}: {renamed}; its quotes cannot be verified")
    return document


def _json_in(text: str) -> str:
    """Return the diagnosis that an HTML report offers for download; any other text as it is."""
    from urllib.parse import unquote

    offered = _OFFERED.search(text)
    return unquote(offered[1]) if offered else text


def _report_lines(run: str, about: str, quoted: Sequence[Quote], failed: Sequence[Mismatch]) -> Iterator[str]:
    yield f"{run}: {len(quoted) - len(failed):,} of {len(quoted):,} quotes verified"
    if run != about and len(failed) * 2 > len(quoted):
        yield f"The report is about {one_line(about)}, not {run}. Give the run that it is about."
        return
    for quote, found in _without_secrets(failed):
        yield f"  {one_line(quote.source)}:{quote.line}"
        yield f"    quoted {one_line(quote.text, _MAX_TEXT)}"
        yield f"    now    {one_line(found, _MAX_TEXT)}"


def _without_secrets(failed: Sequence[Mismatch]) -> list[Mismatch]:
    """Return the mismatches with secrets masked in the text now found; quotes are masked already."""
    masked = redact({"found": [each.found for each in failed]})["found"]
    return [each._replace(found=found) for each, found in zip(failed, masked, strict=True)]
