"""What no program writes on purpose: it costs its own source at most, and the rest of the run is analyzed."""

from __future__ import annotations

import json
import math
import struct
from pathlib import Path
from typing import Any

import google_crc32c
import pytest

from analyzer.ingest.logs import log_reader
from analyzer.ingest.profiler.xplane_pb2 import Entry, Line
from analyzer.ingest.tensorboard.event_pb2 import Event
from analyzer.pipeline import analyze
from analyzer.render import render

pytestmark = pytest.mark.slow

DEEP = "[" * 200_000
TRACEBACK = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 10, in load
    return int(cell)
ValueError: invalid literal for int()"""
SERVES = "Started server with target: grpc://h:1\n"
QUIET = "step 1 loss 0.5\nstep 2 loss 0.4\n"


def told(folder: Path, files: dict[str, str | bytes]) -> dict[str, Any]:
    """The diagnosis of a run with one sound worker and some files; it can be written in every way."""
    for name, content in {"worker-0.log": QUIET, **files}.items():
        target = folder / "job" / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    document = dict(analyze([folder / "job"]).document)
    for form in ("json", "text", "html"):
        assert render(document, form).encode()
    return document


def sources(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    """How each source was read, and why not whole."""
    return {source["name"]: (source["read"], source["reason"]) for source in document["sources"]}


def event_file(*times: float) -> bytes:
    """An event file with one value a time."""
    events = [Event(wall_time=1.0, file_version=b"brain.Event:2")]
    for step, time in enumerate(times):
        event = Event(wall_time=time, step=step)
        event.summary.value.add(tag=b"loss", simple_value=0.5)
        events.append(event)
    return b"".join(map(framed, events))


def framed(event: Any) -> bytes:
    """A record as event files hold it."""
    data: bytes = event.SerializeToString()
    length = struct.pack("<Q", len(data))
    return length + masked(length) + data + masked(data)


def masked(data: bytes) -> bytes:
    """The checksum of TensorFlow's record files."""
    check = google_crc32c.value(data)
    return struct.pack("<I", ((check >> 15 | check << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def field(number: int, content: bytes) -> bytes:
    """A field of a protobuf message that holds bytes."""
    size, length = len(content), b""
    while size > 0x7F:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def trace(step: float) -> bytes:
    """A profiler trace with one step of that number."""
    line = Line(name=b"main", timestamp_ns=1)
    event = line.events.add(metadata_id=1, duration_ps=10**6)
    event.stats.add(metadata_id=7, double_value=step)
    event_names, stat_names = Entry(key=1), Entry(key=7)
    event_names.value.name, stat_names.value.name = b"TraceContext", b"step_num"
    plane = b"".join(
        field(number, part.SerializeToString())
        for number, part in ((4, event_names), (5, stat_names), (3, line))
    )
    return field(1, field(2, b"/host:CPU") + plane)


HOSTILE: dict[str, dict[str, str | bytes]] = {
    "half a surrogate pair in a log": {"worker-1.log": '{"message": "a \\ud800 b"}\n' * 3},
    "half a surrogate pair in a pod's name": {
        "job.log": '{"message": "a", "labels": {"pod_name": "worker-1-\\ud800"}}\n' * 3
    },
    "half a surrogate pair in an address": {
        "tf_config-0.json": '{"cluster": {"worker": ["\\ud800:1"]}, "task": {"type": "\\ud800", "index": 0}}'
    },
    "messages of several lines": {
        "worker-1.log": '{"message": "a\\n\\n\\n\\nStarted server with target: grpc://h:1"}\n' * 2
    },
    "deep brackets in a JSON log": {"worker-1.log": ('{"message": ' + DEEP + "\n") * 3},
    "deep brackets in a log": {"worker-1.log": "{'cluster': " + DEEP[:30_000] + "}" * 2_000 + "\n"},
    "deep brackets in TF_CONFIG": {"tf_config-0.json": DEEP},
    "a literal that cannot be hashed": {"worker-1.log": "TF_CONFIG: {'cluster': {[]: 1}}\n"},
    "a step beyond 64 bits": {"worker-1.log": QUIET + f"step {10**23} loss 0.1\n"},
    "an attempt beyond 64 bits": {f"attempt-{10**23}/worker-1.log": QUIET},
    "a task beyond 64 bits": {"worker-1.log": f"[1,{10**23}]<stdout>: step 1 loss 0.5\n" * 3},
    "a cluster of a number": {"tf_config-0.json": '{"cluster": {"worker": 5}}', "x.log": SERVES},
    "a cluster of nothing": {"tf_config-0.json": '{"cluster": {"worker": null}}', "x.log": SERVES},
    "a role with a colon": {"tf_config-0.json": '{"cluster": {"a:b": ["h:1"]}}', "x.log": "a\n"},
    "a cluster of a number, in a log": {"worker-1.log": "cluster_spec = {'worker': 5, 'a:b': ['h:1']}\n"},
    "a time that is no number": {"events.out.tfevents.1.worker-1": event_file(math.nan, 1e9)},
    "an infinite time": {"events.out.tfevents.1.worker-1": event_file(1e9, math.inf)},
    "an infinite time in a log": {"worker-1.log": f"I0000 00:00:{'9' * 400}.0 1 a.cc:1] a\n"},
    "a step of endless digits": {"worker-1.log": QUIET + f"step {'9' * 9_000} loss 0.1\n"},
    "an epoch beyond all floats": {"worker-1.log": f"Epoch {'9' * 400}/{'9' * 400}\n" + QUIET},
    "a worker of endless digits": {"job.log": f"[1,{'9' * 9_000}]<stdout>: step 1 loss 0.5\n" * 3},
    "a worker of a digit that is no number": {
        "job.log": '{"message": "a", "labels": {"pod_name": "\u00b2"}}\n' * 3
    },
    "replicas of endless digits": {"worker-1.log": f"Number of replicas: {'9' * 9_000}\n"},
    "a checkpoint of endless digits": {
        "worker-1.log": QUIET + f"saved to /a/model.ckpt-{'9' * 9_000}\nsaved to step-{'9' * 9_000}\n"
    },
    "a name of a digit that is no number": {"\u00b2": "a\n", "\u00b21.log": QUIET},
    "an infinite step in a trace": {"worker-1.xplane.pb": trace(math.inf)},
    "a step beyond 64 bits in a trace": {"worker-1.xplane.pb": trace(1e30)},
}


@pytest.mark.parametrize("files", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_no_mistake_of_ours(files: dict[str, str | bytes], tmp_path: Path) -> None:
    """No reader fails on it, and its neighbour is read whole."""
    read = sources(told(tmp_path, files))
    assert read["worker-0.log"] == ("complete", "")
    assert not [reason for _, reason in read.values() if reason.startswith("reader failed")]


def test_a_step_beyond_all_numbers_is_damage(tmp_path: Path) -> None:
    """It is refused and said, and what stands before it counts."""
    document = told(tmp_path, {"worker-1.log": QUIET + f"step {10**23} loss 0.1\n"})
    assert sources(document)["worker-1.log"][0] == "partial"
    assert "too large" in sources(document)["worker-1.log"][1]


@pytest.mark.parametrize(
    ("data", "what", "offset"),
    [
        (b"step 1 loss 0.5\xff\n", "holds bytes that are not UTF-8", 15),
        ("step 1\n".encode("utf-16") + b"\xd8", "holds bytes that are not UTF-16", 16),
        (b"step 1 loss 0.5\n\0\0\n", "holds NUL bytes, like a file that was not closed properly", 16),
        (b"a\n" + b"x" * 40_000 + b"\n", "1 endless line, of which the middle is left out", None),
        ("step 1 \ufffd\n".encode() + b"50%\r" * 30_000, "", None),
        ("caf\u00e9\n".encode("utf-16"), "", None),
    ],
)
def test_what_is_lost_of_a_log_is_said(data: bytes, what: str, offset: int | None, tmp_path: Path) -> None:
    """Bytes of no encoding, holes, and the middle of what is too long; nothing else."""
    damage = told(tmp_path, {"worker-1.log": data})["damage"]
    assert [(each["what"], each["offset"]) for each in damage] == ([(what, offset)] if what else [])


@pytest.mark.parametrize("name", ["exit_codes.txt", "tf_config-1.json", "pods.yaml"])
def test_what_is_lost_of_a_small_file_is_said(name: str, tmp_path: Path) -> None:
    """As of a log."""
    damage = told(tmp_path, {name: b'"a\xff\0"'})["damage"]
    assert [each["what"][:15] for each in damage][:2] == ["holds bytes tha", "holds NUL bytes"]


def test_a_traceback_in_one_message_is_a_traceback(tmp_path: Path) -> None:
    """Cloud Logging keeps it in one entry; its lines carry the number of the line that holds them."""
    entries = [*QUIET.splitlines(), TRACEBACK]
    lines = [json.dumps({"message": entry, "severity": "ERROR"}) for entry in entries]
    document = told(tmp_path, {"worker-1.log": "\n".join(lines) + "\n", "exit_codes.txt": "worker-1 1\n"})
    assert document["culprits"] == ["worker:1"]
    excerpts = {e["line"]: e["excerpt"] for f in document["findings"] for e in f["evidence"] if e["line"]}
    assert excerpts[3] == "ValueError: invalid literal for int()"


def test_a_traceback_that_is_too_large_is_said_and_its_exception_found(tmp_path: Path) -> None:
    """What is not held of it is damage; how it ends is known."""
    frames = "".join(
        f'  File "/workspace/train.py", line {n}, in call\n    {"x" * 80}\n' for n in range(12_000)
    )
    log = f"{QUIET}Traceback (most recent call last):\n{frames}ValueError: bad cell\n"
    document = told(tmp_path, {"worker-1.log": log, "exit_codes.txt": "worker-1 1\n"})
    assert document["culprits"] == ["worker:1"]
    read, reason = sources(document)["worker-1.log"]
    assert (read, "a very long record" in reason) == ("partial", True)


def test_a_reader_that_fails_costs_its_own_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The mistake is ours and is said; the others are read."""
    sound = log_reader.read

    def broken(source: Any, matcher: Any, *watch: Any) -> Any:
        if source.name == "worker-1.log":
            raise IndexError("ours")
        return sound(source, matcher, *watch)

    monkeypatch.setattr(log_reader, "read", broken)
    read = sources(told(tmp_path, {"worker-1.log": QUIET}))
    assert read["worker-1.log"] == ("skipped", "reader failed: IndexError: ours")
    assert read["worker-0.log"] == ("complete", "")
