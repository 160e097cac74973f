"""Inputs of a stated size, the same bytes on every machine: logs, event files, traces.

Logs come in four styles: a *chatty* loop that prints every step, *bars* of Keras, *quiet* `verbose=2`, and
*interleaved*, one file that a launcher marked. Each ends with what a failure leaves: worker 0 raises, and the
others are told of it.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Iterator, Mapping
from itertools import count
from pathlib import Path

import google_crc32c

from analyzer.ingest.tensorboard.event_pb2 import Event
from benchmarks.traces import repeated

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ROOT / "sample_runs" / "collective-stalled" / "run"

_HEAD = (
    "2026-11-21 01:00:00.000000: I tensorflow/core/distributed_runtime/rpc/grpc_server_lib.cc:447] "
    "Started server with target: grpc://host-{worker}:1234\n"
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
_AT_ONCE = 20_000
"""Lines that are joined before they are written."""

Lines = Callable[[int], Iterator[str]]


def chatty(worker: int) -> Iterator[str]:
    """A loop of the user's own: one line a step, with its time."""
    for step in count():
        second, part = divmod(step, 20)
        clock = f"{1 + second // 3600 % 20:02d}:{second // 60 % 60:02d}:{second % 60:02d}.{part * 50_000:06d}"
        loss = 1 / (1 + step % 1000) + 0.1
        yield (
            f"2026-11-21 {clock} worker {worker} epoch {step // 100_000} step {step} loss {loss:.6f} "
            "accuracy 0.9123 examples/sec 1234.5\n"
        )


def bars(_worker: int) -> Iterator[str]:
    """Keras: an epoch is one line, drawn anew at every step."""
    for epoch in count(1):
        yield f"Epoch {epoch}/100000\n"
        for step in range(1, 501):
            done = step * 29 // 500
            bar = "=" * done + ">" + "." * (29 - done)
            loss = 1 / (epoch + step / 500)
            yield f"\r{step:3d}/500 [{bar}] - ETA: {500 - step}s - loss: {loss:.4f} - accuracy: 0.9123"
        yield "\n"


def quiet(_worker: int) -> Iterator[str]:
    """Keras with `verbose=2`: two lines an epoch."""
    for epoch in count(1):
        loss = 1 / epoch + 0.1
        yield f"Epoch {epoch}/10000000\n500/500 - 12s - loss: {loss:.4f} - accuracy: 0.9123 - 12s/epoch\n"


STYLES: Mapping[str, Lines] = {"chatty": chatty, "bars": bars, "quiet": quiet}


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
    hosts = [f"host-{each}:1234" for each in range(workers)]
    head = _HEAD.format(worker=worker, workers=workers, hosts=hosts)
    return _Log(head, style(worker), _TOLD if worker else _RAISES)


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
    with draft.open("w", encoding="ascii") as file:
        written = file.write(log.head)
        while written < size:
            written += file.write("".join(next(log.middle) for _ in range(_AT_ONCE)))
        file.write("\n" + log.end if "\r" in log.end else log.end)
    draft.replace(path)


def write_events(path: Path, scalars: int, *, mixed: bool = False) -> None:
    """An event file as `tf.summary` writes it; a mixed one holds histograms, images and a graph as well."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.write(_framed(Event(wall_time=1.8e9, file_version=b"brain.Event:2").SerializeToString()))
        if mixed:
            file.write(_framed(_event(0, "graph", content=b"g" * (4 << 20), rank=1)))
        for number in range(scalars):
            step, tag = divmod(number, 4)
            loss = 1 / (1 + step % 1000) + tag
            file.write(_framed(_event(step, f"epoch_metric_{tag}", content=struct.pack("<f", loss), rank=0)))
            if mixed and number % 50 == 0:
                file.write(_framed(_event(step, "weights", content=bytes(1200), rank=2)))
            if mixed and number % 5_000 == 0:
                file.write(_framed(_event(step, "image", content=b"i" * 200_000, rank=1)))


def _event(step: int, tag: str, content: bytes, rank: int) -> bytes:
    event = Event(wall_time=1.8e9 + step / 20, step=step)
    value = event.summary.value.add(tag=tag.encode())
    value.tensor.dtype = 1 if rank != 1 else 7
    value.tensor.content = content
    for _ in range(rank):
        value.tensor.shape.dim.add(size=1)
    written: bytes = event.SerializeToString()
    return written


def _framed(payload: bytes) -> bytes:
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
