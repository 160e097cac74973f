"""Tables as reading leaves them, built from what logs say; no text is parsed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.derive import derive
from analyzer.model.run import Tables
from analyzer.model.schema import TABLES
from analyzer.tables.builders import frame
from tests.rules import our_rules


class Line(NamedTuple):
    """A record of a log, with the values and facts that were read from it."""

    record: Mapping[str, Any]
    values: Sequence[Mapping[str, Any]] = ()
    facts: Mapping[str, str] = {}
    time: float | None = None


def says(
    text: str, time: float | None = None, facts: Mapping[str, str] | None = None, **columns: str
) -> Line:
    """A record without a value of training; `columns` are its level, kind and origin."""
    return Line({"text": text, "kind": "plain", **columns}, facts=facts or {}, time=time)


def raised(ending: str) -> Line:
    """A traceback that leads from the user's script into Keras."""
    frames = '  File "/workspace/train.py", line 4, in <module>\n    go()\n'
    frames += (
        '  File "/opt/lib/python3.11/site-packages/keras/engine/training.py", line 1409, in fit\n    run()\n'
    )
    text = f"Traceback (most recent call last):\n{frames}{ending}"
    return says(text, level="E", kind="traceback")


def error(text: str, time: float | None = None, level: str = "E") -> Line:
    """A record of TensorFlow's C++ code."""
    return says(text, time, level=level, kind="cpp")


def step(number: int, time: float | None = None, loss: float = 0.5, **columns: object) -> Line:
    """The loss of one step; `columns` are of the table `scalars`."""
    place = {"step": number, "scope": "unknown", "origin": "loop", **columns}
    values = [place | {"tag": "step", "value": float(number)}, place | {"tag": "loss", "value": loss}]
    return Line({"text": f"step {number} loss {loss}", "kind": "progress"}, values, time=time)


def steps(*numbers: int) -> list[Line]:
    """The losses of some steps."""
    return [step(number) for number in numbers]


def fit(number: int, epoch: int = 1, epochs: int = 1) -> Line:
    """A step of twenty of an epoch, as `Model.fit` prints it."""
    return step(number, epoch=epoch, epochs=epochs, steps=20, scope="global", origin="fit")


def server_started(time: float | None = None) -> Line:
    """What each process prints once."""
    return says("Started server with target: grpc://a:1", time, {"server_address": "a:1"}, level="I", kind="cpp",
                origin="grpc_server_lib.cc")  # fmt: skip


def cluster_of(*addresses: str) -> str:
    """The fact `cluster_spec` of some workers."""
    return json.dumps({"worker": addresses})


def derived(
    logs: Mapping[str, Sequence[Line]], time_zone: str = "unstated", /, **stated: Mapping[str, str]
) -> Tables:
    """Return the tables that follow from logs, by source, and from facts of other files, by key and worker.

    `time_zone` is that of the logs whose lines have times.
    The worker of a source is the one that its name begins with: `worker-1.log`, `worker-1/stderr.txt`, `worker-1-attempt-2.log`.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for source, lines in logs.items():
        _add_log(rows, source, lines, time_zone)
    for key, values in stated.items():
        rows["facts"] += [
            {"worker": worker, "attempt": 1, "source": f"{key}.txt", "line": line, "key": key, "value": value}
            for line, (worker, value) in enumerate(values.items(), 1)
        ]
    return derive({name: frame(name, found) for name, found in rows.items()}, our_rules().messages)


def _add_log(
    rows: dict[str, list[dict[str, Any]]], source: str, lines: Sequence[Line], time_zone: str
) -> None:
    name = re.match(r"([a-z]+)-(\d+)(?:-attempt-(\d+))?", source)
    assert name, source
    worker, attempt = f"{name[1]}:{name[2]}", int(name[3] or 1)
    times = [line.time for line in lines if line.time is not None]
    place: dict[str, Any] = {"worker": worker, "attempt": attempt, "source": source}
    rows["sources"].append(
        place | {"kind": "log", "read": "complete", "lines": len(lines), "first_time": min(times, default=None),
                 "last_time": max(times, default=None), "time_zone": time_zone if times else None}
    )  # fmt: skip
    number, near = 1, None
    for line in lines:
        near = near if line.time is None else line.time
        at = place | {"line": number, "time": line.time}
        number += line.record["text"].count("\n") + 1
        rows["records"].append({**at, **line.record, "near": near, "last_line": number - 1})
        rows["scalars"] += [{**at, **value} for value in line.values]
        rows["facts"] += [at | {"key": key, "value": value} for key, value in line.facts.items()]
