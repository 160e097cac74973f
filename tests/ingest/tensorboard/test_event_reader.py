"""Event files beside one another: whose curve is whose."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import google_crc32c
import pytest

from analyzer.discover import discover
from analyzer.ingest.tensorboard.event_pb2 import Event
from analyzer.model.run import Tables
from analyzer.pipeline import load_tables
from tests.rules import our_rules

pytestmark = pytest.mark.runs

EVENTS = "events.out.tfevents.1795225200.vm.7.0.v2"
TRAINED, VALIDATED = (2.0, 1.5, 1.2, 1.1), (2.5, 2600.0, 2700.0, 2800.0)
Write = Callable[[Mapping[str, Mapping[str, Sequence[float]]]], Tables]


def framed(event: Any) -> bytes:
    """An event as a record of an event file."""
    payload: bytes = event.SerializeToString()
    head = struct.pack("<Q", len(payload))
    sums = (google_crc32c.value(part) for part in (head, payload))
    masked = [struct.pack("<I", ((each >> 15 | each << 17) + 0xA282EAD8) & 0xFFFFFFFF) for each in sums]
    return head + masked[0] + payload + masked[1]


def scalar(tag: str, step: int, value: float) -> Any:
    """One value at one step; a step a second."""
    event = Event(wall_time=1_795_225_200.0 + step, step=step)
    event.summary.value.add(tag=tag.encode(), simple_value=value)
    return event


@pytest.fixture
def tables_with(make_run: Callable[[Mapping[str, str]], Path]) -> Write:
    """All tables of a run of event files: folder → tag → its values."""
    pack = our_rules()

    def write(folders: Mapping[str, Mapping[str, Sequence[float]]]) -> Tables:
        run = make_run({f"{folder}/{EVENTS}": "" for folder in folders})
        for folder, tags in folders.items():
            first = framed(Event(wall_time=1_795_225_200.0, file_version=b"brain.Event:2"))
            events = (scalar(tag, step, v) for tag, values in tags.items() for step, v in enumerate(values))
            (run / folder / EVENTS).write_bytes(first + b"".join(map(framed, events)))
        return load_tables(discover([run]), pack)

    return write


def test_train_and_validation_of_a_worker_are_two_curves(tables_with: Write) -> None:
    """Keras names both `epoch_loss`; one after the other they look like a loss that exploded."""
    tables = tables_with(
        {
            f"tb/worker-{index}/{folder}": {"epoch_loss": values}
            for index in range(2)
            for folder, values in (("train", TRAINED), ("validation", VALIDATED))
        }
    )
    curves = tables["curves"].select("worker", "tag", "points", "last_value", "scope")
    assert curves.to_dicts() == [
        {
            "worker": f"worker:{index}",
            "tag": tag,
            "points": 4,
            "last_value": pytest.approx(last),
            "scope": "global",
        }
        for index in range(2)
        for tag, last in (("epoch_loss", 1.1), ("validation/epoch_loss", 2800.0))
    ]


@pytest.mark.parametrize("folder", ["tb/eval/worker-1", "tb/worker-1/eval_final", "tb/worker-1/test"])
def test_a_try_out_is_no_progress(folder: str, tables_with: Write) -> None:
    """Its steps are counted on their own; it is no place in training."""
    tables = tables_with({"tb/worker-1/train": {"loss": TRAINED}, folder: {"loss": [2.5] * 40}})
    (life,) = [row for row in tables["lifetimes"].to_dicts() if row["worker"] == "worker:1"]
    assert life["step"] == 3
    name = folder.removeprefix("tb/").replace("worker-1", "").strip("/")
    assert sorted(tables["curves"]["tag"].to_list()) == sorted(["loss", f"{name}/loss"])


@pytest.mark.parametrize(
    "folder", ["tb/worker-1", "tb/worker-1/train", "logs/test-run/worker-1", "tb/worker-1/values"]
)
def test_other_folders_are_not_put_in_front(folder: str, tables_with: Write) -> None:
    """The folders of several workers may be named after the time or the person."""
    assert tables_with({folder: {"loss": TRAINED}})["curves"]["tag"].to_list() == ["loss"]


def test_a_worker_known_from_event_files_is_not_behind_one_with_a_log(
    tables_with: Write, make_run: Callable[[Mapping[str, str]], Path]
) -> None:
    """Event files count on through the epochs, and are written late."""
    make_run({f"worker-{index}.log": "Epoch 1/3\n20/20 - 1s\nEpoch 2/3\n11/20 - 1s\n" for index in range(2)})
    lives = tables_with({"tb/worker-2/train": {"loss": [0.5] * 31}})["lifetimes"]
    assert lives.filter(lives["worker"] == "worker:2")["step"].to_list() == [30]
    assert lives["behind_all"].to_list() == [None, None, None]
