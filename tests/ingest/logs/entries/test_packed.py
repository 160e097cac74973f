"""Entries that queues carry in Base64, and JSON within JSON, are entries of a log."""

from __future__ import annotations

import gzip
import json
from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest

from analyzer.ingest.logs.entries.packed import unpacked
from analyzer.ingest.logs.exports import entries_of

BANNER = "2026-11-21 01:40:3{n}.500000: I tensorflow/core/util/port.cc:153] oneDNN is on."
ROWS = [(f"bert-worker-{n % 2}", f"2026-11-21T01:40:3{n}.5Z", BANNER.format(n=n)) for n in range(6)]


def base64(value: object, *, packed: bool = False) -> str:
    """A value as a queue carries it."""
    data = json.dumps(value).encode()
    return b64encode(gzip.compress(data) if packed else data).decode()


def cloud(pod: str, time: str, text: str) -> dict[str, Any]:
    """An entry of Cloud Logging."""
    return {"textPayload": text, "timestamp": time, "resource": {"labels": {"pod_name": pod}}}


def batch(pod: str) -> dict[str, Any]:
    """A message of CloudWatch's subscription."""
    events = [
        {"id": time, "timestamp": 1795225230500 + 1000 * n, "message": text}
        for n, (each, time, text) in enumerate(ROWS)
        if each == pod
    ]
    return {"messageType": "DATA_MESSAGE", "logGroup": "ml", "logStream": pod, "logEvents": events}


FORMS = {
    "Pub/Sub": json.dumps(
        [{"ackId": "x", "message": {"data": base64(cloud(*row)), "messageId": "9"}} for row in reversed(ROWS)]
    ),
    "Kinesis": json.dumps(
        {"Records": [{"Data": base64({"log": text, "time": time, "pod_name": pod}), "PartitionKey": "p"}
         for pod, time, text in ROWS], "MillisBehindLatest": 0}
    ),
    "CloudWatch": "".join(
        json.dumps({"awslogs": {"data": base64(batch(f"bert-worker-{n}"), packed=True)}}) + "\n" for n in (1, 0)
    ),
    "Tencent": "".join(
        json.dumps({"Time": 1795225230500 + 1000 * n, "FileName": f"/log/{pod}.log", "LogJson": json.dumps({"__CONTENT__": text})})
        + "\n" for n, (pod, _, text) in enumerate(ROWS)
    ),
}  # fmt: skip


def entries(folder: Path, text: str) -> list[str] | None:
    """The lines of an export, None of a file that is read as it is."""
    path = folder / "export.json"
    path.write_text(text, encoding="utf-8")
    found = entries_of(path).lines
    return None if found is None else [*found]


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_a_packed_entry_counts_with_its_time_and_writer(text: str, tmp_path: Path) -> None:
    """Oldest first."""
    found = entries(tmp_path, text)
    assert found is not None
    assert [text for *_, text in ROWS] == [next(t for *_, t in ROWS if t in line) for line in found]
    assert all(pod in line for line, (pod, *_) in zip(found, ROWS, strict=True))


def test_a_line_in_base64_is_the_message_of_an_entry(tmp_path: Path) -> None:
    """As Woodpecker keeps the log of a step; an empty one is a blank line."""
    texts = [BANNER.format(n=1), "", "step 1 loss 0.5"]
    logs = [{"line": n, "time": n, "data": b64encode(each.encode()).decode()} for n, each in enumerate(texts)]
    found = entries(tmp_path, json.dumps(logs))
    assert found is not None
    assert [json.loads(line)["message"] for line in found] == texts


def test_words_in_base64_are_no_log(tmp_path: Path) -> None:
    """Where no line is one of a logger, they may be a tensor or a name."""
    names = [{"id": n, "data": b64encode(f"the name of shard {n}".encode()).decode()} for n in range(9)]
    found = entries(tmp_path, json.dumps(names))
    assert found is None or not any("the name" in each for each in found)


@pytest.mark.parametrize(
    "line",
    [
        {"step": 3, "loss": 0.5, "data": b64encode(b"0123456789" * 9).decode()},
        {"event": "saved", "time": "2026-11-21T01:40:31Z", "data": "AAAAAAAAAAAAAAAAAAAAAAAAAAAA"},
        {"time": "2026-11-21T01:40:31Z", "message": json.dumps({"step": 3, "loss": 0.5})},
        {"time": "2026-11-21T01:40:31Z", "message": "config", "config": json.dumps({"batch": 8})},
    ],
    ids=["a tensor", "no Base64", "a message that is JSON", "a setting"],
)
def test_what_a_program_logs_stays(line: dict[str, Any], tmp_path: Path) -> None:
    """Its own JSON is read as such."""
    found = entries(tmp_path, "".join(json.dumps(line | {"n": n}) + "\n" for n in range(9)))
    assert found is None or all('"n": ' in each for each in found)


def test_what_is_packed_may_be_broken_or_large() -> None:
    """A gigabyte of zeros, and half a text."""
    bomb = b64encode(gzip.compress(b'{"a": "' + b"0" * 50_000_000)).decode()
    half = base64(batch("bert-worker-0"), packed=True)[:40]
    for data in (bomb, half):
        assert not unpacked("".join(json.dumps({"awslogs": {"data": data}}) + "\n" for _ in range(3)))
