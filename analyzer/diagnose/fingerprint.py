"""Equal failures, equal fingerprints: made without worker, host, time, address and number."""

from __future__ import annotations

import hashlib
import re

import polars as pl

from analyzer.diagnose.decide import Decision
from analyzer.model import Tables

_VOLATILE = (
    (re.compile(r"https?://\S+|\w+://\S+"), "<url>"),
    (re.compile(r"(?:/[\w.@+=-]+){2,}/?"), "<path>"),
    (re.compile(r"0x[0-9a-fA-F]+|\b[0-9a-f]{12,}\b"), "<hex>"),
    (
        re.compile(r"/job:\w+(?:/replica:\d+)?/task:\d+(?:/device:\w+:\d+)?|\b(?:worker|chief|ps)[:-]\d+\b"),
        "<task>",
    ),
    (re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b|\b[\w.-]+:\d{2,5}\b"), "<address>"),
    (re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"), "<n>"),
)


def fingerprint(decision: Decision, tables: Tables) -> str:
    """Sixteen hexadecimal digits; the exceptions that workers raised of their own doing take part."""
    raised = tables["exceptions"].filter(pl.col("own") & pl.col("final"))
    parts = {f"{row['type']}|{masked(row['message'][:200])}" for row in raised.iter_rows(named=True)}
    rule = decision.chosen.rule if decision.chosen else ""
    text = "\n".join([decision.verdict.value, decision.cause or "", rule, *sorted(parts)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def masked(text: str) -> str:
    """A text without what differs from run to run."""
    for pattern, mask in _VOLATILE:
        text = pattern.sub(mask, text)
    return " ".join(text.split())
