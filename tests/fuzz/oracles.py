"""What is true of several kinds of files."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from analyzer.ingest.logs.text import MAX_LINE_CHARS
from analyzer.model.run import Tables
from tests.fuzz.target import Case, sound

WIDE = (b"\xff\xfe", b"\xfe\xff")
PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00", b"\x28\xb5\x2f\xfd")


def damaged(tables: Tables) -> bool:
    """Whether the tables say that something was lost."""
    return bool(tables["damage"].height) or "skipped" in tables["sources"]["read"]


def flaw(data: bytes) -> str:
    """What of a text no reader can have read; empty where all of it is sound."""
    if data.startswith(PACKED):
        return ""
    wide = data.startswith(WIDE)
    try:
        data.decode("utf-16" if wide else "utf-8")
    except UnicodeDecodeError:
        return "bytes that are no text"
    return "NUL bytes" if b"\0" in data and not wide else ""


def endless(data: bytes) -> bool:
    """Whether a line is so long that its middle cannot have been kept."""
    if data.startswith((*PACKED, *WIDE)):
        return False
    return any(
        len(line) > MAX_LINE_CHARS for line in data.decode(errors="replace").replace("\r", "\n").split("\n")
    )


def unsaid(case: Case, tables: Tables) -> Iterator[str]:
    """What is lost of a text, and not said."""
    if (what := flaw(case.data)) and not damaged(tables):
        yield f"holds {what}, and is called whole"


def forgotten(case: Case, tables: Tables) -> Iterator[str]:
    """What a file holds that was cut at the end of a line, and was read only while it was whole."""
    if not (case.is_cut and case.data.endswith(b"\n")) or case.data.count(b"\n") < _ENOUGH:
        return
    if case.data.startswith(PACKED):  # its bytes are no lines
        return
    last, whole = case.data.count(b"\n"), sound(case.seed)
    spans = whole["records"].select("source", "line", "last_line").rows()
    cut = {(source, n) for source, first, end in spans if end > last for n in range(first, end + 1)}
    lines = {(source, n) for source, first, end in spans for n in range(first, end + 1)} - cut
    for table, columns in _COLUMNS.items():
        rows: list[tuple[Any, ...]] = [tuple(map(_bare, row)) for row in whole[table].select(columns).rows()]
        expected = [row for row in rows if row[1] <= last if table == "scalars" or row[:2] in lines]
        found: set[tuple[Any, ...]] = {tuple(map(_bare, row)) for row in tables[table].select(columns).rows()}
        if table == "records" and found:  # a bare exception counts as one only where it is the last line
            final = max(found, key=lambda row: row[1])
            found |= {(*final[:2], "plain", None, final[4])} if final[2] == "traceback" else set()
        if missing := [row for row in expected if row not in found]:
            yield f"{len(missing)} {table} before the cut are lost, first {missing[0]}"


_ENOUGH = 3
"""Lines that tell by which collector a file was written."""

_COLUMNS = {
    "records": ("source", "line", "kind", "level", "text"),
    "matches": ("source", "line", "pattern", "excerpt", "captures"),
    "scalars": ("source", "line", "tag", "epoch", "step", "value"),
}


def _bare(cell: object) -> object:
    """A cell that equals itself, without the empty line behind the end of a file."""
    return repr(cell) if isinstance(cell, float) else cell.rstrip() if isinstance(cell, str) else cell
