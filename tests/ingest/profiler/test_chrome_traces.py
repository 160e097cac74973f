"""Traces in the format of Chrome: the same spans as of the xplane beside them, and never both."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.ingest.profiler import chrome_traces
from analyzer.ingest.profiler.chrome_traces import read_chrome_trace
from analyzer.ingest.profiler.spans import Span, Trace
from analyzer.ingest.profiler.xplane import read_trace
from analyzer.model.budget import Budget
from analyzer.model.run import Tables
from analyzer.pipeline import load_tables
from tests.rules import our_rules

FIXTURES = Path(__file__).parents[2] / "fixtures_binary"
PLANE, CHROME = FIXTURES / "both.xplane.pb", FIXTURES / "both.trace.json.gz"
"""Both of one session of TensorFlow 2.8: five steps of a custom loop, with tf.data."""


def text() -> str:
    """The JSON of the recorded trace."""
    return gzip.decompress(CHROME.read_bytes()).decode()


def traced(folder: Path, content: str) -> Trace:
    """The trace in a text."""
    path = folder / "vm.trace.json"
    path.write_text(content)
    return read_chrome_trace(path, Budget())


def drawn(trace: Trace) -> list[Span]:
    """The spans of an xplane that are events of their own."""
    return [span for span in trace.spans if span.kind != "compute"]


def tables(folder: Path, files: Mapping[str, bytes]) -> Tables:
    """All tables of a run with one log and some traces."""
    for name, content in {"worker-0.log": b"step 1 loss 0.5\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return load_tables(discover([folder]), our_rules())


@pytest.mark.parametrize("piece", [1 << 20, 700])
def test_the_spans_are_those_of_the_xplane(
    piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Kinds, names, threads, steps and times, of all but computing; however small the pieces it is read in."""
    monkeypatch.setattr(chrome_traces, "_CHUNK_CHARS", piece)
    plane, chrome = drawn(read_trace(PLANE, Budget())), traced(tmp_path, text()).spans
    shift = plane[0].start_ns - chrome[0].start_ns
    assert [s._replace(start_ns=s.start_ns + shift, end_ns=(s.end_ns or 0) + shift) for s in chrome] == plane
    assert len(chrome) == 25


@pytest.mark.runs
def test_one_session_counts_once(tmp_path: Path) -> None:
    """The xplane is read, and the other is said to be the same."""
    folder = "worker-1/plugins/profile/2026_11_21/"
    files = {f"{folder}vm.xplane.pb": PLANE.read_bytes(), f"{folder}vm.trace.json.gz": CHROME.read_bytes()}
    found = tables(tmp_path, files)
    assert found["spans"].height == len(read_trace(PLANE, Budget()).spans)
    assert set(found["spans"]["source"].to_list()) == {f"{folder}vm.xplane.pb"}
    skipped = found["sources"].filter(found["sources"]["read"] == "skipped")
    reason = f"the same session is read from {folder}vm.xplane.pb"
    assert skipped.select("source", "reason").rows() == [(f"{folder}vm.trace.json.gz", reason)]


@pytest.mark.runs
@pytest.mark.parametrize(
    "others",
    [
        {},
        {"worker-1/plugins/profile/1/vm.xplane.pb": b"rubbish"},
        {"worker-1/plugins/profile/2/vm.xplane.pb": b""},
        {"worker-2/plugins/profile/1/vm.xplane.pb": b""},
    ],
)
def test_alone_it_is_read(others: Mapping[str, bytes], tmp_path: Path) -> None:
    """Without an xplane of the same session and worker, or where that tells nothing."""
    name = "worker-1/plugins/profile/1/vm.trace.json.gz"
    found = tables(tmp_path, {**others, name: CHROME.read_bytes()})
    assert set(found["spans"].select("worker", "source", "absolute").rows()) == {("worker:1", name, False)}
    assert found["spans"].height == 25
    kinds = dict(found["sources"].select("source", "kind").rows())
    assert kinds[name] == "trace"


def test_a_trace_that_breaks_off_keeps_what_stands_before(tmp_path: Path) -> None:
    """And says where."""
    whole = text()
    cut = traced(tmp_path, whole[: len(whole) // 2])
    assert 0 < len(cut.spans) < 25
    (damage,) = cut.damage
    assert damage.what.startswith("breaks off")
    assert whole[damage.offset] == "{"


EVENT: dict[str, Any] = {"ph": "X", "pid": 1, "tid": 2, "ts": 1.5, "dur": 2, "name": "IteratorGetNext"}


@pytest.mark.parametrize(
    ("content", "spans", "says"),
    [
        (json.dumps([EVENT]), 1, ""),
        (json.dumps({"traceEvents": [EVENT, {}], "otherData": {}}), 1, ""),
        ('{"traceEvents":[]}', 0, "holds no event"),
        ("", 0, "no list of events"),
        ("\x00" * 5_000, 0, "no list of events"),
        ('{"traceEvents":[' + "[" * 200_000, 0, "breaks off"),
        (
            json.dumps([EVENT, 5, EVENT | {"ts": "x"}, EVENT | {"dur": -1}, EVENT | {"ts": 1e300}]),
            1,
            "4 events",
        ),
        (json.dumps([EVENT | {"args": [1], "pid": [], "tid": None}]), 1, ""),
        (json.dumps([EVENT | {"args": {"step_num": "1e999", "long_name": 5}}]), 1, ""),
        (json.dumps([EVENT, EVENT | {"ph": "B"}, EVENT | {"ph": "E"}]), 1, "2 events whose begin and end"),
        ('[{"ph": "X", "name": "' + "a" * 3_000_000, 0, "breaks off"),
    ],
)
def test_whatever_it_holds_is_read_or_said(content: str, spans: int, says: str, tmp_path: Path) -> None:
    """And never raised."""
    found = traced(tmp_path, content)
    assert (len(found.spans), [says in d.what for d in found.damage]) == (spans, [True] * bool(says))
