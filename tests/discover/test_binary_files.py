"""Files that are no text are no logs."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

import pytest

from analyzer.discover import discover
from analyzer.model.source_kinds import Kind


def test_a_file_that_is_no_text_is_no_log(tmp_path: Path) -> None:
    """Whatever its name; a log that a crash damaged, or in another encoding, is one."""
    noise = Random(7).randbytes(9_000)
    text = "2026-11-21 03:10:02 worker:1 step 1 loss 0.5 \u2028 voilà\n".encode() * 300
    logs = {
        "worker-0.log": noise,
        "worker-1.log": noise + text,
        "worker-2.log": text[:9_000] + bytes(20_000) + noise[:300],
        "worker-3.log": text.decode().encode("utf-16"),
        "worker-4.log": text.decode().replace("\u2028", "é").encode("latin-1"),
        "worker-5.log": "進捗率 エポック 損失\n".encode("shift-jis") * 300,
        "worker-6.log": gzip.compress(noise),
        "worker-7.log": b"\x1b[2K\r 1/9 \x08\x08\x08\x08" * 500,
    }
    for name, data in logs.items():
        (tmp_path / name).write_bytes(data)
    skipped = {source.name: source.skip for source in discover([tmp_path]).sources if source.skip}
    assert skipped == {"worker-0.log": "is not text"}
    (alone,) = discover([tmp_path / "worker-0.log"]).sources
    assert alone.skip == "is not text"


@pytest.mark.parametrize(
    ("name", "data", "kind"),
    [
        ("a.pdf", b"%PDF-1.4 notes", Kind.OTHER),
        ("x.json", b'{"a": 1, "b": ["c", {"d": "a/path"}]}', Kind.OTHER),
        ("notes.rtf", b"{\\rtf1 notes}", Kind.OTHER),
        ("x.json", b'{"result": {"text": "step 1 loss 0.5"}}', Kind.LOG),
        ("x.json", b'{"a": 1,', Kind.LOG),
        ("x", b"[epoch 1] loss 0.5", Kind.LOG),
        ("hello.txt", b"hello", Kind.LOG),
    ],
)
def test_a_document_that_is_given_alone_is_no_log(tmp_path: Path, name: str, data: bytes, kind: Kind) -> None:
    """Whatever else is text may be the log of a program that prints little."""
    (tmp_path / name).write_bytes(data)
    (alone,) = discover([tmp_path / name]).sources
    assert alone.kind is kind
