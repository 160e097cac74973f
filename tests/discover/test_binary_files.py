"""Files that are no text are no logs."""

from __future__ import annotations

import gzip
from pathlib import Path
from random import Random

from analyzer.discover import discover


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
    assert skipped == {"worker-0.log": "is no text"}
    (alone,) = discover([tmp_path / "worker-0.log"]).sources
    assert alone.skip == "is no text"
