"""Checkpoints that were handed over with the run."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.model.run import Tables
from analyzer.pipeline import analyze, load_tables
from tests.rules import our_rules

pytestmark = pytest.mark.runs

LATEST = """\
model_checkpoint_path: "ckpt-5"
all_model_checkpoint_paths: "ckpt-4"
all_model_checkpoint_paths: "ckpt-5"
all_model_checkpoint_timestamps: 1795258016.57618
all_model_checkpoint_timestamps: 1795258016.6061356
last_preserved_timestamp: 1795258015.4578424
"""
BEGIN = b"\0\0\x06\x08\x01\x1a\x02\x08\x01"
END = b"\0" * 20 + b"\x57\xfb\x80\x8b\x24\x75\x47\xdb"
INDEX = BEGIN + b"_CHECKPOINTABLE_OBJECT_GRAPH" + END


def tables(folder: Path, files: Mapping[str, bytes]) -> Tables:
    """All tables of a run with one log and some files."""
    for name, content in {"worker-0.log": b"step 1 loss 0.5\n", **files}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(content)
    return load_tables(discover([folder]), our_rules())


def told(found: Tables) -> list[tuple[str, str, str]]:
    """Source, key and value of each fact that is about checkpoints."""
    facts = found["facts"].filter(found["facts"]["key"].str.starts_with("checkpoint"))
    return facts.select("source", "key", "value").rows()


def damage(found: Tables) -> list[tuple[str, int | None, str]]:
    """Source, line and words of all damage."""
    return found["damage"].select("source", "line", "what").rows()


def test_the_latest_is_what_training_goes_on_from(tmp_path: Path) -> None:
    """Where the file that names it lies, with the time at which it was saved."""
    found = tables(tmp_path, {"ckpts/checkpoint": LATEST.encode()})
    assert told(found) == [("ckpts/checkpoint", "checkpoint", "ckpts/ckpt-5")]
    assert found["facts"].filter(found["facts"]["key"] == "checkpoint")["time"].to_list() == [
        1795258016.6061356
    ]
    assert damage(found) == []
    assert analyze([tmp_path]).document["action"]["resume_from"] == "ckpts/ckpt-5"


def test_a_path_that_is_whole_stays_so(tmp_path: Path) -> None:
    """It may have quotes in it."""
    text = 'model_checkpoint_path: "/data/a \\"b\\"/ckpt-5"\n'
    assert told(tables(tmp_path, {"checkpoint": text.encode()}))[0][2] == '/data/a "b"/ckpt-5'


def test_indexes_are_checkpoints(tmp_path: Path) -> None:
    """But for what was never completed, and models that were exported."""
    files = dict.fromkeys(
        (
            "ckpts/ckpt-4.index",
            "ckpts/ckpt-5.index",
            "ckpts/ckpt-6_temp/part-00000-of-00001.index",
            "ckpts/workertemp_1/ckpt-6.index",
            "export/variables/variables.index",
        ),
        INDEX,
    )
    found = tables(tmp_path, {"ckpts/checkpoint": LATEST.encode(), **files})
    assert [value for _, _, value in told(found)] == ["ckpts/ckpt-5", "ckpts/ckpt-4", "ckpts/ckpt-5"]
    assert damage(found) == []


@pytest.mark.parametrize("packed", [False, True])
def test_a_checkpoint_that_is_named_and_not_there(packed: bool, tmp_path: Path) -> None:
    """Though its siblings are; then it is nothing to go on from."""
    files = {"worker-0.log": b"a\n", "ckpts/checkpoint": LATEST.encode(), "ckpts/ckpt-4.index": INDEX}
    if packed:
        with zipfile.ZipFile(tmp_path / "run.zip", "w") as archive:
            for name, content in files.items():
                archive.writestr(name, content)
        found = load_tables(discover([tmp_path / "run.zip"]), our_rules())
    else:
        found = tables(tmp_path, files)
    assert damage(found) == [("ckpts/checkpoint", 1, "names the checkpoint ckpt-5, whose index is not there")]
    assert [key for _, key, _ in told(found)] == ["checkpoint_missing", "checkpoint"]


@pytest.mark.parametrize("content", [b"", INDEX[:-1], BEGIN, b"\0" * 4096])
def test_an_index_that_was_not_written_to_its_end_is_damage(content: bytes, tmp_path: Path) -> None:
    """As a disk that is full leaves it."""
    found = tables(tmp_path, {"ckpts/ckpt-5.index": content})
    assert told(found) == []
    assert damage(found) == [
        ("ckpts/ckpt-5.index", None, "the index of a checkpoint that was not written to its end")
    ]


def test_an_index_of_something_else_is_left_alone(tmp_path: Path) -> None:
    """Other programs have files of that name."""
    found = tables(tmp_path, {"books/shelf.index": b"a: 1\nb: 2\n"})
    reasons = dict(found["sources"].select("source", "reason").rows())
    assert reasons["books/shelf.index"] == "is not the index of a checkpoint"
    assert (told(found), damage(found)) == ([], [])


@pytest.mark.parametrize(
    "text", [b"nothing\n", b"\x00\xff", b"model_checkpoint_path: 5x\n", b'a: "' * 20_000]
)
def test_what_names_no_checkpoint_is_damage(text: bytes, tmp_path: Path) -> None:
    """With its line."""
    found = tables(tmp_path, {"checkpoint": text})
    assert ("checkpoint", 1, "a line that is no entry of a file that names checkpoints") in damage(found)
    assert told(found) == []
