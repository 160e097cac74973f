"""Computes the variables of the report's template from the trimmed diagnosis."""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from analyzer.render import blame, decision, markdown, phrasing
from analyzer.render.finding_order import incomplete_sources, unsupported_sources
from analyzer.render.formatting import time_zone
from analyzer.render.page import cluster, evidence, plot, timeline, trace
from analyzer.render.page.template import anchor
from analyzer.render.trim import Trimmed

Json = Mapping[str, Any]
_OPENING = ("telling-lines", "last-words", "odd-lines")
"""Sections at the top of the report of a failure that no rule explains."""
_LEADS = {"perf": "trace", "numeric": "curves", "resource": "resources"}
"""Cause family → the section that is shown first; for other families, the timeline."""
_NAV = {
    "telling-lines": "Telling lines",
    "last-words": "Last words",
    "odd-lines": "Odd lines",
    "timeline": "Timeline",
    "evidence": "Evidence",
    "against": "Against it",
    "good-run": "Good run",
    "curves": "Curves",
    "resources": "Resources",
    "cluster": "Cluster",
    "trace": "Trace",
    "events": "Events",
    "rules": "Rules",
    "sources": "Files",
    "made": "Made with",
    "words": "Words",
}
"""Section → its name in the navigation, in the order of the page; each has a template of its name."""
_SECTIONS = [id_ for id_ in _NAV if id_ not in (*_OPENING, "made", "words")]
_OUTCOMES = ("fired", "error", "not-applicable", "quiet")


def view(trimmed: Trimmed, document: str) -> dict[str, Any]:
    """Return the variables of the report's template; `document` is the trimmed diagnosis as JSON."""
    diagnosis = trimmed.diagnosis
    order, present = section_order(diagnosis), _present(diagnosis)
    return {
        "d": diagnosis,
        "run": diagnosis["run"],
        "calm": diagnosis["verdict"] == "healthy",
        "long_run": _long(diagnosis["run"]),
        "zone": time_zone(diagnosis),
        "zone_note": decision.wording()["time_zones"][time_zone(diagnosis)],
        "nav": [(id_, _NAV[id_]) for id_ in (*_OPENING, *order, "made", "words") if present[id_]],
        "section_order": order,
        **_decision(diagnosis),
        **_evidence(diagnosis),
        **_charts(diagnosis),
        **_tables(diagnosis),
        "cuts": trimmed.notes(),
        "document": document,
        "ticket": ascii_json(markdown.render(diagnosis)),
    }


def _decision(diagnosis: Json) -> dict[str, Any]:
    """Return the variables of the top of the page, and of what speaks against the verdict."""
    sign, verdict = decision.wording()["verdicts"][diagnosis["verdict"]]
    shown = {w["id"] for w in diagnosis["workers"]}
    return {
        "sign": sign,
        "verdict": verdict,
        "blamed": blame.blamed(diagnosis),
        "blamed_ids": [w for w in diagnosis["culprits"] or diagnosis["suspects"] if w in shown],
        "shown_workers": shown,
        "surely": decision.confidence_phrase(diagnosis),
        "answers": [*decision.answers(diagnosis), *decision.seen_before(diagnosis)],
        "restart": decision.restart(diagnosis),
        "failure": decision.failure(diagnosis),
        "missing": decision.missing(diagnosis),
        "logs_of_blamed": blame.logs_of_blamed(diagnosis),
        "workers_seen": decision.workers_seen(diagnosis["run"]),
        "why_heading": phrasing.why_heading(diagnosis),
        "differences": phrasing.differences(diagnosis),
        "notes": phrasing.notes(diagnosis),
        "open_questions": phrasing.open_questions(diagnosis),
        "consequences": phrasing.consequences(diagnosis),
        "near_misses": diagnosis.get("near_misses", ()),
        "glossary": decision.wording()["glossary"],
    }


def _evidence(diagnosis: Json) -> dict[str, Any]:
    """Return the values of the page's templates that concern quoted lines and the files they are from."""
    anchors = evidence.finding_anchors(diagnosis["findings"])
    claims = evidence.claims(diagnosis, anchors)
    quoted = evidence.places_by_line(claims)
    cited = evidence.cited(diagnosis, quoted)
    files = {s["name"]: f"file-{n}" for n, s in enumerate(diagnosis["sources"], 1)}
    return {
        "claims": claims,
        "cited": cited,
        "anchor_of": {f["rule"]: anchors[i] for i, f in reversed(list(enumerate(diagnosis["findings"])))},
        "rules": _rules(diagnosis["findings"], anchors),
        "file_anchors": files,
        "target": _targets(quoted, cited, files, {w["id"] for w in diagnosis["workers"]}),
        "telling_lines": evidence.numbered(phrasing.telling_lines(diagnosis)),
        "deciding_file": phrasing.deciding_file(diagnosis),
        "last_words": evidence.numbered(diagnosis["last_words"]),
        "odd_lines": evidence.numbered(diagnosis.get("odd_lines", ())),
        "good": _good(diagnosis),
    }


