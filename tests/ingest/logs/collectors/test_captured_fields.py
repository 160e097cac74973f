"""The fields of entries are known by the lines of TensorFlow that a collector put into one of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from analyzer.ingest.logs.collectors.captured_fields import Fields, fields_of, plain_entries
from analyzer.ingest.logs.collectors.streams import detect_style, split_streams

LINES = (
    "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on.",
    "step 5 loss 0.4",
    "2026-11-21 00:05:02.083826: E tensorflow/core/x.cc:1] it failed",
    "Traceback (most recent call last):",
    '  File "/app/t.py", line 3, in <module>',
    "X: no",
)
WRITERS = ("alder", "birch", "cedar")


def entries(**more: Any) -> list[dict[str, Any]]:
    """Entries of three writers in turn, with a time and further fields."""
    return [
        {"@t": f"2026-11-21T00:05:{at:02d}Z", "@m": line, "Host": writer, **more}
        for at, line in enumerate(LINES * 3)
        for writer in WRITERS
    ]


def split(found: list[dict[str, Any]]) -> dict[str | None, list[str]]:
    """The lines of each stream of such entries, an entry a line."""
    marked = [json.dumps(entry) for entry in found]
    streams = split_streams(list(enumerate(marked, 1)), detect_style(marked))
    return {stream.key: [line for _, line in stream.lines] for stream in streams}


def test_entries_are_read_whatever_their_fields_are_called() -> None:
    """As those of Seq, Mezmo and VictoriaLogs."""
    found = split(entries())
    assert {*found} == {*WRITERS}
    assert [line for line in found["birch"] if line.startswith(("Traceback", "  File"))] == [*LINES[3:5]] * 3


def test_nested_fields_and_lists_with_one_value_are_fields() -> None:
    """As Kibana copies documents."""
    nested = [{"_id": "x", "fields": {name: [value] for name, value in each.items()}} for each in entries()]
    assert fields_of(nested) == Fields("fields.@m", "fields.@t", "fields.Host")
    assert plain_entries(nested)[1] == {
        "message": LINES[0],
        "timestamp": "2026-11-21T00:05:00Z",
        "logStreamName": "birch",
    }


@pytest.mark.parametrize("name", ["app_name", "agent"])
def test_a_known_message_may_have_a_writer_in_a_field_of_another_name(name: str) -> None:
    """As PM2 calls it."""
    found = split([{"message": each["@m"], name: each["Host"]} for each in entries()])
    assert {*found} == {*WRITERS}


@pytest.mark.parametrize(
    "values",
    [
        ["DEFAULT", "DEFAULT", "ALERT", "ALERT", "ALERT", "DEFAULT"],
        [len(line) for line in LINES],
        [f"2026-11-21T00:05:0{at}Z" for at in range(6)],
        [f"id-{at}" for at in range(6)],
    ],
    ids=["a level", "a length", "a time", "an id"],
)
def test_levels_lengths_and_times_name_no_writer(values: list[Any]) -> None:
    """They differ beside the lines of one program, too."""
    found = split([{"message": line, "x": value} for line, value in zip(LINES * 3, values * 3, strict=True)])
    assert {*found} == {None}


def test_a_programs_own_fields_name_no_writer() -> None:
    """TensorFlow's lines do not have them."""
    own = [{"message": f"step {at} done", "part": f"worker-{at % 2}"} for at in range(9)]
    assert {*split([*({"message": line} for line in LINES * 3), *own])} == {None}


def test_objects_without_a_line_of_tensorflow_keep_their_fields() -> None:
    """They may be metrics, or what a program logs of itself."""
    metrics = [{"when": "2026-11-21T00:05:01Z", "text": f"gpu {at}", "host": "a"} for at in range(9)]
    assert fields_of(metrics) is None
    assert plain_entries(metrics) is metrics


def test_the_name_of_a_task_is_better_than_that_of_a_host() -> None:
    """Two workers may run on one."""
    lines = [
        {"message": line, "host": f"gpu{at // 2}", "pod": f"bert-worker-{at}"}
        for line in LINES * 3
        for at in range(4)
    ]
    assert {*split(lines)} == {f"bert-worker-{at}" for at in range(4)}
    assert {*split([{**each, "pod": f"bert-{each['host']}"} for each in lines])} == {"gpu0", "gpu1"}


def test_a_level_makes_no_message_of_another_field() -> None:
    """Coralogix has the line in `text`; a known message that is the line stays."""
    found = split([{"severity": "Info", "text": each["@m"], "subsystem": each["Host"]} for each in entries()])
    assert found["alder"][0] == LINES[0]
    known = [{"severity": "Info", "message": line, "copy": line} for line in LINES]
    assert plain_entries(known) is known


RANKED = [{"rank": at, "msg": f"step {step} loss 0.5"} for step in range(1, 9) for at in range(3)]


def test_a_field_that_counts_the_tasks_names_the_writer() -> None:
    """A program may write its rank into each entry, and all its entries into one log."""
    assert {*split(RANKED)} == {"0", "1", "2"}
    failed = [{"rank": 1, "msg": line} for line in ("Traceback (most recent call last):", "KeyError: 'x'")]
    assert len(split(RANKED + failed)["1"]) == 10


def test_a_field_with_the_task_that_a_leader_speaks_of_names_no_writer() -> None:
    """Nobody trains in these lines."""
    told = [{"worker": at, "msg": f"heartbeat {beat} missed"} for beat in range(9) for at in range(3)]
    assert {*split(told)} == {None}


def test_a_field_that_few_entries_have_names_no_writer() -> None:
    """An entry without a rank may be of anyone."""
    assert {*split([*RANKED, *({"msg": f"step {at} loss 0.5"} for at in range(9))])} == {None}
