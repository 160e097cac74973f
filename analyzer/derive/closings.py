"""The line with which a training script says that it is done."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import polars as pl

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


def closings(records: pl.DataFrame, last_steps: Mapping[str, int]) -> dict[tuple[str, int], dict[str, Any]]:
    """(worker, attempt) → the record, behind its last step, that says the work is done."""
    plain = records.filter(
        pl.col("kind").is_in(["plain", "python"])
        & (pl.col("level").is_null() | (pl.col("level") == "I"))
        & (pl.col("text").str.len_chars() < 300)
    )
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in plain.iter_rows(named=True):
        after = row["line"] > last_steps.get(row["source"], 0) and row["source"] in last_steps
        if after and _DONE.search(row["text"]) and not _NOT_DONE.search(row["text"]):
            found[row["worker"], row["attempt"]] = row
    return found
