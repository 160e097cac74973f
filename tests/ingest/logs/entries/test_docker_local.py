"""Files of Docker's logging driver `local` are read as the lines that the container printed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analyzer.ingest.logs.exports import entries_of

NOW = 1_795_225_237_500_000_000


def varint(number: int) -> bytes:
    """A number as protobuf writes it."""
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + varint(number >> 7)


def message(line: str, *, partial: bool = False) -> bytes:
    """A message of the driver, between two copies of its size."""
    text = line.encode()
    body = b"\x0a\x06stderr\x10" + varint(NOW) + b"\x1a" + varint(len(text)) + text + b"\x20\x01" * partial
    return len(body).to_bytes(4, "big") + body + len(body).to_bytes(4, "big")


def test_each_message_is_a_line_with_its_time(tmp_path: Path) -> None:
    """One that is partial has no line break."""
    path = tmp_path / "container.log"
    path.write_bytes(message("step 1 lo", partial=True) + message("ss 0.5") + message("caf\u00e9" * 100))
    export = entries_of(path)
    entries = [json.loads(line) for line in export.lines or ()]
    assert [each["log"] for each in entries] == ["step 1 lo", "ss 0.5\n", "caf\u00e9" * 100 + "\n"]
    assert {(each["stream"], each["time"]) for each in entries} == {("stderr", "2026-11-21T01:40:37.500000Z")}
    assert not export.damage


@pytest.mark.parametrize("rest", [message("step 3 loss 0.5")[:9], b"\0\0\0\x05xxxxx\0\0\0\x05"])
def test_a_damaged_message_is_told_and_ends_the_lines(tmp_path: Path, rest: bytes) -> None:
    """Nothing tells where the next one begins."""
    whole = message("step 1 loss 0.5") + message("step 2 loss 0.5")
    path = tmp_path / "container.log"
    path.write_bytes(whole + rest)
    export = entries_of(path)
    assert len(export.lines or ()) == 2
    assert export.damage == f"a message of Docker's driver `local` is damaged at byte {len(whole)}"
