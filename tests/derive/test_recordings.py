"""Which recordings go on, and how long a stall has lasted."""

from __future__ import annotations

from collections.abc import Mapping

from analyzer.derive.recordings import with_running_workers, with_whole_stalls
from analyzer.tables.builders import frame


def sources(until: Mapping[str, float]) -> list[dict[str, object]]:
    """The samples of some workers, up to a time each."""
    return [
        {"source": f"{worker}/samples.jsonl", "kind": "recording", "worker": worker, "attempt": 1, "last_time": time}
        for worker, time in until.items()
    ]  # fmt: skip


def running(until: Mapping[str, float], ended: Mapping[str, str]) -> list[str]:
    """The workers that still ran."""
    facts = [
        {"worker": worker, "attempt": 1, "key": key, "value": "", "source": "s"}
        for worker, key in ended.items()
    ]
    found = with_running_workers(frame("facts", facts), frame("sources", sources(until)))
    return found.filter(found["value"] == "running")["worker"].to_list()


def test_a_recording_without_an_end_goes_on() -> None:
    """One that states its end does not, nor one whose exit code another file has."""
    until = {"worker:0": 100.0, "worker:1": 95.0, "worker:2": 100.0}
    ends = {"worker:0": "recorded_end", "worker:2": "exit_code"}
    assert running(until, ends) == ["worker:1"]


def test_a_recording_that_stops_before_the_others_was_cut_off() -> None:
    """Its host died, whatever it left unsaid."""
    assert running({"worker:0": 1000.0, "worker:1": 100.0}, {}) == ["worker:0"]


def test_a_stall_lasts_up_to_the_last_sample() -> None:
    """One that is over keeps its length."""
    rows = [
        {"source": "r", "worker": "worker:0", "line": line, "seconds": 60.0, "resumed": resumed}
        for line, resumed in ((1, True), (2, False))
    ]
    files = sources({"worker:0": 500.0})
    read = {"source": "r", "kind": "recording", "worker": "worker:0", "attempt": 1, "last_time": 200.0}
    found = with_whole_stalls(frame("stalls", rows), frame("sources", [*files, read]))
    assert found["seconds"].to_list() == [60.0, 360.0]
