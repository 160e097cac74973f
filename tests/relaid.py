"""Recorded runs as other machines would have left them: other clocks, more workers, fewer files."""

from __future__ import annotations

import re
import shutil
import struct
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from pathlib import Path

import google_crc32c

_DATE = re.compile(r"(?<![\d-])(\d{4}-\d\d-\d\d)([ T])(\d\d:\d\d:\d\d)([.,]\d+)?(Z|[+-]\d\d:\d\d)?")
_LOGGED = re.compile(r"^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)([.,]\d+) (?=[A-Z]+ )", re.MULTILINE)
_SECONDS = re.compile(r"(?<=0000 00:00:)(\d{10})(?=\.\d)|(?<=@)(1[67]\d{8})(?=\.\d)")


def belongs_to(path: Path, worker: str) -> bool:
    """Whether a file of a run is of one worker, as its name or a folder says: `worker-1`, `worker_1`."""
    role, _, index = worker.partition(":")
    return any(re.search(rf"(?<![a-z]){role}[-_]{index}(?!\d)", part) for part in path.parts)


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
