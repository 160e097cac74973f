"""Selects the last lines of each worker, for failures that no rule explains."""

from collections import Counter
from typing import NamedTuple

import polars as pl

from analyzer.diagnose.log_lines.lines import Line, numbered
from analyzer.model.contract import EvidencePlace
from analyzer.model.log_template import template_of
from analyzer.model.run import Tables

MOST_WORKERS, MOST_LINES = 4, 3
_MOST_LINE = 400


class _Words(NamedTuple):
    worker: str
    what: str
    source: str
    lines: tuple[Line, ...]
    time: float | None


def last_words(tables: Tables) -> list[EvidencePlace]:
    """Return each worker's last own error, else its last lines; lines of one worker only come first."""
    workers = tables["workers"]["worker"].to_list()
    found = _errors(tables["exceptions"])
    silent = set(workers) - {each.worker for each in found}
    found += _ends(tables["records"].filter(pl.col("worker").is_in(list(silent))))
    said = [template_of(" ".join(text for _, text in each.lines)) for each in found]
    shared = Counter(said)
    ranked = sorted(zip(found, said, strict=True), key=lambda f: (shared[f[1]], workers.index(f[0].worker)))
    return [_evidence(words) for words, _ in ranked[:MOST_WORKERS]]


def _errors(exceptions: pl.DataFrame) -> list[_Words]:
    own = exceptions.filter(pl.col("own") & pl.col("worker").is_not_null() & pl.col("line").is_not_null())
    last = own.group_by("worker", maintain_order=True).last()
    return [
        _Words(row["worker"], "The last error", row["source"], ((row["line"], row["says"]),), row["time"])
        for row in last.iter_rows(named=True)
    ]


def _ends(records: pl.DataFrame) -> list[_Words]:
    """Return the last lines of each worker's latest source; routine lines only if nothing else is there."""
    chatter = (pl.col("kind") == "progress") | (pl.col("level").fill_null("") == "I")
    marked = records.with_columns(chatter=chatter)
    told = marked.filter(~pl.col("chatter") | pl.col("chatter").all().over("worker"))
    words = []
    for (worker,), own in told.group_by("worker", maintain_order=True):
        source = own.sort("near", nulls_last=False, maintain_order=True)["source"].to_list()[-1]
        last = own.filter(pl.col("source") == source).tail(MOST_LINES).to_dicts()
        lines = [line for record in last for line in numbered(record) if line[1].strip()]
        if lines:
            what = "The last line" if len(lines) == 1 else "The last lines"
            words.append(_Words(str(worker), what, source, tuple(lines[-MOST_LINES:]), last[-1]["time"]))
    return words


def _evidence(words: _Words) -> EvidencePlace:
    *before, (line, text) = words.lines
    return {
        "says": f"{words.what} of {words.worker}",
        "kind": "line",
        "worker": words.worker,
        "source": words.source,
        "line": line,
        "excerpt": "\n".join(each[:_MOST_LINE] for each in text.split("\n")[:MOST_LINES]),
        "marks": [],
        "time": words.time,
        "context": [[number, each[:_MOST_LINE]] for number, each in before],
    }
