"""`--verify`: whether what an earlier diagnosis quotes still stands where it says."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.cli.entrypoint import say
from analyzer.discover import discover
from analyzer.ingest.quote_lookup import Lines, lines_at
from analyzer.model.errors import UsageError
from analyzer.redact import redact
from analyzer.redact.secrets import TOKEN
from analyzer.render.sanitize import one_line

_GAP = re.compile(rf"{TOKEN.pattern}|… \d+ characters cut …")
"""What a report shows in place of a secret, or of the middle of an endless line."""
_MOST_SHOWN = 160


class Citation(NamedTuple):
    """Words that a diagnosis quotes, and where it says that they stand."""

    source: str
    line: int
    words: str


class _Failure(NamedTuple):
    citation: Citation
    now: str


def verify(paths: Sequence[Path], report: Path) -> int:
    """Check each citation of a JSON diagnosis, print those that do not hold, and give the exit status.

    Raises:
        UsageError: the report is none, or hosts and addresses were renamed in it.
        NothingReadable: the run cannot be reached.

    """
    try:
        cited = list(dict.fromkeys(_citations(_read(report))))
    except (KeyError, TypeError, ValueError) as error:
        raise UsageError(f"--verify {report}: this is no diagnosis: {error!r}") from error
    wanted: dict[str, set[int]] = defaultdict(set)
    for each in cited:
        wanted[each.source].add(each.line)
    run = discover(paths)
    there = lines_at(run, wanted)
    failures = [
        _Failure(each, now) for each in cited if (now := _fault(each, there[each.source])) is not None
    ]
    say("".join(f"{line}\n" for line in _told(run.name, cited, failures)))
    return 1 if failures else 0


def _read(report: Path) -> Mapping[str, Any]:
    try:
        document = json.loads(report.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"--verify {report}: {(error.strerror or str(error)).lower()}") from error
    except (ValueError, RecursionError) as error:
        raise UsageError(f"--verify {report}: this is no JSON: {error}") from error
    if not isinstance(document, dict) or document.get("schema") != "mwms-diagnosis/1":
        raise UsageError(f"--verify {report}: this is no diagnosis; make one with --format json")
    if document["made_with"]["options"].get("redact") == "topology":
        raise UsageError(
            f"--verify {report}: it was made with --redact topology, which renames hosts, addresses and "
            "users: its citations cannot be verified"
        )
    return document


def _citations(document: Mapping[str, Any]) -> Iterator[Citation]:
    quoted = [each for finding in document["findings"] for each in finding["evidence"]]
    for each in (*quoted, *document["last_words"]):
        if each["source"] is not None and each["line"] is not None:
            yield from (Citation(each["source"], number, words) for number, words in each["context"])
            yield Citation(each["source"], each["line"], each["excerpt"])


def _fault(cited: Citation, there: Lines | str) -> str | None:
    """What stands there instead; None where the words do."""
    if isinstance(there, str):
        return f"({there})"
    texts = there.get(cited.line)
    if texts is None:
        return "(no such line)"
    wanted = [part.strip() for part in _GAP.split(cited.words.partition("\n")[0])]
    return None if any(_holds(text, wanted) for text in texts) else texts[0].strip() or "(an empty line)"


def _holds(text: str, parts: Sequence[str]) -> bool:
    """Whether a text has these parts in their order."""
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return True


def _told(name: str, cited: Sequence[Citation], failures: Sequence[_Failure]) -> Iterator[str]:
    held = len(cited) - len(failures)
    yield f"{name}: {held:,} of {len(cited):,} citations hold"
    for failure in _masked(failures):
        yield f"  {one_line(failure.citation.source)}:{failure.citation.line}"
        yield f"    cited  {one_line(failure.citation.words, _MOST_SHOWN)}"
        yield f"    now    {one_line(failure.now, _MOST_SHOWN)}"


def _masked(failures: Sequence[_Failure]) -> list[_Failure]:
    """The failures without the secrets that may stand in the files now."""
    safe = redact({"now": [failure.now for failure in failures]})["now"]
    return [failure._replace(now=now) for failure, now in zip(failures, safe, strict=True)]
