"""What is written is read: for any lines, any numbers and any cluster, not only for those of the sample runs."""

from __future__ import annotations

import io
import json
import unicodedata
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from analyzer.identify import identify
from analyzer.ingest.logs.text import decode, lines
from analyzer.model.run import Tables
from tests.fuzz.oracles import PACKED, WIDE
from tests.fuzz.target import pack, read
from tests.fuzz.targets.collectors import LEARNED, MARKS

pytestmark = pytest.mark.slow

SOME = settings(max_examples=60, deadline=None)
WORDS = st.from_regex(r"[a-zé✓]{1,9}( [a-zé✓=,.-]{1,9}){0,6}", fullmatch=True)
STAMP = "2026-11-21T01:35:58.252546967Z "
"""The time that one of the collectors puts before each line; it is kept."""
INDEX = st.integers(0, 99_999)


def tables(name: str, data: bytes) -> Tables:
    """What is read of one file."""
    with TemporaryDirectory(prefix="mwms-fuzz-") as folder:
        path = Path(folder, name)
        path.write_bytes(data)
        (found,) = read([path])
    return identify(found, pack().messages)


@SOME
@given(
    mark=st.sampled_from(sorted(MARKS.keys() - LEARNED)),
    turns=st.lists(st.tuples(st.integers(0, 1), WORDS), min_size=3, max_size=40),
)
def test_marks_of_collectors_are_taken_off(mark: str, turns: list[tuple[int, str]]) -> None:
    """Each line is that of its worker, and keeps the number that it has in the file."""
    text = "".join(MARKS[mark](index, line) + "\n" for index, line in turns)
    found = tables("job.log", text.encode())
    rows = sorted(found["records"].select("line", "worker", "text").rows())
    assert [(line, text.removeprefix(STAMP)) for line, _, text in rows] == [
        (n, line) for n, (_, line) in enumerate(turns, 1)
    ]
    if len({index for index, _ in turns}) > 1 and mark not in {"cri", "docker"}:
        assert [worker for _, worker, _ in rows] == [f"worker:{index}" for index, _ in turns]


@SOME
@given(data=st.binary(max_size=600) | st.text(max_size=400).map(str.encode))
def test_a_log_has_as_many_lines_as_line_ends(data: bytes) -> None:
    """Whatever else stands in it; the last one needs no end."""
    assume(not data.startswith((*PACKED, *WIDE)))
    (row,) = tables("worker-0.log", data)["sources"].rows(named=True)
    data = data.removeprefix(b"\xef\xbb\xbf")
    assert row["lines"] == data.count(b"\n") + (data[-1:] not in {b"", b"\n"})


@given(text=st.text(max_size=300))
def test_no_line_holds_control_codes(text: str) -> None:
    """But tabs; a report may be shown in a terminal."""
    for line in lines(enumerate(decode(text.encode("utf-8", "surrogatepass")).split("\n"), 1)):
        assert {each for each in line.text if unicodedata.category(each) == "Cc" and each < "\x80"} <= {"\t"}


@SOME
@given(
    rows=st.lists(
        st.tuples(
            st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20),
            st.integers(0, 2**63 - 1),
            st.floats(0, 4e9),
            st.floats(width=32),
        ),
        max_size=40,
    )
)
def test_scalars_that_tensorboard_wrote_are_read(rows: list[tuple[str, int, float, float]]) -> None:
    """Exactly, in their order."""
    from tensorboard.compat.proto.event_pb2 import Event
    from tensorboard.summary.writer.record_writer import RecordWriter

    file = io.BytesIO()
    writer = RecordWriter(file)
    writer.write(Event(wall_time=1.0, file_version="brain.Event:2").SerializeToString())
    for tag, step, time, value in rows:
        event = Event(wall_time=time, step=step)
        event.summary.value.add(tag=tag, simple_value=value)
        writer.write(event.SerializeToString())
    found = tables("events.out.tfevents.1.worker-0", file.getvalue())
    assert found["damage"].height == 0
    assert list(map(repr, found["scalars"].select("tag", "step", "time", "value").rows())) == list(
        map(repr, rows)
    )


@SOME
@given(
    roles=st.dictionaries(
        st.sampled_from(["chief", "worker", "ps"]), st.lists(st.text(max_size=12), max_size=4)
    ),
    role=st.sampled_from(["chief", "worker", "ps"]),
    index=INDEX,
    indent=st.none() | st.integers(0, 4),
)
def test_a_cluster_is_read_as_it_was_stated(
    roles: dict[str, list[str]], role: str, index: int, indent: int | None
) -> None:
    """However its JSON is laid out."""
    config = {"cluster": roles, "task": {"type": role, "index": index}}
    found = tables("tf_config-0.json", json.dumps(config, indent=indent).encode())
    facts = dict(found["facts"].select("key", "value").rows())
    assert json.loads(facts["cluster_spec"]) == roles
    assert facts["task"] == f"{role}:{index}"
    assert found["damage"].height == 0


@SOME
@given(
    codes=st.dictionaries(
        st.tuples(st.sampled_from(["worker", "ps"]), INDEX), st.integers(-64, 128), min_size=1
    ),
    form=st.sampled_from(["{}-{} {}", "{}:{}: {}", "{}:{} {}", "{}_{}={}", '"{}-{}": {},', "{}-{}\t{}\r"]),
)
def test_exit_codes_of_any_worker_are_read(codes: dict[tuple[str, int], int], form: str) -> None:
    """In each of the forms that launchers and people use."""
    text = "".join(form.format(role, index, code) + "\n" for (role, index), code in codes.items())
    found = tables("exit_codes.txt", text.encode())
    rows = found["facts"].select("worker", "value").rows()
    assert rows == [(f"{role}:{index}", str(code)) for (role, index), code in codes.items()]
    assert found["damage"].height == 0
