"""Renders a diagnosis as SARIF 2.1.0: one result per fired finding, with evidence as locations."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import quote

from analyzer.model.placeholders import shorten
from analyzer.render.finding_order import file_line, fired_findings, unique_evidence, unread_sources
from analyzer.render.sanitize import visible

Json = Mapping[str, Any]
_MAX_TEXT, _MAX_EXCERPT, _MAX_PLACES = 2000, 2000, 20
_UNEXPLAINED, _NO_RULE = "unexplained", "No rule explains how the job ended"
_LEVELS = {"failed": "error", "degraded": "warning", "inconclusive": "warning"}
_ROLES = {"cause": "warning", "symptom": "warning", "context": "note"}


def render(diagnosis: Json) -> str:
    """Return a SARIF log with one run, as JSON text."""
    log = {"version": "2.1.0", "runs": [_run(diagnosis)]}
    return json.dumps(_sanitized(log), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _sanitized(value: Any) -> Any:  # noqa: ANN401  (JSON)
    """Return a JSON value with control and invisible characters replaced in all strings."""
    if isinstance(value, str):
        return visible(value)
    if isinstance(value, Mapping):
        return {key: _sanitized(each) for key, each in value.items()}
    return [_sanitized(each) for each in value] if isinstance(value, list | tuple) else value


def _run(d: Json) -> Json:
    results = [_result(d, finding) for _, finding in fired_findings(d)]
    rules = {f["rule"]: _rule(f) for f in d["findings"] if f["outcome"] in {"fired", "error"}}
    if d["rule"] is None and d["verdict"] != "healthy":
        results.insert(0, _unexplained(d))
        rules[_UNEXPLAINED] = {"id": _UNEXPLAINED, "shortDescription": {"text": _NO_RULE}}
    made = d["made_with"]
    driver = {"name": "mwms-analyze", "version": made["mwms_analyze"]}
    return {
        "tool": {"driver": driver | {"rules": [*rules.values()]}},
        "automationDetails": {"id": f"mwms-analyze/{_text(d['run']['name'])}"},
        "invocations": [_invocation(d)],
        "columnKind": "unicodeCodePoints",
        "results": results,
        "properties": {
            "verdict": d["verdict"],
            "cause": d["cause"],
            "confidence": d["confidence"],
            "culprits": d["culprits"],
            "suspects": d["suspects"],
            "summary": _text(d["summary"]),
            "rulesDigest": made["rules_digest"],
        },
    }


def _rule(finding: Json) -> Json:
    links = [r for r in finding["references"] if r.startswith("https://")]
    rule = {"id": finding["rule"], "shortDescription": {"text": _text(finding["title"]) or finding["rule"]}}
    return {**rule, "helpUri": quote(links[0], safe=":/?#[]@!$&'()*+,;=%")} if links else rule


def _result(d: Json, finding: Json) -> Json:
    level = _LEVELS.get(d["verdict"], "note") if finding["rule"] == d["rule"] else _ROLES.get(finding["role"])
    says = finding["summary"] or finding["title"]
    return {
        "ruleId": finding["rule"],
        "kind": "fail" if level else "informational",
        "level": level or "none",
        "message": {"text": _message(says) or finding["rule"]},
        **_locations(unique_evidence(finding["evidence"]), finding["workers"]),
        "rank": round(100.0 * finding["confidence"], 1),
        "partialFingerprints": {"mwmsDiagnosis/v1": f"{d['fingerprint']}:{finding['rule']}"},
        "properties": {
            "role": finding["role"],
            "cause": finding["cause"],
            "workers": finding["workers"],
            "explainedBy": finding["explained_by"],
        },
    }


def _unexplained(d: Json) -> Json:
    return {
        "ruleId": _UNEXPLAINED,
        "kind": "fail",
        "level": _LEVELS[d["verdict"]],
        "message": {"text": _message(d["summary"]) or "unknown"},
        **_locations(d["last_words"], d["suspects"]),
        "partialFingerprints": {"mwmsDiagnosis/v1": f"{d['fingerprint']}:{_UNEXPLAINED}"},
    }


def _locations(evidence: Sequence[Json], workers: Sequence[str]) -> dict[str, list[Json]]:
    """Return the first evidence as location, others as related locations; without source, a worker."""
    placed = [place for place in evidence if place["source"] is not None]
    if not placed:
        return {"locations": [{"logicalLocations": [_worker(name)]} for name in workers[:1]]}
    first, *rest = placed[:_MAX_PLACES]
    made: dict[str, list[Json]] = {"locations": [_location(first)]}
    if rest:
        made["relatedLocations"] = [{"id": n, **_location(place)} for n, place in enumerate(rest, 1)]
    return made


def _location(place: Json) -> Json:
    physical: dict[str, Any] = {"artifactLocation": {"uri": uri(place["source"])}}
    if (line := file_line(place)) is not None:
        physical["region"] = {"startLine": line}
        if place["excerpt"]:
            physical["region"]["snippet"] = {"text": shorten(place["excerpt"], _MAX_EXCERPT)}
    made: dict[str, Any] = {"physicalLocation": physical}
    if place["worker"] is not None:
        made["logicalLocations"] = [_worker(place["worker"])]
    if place["says"]:
        absent = "absent: " if place["kind"] == "absence" else ""
        made["message"] = {"text": absent + _message(place["says"])}
    return made


def _worker(name: str) -> Json:
    return {"name": name, "kind": "process"}


def uri(source: str) -> str:
    """Return the name of a source as a relative URI without `..` or empty parts."""
    return quote(relative_path(source), safe="/", errors="replace")


def relative_path(source: str) -> str:
    """Return the name of a source without `..` or empty parts."""
    return "/".join(part for part in source.split("/") if part not in {"", ".", ".."}) or "run"


def _invocation(d: Json) -> Json:
    """Return the SARIF invocation: command line, rules that failed, and unread files."""
    made: dict[str, Any] = {"executionSuccessful": True}
    if command := d["made_with"].get("command"):
        made["commandLine"] = _text(command)
    notices = []
    for finding in (f for f in d["findings"] if f["outcome"] == "error"):
        notice = {"level": "error", "message": {"text": _message(finding["reason"]) or "failed"}}
        notices.append(notice | {"associatedRule": {"id": finding["rule"]}})
    for name, why in unread_sources(d)[:_MAX_PLACES]:
        notices.append({"level": "warning", "message": {"text": _message(f"{name}: {why}")}})
    return made | ({"toolExecutionNotifications": notices} if notices else {})


def _text(text: str) -> str:
    return shorten(text, _MAX_TEXT)


def _message(text: str) -> str:
    """Escape a text for a SARIF message, in which braces are placeholders and `](` makes a link."""
    return _text(text).replace("](", "] (").replace("{", "{{").replace("}", "}}")
