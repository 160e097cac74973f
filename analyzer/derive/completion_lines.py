"""The line with which a training script says that it is done."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.derive.ordering import Row, comes_after

_DONE = re.compile(
    r"\b(?:finished|done|complete[d]?|successfully|end of training|exiting|bye|goodbye"
    r"|total (?:training )?time|training took|saved (?:the )?(?:final )?model)\b",
    re.IGNORECASE,
)
_NOT_DONE = re.compile(
    r"\b(?:error|fail\w*|abort\w*|not|cannot|unable|before|waiting|epoch|warm-?up|initiali[sz]\w*|download\w*|loading"
    r"|setup|set-up|compil\w*|connected|preprocess\w*|profil\w*)\b",
    re.IGNORECASE,
)


def closings(
    records: pl.DataFrame, progress: Mapping[tuple[str, int], Sequence[Row]]
) -> dict[tuple[str, int], dict[str, Any]]:
    """(worker, attempt) → the record, behind its last step, that says the work is done."""
    plain = records.filter(
        pl.col("kind").is_in(["plain", "python"])
        & (pl.col("level").is_null() | (pl.col("level") == "I"))
        & (pl.col("text").str.len_chars() < 300)
    )
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in plain.iter_rows(named=True):
        if _DONE.search(row["text"]) and not _NOT_DONE.search(row["text"]):
            life = row["worker"], row["attempt"]
            order = {comes_after(row, step) for step in progress.get(life, ())}
            if True in order and False not in order:
                found[life] = row
    return found
