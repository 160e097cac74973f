"""Runs as an attacker would hand them over; each is written by a few lines from nothing."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import tarfile
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import zstandard

from analyzer.ingest.profiler.xplane_pb2 import Entry, Line
from analyzer.ingest.tensorboard.event_pb2 import Event
from benchmarks.inputs import framed

EVENTS = "events.out.tfevents.1795246961.host.7.0.v2"
TRACE = "plugins/profile/2026_11_21/host.trace.json"
STEPS = b"".join(b"2026-11-21 01:00:%02d step %d loss 0.5\n" % (n, n) for n in range(60))
MB = 1 << 20


def beside_a_log(run: Path, name: str, parts: Iterable[bytes]) -> None:
    """Write a file next to a healthy worker's log."""
    (run / "worker-1" / name).parent.mkdir(parents=True, exist_ok=True)
    (run / "worker-0.log").write_bytes(STEPS)
    with (run / "worker-1" / name).open("wb") as file:
        file.writelines(parts)


def event(step: int, tag: str, value: float, time: float = 1.8e9) -> bytes:
    """A record of an event file with one scalar."""
    written = Event(wall_time=time, step=step)
    written.summary.value.add(tag=tag.encode(), simple_value=value)
    return framed(written.SerializeToString())


VERSION = framed(Event(wall_time=1.8e9, file_version=b"brain.Event:2").SerializeToString())


def extreme_numbers(run: Path) -> None:
    """Times and values that are infinite, negative or beyond all years."""
    numbers = (1e308, -1e308, float("inf"), float("-inf"), float("nan"), -1.0, 0.0, 5e-324, 1e18, 3e38)
    events = [event(step, "loss", number, 1.8e9) for step, number in enumerate(numbers)]
    events += [event(step, "epoch_loss", 0.5, time) for step, time in enumerate(numbers)]
    events += [event(step, "loss", 0.5) for step in (-(1 << 63), (1 << 63) - 1, -1)]
    beside_a_log(run, EVENTS, [VERSION, *events])
    spans = [
        f'{{"ph":"X","pid":1,"tid":1,"ts":{time},"dur":{dur},"name":"CollectiveReduceV2","args":{{"step_num":{step}}}}}'
        for time, dur, step in (
            ("1e308", 1, 1),
            (1, "1e308", "1e308"),
            ("Infinity", "NaN", -1),
            (-5, -5, 10**30),
        )
    ]
    beside_a_log(run, TRACE, [f'{{"traceEvents":[{",".join(spans)}]}}'.encode()])
    samples = [
        f'{{"time": {t}, "mono": {t}, "rss": {t}, "step": {t}}}\n'
        for t in ("1e308", "-1e308", "Infinity", "-1", "NaN")
    ]
    beside_a_log(run, "mwms-recorder/samples.jsonl", [line.encode() for line in samples])
    lines = ["9999-12-31 23:59:59.999999: step 1 loss 1e308\n", "0001-01-01 00:00:00 step 2 loss -1e308\n"]
    lines += [f"step {step} loss {loss}\n" for step, loss in ((10**30, "1e999"), (-5, "-inf"), (3, "1e-400"))]
    lines += [
        f'{{"ts": {t}, "level": "info", "step": {t}, "loss": {t}}}\n'
        for t in ("1e308", -5, "Infinity", 10**25)
    ]
    beside_a_log(run, "worker-1.log", [line.encode() for line in lines])


def many_tags(run: Path) -> None:
    """An event file in which each of 400,000 values has a tag of its own."""
    beside_a_log(run, EVENTS, [VERSION, *(event(step, f"layer_{step}/loss", 0.5) for step in range(400_000))])


