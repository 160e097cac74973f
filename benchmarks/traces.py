"""A long profiler trace, read by us and by xprof's `ProfileData`, each in a process of its own.

The trace is made from a recorded one, whose events are repeated, with their steps and keys counted on.
xprof may live in another environment, since it brings much along: give its interpreter as the argument.
Prints times, the largest memory of each process, and the ratios.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, cast

from analyzer.ingest.profiler.file_window import FileWindow
from analyzer.ingest.profiler.protobuf_fields import PLANE, SPACE, field_at
from analyzer.ingest.profiler.xplane_pb2 import Entry, Line

ROOT = Path(__file__).resolve().parent.parent
RECORDED = ("collective-stalled", "slow-worker-fit-tf28")
MEGABYTES = 32
ROUNDS = 3
PERIOD = 10**12
"""Picoseconds from one repetition to the next."""
COUNTED_ON = {b"step_num": 10, b"step_id": 10**6, b"instance_key": 6, b"element_id": PERIOD // 1000}

MEASURED = """
import json, resource, sys, time
from pathlib import Path
path = sys.argv[1]
{imports}
start = time.perf_counter()
{read}
seconds = time.perf_counter() - start
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({{"seconds": seconds, "megabytes": peak, "events": events}}))
"""
OURS = MEASURED.format(
    imports="from analyzer.ingest.profiler.xplane import read_trace\n"
    "from analyzer.model.budget import Budget",
    read="events = read_trace(Path(path), Budget()).events",
)
PEER = MEASURED.format(
    imports="from xprof.profile_data import ProfileData",
    read="""
events = 0
with ProfileData.from_file(path) as data:
    for plane in data.planes:
        for line in plane.lines:
            for event in line.events:
                event.name, event.duration_ns
                events += 1
""",
)


def main() -> None:
    """Measure and print."""
    peer = sys.argv[1] if len(sys.argv) > 1 else sys.executable
    for name in RECORDED:
        (source, *_) = sorted((ROOT / "sample_runs" / name / "run").rglob("worker-0/**/*.xplane.pb"))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "long.xplane.pb"
            path.write_bytes(repeated(source.read_bytes(), MEGABYTES << 20))
            compare(name, path, peer)


def compare(name: str, path: Path, peer: str) -> None:
    """One line on each of the two, and the ratios of the fastest rounds."""
    ours, theirs = fastest(sys.executable, OURS, path), fastest(peer, PEER, path)
    size = path.stat().st_size / (1 << 20)
    for who, found in (("mwms-analyze", ours), ("ProfileData", theirs)):
        print(  # noqa: T201
            f"{name:22} {who:13} {size:4.0f} MB, {found['events']:,} events: {found['seconds']:6.2f} s, "
            f"{found['megabytes']:5.0f} MB of memory"
        )
    time, memory = ours["seconds"] / theirs["seconds"], ours["megabytes"] / size
    print(f"{name:22} ratio of the times {time:.3f}; memory {memory:.1f} times the file")  # noqa: T201


def fastest(python: str, code: str, path: Path) -> dict[str, float]:
    """What the fastest of a few rounds says; other work on the machine can only slow it down."""
    found = []
    for _ in range(ROUNDS):
        command = [python, "-c", code, str(path)]
        ran = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)  # noqa: S603
        if ran.returncode:
            raise SystemExit(f"{python} cannot read the trace: {ran.stderr.strip().splitlines()[-1]}")
        found.append(json.loads(ran.stdout.splitlines()[-1]))
    best: dict[str, float] = min(found, key=lambda one: one["seconds"])
    return best


def repeated(trace: bytes, size: int) -> bytes:
    """A trace of this size at least: every line's events again and again, a period later each time."""
    times = size // len(trace) + 2
    return b"".join(
        packed(number, plane(value, times) if number == 1 and isinstance(value, bytes) else value)
        for number, value in fields(trace, SPACE)
    )


def plane(data: bytes, times: int) -> bytes:
    """One plane, its lines made longer."""
    parts = list(fields(data, PLANE))
    entries = [Entry.FromString(value) for number, value in parts if number == 5]
    steps = {entry.key: COUNTED_ON[name] for entry in entries if (name := entry.value.name) in COUNTED_ON}
    return b"".join(
        packed(number, longer(value, steps, times) if number == 3 and isinstance(value, bytes) else value)
        for number, value in parts
    )


def longer(data: bytes, steps: dict[int, int], times: int) -> bytes:
    """One line, its events again and again."""
    line: Any = Line.FromString(data)
    recorded = list(line.events)
    for turn in range(1, times):
        for event in recorded:
            again = line.events.add()
            again.CopyFrom(event)
            again.offset_ps += turn * PERIOD
            for stat in again.stats:
                kind = stat.WhichOneof("value")
                if stat.metadata_id in steps and kind in {"int64_value", "uint64_value"}:
                    setattr(stat, kind, getattr(stat, kind) + turn * steps[stat.metadata_id])
    written: bytes = line.SerializeToString()
    return written


def fields(data: bytes, known: Mapping[int, int]) -> Iterator[tuple[int, bytes | int]]:
    """Numbers and values of a message's fields."""
    pos, view = 0, cast(FileWindow, memoryview(data))  # which is sliced in the same way
    while pos < len(data):
        field, pos = field_at(view, pos, known)
        yield field.number, field.value if isinstance(field.value, int) else bytes(field.value)


def packed(number: int, value: bytes | int) -> bytes:
    """One field as a message holds it."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    return varint(number << 3 | 2) + varint(len(value)) + value


def varint(value: int) -> bytes:
    """A number in groups of seven bits."""
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


if __name__ == "__main__":
    main()
