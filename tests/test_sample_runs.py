"""The recorded runs are diagnosed as the trainer that broke them says."""

from __future__ import annotations

import gzip
import json
import re
from contextlib import suppress
from pathlib import Path

import jsonschema
import pytest

from analyzer.model.schema import TABLES
from tests.recordings import KNOWN_MISSES, ROOT, SAMPLE_RUNS, Recordings, expected

CONTRACT = json.loads((ROOT / "reports" / "diagnosis.schema.json").read_text(encoding="utf-8"))


def test_there_are_enough_sample_runs() -> None:
    """Nine kinds at least, two of them healthy, and the guilty index is not always the same."""
    truths = [expected(sample) for sample in SAMPLE_RUNS]
    culprits = {culprit for truth in truths for culprit in truth["culprits"]}
    assert len(truths) >= 9
    assert sum(truth["cause"] == "healthy" for truth in truths) >= 2
    assert len(culprits) >= 3


def test_cause_and_culprits_are_those_that_the_trainer_wrote(
    sample_run: Path, recordings: Recordings
) -> None:
    """Neither less nor more: nobody is accused beside the culprits.

    What is not found yet stands in `sample_runs/known_misses.yaml` with its reason, and must be mended there
    as soon as it is found.
    """
    truth, found = expected(sample_run), recordings.document(sample_run)
    missed = KNOWN_MISSES.get(sample_run.name)
    causes = {truth["cause"], *truth.get("accept", [])}
    keys = ("culprits", "suspects") if found["cause"] == truth["cause"] else ("culprits",)
    right = found["cause"] in causes and all(found[key] == truth[key] for key in keys)
    if missed is None:
        assert right, {key: found[key] for key in ("cause", "culprits", "suspects")}
    else:
        assert not right, "it is found now: take it out of known_misses.yaml"
        assert not set(found["culprits"]) - set(truth["culprits"]), (
            "an abstention is allowed, an accusation is not"
        )


def test_the_diagnosis_keeps_the_contract(sample_run: Path, recordings: Recordings) -> None:
    """The JSON Schema in the repository accepts it."""
    jsonschema.Draft202012Validator(CONTRACT).validate(recordings.document(sample_run))


def test_columns_hold_only_the_words_that_they_list(sample_run: Path, recordings: Recordings) -> None:
    """A word that is missing from the list would be a fault in a right rule."""
    tables = recordings.tables(sample_run)
    held = {
        f"{table}.{column.name}": set(tables[table][column.name].drop_nulls().unique()) - {*column.values}
        for table, columns in TABLES.items()
        for column in columns
        if column.values
    }
    assert {name: words for name, words in held.items() if words} == {}


def test_healthy_runs_are_called_healthy(sample_run: Path, recordings: Recordings) -> None:
    """And only they, and those that the truth accepts as healthy."""
    truth = expected(sample_run)
    if sample_run.name in KNOWN_MISSES:
        pytest.skip(f"a known miss: {KNOWN_MISSES[sample_run.name]}")
    called_healthy = recordings.document(sample_run)["verdict"] == "healthy"
    assert called_healthy or truth["cause"] != "healthy"
    assert not called_healthy or "healthy" in {truth["cause"], *truth.get("accept", [])}


def test_the_top_finding_cites_a_file(sample_run: Path, recordings: Recordings) -> None:
    """A log line, or the trace whose times it compares."""
    found = recordings.document(sample_run)
    chosen = [f for f in found["findings"] if f["rule"] == found["rule"] is not None]
    cited = [place for finding in chosen for place in finding["evidence"] if place["source"]]
    by_trace = found["cause"] is not None and found["cause"].startswith("perf.")
    assert not chosen or any(place["line"] for place in cited) or (by_trace and cited)


def test_the_same_input_gives_the_same_diagnosis(sample_run: Path, recordings: Recordings) -> None:
    """No clock, no random order, no absolute path."""
    first = json.dumps(recordings.document(sample_run))
    second = json.dumps(recordings.analyzed_again(sample_run).document)
    assert first == second
    assert str(ROOT) not in first


def _tells_json(quoted: str, line: str) -> bool:
    """Whether a line holds a JSON object with all words of the quote, which is that object in plain text.

    The logger of an object that names none is `root`.
    """
    *words, _cut = re.split(r"[\s=]|:(?!\d)", quoted)
    told = line.lower()
    with suppress(ValueError):  # another prefix stands before the object
        told += json.dumps(json.loads(line), ensure_ascii=False).lower()
    return "{" in line and bool(words) and all(word.lower() in told for word in words if word != "root")


@pytest.mark.parametrize(
    "sample", [s for s in SAMPLE_RUNS if expected(s)["cause"] != "healthy"], ids=lambda s: s.name
)
def test_every_cause_is_cited(sample: Path, recordings: Recordings) -> None:
    """The finding that the verdict rests on shows places in the user's own files, and they say what is quoted."""
    document = recordings.document(sample)
    if document["rule"] is None:
        assert sample.name in KNOWN_MISSES or document["cause"] in expected(sample).get("accept", [])
        return
    chosen = document["findings"][0]
    assert chosen["rule"] == document["rule"]
    assert chosen["evidence"]
    for evidence in chosen["evidence"]:
        if evidence["kind"] == "line":
            name = evidence["source"].partition("#")[0]
            content = (sample / "run" / name).read_bytes()
            text = (gzip.decompress(content) if name.endswith(".gz") else content).decode("utf-8", "replace")
            quoted = evidence["excerpt"].split("\n")[0].strip()[:60]
            assert quoted in text or _tells_json(quoted, text.splitlines()[evidence["line"] - 1])
