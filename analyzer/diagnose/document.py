"""Builds the output document that `reports/diagnosis.schema.json` specifies."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Literal, cast

import polars as pl

from analyzer.diagnose import phrasing
from analyzer.diagnose.checkpoints import last_checkpoint, steps_lost
from analyzer.diagnose.comparison.baseline_diff import BaselineRun, against
from analyzer.diagnose.comparison.fingerprint import fingerprint
from analyzer.diagnose.curves import drawn
from analyzer.diagnose.decide import Decision
from analyzer.diagnose.endings import end_of, wording
from analyzer.diagnose.finding_reports import finding_reports
from analyzer.diagnose.log_lines.anomalous_lines import odd_lines
from analyzer.diagnose.log_lines.lines import last_words
from analyzer.diagnose.log_lines.telling_lines import deciding_file, described, telling_lines
from analyzer.diagnose.nearmisses import near_misses
from analyzer.diagnose.readings import readings_by_worker
from analyzer.diagnose.recipes import recipes
from analyzer.diagnose.restart import restart_elsewhere
from analyzer.diagnose.timeline import pauses_by_worker, timeline
from analyzer.diagnose.trace import collectives, traced
from analyzer.model import contract
from analyzer.model.findings import Action, Finding, Outcome, Verdict
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind

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

    `renamed` has former ids of causes and rules with the present ones, so that fingerprints stay equal;
    `meanings` has causes with what they mean.
    """
    parts = _parts(decision, tables)
    paused = pauses_by_worker(tables["pauses"])
    events, left_out = timeline(tables, parts, paused, decision.cause)
    called, calls_left_out = collectives(tables)
    unsure = decision.verdict is not Verdict.HEALTHY and decision.confidence < UNSURE
    told = telling_lines(tables, findings) if unsure else []
    telling = described(told, meanings)
    deciding = deciding_file(told, tables) if unsure else None
    unexplained = decision.verdict is not Verdict.HEALTHY and decision.chosen is None
    said = last_words(tables) if unexplained else []
    context = {(each["source"], number) for each in said for number, _ in each["context"]}
    shown = context | {(each["source"], each["line"]) for each in (*said, *(one["line"] for one in telling))}
    return {
        "schema": "mwms-diagnosis/1",
        "run": _run(name, tables),
        "verdict": decision.verdict.value,
        "cause": decision.cause,
        "rule": decision.chosen.rule if decision.chosen else None,
        "confidence": decision.confidence,
        "culprits": [worker for worker, part in parts.items() if part == "culprit"],
        "suspects": [worker for worker, part in parts.items() if part == "suspect"],
        "witnesses": [worker for worker, part in parts.items() if part == "witness"],
        "summary": phrasing.summary(decision, tables),
        "why": phrasing.why(decision, tables),
        "next": [
            {"text": step.text, "command": step.command}
            for step in phrasing.next_steps(decision, tables, deciding and deciding["kind"])
        ],
        "action": _action(decision, tables),
        "fingerprint": fingerprint(decision, tables, renamed),
        "workers": _workers(tables, parts, paused, decision.cause),
        "clocks": cast(list[contract.ClockOffset], tables["clocks"].to_dicts()),
        "barriers": _barriers(tables["barriers"]),
        "last_words": said,
        "odd_lines": odd_lines(tables, told=shown) if unexplained else [],
        "telling_lines": telling,
        "deciding_file": deciding,
        "against": against(tables, good) if good else None,
        "alternatives": _alternatives(decision),
        "near_misses": near_misses(findings, decision, tables),
        "findings": finding_reports(_in_order(findings, decision), tables),
        "collect": _collect(findings, unsure, tables),
        "timeline": events,
        "events_left_out": left_out,
        "trace": traced(tables),
        "collectives": called,
        "collectives_left_out": calls_left_out,
        "facts": _facts(tables),
        "sources": cast(list[contract.SourceReport], tables["sources"].rename({"source": "name"}).to_dicts()),
        "damage": cast(list[contract.DamagedRange], tables["damage"].select(_DAMAGE).to_dicts()),
        "made_with": made_with,
    }


def _barriers(barriers: pl.DataFrame) -> list[contract.BarrierArrivals]:
    """Return the barriers with the workers that arrived, were missing or are unknown."""
    found: list[contract.BarrierArrivals] = []
    for (barrier, place), rows in barriers.group_by("barrier", "place", maintain_order=True):
        came: dict[bool | None, list[str]] = {True: [], False: [], None: []}
        for worker, arrived in rows.select("worker", "arrived").iter_rows():
            came[arrived].append(worker)
        found.append(
            {
                "barrier": barrier,
                "place": place,
                "arrived": came[True],
                "awaited": came[False],
                "unknown": came[None],
            }
        )
    return found