def _charts(diagnosis: Json) -> dict[str, Any]:
    """Return the geometry of all charts."""
    return {
        "chart": timeline.chart(diagnosis),
        "pause_legend": decision.wording()["pauses"],
        "plots": plot.plots(diagnosis),
        "undrawn": plot.undrawn(diagnosis),
        "resource_plots": plot.resource_plots(diagnosis),
        "trace": trace.trace(diagnosis),
        "latecomers": trace.latecomers(diagnosis),
    }


def _tables(diagnosis: Json) -> dict[str, Any]:
    """Return the rows of the tables of barriers, clocks, workers, facts and files."""
    barriers = diagnosis.get("barriers", ())
    return {
        "barriers": [b for b in barriers if b["arrived"] or b["awaited"]],
        "barriers_open": any(b["awaited"] for b in barriers),
        "clocks": [c for c in diagnosis.get("clocks", ()) if c["basis"] != "none"],
        "facts": cluster.facts(diagnosis),
        "endings": cluster.endings(diagnosis),
        "coverage": cluster.coverage(diagnosis),
        "files_of": _files(diagnosis),
        "collected_by": {
            recipe["kind"]: (f"collect-{n}", recipe)
            for n, (recipe, _) in enumerate(phrasing.useful_recipes(diagnosis), 1)
        },
        "lost": incomplete_sources(diagnosis),
        "foreign": unsupported_sources(diagnosis),
    }


def ascii_json(value: Any) -> str:  # noqa: ANN401  (JSON)
    """Return a value as JSON without spaces, with escapes for all characters beyond ASCII."""
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


Target = Callable[[Json], tuple[str, str]]


def _targets(
    quoted: Mapping[tuple[str, int], int],
    cited: Sequence[Json],
    files: Mapping[str, str],
    shown: Collection[str],
) -> Target:
    """Return a function that maps an event to (HTML id, label) of its evidence on the page."""
    lines = {(c["item"]["source"], c["item"]["line"]): c["anchor"] for c in cited}

    def target(event: Json) -> tuple[str, str]:
        source, line = event["source"], event["line"]
        if source is None:
            return anchor(event["worker"]) if event["worker"] in shown else "sources", "no file"
        if line is None:
            return files.get(source, "sources"), source
        n = quoted.get((source, line))
        return f"evidence-{n}" if n else lines[source, line], f"{source}:{line}"

    return target


def _good(diagnosis: Json) -> dict[str, Any] | None:
    """Return the differences from a good run, with differing lines numbered; None if not compared."""
    if (good := diagnosis.get("against")) is None:
        return None
    lines, pace = evidence.numbered(good["lines"]), phrasing.pace(good["step_time"])
    return {**good, "lines": lines, "pace": pace, "went": phrasing.how_it_went(good)}


def _files(diagnosis: Json) -> dict[str, list[str]]:
    """Return the names of each worker's files, logs first."""
    logs = {s["name"] for s in diagnosis["sources"] if s["kind"] == "log"}
    return {w["id"]: sorted(w["sources"], key=lambda name: name not in logs) for w in diagnosis["workers"]}


def _rules(findings: Sequence[Json], anchors: Mapping[int, str]) -> list[tuple[str, list[tuple[Json, str]]]]:
    """Return findings with their HTML ids, grouped by outcome, fired ones first."""
    groups = [(o, [(f, anchors[i]) for i, f in enumerate(findings) if f["outcome"] == o]) for o in _OUTCOMES]
    return [(outcome, group) for outcome, group in groups if group]


def section_order(diagnosis: Json) -> list[str]:
    """Return the ids of the report's sections in order: first the one that shows the failure best."""
    lead = _LEADS.get(str(diagnosis["cause"]).partition(".")[0], "timeline")
    lead = "curves" if lead == "trace" and not diagnosis.get("trace") else lead
    return [lead, *(id_ for id_ in _SECTIONS if id_ != lead)]


def _present(diagnosis: Json) -> Mapping[str, bool]:
    """Return section → whether it has content."""
    seen = any(f["outcome"] == "fired" for f in diagnosis["findings"])
    held = {
        "telling-lines": diagnosis.get("telling_lines"),
        "last-words": diagnosis["last_words"],
        "odd-lines": diagnosis.get("odd_lines"),
        "timeline": diagnosis["timeline"],
        "evidence": seen or any(e["line"] for e in diagnosis["timeline"]),
        "against": diagnosis["verdict"] != "healthy",
        "good-run": diagnosis.get("against"),
        "curves": any(c["points"] for w in diagnosis["workers"] for c in w["curves"]),
        "resources": any(worker.get("readings") for worker in diagnosis["workers"]),
        "trace": diagnosis.get("trace"),
        "events": diagnosis["timeline"],
        "words": diagnosis["verdict"] != "healthy",
    }
    return {id_: bool(held.get(id_, True)) for id_ in _NAV}


def _long(run: Json) -> bool:
    """Return True if times need dates: the run spans midnight, or its times are unknown."""
    return run["started"] is None or run["ended"] is None or run["started"] // 86400 != run["ended"] // 86400
