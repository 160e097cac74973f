"""Looks up single log lines by number, and selects the last ones of each worker."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Collection, Mapping
from itertools import groupby, islice
from operator import itemgetter
from typing import Any, NamedTuple

import polars as pl

from analyzer.model.contract import EvidencePlace
from analyzer.model.log_template import template_of
from analyzer.model.placeholders import shorten
from analyzer.model.run import Tables
from analyzer.model.tracebacks.parse import parse
from analyzer.tables.line_numbers import line_numbers

HEADING = "Traceback (most recent call last):"
_NO_FRAMES = "<stack traces unavailable>"
MAX_WORKERS, MAX_LINES = 4, 3
_MAX_LINE_CHARS = 400
Line = tuple[int, str]


class LineTexts:
    """Texts of log lines by source and line number, from records, or else from the excerpts of facts."""

    def __init__(self, tables: Tables, sources: Collection[str]) -> None:
        own = pl.col("source").is_in(list(sources))
        facts = tables["facts"].filter(own & pl.col("line").is_not_null() & pl.col("excerpt").is_not_null())
        stated: dict[tuple[str, int], dict[str | None, str]] = {}
        for source, line, worker, excerpt in facts.select("source", "line", "worker", "excerpt").iter_rows():
            stated.setdefault((source, line), {})[worker] = excerpt
        self._facts = {place: [*said.values()][-1] for place, said in stated.items() if _agree(said)}
        wanted = (
            tables["records"].filter(own).select("source", "line", "last_line", "lines", "text").sort("line")
        )
        parts = wanted.partition_by("source", as_dict=True)
        self._records = {str(source): part for (source,), part in parts.items()}
        self._starts = {source: part["line"].to_list() for source, part in self._records.items()}

    def above(self, source: str | None, line: int, most: int) -> list[Line]:
        """Return up to `most` recorded lines directly above a line."""
        records = self._records.get(source or "")
        if records is None:
            return []
        place = bisect_left(self._starts[source or ""], line)
        before = records.slice(max(place - most, 0), min(place, most)).to_dicts()
        return [each for record in before for each in numbered(record) if each[0] < line][-most:]

    def at(self, source: str | None, line: int) -> str:
        """Return the text of a line, empty if it was not recorded."""
        records = self._records.get(source or "")
        place = bisect_right(self._starts.get(source or "", []), line)
        record = records.row(place - 1, named=True) if records is not None and place else None
        known = dict(numbered(record)) if record else {}
        text = known.get(line) or self._facts.get((source or "", line), "")
        return _with_exception(text, record) if record and len(known) == 1 else text


def _agree(said: Mapping[str | None, str]) -> bool:
    """Return False if a line, such as all of a JSON file, says something else of each worker."""
    return len(said) == 1 or len({*said.values()}) == 1


def _with_exception(text: str, record: Mapping[str, Any]) -> str:
    """Return a line; if it only begins a traceback, with the line below it that names the exception.

    The number of that line is not known where lines of other workers stand between.
    """
    raised = parse(record["text"]) if text.endswith(HEADING) and record["text"].startswith(text) else None
    return "\n".join([text, *_statement(record["text"][raised.start :])]) if raised else text


def _statement(text: str) -> list[str]:
    """Return the line that names an exception; below a mere heading, also the first that states more."""
    first, *below = (line for line in text.split("\n") if line.strip())
    below = [line for line in below if not (line[:1].isspace() or line.startswith(_NO_FRAMES))]
    stating = (line for line in below if not line.endswith(":"))
    return [first, *islice(stating, first.endswith(":"))]


def numbered(record: Mapping[str, Any]) -> list[Line]:
    """Return the lines of a record with their line numbers, without those whose number is unknown."""
    lines = zip(line_numbers(record), record["text"].split("\n"), strict=True)
    return [(number, text) for number, text in lines if number is not None]


class _FinalLines(NamedTuple):
    """The last lines of a worker, or its last error; `what` says which, as the start of a sentence."""

    worker: str
    what: str
    source: str
    lines: tuple[Line, ...]
    time: float | None


def odd_exit(tables: Tables) -> tuple[str, int] | None:
    """Return (worker, exit code) of the one worker whose code stands out; None if there is none.

    It is the only code other than 0, or the only one above 1: Python itself exits with 1.
    """
    codes = dict(tables["lifetimes"].select("worker", "exit_code").drop_nulls().iter_rows())
    bad = [worker for worker, code in codes.items() if code]
    odd = bad if len(bad) == 1 else [worker for worker in bad if codes[worker] > 1]
    return (odd[0], codes[odd[0]]) if len(odd) == 1 else None


def last_words(tables: Tables) -> list[EvidencePlace]:
    """Return each worker's last own error, else its last lines.

    Those of the worker whose exit code stands out come first, then the rarest lines.
    """
    odd = odd_exit(tables)
    places = {worker: place for place, worker in enumerate(tables["workers"]["worker"])}
    found = _errors(tables["exceptions"])
    silent = places.keys() - {each.worker for each in found}
    sizes = dict(tables["sources"].select("source", "lines").drop_nulls().iter_rows())
    found += _ends(tables["records"].filter(pl.col("worker").is_in(list(silent))), sizes)
    templates = [template_of(" ".join(text for _, text in each.lines)) for each in found]
    shared = Counter(templates)
    ranked = sorted(
        zip(found, templates, strict=True),
        key=lambda f: (odd is None or f[0].worker != odd[0], shared[f[1]], places[f[0].worker]),
    )
    return [_evidence(words) for words, _ in ranked[:MAX_WORKERS]]


def _errors(exceptions: pl.DataFrame) -> list[_FinalLines]:
    own = exceptions.filter(pl.col("own") & pl.col("worker").is_not_null() & pl.col("line").is_not_null())
    last = own.group_by("worker", maintain_order=True).last()
    return [
        _FinalLines(
            row["worker"], "The last error", row["source"], ((row["line"], row["says"]),), row["time"]
        )
        for row in last.iter_rows(named=True)
    ]


def _ends(records: pl.DataFrame, sizes: Mapping[str, int]) -> list[_FinalLines]:
    """Return the last lines of each worker's latest source; routine lines only if it logged no others since.

    Lines of the start-up, above the first progress, tell nothing of the end. `sizes` has the number of lines
    of each source.
    """
    progress = pl.col("kind") == "progress"
    started = pl.col("line").filter(progress).min().over("source").fill_null(0)
    chatter = progress | (pl.col("level").fill_null("") == "I") | (pl.col("line") < started)
    latest = pl.col("source").sort_by("near", nulls_last=False, maintain_order=True).last().over("worker")
    ends = records.with_columns(chatter=chatter).filter(pl.col("source") == latest)
    shown = ends.filter(~pl.col("chatter") | pl.col("chatter").all().over("worker"))
    last = shown.group_by("worker", maintain_order=True).tail(MAX_LINES)
    words = []
    for worker, records_of_worker in groupby(last.iter_rows(named=True), itemgetter("worker")):
        *_, final = own = list(records_of_worker)
        lines = [line for record in own for line in numbered(record) if line[1].strip()]
        if lines:
            below = "#" not in final["source"] and lines[-1][0] < sizes.get(final["source"], 0)
            what = f"The last {'notable ' if below else ''}{'line' if len(lines) == 1 else 'lines'}"
            words.append(_FinalLines(worker, what, final["source"], tuple(lines[-MAX_LINES:]), final["time"]))
    return words


def _evidence(words: _FinalLines) -> EvidencePlace:
    *before, (line, text) = words.lines
    return {
        "says": f"{words.what} of {words.worker}",
        "kind": "line",
        "worker": words.worker,
        "source": words.source,
        "line": line,
        "excerpt": "\n".join(shorten(each, _MAX_LINE_CHARS) for each in text.split("\n")[:MAX_LINES]),
        "marks": [],
        "time": words.time,
        "context": [[number, shorten(each, _MAX_LINE_CHARS)] for number, each in before],
    }