def _parts(decision: Decision, tables: Tables) -> dict[str, str]:
    """Return worker → `culprit`, `suspect`, `witness` (noticed the failure) or `bystander`."""
    chosen = decision.chosen
    named = dict.fromkeys(chosen.suspects, "suspect") if chosen else {}
    named |= dict.fromkeys(chosen.culprits, "culprit") if chosen else {}
    told = set(tables["accusations"].filter("counts")["accuser"].to_list())
    parts = {}
    for worker, ended in tables["lifetimes"].select("worker", "ended").iter_rows():
        noticed = ended == "aborted_by_peer" or worker in told
        parts[worker] = named.get(worker) or ("witness" if noticed and chosen else "bystander")
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
    }


def _node_is_down(decision: Decision, tables: Tables) -> bool:
    """Return True if the scheduler describes the node of a culprit as unusable."""
    culprits = decision.chosen.culprits if decision.chosen else ()
    states = tables["facts"].filter(pl.col("worker").is_in(culprits) & (pl.col("key") == "node_problem"))
    return states["value"].str.contains(r"^\S+ (?:NotReady|\S*(?:DOWN|NOT_RESPONDING))").any()


def _action(decision: Decision, tables: Tables) -> contract.ActionTaken:
    chosen = decision.chosen
    action = (
        chosen.action if chosen else Action("as_is" if decision.cause == "healthy" else "unknown", "unknown")
    )
    retry = "exclude_host" if action.retry == "as_is" and _node_is_down(decision, tables) else action.retry
    culprits = list(chosen.culprits) if chosen and retry == "exclude_host" else []
    exclude = tables["workers"].filter(pl.col("worker").is_in(culprits))["host"].drop_nulls().to_list()
    resume_from = last_checkpoint(tables)
    taken: contract.ActionTaken = {
        "retry": cast(contract.Retry, retry),
        "owner": cast(contract.Owner, action.owner),
        "exclude": exclude,
        "resume_from": resume_from,
        "steps_lost": steps_lost(resume_from, tables["lifetimes"]),
    }
    if decision.verdict is Verdict.FAILED and (restart := restart_elsewhere(culprits, exclude, tables)):
        taken["restart"] = restart
    if action.unless and retry == action.retry:
        taken["unless"] = action.unless
    if action.host:
        taken["host"] = cast(Literal["watch"], action.host)
    if action.checkpoint:
        taken["checkpoint"] = cast(Literal["earlier"], action.checkpoint)
    return taken


def _workers(
    tables: Tables,
    parts: Mapping[str, str],
    paused: Mapping[str, list[contract.PauseInterval]],
    cause: str | None,
) -> list[contract.WorkerReport]:
    read = tables["sources"].filter(pl.col("read") != "skipped").select("worker", "source")
    sources: dict[str | None, list[str]] = {}
    for owner, source in read.iter_rows():
        sources.setdefault(owner, []).append(source)
    curves = drawn(tables["scalars"], tables["curves"], tables["steps"])
    readings = readings_by_worker(tables["scalars"])
    lives = {life["worker"]: life for life in tables["lifetimes"].iter_rows(named=True)}
    rows: list[contract.WorkerReport] = []
    for worker in tables["workers"].iter_rows(named=True):
        name, life = worker["worker"], lives[worker["worker"]]
        rows.append(
            {
                "id": name,
                "host": worker["host"],
                "claimed": worker["claims"],
                "part": cast(contract.Part, parts[name]),
                "expected": worker["expected"],
                "seen": worker["seen"],
                "attempts": life["attempts"],
                "ended": {
                    "how": life["ended"],
                    "exit_code": life["exit_code"],
                    "sure": life["sure"],
                    "says": end_of(life, parts[name], cause),
                },
                "last_step": {"epoch": life["epoch"], "step": life["step"]},
                "last_seen": life["last_seen"],
                "pauses": paused.get(name, []),
                "sources": sources.get(name, []),
                "readings": readings.get(name, []),
                "curves": curves.get(name, []),
            }
        )
        if life["place"] is None:
            rows[-1]["startup_seen"] = False
        if worker["guessed"]:
            rows[-1]["guessed"] = worker["guessed"]
    return rows


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


def _collect(findings: Iterable[Finding], unsure: bool, tables: Tables) -> list[contract.CollectRecipe]:
    """Return recipes for collecting the files that rules require and the run lacks.

    A recording must be started with the job, so it is suggested only for an `unsure` diagnosis; traces, only
    if a worker got past the start-up.
    """
    lacks = dict.fromkeys(finding.lacks for finding in findings if finding.lacks)
    started = tables["lifetimes"]["phase"].is_in(["joined", "training", "finished"]).any()
    useful = {Kind.RECORDING.value: unsure, Kind.TRACE.value: started}
    lacking = [kind for kind in lacks if useful.get(kind, True)]
    return [
        {
            "kind": kind,
            "what": recipe.what,
            "tells": recipe.tells,
            "how": recipe.how,
            "commands": [{"where": each.where, "command": each.text} for each in recipe.commands],
            "docs": recipe.docs,
        }
        for kind in lacking
        if (recipe := recipes().get(kind))
    ]


def _facts(tables: Tables) -> list[contract.FactValues]:
    made: list[contract.FactValues] = []
    for (key,), group in tables["cluster"].group_by("key", maintain_order=True):
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
