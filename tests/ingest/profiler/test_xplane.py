"""Traces: spans from real ones, times on the clock, and no lost byte without damage."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analyzer.ingest.profiler.spans import Trace
from analyzer.ingest.profiler.xplane import read_trace
from analyzer.ingest.profiler.xplane_pb2 import Entry, Line, Stat
from analyzer.model.budget import Budget
from tests.recordings import ROOT

TRACE = Path(__file__).parents[2] / "fixtures_binary" / "steps.xplane.pb"
SLOWLY = settings(
    max_examples=300, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def read(folder: Path, data: bytes) -> Trace:
    """The trace in these bytes."""
    path = folder / "vm.xplane.pb"
    path.write_bytes(data)
    return read_trace(path, Budget())


def part(number: int, payload: bytes) -> bytes:
    """A field of bytes."""
    size, length = bytearray(), len(payload)
    while length > 0x7F:
        size.append(length & 0x7F | 0x80)
        length >>= 7
    return bytes([number << 3 | 2, *size, length]) + payload


Made = tuple[int, int, int, dict[str, bytes | int]]

EVENTS = ["", "ExecutorState::ProcessAsync::Start", "ExecutorState::ProcessAsync::Done",
          "a:CollectiveReduceV2", "PrefetchProduce", "a/MatMul:MatMul", "b/Relu:Relu",
          "Iterator::Root", "Iterator::Root::Prefetch::Generator", "c:StatefulPartitionedCall",
          "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)", "MemcpyH2D",
          "ampere_sgemm_128x64_tn"]  # fmt: skip
STATS = ["", "name", "kernel_type", "step_id", "instance_key", "element_id"]


def made(
    *events: tuple[int, int, int, dict[str, bytes | int]],
    thread: bytes = b"t",
    plane: bytes = b"/host:CPU",
    above: int = 0,
) -> bytes:
    """A trace of one thread; an event is (number in EVENTS, start in ns, length in ns, stats).

    Numbers of names begin `above` nought.
    """
    line = Line(name=thread, timestamp_ns=5)
    for number, start, length, stats in events:
        event = line.events.add(metadata_id=number + above, offset_ps=start * 1000, duration_ps=length * 1000)
        for name, value in stats.items():
            stat = Stat(metadata_id=STATS.index(name))
            if isinstance(value, bytes):
                stat.str_value = value
            else:
                stat.int64_value = value
            event.stats.append(stat)
    fields = [part(2, plane), part(3, line.SerializeToString())]
    for field, names in ((4, EVENTS), (5, STATS)):
        for key, name in enumerate(names, above if field == 4 else 0):
            entry = Entry(key=key, value=Entry.Metadata(id=key, name=name.encode()))
            fields.append(part(field, entry.SerializeToString()))
    return part(1, b"".join(fields))


def test_steps_of_a_real_trace() -> None:
    """Four numbered steps, apart, within the time that was profiled, and input within them."""
    trace = read_trace(TRACE, Budget())
    steps = [span for span in trace.spans if span.kind == "step"]
    assert [span.step for span in steps] == [0, 1, 2, 3]
    assert trace.damage == []
    assert trace.absolute
    assert trace.start_ns is not None
    assert trace.stop_ns is not None
    for one, other in pairwise(steps):
        assert trace.start_ns <= one.start_ns <= (one.end_ns or 0) <= other.start_ns <= trace.stop_ns
    assert {span.kind for span in trace.spans} >= {"step", "input", "function"}
    assert all(span.end_ns for span in trace.spans)


def test_a_collective_that_never_ended_is_open(tmp_path: Path) -> None:
    """Begun twice and ended once: the second is open."""
    op: dict[str, bytes | int] = {"name": b"a", "kernel_type": b"CollectiveReduceV2", "step_id": 7}
    data = made(
        (1, 10, 0, op), (3, 11, 50, {"step_id": 7, "instance_key": 3}), (2, 61, 0, op), (1, 70, 0, op)
    )
    trace = read(tmp_path, data)
    assert trace.damage == []
    assert [(s.kind, s.start_ns, s.end_ns, s.instance) for s in trace.spans] == [
        ("collective", 16, 66, 3),
        ("collective", 75, None, None),
    ]
    assert not trace.absolute


def test_the_clock_of_an_old_trace_is_that_of_its_prefetching(tmp_path: Path) -> None:
    """TensorFlow 2.15 does not say when the profile began; an element's number does."""
    now = 1_795_229_604_000_000_000
    trace = read(tmp_path, made((4, 100, 1, {"element_id": now + 105}), (3, 300, 9, {})))
    assert trace.absolute
    assert [span.start_ns for span in trace.spans] == [now + 305]


@pytest.mark.parametrize("above", [0, 200, 20_000, 3_000_000])
def test_what_computes_is_one_span_for_each_stretch(above: int, tmp_path: Path) -> None:
    """Operations that follow one another are one; a call of others is none, however names are numbered."""
    events: list[Made] = [
        (5, 0, 100, {}),
        (6, 90, 50, {}),
        (9, 0, 900_000, {}),
        (5, 100_000, 10, {}),
        (3, 200, 9, {}),
    ]
    trace = read(tmp_path, made(*events, above=above))
    assert trace.damage == []
    assert [(s.kind, s.start_ns, s.end_ns) for s in trace.spans] == [
        ("compute", 5, 145), ("collective", 205, 214), ("compute", 100_005, 100_015),
    ]  # fmt: skip


def test_what_prepares_input_is_no_computing(tmp_path: Path) -> None:
    """Of tf.data only the root iterator is told, for which training waits."""
    events: list[Made] = [(5, 0, 100, {}), (7, 0, 50, {}), (8, 10, 30, {})]
    trace = read(tmp_path, made(*events, thread=b"tf_data_private_threadpool/7"))
    assert [(s.kind, s.name) for s in trace.spans] == [("input", "Iterator::Root")]


