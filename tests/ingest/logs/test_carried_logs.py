"""Logs as they travel: in frames of Nomad, in syslog's counted messages, in recordings of ttyrec, rolled by Spark."""

from __future__ import annotations

import json
import struct
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.ingest.logs.exports import entries_of
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import log_of, order_of_part

TablesOf = Callable[[Mapping[str, str]], Tables]
TEXT = "step 1 loss 0.5\nstep 2 loss 0.4 ü\n"


def frame(text: str, file: str = "alloc/logs/train.stderr.0") -> dict[str, object]:
    """A frame of Nomad's stream of a file."""
    return {"Offset": 17, "Data": b64encode(text.encode()).decode(), "File": file}


@pytest.mark.parametrize("between", ["", "\n"], ids=["in one line", "a line each"])
def test_frames_are_joined(between: str, tmp_path: Path) -> None:
    """A part may end within a line; a heartbeat has no part."""
    frames = [frame(TEXT[:9]), {}, frame(TEXT[9:])]
    path = tmp_path / "stream.json"
    path.write_text(between.join(map(json.dumps, frames)), encoding="utf-8")
    (source,) = discover([tmp_path]).sources
    assert source.kind is Kind.LOG
    assert entries_of(path).lines == [*TEXT.splitlines(), ""]


@pytest.mark.parametrize(
    "text",
    ['{"Offset": 17, "Limit": 3}', '{"File": "model.h5", "Size": 3}', '{"Offset": 1, "Data": "%%%", "File": "x"}'],
    ids=["no data", "another file", "no Base64"],
)  # fmt: skip
def test_other_json_has_no_frames(text: str, tmp_path: Path) -> None:
    """Nothing of it is a log."""
    path = tmp_path / "x.json"
    path.write_text(text, encoding="utf-8")
    assert not entries_of(path).lines


def counted(*messages: str) -> str:
    """Syslog as TCP carries it, with the number of bytes before each message."""
    return "".join(f"{len(each.encode())} {each}" for each in messages)


def test_messages_of_syslog_are_told_apart_by_their_length(tables_of: TablesOf) -> None:
    """The text of one may contain what looks like the start of another."""
    sent = [
        f"<14>1 2026-11-21T01:40:0{n}.000001Z {host} bert 4711 - - step {n} loss 0.5 ü 20 <14>1 x"
        for n in (1, 2)
        for host in ("alder", "birch")
    ]
    tables = tables_of({"relay.stream": counted(*sent) + "99 <14>1 2026"})
    steps = tables["scalars"].filter(tag="step").select("source", "step").sort("source", "step").rows()
    assert steps == [(f"relay.stream#{host}", n) for host in ("alder", "birch") for n in (1, 2)]


def test_the_number_of_bytes_is_not_guessed(tmp_path: Path) -> None:
    """A log with numbers before its lines is read as it is."""
    path = tmp_path / "worker-0.log"
    path.write_text("12 <14> step 1\n13 <14> step 2\n", encoding="utf-8")
    assert entries_of(path).lines is None


def test_what_a_terminal_showed_is_read(tmp_path: Path) -> None:
    """Its parts end anywhere, also within a character; the last one broke off."""
    shown = TEXT.replace("\n", "\r\n").encode()
    parts = [shown[:20], shown[20:36], shown[36:]]
    recorded = b"".join(
        struct.pack("<III", 1795225237 + n, 13, len(each)) + each for n, each in enumerate(parts)
    )
    path = tmp_path / "worker-1.ttyrec"
    path.write_bytes(recorded + struct.pack("<II", 1795225299, 1))
    (source,) = discover([tmp_path]).sources
    assert source.kind is Kind.LOG
    assert entries_of(path).lines == [*TEXT.splitlines(), ""]


@pytest.mark.parametrize("opening", [TEXT.encode(), TEXT.encode("utf-16"), b"\0" * 64 + TEXT.encode()])
def test_text_is_no_recording_of_a_terminal(opening: bytes, tmp_path: Path) -> None:
    """Whatever stands before it."""
    path = tmp_path / "worker-1.log"
    path.write_bytes(opening)
    assert entries_of(path).lines is None


def test_the_parts_that_spark_rolls_are_one_log() -> None:
    """The oldest first, and the file without a date last."""
    parts = ["0/stderr", "0/stderr--2026-11-21--05-00", "0/stderr--2026-11-21--06-00.gz"]
    assert {log_of(part) for part in parts} == {"0/stderr"}
    assert sorted(parts, key=order_of_part) == [*parts[1:], parts[0]]
    assert log_of("train--2026-11-21--05-00") == "train--2026-11-21--05-00"


def test_times_with_a_comma_tell_no_writers_apart(tables_of: TablesOf) -> None:
    """Airflow 1 puts two of its own prefixes before each line of a task."""
    lines = [
        "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN is on.",
        "INFO:tensorflow:Waiting for the cluster",
        "step 5 loss 0.4",
    ]
    marked = [
        f"[2026-11-21 00:05:0{n % 3},{n % 4}37] {{logging_mixin.py:95}} INFO - [2026-11-21 00:05:0{n % 3},{n % 4}37] "
        f"{{bash_operator.py:110}} INFO - {line}\n"
        for n in range(8)
        for line in lines
    ]
    tables = tables_of({"train_worker-0/1.log": "".join(marked)})
    assert tables["sources"]["source"].to_list() == ["train_worker-0/1.log"]
    assert tables["scalars"].filter(tag="step")["step"].to_list() == [5] * 8


def test_a_table_with_semicolons_is_read(tables_of: TablesOf) -> None:
    """As a spreadsheet saves it where the comma is that of numbers; the names of columns are in any language."""
    rows = [
        f'"21.11.2026 01:40:{n:02}";"worker{n % 2}";"2026-11-21 01:40:{n:02}.000001: I tensorflow/core/x.cc:1] n {n}"'
        for n in range(12)
    ]
    text = "\r\n".join(['"Zeit";"Rechner";"Meldung"', *rows]) + "\r\n"
    tables = tables_of({"Protokoll.csv": text, "notes.md": "the job died"})
    assert tables["sources"].filter(kind="log")["worker"].to_list() == ["worker:0", "worker:1"]
