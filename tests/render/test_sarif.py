"""The evidence as locations: what SARIF 2.1.0 demands of the parts that are used, and nothing escapes."""

import json
import re
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from analyzer.render import render
from tests.render.documents import ALL, document, load

Json = Any


def exactly(required: str = "", **properties: Any) -> Json:
    """An object that has only these properties; in SARIF, most objects may have no others."""
    return {
        "type": "object",
        "additionalProperties": False,
        "required": required.split(),
        "properties": properties,
    }


def many(items: Json, **more: Any) -> Json:
    """An array."""
    return {"type": "array", "items": items, **more}


TEXT = {"type": "string"}
MESSAGE = exactly("text", text={"type": "string", "minLength": 1})
LOGICAL = exactly(name=TEXT, kind=TEXT)
REGION = exactly(startLine={"type": "integer", "minimum": 1}, snippet=exactly("text", text=TEXT))
PHYSICAL = exactly(
    "artifactLocation", artifactLocation=exactly(uri={"type": "string", "minLength": 1}), region=REGION
)
LOCATION = exactly(
    id={"type": "integer", "minimum": -1},
    physicalLocation=PHYSICAL,
    logicalLocations=many(LOGICAL, uniqueItems=True),
    message=MESSAGE,
)
LEVEL = {"enum": ["none", "note", "warning", "error"]}
RESULT = exactly(
    "message",
    ruleId=TEXT,
    kind={"enum": ["notApplicable", "pass", "fail", "review", "open", "informational"]},
    level=LEVEL,
    message=MESSAGE,
    locations=many(LOCATION),
    relatedLocations=many(LOCATION, uniqueItems=True),
    rank={"type": "number", "minimum": -1, "maximum": 100},
    partialFingerprints={"type": "object", "additionalProperties": TEXT},
    properties={"type": "object"},
)
RULE = exactly("id", id=TEXT, shortDescription=MESSAGE, helpUri={"type": "string", "pattern": "^https://"})
DRIVER = exactly(
    "name",
    name=TEXT,
    version=TEXT,
    rules=many(RULE, uniqueItems=True),
)
NOTIFICATION = exactly("message", level=LEVEL, message=MESSAGE, associatedRule=exactly(id=TEXT))
INVOCATION = exactly(
    "executionSuccessful",
    executionSuccessful={"type": "boolean"},
    commandLine=TEXT,
    toolExecutionNotifications=many(NOTIFICATION),
)
RUN = exactly(
    "tool",
    tool=exactly("driver", driver=DRIVER),
    automationDetails=exactly(id=TEXT),
    invocations=many(INVOCATION),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=many(RESULT),
    properties={"type": "object"},
)
SARIF = exactly("version runs", version={"const": "2.1.0"}, runs=many(RUN))


def run_of(diagnosis: Json) -> Json:
    """The one run of a log."""
    (run,) = json.loads(render(diagnosis, "sarif"))["runs"]
    return run


def locations(run: Json) -> list[Json]:
    """Every location of every result."""
    return [
        place
        for result in run["results"]
        for place in (*result["locations"], *result.get("relatedLocations", []))
    ]


@pytest.mark.parametrize("name", ALL)
def test_keeps_to_the_format(name: str) -> None:
    """Its objects and their properties, and what a schema cannot say."""
    log = json.loads(render(document(name), "sarif"))
    jsonschema.validate(log, SARIF)
    run = log["runs"][0]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules))
    for result in run["results"]:
        assert result["ruleId"] in rules
        assert (result["kind"] == "fail") == (result["level"] != "none")
        ids = [place["id"] for place in result.get("relatedLocations", [])]
        assert len(ids) == len(set(ids))


@pytest.mark.parametrize(
    ("name", "level"), [("r101", "error"), ("inconclusive", "warning"), ("unknown", "error")]
)
def test_the_verdict_is_the_first_result(name: str, level: str) -> None:
    """With the words of the summary, also where no rule explains it."""
    told = load(name)
    first = run_of(told)["results"][0]
    assert first["level"] == level
    assert first["ruleId"] == (told["rule"] or "unexplained")


def test_a_healthy_run_fails_nothing() -> None:
    """Not even a warning."""
    assert {r["level"] for r in run_of(load("r031"))["results"]} <= {"none", "note"}


def test_evidence_becomes_locations() -> None:
    """File, line and words of each place."""
    told = load("r101")
    place = next(p for p in told["findings"][0]["evidence"] if p["line"])
    found = [
        at["physicalLocation"]
        for at in locations(run_of(told))
        if at.get("physicalLocation", {}).get("region", {}).get("startLine") == place["line"]
    ]
    assert found[0]["artifactLocation"]["uri"] == place["source"]
    assert found[0]["region"]["snippet"]["text"] == place["excerpt"]


@pytest.mark.parametrize(
    "name",
    ["javascript:alert(1).log", "//evil.example/x", "../../etc/passwd", "a b?c#d.log", "http://x/y", "..", "\ud800.log"],
)  # fmt: skip
def test_names_of_files_are_references_below_the_run(name: str) -> None:
    """No scheme, no host, no way up."""
    told = load("r101")
    for place in told["findings"][0]["evidence"]:
        place["source"] = name
    for at in locations(run_of(told)):
        if "physicalLocation" in at:
            parts = urlsplit(at["physicalLocation"]["artifactLocation"]["uri"])
            assert (parts.scheme, parts.netloc, parts.query, parts.fragment) == ("", "", "", "")
            assert ".." not in parts.path.split("/")
            assert not parts.path.startswith("/")


def test_words_of_the_run_are_neither_links_nor_placeholders() -> None:
    """A message has syntax of its own."""
    told = load("r101")
    told["findings"][0]["summary"] = "see [this](javascript:alert(1)) and {0}"
    text = run_of(told)["results"][0]["message"]["text"]
    assert not re.search(r"\]\(", text)
    assert "{{0}}" in text


def test_a_rule_that_failed_is_a_notification() -> None:
    """It is a fault of the tool, not of the job."""
    told = load("r101")
    told["findings"].append(
        told["findings"][-1] | {"rule": "broken", "outcome": "error", "reason": "no column x", "evidence": []}
    )
    (notification,) = run_of(told)["invocations"][0]["toolExecutionNotifications"]
    assert notification["associatedRule"] == {"id": "broken"}
    assert notification["message"]["text"] == "no column x"
