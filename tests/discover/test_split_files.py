"""An archive that was split in order to send it is one archive, and pages of a query are one answer."""

from __future__ import annotations

import io
import json
import tarfile
import zipfile
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.ingest.logs.exports import entries_of
from analyzer.model.budget import Limits

LOG = b"2026-11-21 03:57:01.000001: I tensorflow/core/util/port.cc:113] on\nstep 1 loss 0.5\n"


def packed(*, as_zip: bool = False) -> bytes:
    """The logs of two workers."""
    data = io.BytesIO()
    if as_zip:
        with zipfile.ZipFile(data, "w") as archive:
            for n in range(2):
                archive.writestr(f"worker-{n}.log", LOG)
        return data.getvalue()
    with tarfile.open(fileobj=data, mode="w:gz") as tar:
        for n in range(2):
            member = tarfile.TarInfo(f"worker-{n}.log")
            member.size = len(LOG)
            tar.addfile(member, io.BytesIO(LOG))
    return data.getvalue()


@pytest.mark.parametrize(
    ("names", "as_zip"),
    [
        (("logs.tar.gz.partaa", "logs.tar.gz.partab", "logs.tar.gz.partac"), False),
        (("logs.tgz.aa", "logs.tgz.ab"), False),
        (("logs.tar.gz-part-00", "logs.tar.gz-part-01"), False),
        (("logs.zip.001", "logs.zip.002"), True),
    ],
)
def test_the_parts_are_joined(names: tuple[str, ...], as_zip: bool, tmp_path: Path) -> None:
    """In the order of their names."""
    data = packed(as_zip=as_zip)
    size = len(data) // len(names) + 1
    for number, name in enumerate(names):
        (tmp_path / name).write_bytes(data[number * size : (number + 1) * size])
    (tmp_path / "worker-2.log").write_bytes(LOG)
    run = discover([tmp_path])
    assert [source.worker for source in run.sources] == ["worker:0", "worker:1", "worker:2"]
    assert all(source.path.read_bytes() == LOG for source in run.sources)


def test_other_files_are_no_parts(tmp_path: Path) -> None:
    """A part alone, the end without its beginning, rotated logs, and a copy."""
    names = [
        "a.tar.gz.partaa",
        "b.tar.gz.partab",
        "b.tar.gz.partac",
        "c.log.001",
        "c.log.002",
        "d.tar.gz.bak",
    ]
    for name in names:
        (tmp_path / name).write_bytes(b"step 1 loss 0.5\n")
    assert {source.name for source in discover([tmp_path]).sources} == {*names}


def test_parts_beyond_the_budget_are_left_out(tmp_path: Path) -> None:
    """With the reason."""
    for name in ("logs.zip.001", "logs.zip.002"):
        (tmp_path / name).write_bytes(b"x" * 1000)
    (source,) = discover([tmp_path], limits=Limits(unpacked_gigabytes=1e-6)).sources
    assert source.name == "logs.zip"
    assert source.skip.startswith("cannot be joined")


def answer(*pods: str, first: int = 0) -> str:
    """Loki's answer: a line of each of these streams, newest first."""
    streams = [
        {
            "stream": {"pod": pod},
            "values": [[f"{1795225230 + first + n}000000000", f"step {first + n} loss 0.5"]],
        }
        for n, pod in [*enumerate(pods)][::-1]
    ]
    return json.dumps({"status": "success", "data": {"resultType": "streams", "result": streams}})


def names(folder: Path, **pages: str) -> list[str]:
    """The sources of a run with these pages."""
    for stem, text in pages.items():
        (folder / f"{stem}.json").write_text(text, encoding="utf-8")
    return [source.name for source in discover([folder]).sources]


def test_pages_of_loki_are_one_answer(tmp_path: Path) -> None:
    """The newest lines are in the first page; entries are read oldest first."""
    older, newer = answer("w-0", "w-1"), answer("w-1", "w-0", first=2)
    assert names(tmp_path, loki_1=newer, loki_2=older) == ["loki_*.json"]
    run = discover([tmp_path])
    lines = entries_of(run.sources[0].path).lines or ()
    assert [json.loads(line)["line"] for line in lines] == [f"step {n} loss 0.5" for n in range(4)]


@pytest.mark.parametrize(
    "pages",
    [
        {"loki_1": answer("w-0"), "loki_2": answer("w-1")},
        {"loki_worker-1": answer("w-1"), "loki_worker-2": answer("w-1")},
        {"loki_1": answer("w-0")},
        {"loki_1": answer("w-0"), "loki_2": answer("w-0")[:-9]},
        {"loki_1": answer("w-0"), "loki_2": json.dumps([{"message": "step 1 loss 0.5"}])},
    ],
    ids=["other streams", "tasks", "one", "broken", "another service"],
)
def test_other_answers_are_no_pages(pages: dict[str, str], tmp_path: Path) -> None:
    """Each is read alone."""
    assert names(tmp_path, **pages) == sorted(f"{stem}.json" for stem in pages)
