"""Builds the output document that `reports/diagnosis.schema.json` specifies."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Literal, cast

import polars as pl

from analyzer.diagnose import phrasing
from analyzer.diagnose.advice.action import action_on_job
from analyzer.diagnose.advice.recipes import recipes_for
from analyzer.diagnose.comparison.baseline_diff import BaselineRun, against
from analyzer.diagnose.comparison.fingerprint import fingerprint
from analyzer.diagnose.decide import Decision
from analyzer.diagnose.finding_reports import finding_reports
from analyzer.diagnose.log_lines.anomalous_lines import odd_lines
from analyzer.diagnose.log_lines.lines import last_words
from analyzer.diagnose.log_lines.telling_lines import (
    deciding_file,
    described,
    telling_lines,
    without_harmless,
)
from analyzer.diagnose.near_misses import near_misses
from analyzer.diagnose.timeline import pauses_by_worker, timeline
from analyzer.diagnose.trace import collectives, traced
from analyzer.diagnose.wording import ended_on_its_own, wording
from analyzer.diagnose.workers import worker_reports
from analyzer.model import contract
from analyzer.model.findings import Finding, Outcome, Verdict
from analyzer.model.run import Tables
from analyzer.tables.grouping import grouped
from analyzer.tables.kernel_times import RunTimes

UNSURE = 0.5
"""Confidence below which the document lists informative log lines and their possible causes."""
_DAMAGE = ("source", "offset", "length", "line", "what")


def document(
    name: str,
    decision: Decision,
    findings: Sequence[Finding],
    tables: Tables,
    made_with: contract.MadeWith,
    good: BaselineRun | None = None,
    renamed: Mapping[str, str] = MappingProxyType({}),
    meanings: Mapping[str, str] = MappingProxyType({}),
) -> contract.DiagnosisDocument:
    """Return the whole diagnosis; independent of the current time and the run's location.

    `renamed` maps former ids of causes and rules to the present ones, so that fingerprints stay equal;
    `meanings` maps causes to what they mean.
    """
    parts = _parts(decision, tables)
    paused = pauses_by_worker(tables["pauses"])
    unsure = decision.verdict is not Verdict.HEALTHY and decision.confidence < UNSURE
    lines = _log_lines(decision, findings, tables, meanings, unsure=unsure)
    made = {
        "schema": "mwms-diagnosis/1",
        "run": _run(name, tables),
        **_verdict(decision, parts),
        **_advice(decision, findings, tables, lines["deciding_file"]),
        "fingerprint": fingerprint(decision, tables, renamed),
        "workers": worker_reports(tables, parts, paused, decision.cause),
        "clocks": tables["clocks"].to_dicts(),
        "barriers": _barriers(tables["barriers"]),
        **lines,
        "against": against(tables, good) if good else None,
        "alternatives": _alternatives(decision),
        "near_misses": near_misses(findings, decision, tables),
        "findings": finding_reports(_in_order(findings, decision), tables),
        "collect": recipes_for(findings, unsure, tables),
        **_events(tables, parts, paused, decision.cause),
        "facts": _facts(tables),
        "sources": tables["sources"].rename({"source": "name"}).to_dicts(),
        "damage": tables["damage"].select(_DAMAGE).to_dicts(),
        "made_with": made_with,
    }
    return cast(contract.DiagnosisDocument, made)


def _verdict(decision: Decision, parts: Mapping[str, str]) -> dict[str, Any]:
    """Return the verdict with its cause, and the workers by their part in the failure."""
    named = {"culprits": "culprit", "suspects": "suspect", "witnesses": "witness"}
    return {
        "verdict": decision.verdict.value,
        "cause": decision.cause,
        "rule": decision.chosen.rule if decision.chosen else None,
        "confidence": decision.confidence,
        **{key: [worker for worker, part in parts.items() if part == own] for key, own in named.items()},
    }


def _advice(
    decision: Decision,
    findings: Sequence[Finding],
    tables: Tables,
    deciding: contract.DecidingFile | None,
) -> dict[str, Any]:
    """Return the parts of the document that a reader needs first: summary, reasons, next steps, action.

    If no rule explains the failure, `deciding` is the file that would help most; a next step asks for it.
    """
    steps = phrasing.next_steps(decision, tables, deciding and deciding["kind"])
    return {
        "summary": phrasing.summary(decision, tables),
        "why": phrasing.why(decision, tables),
        "next": [step._asdict() for step in steps],
        "action": action_on_job(decision, findings, tables),
    }


def _log_lines(
    decision: Decision,
    findings: Sequence[Finding],
    tables: Tables,
    meanings: Mapping[str, str],
    *,
    unsure: bool,
) -> dict[str, Any]:
    """Return the log lines to show, and the file that would decide an `unsure` diagnosis."""
    tables = without_harmless(_of_its_time(tables), findings)
    found = telling_lines(tables) if unsure else []
    telling = described(found, meanings)
    last, odd = _unexplained(decision, telling, tables)
    return {
        "last_words": last,
        "odd_lines": odd,
        "telling_lines": telling,
        "deciding_file": deciding_file(found, tables) if unsure else None,
    }


def _of_its_time(tables: Tables) -> Tables:
    """Return the tables without the records of kernel logs that were not written while the run went on."""
    records = tables["records"]
    apart = RunTimes(tables["sources"], records, tables["scalars"]).apart_from_run(records, "text")
    return {**tables, "records": records.filter(~apart)} if apart.any() else tables


def _events(
    tables: Tables,
    parts: Mapping[str, str],
    paused: Mapping[str, Sequence[contract.PauseInterval]],
    cause: str | None,
) -> dict[str, Any]:
    """Return the timeline and the trace, with the numbers of what was left out."""
    events, events_left_out = timeline(tables, parts, paused, cause)
    calls, calls_left_out = collectives(tables)
    return {
        "timeline": events,
        "events_left_out": events_left_out,
        "trace": traced(tables),
        "collectives": calls,
        "collectives_left_out": calls_left_out,
    }


def _unexplained(
    decision: Decision, telling: Sequence[contract.TellingLine], tables: Tables
) -> tuple[list[contract.EvidencePlace], list[contract.EvidencePlace]]:
    """Return the last words of workers and odd log lines, if no rule explains the failure; each line once."""
    if decision.verdict is Verdict.HEALTHY or decision.chosen:
        return [], []
    last = last_words(tables)
    context = {(each["source"], number) for each in last for number, _ in each["context"]}
    shown = context | {(each["source"], each["line"]) for each in (*last, *(one["line"] for one in telling))}
    return last, odd_lines(tables, shown=shown)


def _barriers(barriers: pl.DataFrame) -> list[contract.BarrierArrivals]:
    """Return the barriers with the workers that arrived, were missing or are unknown."""
    found: list[contract.BarrierArrivals] = []
    for (barrier, place), rows in barriers.group_by("barrier", "place", maintain_order=True):
        came: dict[bool | None, list[str]] = grouped(rows.select("arrived", "worker").iter_rows())
        arrived, awaited, unknown = (came.get(state, []) for state in (True, False, None))
        found.append(
            {"barrier": barrier, "place": place, "arrived": arrived, "awaited": awaited, "unknown": unknown}
        )
    return found


def _parts(decision: Decision, tables: Tables) -> dict[str, str]:
    """Return worker → its part in the failure: a `witness` noticed it, a `failed` one ended on its own."""
    chosen = decision.chosen
    named = dict.fromkeys(chosen.suspects, "suspect") if chosen else {}
    named |= dict.fromkeys(chosen.culprits, "culprit") if chosen else {}
    accusers = set(tables["accusations"].filter("counts")["accuser"].to_list())
    parts = {}
    for life in tables["lifetimes"].iter_rows(named=True):
        noticed = life["ended"] == "aborted_by_peer" or life["worker"] in accusers
        beside = "witness" if noticed else "failed" if ended_on_its_own(life) else "bystander"
        parts[life["worker"]] = named.get(life["worker"]) or (beside if chosen else "bystander")
    return parts


def _run(name: str, tables: Tables) -> contract.RunSummary:
    job = tables["job"].row(0, named=True)
    versions = tables["workers"]["tensorflow"].drop_nulls().unique().sort().to_list()
    return {
        "name": name,
        "strategy": job["strategy"],
        "workers_expected": job["expected"],
        "workers_seen": job["seen"],
        "tensorflow": versions,
        "started": job["started"],
        "ended": job["ended"],
        "time_zone": _time_zone(tables["sources"]),
    }


def _time_zone(sources: pl.DataFrame) -> Literal["UTC", "unstated", "mixed"]:
    """Return the time zone of the run's times: that of all logs, or `mixed` if they differ."""
    zones = set(sources["time_zone"].drop_nulls())
    if zones == {"unstated"}:
        return "unstated"
    return "mixed" if zones - {"UTC"} else "UTC"