def large_event_file(run: Path) -> None:
    """An event file of 300 MB: 5 million values of 5 tags."""
    block = b"".join(event(step // 5, f"epoch_metric_{step % 5}", 1 / (1 + step)) for step in range(50_000))
    beside_a_log(run, EVENTS, [VERSION, *(block for _ in range(100))])


def other_layouts(run: Path) -> None:
    """An event file of 60 MB in which each record has another length."""
    block = b"".join(event(step, "t" * (step % 200), step) for step in range(20_000))
    beside_a_log(run, EVENTS, [VERSION, *(block for _ in range(20))])


def many_values_in_one_event(run: Path) -> None:
    """Records of 7 MB that each hold 400,000 scalars without a tag."""
    written = Event(wall_time=1.8e9, step=1)
    for _ in range(500_000):
        written.summary.value.add(simple_value=0.5)
    record = framed(written.SerializeToString())
    beside_a_log(run, EVENTS, [VERSION, *(record for _ in range(20))])


def false_headers(run: Path) -> None:
    """An event file of 200 MB of plausible lengths with wrong checksums, one each 13 bytes."""
    beside_a_log(run, EVENTS, [VERSION, *(b"AAA\0\0\0\0\0BBBB\t" * 80_000 for _ in range(200))])


def zeros(run: Path) -> None:
    """An event file that ends in 200 MB of zeros."""
    beside_a_log(run, EVENTS, [VERSION, event(1, "loss", 0.5), *(bytes(MB) for _ in range(200))])


def broken_records(run: Path) -> None:
    """2 million records of an event file, each of which fails its checksum, with a sound one between."""
    sound = event(1, "loss", 0.5)
    block = (sound + sound[:-1] + bytes([sound[-1] ^ 1])) * 10_000
    beside_a_log(run, EVENTS, [VERSION, *(block for _ in range(100))])


def large_chrome_trace(run: Path) -> None:
    """A Chrome trace of 170 MB, each event of which is a span."""
    one = '{"ph":"X","pid":1,"tid":1,"ts":%d,"dur":5,"name":"CollectiveReduceV2","args":{"step_num":"%d"}},'
    block = "".join(one % (step * 10, step) for step in range(10_000)).encode()
    beside_a_log(run, TRACE, [b'{"traceEvents":[', *(block for _ in range(180)), b"{}]}"])


def many_threads_in_a_trace(run: Path) -> None:
    """A Chrome trace that names a million threads."""
    one = '{"ph":"M","pid":%d,"tid":%d,"name":"thread_name","args":{"name":"%d"}},'
    lines = ((one % (n, n, n)).encode() for n in range(1_000_000))
    beside_a_log(run, TRACE, [b'{"traceEvents":[', *lines, b"{}]}"])


def large_xplane(run: Path) -> None:
    """A trace of 150 MB with one line, each event of which is a span."""
    line = Line(name=b"python", timestamp_ns=1_800_000_000 * 10**9)
    for number in range(10_000):
        line.events.add(metadata_id=1, offset_ps=number * 10**6, duration_ps=1000)
    entry = Entry(key=1)
    entry.value.name = b"CollectiveReduceV2"
    lines = line.SerializeToString()
    plane = _field(2, b"/host:CPU") + _field(4, entry.SerializeToString()) + _field(3, lines) * 1_000
    beside_a_log(run, "plugins/profile/2026_11_21/host.xplane.pb", [_field(1, plane)])


def _field(number: int, content: bytes) -> bytes:
    length, size = b"", len(content)
    while size > 0x7F:
        length, size = length + bytes([size & 0x7F | 0x80]), size >> 7
    return bytes([number << 3 | 2]) + length + bytes([size]) + content


def large_json(run: Path) -> None:
    """A list of pods of 100 MB: 33 million empty objects."""
    beside_a_log(
        run, "pods.json", [b'{"kind":"PodList","items":[', *(b"{}," * 350_000 for _ in range(100)), b"{}]}"]
    )


def aliases(run: Path) -> None:
    """An export of 1 kB of YAML, whose aliases of aliases make a billion entries."""
    lines = ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]" for n in range(1, 30))]
    beside_a_log(run, "worker-1.log", [b"insertId: a\n", "\n".join(lines).encode()])


def compressed_json(run: Path) -> None:
    """A tf_config.json of a few kilobytes that unpacks to 2 GB of brackets."""
    member = bz2.compress(b"[],\n" * (1 << 20))
    beside_a_log(run, "tf_config.json.bz2", [bz2.compress(b'{"cluster": ['), *[member] * 512])


def compressed_log(run: Path) -> None:
    """A log of a few kilobytes that unpacks to 4 GB of zeros."""
    member = bz2.compress(bytes(16 * MB))
    beside_a_log(run, "worker-1.log.bz2", [member] * 256)


def compressed_events(run: Path) -> None:
    """An event file of 2 MB that unpacks to 20 GB of sound records."""
    member = zstandard.compress(event(1, "loss", 0.5) * 400_000)
    beside_a_log(run, f"{EVENTS}.zst", [zstandard.compress(VERSION), *[member] * 1_000])


def many_gzip_members(run: Path) -> None:
    """A million gzip members of one line each."""
    block = b"".join(gzip.compress(b"step %d loss 0.5\n" % n, 1) for n in range(1_000))
    beside_a_log(run, "worker-1.log.gz", [block for _ in range(1_000)])


def tar_of_long_names(run: Path) -> None:
    """A tar of 700 kB with a header of 600 MB."""
    _write_tar(run, tarfile.PAX_FORMAT, 600)


def tar_of_gnu_names(run: Path) -> None:
    """A tar of 700 kB with a name of 600 MB, as GNU tar writes long names."""
    _write_tar(run, tarfile.GNU_FORMAT, 600)


def _write_tar(run: Path, form: Literal[1, 2], megabytes: int) -> None:
    info = tarfile.TarInfo("worker-0.log")
    kind = tarfile.XHDTYPE if form == tarfile.PAX_FORMAT else tarfile.GNUTYPE_LONGNAME
    header = tarfile.TarInfo("././@LongLink")
    header.type, header.size = kind, megabytes * MB
    with gzip.open(run.with_suffix(".tar.gz"), "wb", 1) as file:
        file.write(header.tobuf(form))
        for _ in range(megabytes):
            file.write(b"1" * MB)
        file.write(info.tobuf() + bytes(1024))


def many_pax_headers(run: Path) -> None:
    """A tar of 1,000 members, each with an extended header of 4,900 attributes."""
    lines = b"".join(b"%d k%06d=v\n" % (13, n) for n in range(4_900))
    header = tarfile.TarInfo("././@PaxHeader")
    header.type, header.size = tarfile.XHDTYPE, len(lines)
    block = header.tobuf() + lines + bytes(-len(lines) % 512) + tarfile.TarInfo("worker-0.log").tobuf()
    with lzma.open(run.with_suffix(".tar.xz"), "wb", preset=0) as file:
        for _ in range(1_000):
            file.write(block)
        file.write(bytes(1024))


def many_tar_members(run: Path) -> None:
    """A tar of 200,000 members."""
    with tarfile.open(run.with_suffix(".tar.gz"), "w:gz", compresslevel=1) as packed:
        for number in range(200_000):
            info = tarfile.TarInfo(f"worker-{number}.log")
            info.size = 9
            packed.addfile(info, io.BytesIO(b"step 1 ok"))


def cluster_of_a_million(run: Path) -> None:
    """A log whose cluster_spec names a million workers."""
    hosts = ", ".join(f"'h{number}:1'" for number in range(1_000_000))
    line = f"INFO:tensorflow:MultiWorkerMirroredStrategy with cluster_spec = {{'worker': [{hosts}]}}, task_type = 'worker', task_id = 0, num_workers = 1000000\n"
    beside_a_log(run, "worker-1.log", [line.encode(), STEPS])


def log_of_a_million_workers(run: Path) -> None:
    """A log with a line of each of a million workers, as `srun --label` marks them."""
    lines = "".join(f"{number}: step 1 loss 0.5\n" for number in range(1_000_000))
    beside_a_log(run, "job.log", [lines.encode()])


def a_million_tracebacks(run: Path) -> None:
    """A log of 97 MB: tracebacks of two lines."""
    block = b"Traceback (most recent call last):\nValueError: %d\n" * 20_000
    beside_a_log(run, "worker-1.log", (block.replace(b"%d", b"%d" % n) for n in range(100)))


def long_line(run: Path) -> None:
    """A log with one line of 300 MB."""
    beside_a_log(run, "worker-1.log", (b"ERROR: nan " * 100_000 for _ in range(300)))


def endless_rows(run: Path) -> None:
    """Rows of tables with an endless cell: of a log service, and of containers."""
    beside_a_log(run, "worker-1.log", [b"| 01-01 00:00:00 | step 1" + b" " * 900_000 + b"loss 0.5\n"])
    heading = b"CONTAINER ID   IMAGE     COMMAND   CREATED   STATUS   PORTS     NAMES\n"
    row = b"3f2a1b   seg:1   Exited (1) " + b"a" * 900_000 + b" worker-1\n"
    (run / "docker-ps.txt").write_bytes(heading + row)


def tf_config_of_10_000(run: Path) -> None:
    """Two logs beside a TF_CONFIG of 10,000 workers."""
    cluster = {"worker": [f"host-{number}:1234" for number in range(10_000)]}
    config = {"cluster": cluster, "task": {"type": "worker", "index": 1}}
    beside_a_log(run, "tf_config.json", [json.dumps(config).encode()])
    beside_a_log(run, "worker-1.log", [STEPS])


def logs_of_10_000(run: Path) -> None:
    """A log of 2 kB of each of 10,000 workers; one raises, the others are told of it."""
    run.mkdir(parents=True)
    raised = b'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nValueError: bad\n'
    told = b"2026-11-21 01:02:00.000000: E ring_alg.cc:290] Aborting RingReduce with UNAVAILABLE: Connection reset by peer\n"
    for number in range(10_000):
        end = told if number else raised
        (run / f"worker-{number}.log").write_bytes(STEPS + end)
