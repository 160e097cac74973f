"""Recorded runs as other machines would have left them: other clocks, more workers, fewer files."""

from __future__ import annotations

import json
import re
import shutil
import struct
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from functools import partial
from pathlib import Path

import google_crc32c

_DATE = re.compile(r"(?<![\d-])(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)?")
_LOGGED = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)([.,]\d+) (?=[A-Z]+ )", re.MULTILINE)
_SECONDS = re.compile(r"(?<=0000 00:00:)(\d{10})(?=\.\d)|(?<=@)(1[67]\d{8})(?=\.\d)")


def belongs_to(path: Path, worker: str) -> bool:
    """Whether a file of a run is of one worker, as its name or a folder says: `worker-1`, `worker_1`, `rank1`."""
    role, _, index = worker.partition(":")
    return any(re.search(rf"(?<![a-z])(?:{role}[-_]|rank){index}(?!\d)", part) for part in path.parts)


def shifted(run: Path, target: Path, worker: str, seconds: int) -> Path:
    """A run in which the clock of one worker is ahead, in its logs and event files."""
    shutil.copytree(run, target)
    for path in sorted(target.rglob("*")):
        if path.is_file() and belongs_to(path.relative_to(target), worker):
            if "tfevents" in path.name:
                path.write_bytes(_events(path.read_bytes(), seconds))
            elif path.suffix in {".log", ".out", ".err", ".txt"} or path.name in {"stdout", "stderr"}:
                rewrite(path, lambda text: later(text, seconds))
    return target


