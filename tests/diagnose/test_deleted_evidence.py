"""Less evidence tells less, and nothing that is wrong: each file of a run alone, and the run without it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from analyzer.model.findings import Verdict
from analyzer.pipeline import analyze
from tests.recordings import KNOWN_MISSES, ROOT, SAMPLE_RUNS, Recordings, expected
from tests.rules import our_rules

DRAWN = sorted(
    (sample for sample in SAMPLE_RUNS if sample.name not in KNOWN_MISSES),
    key=lambda sample: sha256(sample.name.encode()).digest(),
)[:30]
"""Thirty recordings; their names draw them, so that nobody chooses."""
REMOVED = 3
"""One file in so many is removed from its run; its name draws it."""
DOUBTED = 0.78
"""Highest confidence with which a job that was slow may be called healthy once the measurement is gone."""


@pytest.mark.parametrize("sample", DRAWN, ids=lambda sample: sample.name)
def test_each_file_alone_misleads_nobody(sample: Path, tmp_path: Path, recordings: Recordings) -> None:
    """What one file of a job tells is the cause, what follows from it, or nothing; no innocent is blamed.

    A log that the whole diagnosis quotes still says something when it is all there is.
    """
    truth, files = expected(sample), _files(sample)
    alone = {file: _analyzed(sample, [file], tmp_path) for file in files if len(files) > 1}
    misled = {file: _told(each) for file, each in alone.items() if _misleads(each, truth)}
    assert misled == {}
    quoted = _logs_quoted(recordings.document(sample)) & alone.keys()
    assert [
        file for file in sorted(quoted) if not (alone[file]["cause"] or alone[file]["telling_lines"])
    ] == []


@pytest.mark.parametrize("sample", DRAWN, ids=lambda sample: sample.name)
def test_a_run_without_one_file_misleads_nobody(sample: Path, tmp_path: Path) -> None:
    """Whichever file somebody forgot."""
    truth, files = expected(sample), _files(sample)
    removed = [each for each in files if _digest(f"{sample.name}/{each}") % REMOVED == 0 and len(files) > 1]
    found = {each: _analyzed(sample, [file for file in files if file != each], tmp_path) for each in removed}
    assert {file: _told(each) for file, each in found.items() if _misleads(each, truth)} == {}


def _files(sample: Path) -> list[str]:
    run = sample / "run"
    files = [path for path in run.rglob("*") if path.is_file() and path.stat().st_size]
    return sorted(path.relative_to(run).as_posix() for path in files)


def _digest(name: str) -> int:
    return int.from_bytes(sha256(name.encode()).digest(), "big")


def _analyzed(sample: Path, files: list[str], scratch: Path) -> Mapping[str, Any]:
    """Return the diagnosis of some files of a run."""
    target = scratch / "run"
    shutil.rmtree(target, ignore_errors=True)
    for file in files:
        (target / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(sample / "run" / file, target / file)
    return analyze([target]).document


def _told(document: Mapping[str, Any]) -> list[Any]:
    return [document[key] for key in ("verdict", "cause", "confidence", "culprits", "rule")]


def _misleads(document: Mapping[str, Any], truth: Mapping[str, Any]) -> bool:
    """Return True if a verdict names an innocent worker, or a cause that neither holds nor follows."""
    if not {*document["culprits"]} <= {*truth["culprits"], *truth["suspects"]}:
        return True
    causes = {truth["cause"], *truth.get("accept", [])}
    if document["verdict"] == "healthy":
        unmeasured = document["confidence"] <= DOUBTED and causes & _only_degrading()
        return "healthy" not in causes and not unmeasured
    return document["cause"] not in {None, "unknown", *causes, *_follows_from(causes)}


def _follows_from(causes: set[str]) -> Iterator[str]:
    """Yield the parents of causes, and what the rules for these causes declare to explain."""
    vocabulary = _vocabulary()
    yield from (vocabulary[cause]["parent"] for cause in causes if "parent" in vocabulary[cause])
    rules = [rule for rule in our_rules().rules if rule.cause]
    patterns = {pattern for rule in rules if rule.cause in causes for pattern in rule.explains}
    for rule in rules:
        if any(fnmatchcase(name, pattern) for name in (rule.id, rule.cause) for pattern in patterns if name):
            yield rule.cause or ""


@cache
def _vocabulary() -> Mapping[str, Mapping[str, str]]:
    """Return the causes as `rules/causes.yaml` describes them."""
    causes: Mapping[str, Mapping[str, str]] = yaml.safe_load(
        (ROOT / "rules" / "causes.yaml").read_text(encoding="utf-8")
    )
    return causes


@cache
def _only_degrading() -> set[str | None]:
    """Return the causes that slow or spoil a job and never end it."""
    rules = our_rules().rules
    ending = {rule.cause for rule in rules if rule.verdict is Verdict.FAILED}
    return {rule.cause for rule in rules} - ending


def _logs_quoted(document: Mapping[str, Any]) -> set[str]:
    """Return the logs in which the finding that the verdict rests on marks words of a line.

    A line without marks is where something ends, as compared with other logs; alone it says nothing.
    """
    logs = {source["name"] for source in document["sources"] if source["kind"] == "log"}
    chosen = [each for each in document["findings"] if each["rule"] == document["rule"]]
    quoted = {place["source"] for each in chosen for place in each["evidence"] if place.get("marks")}
    return quoted & logs if document["verdict"] == "failed" else set()
