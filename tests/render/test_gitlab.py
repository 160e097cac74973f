"""The code quality report has the fields that GitLab requires, and one issue a failure."""

from __future__ import annotations

import json
from typing import Any
from urllib.parse import urlsplit

import jsonschema
import pytest

from analyzer.render import render
from tests.render.documents import ALL, document, load, rendered

TEXT = {"type": "string", "minLength": 1}
LINES = {"type": "object", "required": ["begin"], "properties": {"begin": {"type": "integer", "minimum": 1}}}
LOCATION = {"type": "object", "required": ["path", "lines"], "properties": {"path": TEXT, "lines": LINES}}
ISSUE = {
    "type": "object",
    "required": ["description", "check_name", "fingerprint", "severity", "location"],
    "properties": {
        "description": TEXT,
        "check_name": TEXT,
        "fingerprint": TEXT,
        "severity": {"enum": ["info", "minor", "major", "critical", "blocker"]},
        "location": LOCATION,
    },
}
"""The fields of https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format"""


def issues(name: str) -> list[Any]:
    """The issues of a document."""
    found: list[Any] = json.loads(rendered(name, "gitlab"))
    return found


@pytest.mark.parametrize("name", ALL)
def test_keeps_to_the_format(name: str) -> None:
    """Its fields; fingerprints differ, for GitLab shows one issue of each; paths lie below the run."""
    found = issues(name)
    jsonschema.validate(found, {"type": "array", "items": ISSUE})
    prints = [each["fingerprint"] for each in found]
    assert len(prints) == len(set(prints))
    for each in found:
        parts = urlsplit(each["location"]["path"])
        assert (parts.scheme, parts.netloc) == ("", "")
        assert not {"", ".", ".."} & set(parts.path.split("/"))
    assert bool(found) == (document(name)["verdict"] != "healthy")


@pytest.mark.parametrize(
    ("name", "severity"), [("r101", "blocker"), ("inconclusive", "major"), ("unknown", "blocker")]
)
def test_the_verdict_is_the_first_issue(name: str, severity: str) -> None:
    """Also where no rule explains it."""
    first = issues(name)[0]
    assert first["severity"] == severity
    assert first["check_name"] == (load(name)["rule"] or "unexplained")


def test_the_place_is_that_of_the_first_evidence() -> None:
    """File and line."""
    place = next(each for each in load("r101")["findings"][0]["evidence"] if each["source"])
    assert issues("r101")[0]["location"] == {"path": place["source"], "lines": {"begin": place["line"]}}


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("worker-0/attempt=1.log", "worker-0/attempt=1.log"),
        ("a b/50%.log", "a b/50%.log"),
        ("../..//x/./worker-0.log", "x/worker-0.log"),
        ("worker\x1b-0.log", "worker␛-0.log"),
    ],
)
def test_the_path_is_that_of_the_file(source: str, path: str) -> None:
    """It is no URI: nothing in it is encoded; it lies below the run all the same."""
    d = {**document("unknown"), "rule": None, "telling_lines": [{"line": {"source": source, "line": 3}}]}
    assert json.loads(render(d, "gitlab"))[0]["location"]["path"] == path


def test_an_unexplained_failure_is_put_at_its_most_telling_line() -> None:
    """And not at the last line of a worker that printed no error."""
    words = [{"source": "worker-0.log", "line": 2}]
    telling = [{"line": {"source": "worker-1.log", "line": 3}}]
    d = {**document("unknown"), "rule": None, "last_words": words, "telling_lines": telling}
    location = json.loads(render(d, "gitlab"))[0]["location"]
    assert location == {"path": "worker-1.log", "lines": {"begin": 3}}


def test_the_same_failure_has_the_same_fingerprint() -> None:
    """In another run, at another line; so GitLab tells new from known."""
    again = load("r101")
    again["run"]["name"] = "another"
    again["findings"][0]["evidence"][0]["line"] = 7
    prints = [each["fingerprint"] for each in json.loads(render(again, "gitlab"))]
    assert prints == [each["fingerprint"] for each in issues("r101")]
