"""Computes a fingerprint that is equal for equal failures, whatever the worker, host or time."""

import hashlib

import polars as pl

from analyzer.diagnose.decide import Decision
from analyzer.model.log_template import template_of
from analyzer.model.run import Tables


def fingerprint(decision: Decision, tables: Tables) -> str:
    """Return 16 hexadecimal digits, computed from verdict, cause, rule and the workers' own exceptions."""
    raised = tables["exceptions"].filter(pl.col("own") & pl.col("final"))
    parts = {f"{row['type']}|{template_of(row['message'][:200])}" for row in raised.iter_rows(named=True)}
    rule = decision.chosen.rule if decision.chosen else ""
    text = "\n".join([decision.verdict.value, decision.cause or "", rule, *sorted(parts)])
    return hashlib.sha256(text.encode()).hexdigest()[:16]
