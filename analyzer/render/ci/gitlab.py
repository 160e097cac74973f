"""Renders a diagnosis as GitLab's code quality report: an issue for each cause or symptom that fired.

GitLab requires a location; an issue without a file gets line 1 of the run's name.
"""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from analyzer.render.ci.sarif import relative_path
from analyzer.render.finding_order import file_line, fired_findings, unique_evidence
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
_MAX_TEXT = 2_000
_OF_VERDICT = {"failed": "blocker", "degraded": "major", "inconclusive": "major"}
_OF_ROLE = {"cause": "major", "symptom": "minor"}


def render(diagnosis: Json) -> str:
    """Return the issues as a JSON array, the verdict's first; empty for a healthy run without symptoms."""
    d, issues = diagnosis, []
    if d["verdict"] != "healthy":
        found = [f for _, f in fired_findings(d) if f["role"] in _OF_ROLE or f["rule"] == d["rule"]]
        issues = [] if d["rule"] else [_unexplained(d)]
        issues += [_issue(d, finding) for finding in found]
    return json.dumps(issues, indent=2, ensure_ascii=False) + "\n"


def _issue(d: Json, finding: Json) -> Json:
    severity = _OF_ROLE.get(finding["role"], "info")
    if finding["rule"] == d["rule"]:
        severity = _OF_VERDICT[d["verdict"]]
    places = [place for place in unique_evidence(finding["evidence"]) if place["source"] is not None]
    text = finding["summary"] or finding["title"] or finding["rule"]
    return _entry(d, finding["rule"], text, severity, places[0] if places else None)


def _unexplained(d: Json) -> Json:
    """Return the issue of a verdict that no rule explains, at the most telling or last line of a worker."""
    lines = [*(told["line"] for told in d.get("telling_lines", ())), *d["last_words"]]
    place = next((line for line in lines if line["source"] is not None), None)
    return _entry(d, "unexplained", d["summary"] or "unknown", _OF_VERDICT[d["verdict"]], place)


def _entry(d: Json, rule: str, text: str, severity: str, place: Json | None) -> Json:
    """Return an issue; its fingerprint is equal for the same failure in another run."""
    name = f"{d['fingerprint']}:{rule}".encode("utf-8", "replace")
    return {
        "description": one_line(text, _MAX_TEXT),
        "check_name": one_line(rule, _MAX_TEXT),
        "fingerprint": hashlib.sha256(name).hexdigest(),
        "severity": severity,
        "location": {
            "path": one_line(relative_path(place["source"] if place else d["run"]["name"])),
            "lines": {"begin": (file_line(place) if place else None) or 1},
        },
    }