def rewrite(path: Path, change: Callable[[str], str]) -> None:
    """Change a text file; bytes that are no UTF-8 stay as they are."""
    path.write_bytes(
        change(path.read_bytes().decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")
    )


def later(text: str, seconds: int) -> str:
    """A log with every time stamp moved."""

    def date(found: re.Match[str]) -> str:
        moved = datetime.fromisoformat(f"{found[1]} {found[3]}") + timedelta(seconds=seconds)
        return moved.isoformat(sep=found[2]) + (found[4] or "") + (found[5] or "")

    return _SECONDS.sub(lambda found: str(int(found[0]) + seconds), _DATE.sub(date, text))


def zoned(text: str, hours: int) -> str:
    """A log whose Python stamps are in a zone and say so: `Z`, `+09:00`."""
    zone = timezone(timedelta(hours=hours))

    def date(found: re.Match[str]) -> str:
        local = datetime.fromisoformat(f"{found[1]}+00:00").astimezone(zone)
        name = local.isoformat()[-6:] if hours else "Z"
        return f"{local:%Y-%m-%dT%H:%M:%S}{found[2].replace(',', '.')}{name} "

    return _LOGGED.sub(date, text)


def _events(data: bytes, seconds: int) -> bytes:
    """Event records with their wall time, the first field of each, moved."""
    parts, at = [], 0
    while at + 12 <= len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        payload = data[at + 12 : at + 12 + length]
        if len(data) < at + 16 + length or payload[:1] != b"\x09":
            break
        (wall,) = struct.unpack_from("<d", payload, 1)
        payload = b"\x09" + struct.pack("<d", wall + seconds) + payload[9:]
        parts.append(data[at : at + 12] + payload + struct.pack("<I", _masked(google_crc32c.value(payload))))
        at += 16 + length
    return b"".join(parts) + data[at:]


def _masked(check: int) -> int:
    return (((check >> 15) | (check << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def grown(run: Path, target: Path, witness: int, workers: int) -> Path:
    """A run with more workers: one that only noticed is there again and again, under other indices.

    Its files and exit code, its place in the cluster and the lines with which the leader greets it are made
    consistent; profiles are not copied.
    """
    size = 1 + max(int(found[1]) for path in run.rglob("*") if (found := _INDEXED.search(path.name)))
    fresh = range(size, workers)
    for path in sorted(run.rglob("*")):
        name = path.relative_to(run)
        if not path.is_file():
            continue
        own = belongs_to(name, f"worker:{witness}")
        _put(path, target / name, partial(_enlarged, witness=witness, size=size, workers=workers))
        for index in fresh if own and path.suffix != ".pb" else ():
            _put(
                path, target / _renamed(name, witness, index), partial(_cloned, witness, size, workers, index)
            )
    return target


_INDEXED = re.compile(r"worker[-_](\d+)")
_SELF = r"(/job:worker(?:/replica:0)?/task:|worker[-_:]|'type': 'worker', 'index': |\"type\": \"worker\", \"index\": |task_id = )"
_GREETING = re.compile(
    r"^.*/job:worker/replica:0/task:(\d+) has connected to coordination service.*\n", re.MULTILINE
)
_EXIT = re.compile(r"^worker-(\d+) .*\n", re.MULTILINE)


def _cloned(witness: int, size: int, workers: int, index: int, text: str) -> str:
    text = re.sub(r"(Started server with target: grpc://)\S+", rf"\g<1>127.0.0.1:{50_000 + index}", text)
    return re.sub(_SELF + rf"{witness}\b", rf"\g<1>{index}", _enlarged(text, witness, size, workers))


def _renamed(name: Path, witness: int, index: int) -> Path:
    return Path(
        *(re.sub(rf"(worker[-_]|tf_config-){witness}(?!\d)", rf"\g<1>{index}", part) for part in name.parts)
    )


def _enlarged(text: str, witness: int, size: int, workers: int) -> str:
    """A text as the larger job would have it."""
    fresh = range(size, workers)
    addresses = [f"127.0.0.1:{50_000 + index}" for index in fresh]

    def again(found: re.Match[str]) -> str:
        lines = [found[0].replace(f"{found[1]} ", f"{index} ", 1) for index in fresh]
        return found[0] + ("".join(lines) if int(found[1]) == witness else "")

    def connected(found: re.Match[str]) -> str:
        lines = [found[0].replace(f"task:{found[1]} has", f"task:{index} has") for index in fresh]
        return found[0] + ("".join(lines) if int(found[1]) == witness else "")

    text = _GREETING.sub(connected, _EXIT.sub(again, text))
    text = re.sub(r"('worker': \[[^\]]*)\]", rf"\1, {', '.join(map(repr, addresses))}]", text)
    text = re.sub(r'("worker": \[[^\]]*)\]', rf"\1, {json.dumps(addresses)[1:]}", text)
    channels = "".join(f", {index} -> {address}" for index, address in zip(fresh, addresses, strict=True))
    text = re.sub(r"(job worker -> \{[^}]*)\}", rf"\1{channels}}}", text)
    return re.sub(rf"((?:replicas(?: in sync)?|num_workers)\W{{1,3}}){size}\b", rf"\g<1>{workers}", text)


def _put(path: Path, target: Path, change: Callable[[str], str]) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    if "tfevents" not in path.name and path.suffix != ".pb":
        rewrite(target, change)


def without_end(run: Path, target: Path, worker: str, missing: int = 4_096) -> Path:
    """A run of which the log of one worker lacks its last bytes, as buffers lose them."""
    shutil.copytree(run, target)
    for path in target.rglob("*"):
        if path.is_file() and _is_log(path) and belongs_to(path.relative_to(target), worker):
            path.write_bytes(path.read_bytes()[:-missing])
    return target


def _is_log(path: Path) -> bool:
    return path.suffix in {".log", ".out", ".err"} or path.name in {"stdout.txt", "stderr.txt"}


def without_log(run: Path, target: Path, worker: str) -> Path:
    """A run from which somebody forgot to collect the log of one worker."""
    shutil.copytree(run, target)
    for path in sorted(target.rglob("*")):
        if path.is_file() and _is_log(path) and belongs_to(path.relative_to(target), worker):
            path.unlink()
        elif path.is_file() and path.name.startswith("slurm-"):
            rewrite(path, partial(re.compile(rf"^ *{worker.partition(':')[2]}: .*\n?", re.MULTILINE).sub, ""))
    return target
