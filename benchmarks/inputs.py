"""Inputs of a stated size, the same bytes on every machine: logs, event files, traces.

Logs come in the styles of benchmarks/styles.py, and *interleaved*: one file that a launcher marked. Each ends
with what a failure leaves: worker 0 raises, and the others are told of it. Worker 0 alone names the whole
cluster, so that the bytes of a run do not grow with the square of its workers.
"""

from __future__ import annotations

import shutil
import struct
import sys
from collections.abc import Iterator
from pathlib import Path

import google_crc32c

from analyzer.ingest.tensorboard.event_pb2 import Event
from benchmarks.styles import STYLES, Lines, chatty
from benchmarks.traces import repeated

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "sample_runs" / "collective-stalled" / "run"

_HEAD = (
    "2026-11-21 01:00:00.000000: I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:447] "
    "Started server with target: grpc://host-{worker}:1234\n"
)
_CLUSTER = (
    "INFO:tensorflow:MultiWorkerMirroredStrategy with cluster_spec = {{'worker': {hosts}}}, "
    "task_type = 'worker', task_id = {worker}, num_workers = {workers}, "
    "local_devices = ('/job:worker/replica:0/task:{worker}/device:CPU:0',), "
    "communication = CommunicationImplementation.RING\n"
)
_RAISES = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 10, in <module>
    main()
ValueError: could not convert string to float: 'abc'
"""
_TOLD = (
    "2026-11-22 01:00:00.000000: E tensorflow/core/common_runtime/ring_alg.cc:290] "
    "Aborting RingReduce with UNAVAILABLE: Collective ops is aborted by: Connection reset by peer\n"
)
_AT_ONCE = 20
"""Lines that are joined before they are written."""


def write_logs(folder: Path, style: str, workers: int, size: int) -> None:
    """The logs of so many workers, of so many bytes in all; nothing is done where they lie already."""
    each = size // workers
    interleaved = style == "interleaved"
    files = 1 if interleaved else workers
    if _is_made(folder, size, files):
        return
    folder.mkdir(parents=True, exist_ok=True)
    if interleaved:
        _write(folder / "job.log", _marked(workers), size)
        return
    for worker in range(workers):
        _write(folder / f"worker-{worker}.log", _log(STYLES[style], worker, workers), each)


def _is_made(folder: Path, size: int, files: int) -> bool:
    found = list(folder.glob("*.log"))
    return len(found) == files and sum(path.stat().st_size for path in found) >= size


class _Log:
    """Head, endless middle, and end of one log."""

    def __init__(self, head: str, middle: Iterator[str], end: str) -> None:
        self.head, self.middle, self.end = head, middle, end


def _log(style: Lines, worker: int, workers: int) -> _Log:
    if worker:
        return _Log(_HEAD.format(worker=worker), style(worker), _TOLD)
    hosts = [f"host-{each}:1234" for each in range(workers)]
    return _Log((_HEAD + _CLUSTER).format(worker=0, workers=workers, hosts=hosts), style(0), _RAISES)


def _marked(workers: int) -> _Log:
    """The logs of all workers in one, each line with the mark of `srun --label`."""
    logs = [_log(chatty, worker, workers) for worker in range(workers)]

    def marked(worker: int, text: str) -> str:
        return "".join(f"{worker}: {line}\n" for line in text.splitlines())

    def turns() -> Iterator[str]:
        while True:
            for worker, log in enumerate(logs):
                yield f"{worker}: {next(log.middle)}"

    heads, ends = (
        "".join(marked(n, getattr(log, part)) for n, log in enumerate(logs)) for part in ("head", "end")
    )
    return _Log(heads, turns(), ends)


def _write(path: Path, log: _Log, size: int) -> None:
    draft = path.with_suffix(".draft")
    with draft.open("wb") as file:
        part = log.head
        written = file.write(part.encode())
        while written < size:
            part = "".join(next(log.middle) for _ in range(_AT_ONCE))
            written += file.write(part.encode())
        file.write(("\n" + log.end if "\r" in part else log.end).encode())
    draft.replace(path)


def write_events(path: Path, scalars: int, *, mixed: bool = False) -> None:
    """An event file as `tf.summary` writes it; a mixed one holds histograms, images and a graph as well."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(framed(Event(wall_time=1.8e9, file_version=b"brain.Event:2").SerializeToString()))
        if mixed:
            file.write(framed(_event(0, "graph", content=b"g" * (4 << 20), rank=1)))
        for number in range(scalars):
            step, tag = divmod(number, 4)
            loss = 1 / (1 + step % 1000) + tag
            file.write(framed(_event(step, f"epoch_metric_{tag}", content=struct.pack("<f", loss), rank=0)))
            if mixed and number % 50 == 0:
                file.write(framed(_event(step, "weights", content=bytes(1200), rank=2)))
            if mixed and number % 5_000 == 0:
                file.write(framed(_event(step, "image", content=b"i" * 200_000, rank=1)))


def write_event_files(folder: Path, files: int, size: int) -> None:
    """So many equal event files of so many bytes, each of a worker of its own."""
    if len(list(folder.rglob("*.v2"))) == files:
        return
    first = folder / "worker-0" / "events.out.tfevents.1795246961.host.7.0.v2"
    write_events(first, size // 59)
    for worker in range(1, files):
        path = folder / f"worker-{worker}" / first.name
        path.parent.mkdir(exist_ok=True)
        shutil.copyfile(first, path)


def _event(step: int, tag: str, content: bytes, rank: int) -> bytes:
    event = Event(wall_time=1.8e9 + step / 20, step=step)
    value = event.summary.value.add(tag=tag.encode())
    value.tensor.dtype = 1 if rank != 1 else 7
    value.tensor.content = content
    for _ in range(rank):
        value.tensor.shape.dim.add(size=1)
    written: bytes = event.SerializeToString()
    return written


def framed(payload: bytes) -> bytes:
    """A payload as a record of an event file."""
    head = struct.pack("<Q", len(payload))
    return head + _check(head) + payload + _check(payload)


def _check(data: bytes) -> bytes:
    check = google_crc32c.value(data)
    return struct.pack("<I", ((check >> 15 | check << 17) + 0xA282EAD8) & 0xFFFFFFFF)


def write_trace(path: Path, size: int) -> None:
    """A profiler trace of this size at least, made from a recorded one."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    source = min(RECORDED.rglob("worker-0/**/*.xplane.pb"))
    path.write_bytes(repeated(source.read_bytes(), size))


if __name__ == "__main__":
    write_logs(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(float(sys.argv[4])))