def _alternatives(decision: Decision) -> list[contract.Alternative]:
    """Return the other possible causes, except effects of another cause and repetitions of the chosen one."""
    chosen = decision.chosen
    blamed = {*chosen.culprits, *chosen.suspects} if chosen else set()

    def repeats(other: Finding) -> bool:
        same = blamed.issuperset(other.culprits + other.suspects)
        vaguer = not other.culprits and blamed <= {*other.suspects}
        return other.cause == decision.cause and (same or vaguer)

    return [
        {
            "cause": finding.cause or "",
            "rule": finding.rule,
            "confidence": finding.confidence,
            "culprits": list(finding.culprits),
            "against": against,
        }
        for finding, against in decision.rejected
        if not finding.explained_by and not repeats(finding)
    ]


def _in_order(findings: Iterable[Finding], decision: Decision) -> list[Finding]:
    """Return the findings sorted: the chosen one first, then by outcome, confidence and rule id."""
    outcomes = [Outcome.FIRED, Outcome.ERROR, Outcome.QUIET, Outcome.NOT_APPLICABLE]
    return sorted(
        findings, key=lambda f: (f is not decision.chosen, outcomes.index(f.outcome), -f.confidence, f.rule)
    )


def _facts(tables: Tables) -> list[contract.FactValues]:
    made: list[contract.FactValues] = []
    for (key,), group in tables["cluster"].group_by("key", maintain_order=True):
        if key == "gpu_place" and group["same"].max() == 1:
            continue  # no two workers share a GPU: as it should be, and no difference
        values = {
            row["worker"]: row["value"] if row["holds"] is None else row["holds"]
            for row in group.iter_rows(named=True)
        }
        made.append(
            {
                "key": key,
                "label": wording()["labels"].get(str(key), str(key).rpartition(":")[2]),
                "equal": bool(group["equal"].all()),
                "values": values,
            }
        )
    return made