@pytest.mark.parametrize(("thread", "computed"), [(b"Stream #13(Compute,MemcpyH2D)", 1), (b"XLA Modules", 0)])
def test_what_a_gpu_does_is_told_by_name(thread: bytes, computed: int, tmp_path: Path) -> None:
    """NCCL kernels are collectives, copies are copies, and all else on a stream is computing.

    The names are those of CUDA 12 and NCCL 2.2x; no trace of a GPU was at hand.
    """
    events: list[Made] = [(10, 0, 100, {}), (11, 200, 50, {}), (12, 300, 40, {})]
    trace = read(tmp_path, made(*events, thread=thread, plane=b"/device:GPU:0"))
    kinds = [span.kind for span in trace.spans]
    assert kinds == ["collective", "copy", *["compute"] * computed]


def test_a_broken_event_costs_itself(tmp_path: Path) -> None:
    """The others of its thread are kept, and the damage says where."""
    line = made((3, 10, 5, {}), (3, 20, 5, {}))
    at = line.index(b"\x22") + 2
    trace = read(tmp_path, line[:at] + b"\x08\x83\xff" + line[at + 3 :])
    assert len(trace.spans) == 1
    assert any(0 < damage.offset < len(line) for damage in trace.damage)


@pytest.mark.slow
def test_cut_anywhere(tmp_path: Path) -> None:
    """A cut is damage at some offset within, unless it falls between two fields of the whole."""
    data = TRACE.read_bytes()
    ends, pos = set(), 0
    for field in read_fields(data):
        pos += field
        ends.add(pos)
    for cut in [*range(300), *range(300, len(data), 23), *range(len(data) - 100, len(data))]:
        trace = read(tmp_path, data[:cut])
        assert trace.damage or cut in ends
        assert all(0 <= damage.offset <= cut for damage in trace.damage)


def read_fields(data: bytes) -> list[int]:
    """The sizes of the outermost fields."""
    sizes, pos = [], 0
    while pos < len(data):
        start, length, shift = pos, 0, 0
        pos += 1
        while True:
            length |= (data[pos] & 0x7F) << shift
            shift, pos = shift + 7, pos + 1
            if data[pos - 1] < 0x80:
                break
        pos += length
        sizes.append(pos - start)
    return sizes


@pytest.mark.recordings
def test_a_cut_behind_the_names_costs_only_what_lies_behind_it(tmp_path: Path) -> None:
    """The spans of a plane of which all but the last names are there; the damage begins where they end."""
    recorded = ROOT / "sample_runs" / "slow-worker-tf215" / "run"
    data = next(recorded.rglob("worker-2/**/*.xplane.pb")).read_bytes()
    whole, cut = read(tmp_path, data), read(tmp_path, data[:-150])
    assert whole.damage == []
    assert len(cut.spans) == len(whole.spans) > 40
    assert [len(data) - 1000 < damage.offset <= len(data) - 150 for damage in cut.damage] == [True]


def test_threads_without_any_name_are_one_damage(tmp_path: Path) -> None:
    """Names stand behind the threads, so most cuts cost them all."""
    data = made(*[(3, at, 5, {}) for at in range(100)])
    trace = read(tmp_path, data[: len(data) // 2])
    assert trace.spans == []
    assert len(trace.damage) == 1


@pytest.mark.slow
@SLOWLY
@given(places=st.lists(st.integers(0, len(TRACE.read_bytes()) * 8 - 1), min_size=1, max_size=20))
def test_flipped_bits(places: list[int], tmp_path: Path) -> None:
    """No flipped bit makes it fail; a trace has no checksums, so not each can be seen."""
    data = bytearray(TRACE.read_bytes())
    for place in places:
        data[place // 8] ^= 1 << place % 8
    trace = read(tmp_path, bytes(data))
    assert trace.spans or trace.damage


@SLOWLY
@given(data=st.binary(max_size=400))
def test_any_bytes(data: bytes, tmp_path: Path) -> None:
    """Bytes of any kind are never an all-clear."""
    trace = read(tmp_path, data)
    assert trace.damage
    assert trace.spans == []


@pytest.mark.parametrize("data", [b"", b"hello world\n", part(4, b"vm")])
def test_traces_of_nothing_are_damage(data: bytes, tmp_path: Path) -> None:
    """An empty file, a foreign one, and one without an event."""
    (damage,) = read(tmp_path, data).damage
    assert damage.offset + (damage.length or 0) == len(data)


@pytest.mark.parametrize(("old", "new"), [(b"\x0a", b"\x1a"), (b"\x0a", b"\x2a"), (b"\x0a", b"\x08")])
def test_a_plane_under_another_number_is_damage(old: bytes, new: bytes, tmp_path: Path) -> None:
    """One flipped bit takes a whole host away; a trace has no checksum that would tell."""
    data = made((3, 10, 5, {}))
    assert data.startswith(old)
    assert read(tmp_path, data).damage == []
    assert read(tmp_path, new + data[1:] + data).damage


@pytest.mark.parametrize("number", [2, 7])
def test_a_line_under_another_number_is_damage(number: int, tmp_path: Path) -> None:
    """A thread is lost, and the others are kept."""
    line = Line(name=b"t", timestamp_ns=5)
    line.events.add(metadata_id=3)
    lost = part(1, part(2, b"/host:CPU") + part(number, line.SerializeToString()))
    trace = read(tmp_path, made((3, 10, 5, {})) + lost)
    assert trace.damage
    assert len(trace.spans) == 1
