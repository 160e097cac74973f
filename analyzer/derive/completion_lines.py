"""Finds the line in which a training script reports completion (wording: `rules/messages/`)."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.derive.ordering import Row, comes_after
from analyzer.model.messages import Messages

_LONGEST = 300
"""Maximum length in characters of a completion line."""


def completion_lines(
    records: pl.DataFrame, progress: Mapping[tuple[str, int], Sequence[Row]], messages: Messages
) -> dict[tuple[str, int], dict[str, Any]]:
    """Return (worker, attempt) → the completion line that follows its last step."""
    plain = records.filter(
        pl.col("kind").is_in(["plain", "python"])
        & (pl.col("level").is_null() | (pl.col("level") == "I"))
        & (pl.col("text").str.len_chars() < _LONGEST)
    )
    done, not_done = messages.pattern("done"), messages.pattern("not_done")
    found: dict[tuple[str, int], dict[str, Any]] = {}
    for row in plain.iter_rows(named=True):
        if done.search(row["text"]) and not not_done.search(row["text"]):
            life = row["worker"], row["attempt"]
            order = {comes_after(row, step) for step in progress.get(life, ())}
            if True in order and False not in order:
                found[life] = row
    return found
