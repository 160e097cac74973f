"""The prefix of a collector that no style knows is learned from the lines that TensorFlow began."""

from __future__ import annotations

import json
import re

import pytest

from analyzer.ingest.logs.collectors.learned.forms import has_unread_prefix
from analyzer.ingest.logs.collectors.learned.style import learned_style
from analyzer.ingest.logs.collectors.streams import detect_style, is_unread_layout, split_streams

LINES = (
    "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN custom operations are on.",
    "INFO:tensorflow:Waiting for the cluster, timeout = inf",
    "step 5 loss 0.4",
    "Traceback (most recent call last):",
    '  File "/app/t.py", line 3, in <module>',
    "    raise ValueError(x)",
    "",
    "ValueError: no",
)
WRITERS = ("alder", "birch", "cedar")


TIME = re.compile(r"(?:2026-11-21 )?00:05:\d\d(?:\.083)? ")


def _timed(marked: list[str]) -> dict[str | None, list[str]]:
    found = split_streams(list(enumerate(marked, 1)), detect_style(marked))
    return {stream.key: [line for _, line in stream.lines] for stream in found}


def _split(marked: list[str]) -> dict[str | None, list[str]]:
    """Return key → lines of its stream, without the collector's time that lines without one keep."""
    return {key: [TIME.sub("", line, count=1) for line in lines] for key, lines in _timed(marked).items()}


@pytest.mark.parametrize(
    ("before", "key"),
    [
        ("ml/{}[trainer]: ", "ml/{}"),
        ("[prterun-head-4471@1,{}]<stderr>: ", "{}"),
        ("<{}> ", "{}"),
        ("🔵 {} » ", "{}"),
        ("{:>8} │ ", "{}"),
        ("{} trainer ", "{}"),
        ("2026-11-21 00:05:01.083 [{}] stderr | ", "{}"),
        ("Sat 2026-11-21 00:05:01.083 UTC {} train.service[814]: ", "{}"),
        ('{{app="train", node="{}"}}\t', "{}"),
        ("{:>8} 00:05:01.083 E ", "{}"),
    ],
)
def test_the_word_that_tells_the_writers_apart_names_the_streams(before: str, key: str) -> None:
    """Whatever marks stand around it, and wherever the time is."""
    marked = [before.format(name) + line for line in LINES * 3 for name in WRITERS]
    found = _split(marked)
    assert {*found} == {key.format(name) for name in WRITERS}
    assert [*found.values()] == [[*LINES * 3]] * 3


@pytest.mark.parametrize("time", ["00:05:01", "00:05:01.083"])
def test_lines_without_a_time_keep_the_collectors_time_of_day(time: str) -> None:
    """Within a minute of TensorFlow's own; a line that continues another one has none."""
    marked = [f"[{time}] <{name}> {line}" for line in LINES * 3 for name in WRITERS]
    taken = _timed(marked)["alder"]
    assert taken[:5] == [LINES[0], *(f"{time} {line}" for line in LINES[1:4]), LINES[4]]


def test_a_collectors_time_that_counts_from_the_start_is_not_kept() -> None:
    """It is far from TensorFlow's own."""
    marked = [f"[00:41:01] <{name}> {line}" for line in LINES * 3 for name in WRITERS]
    assert _timed(marked)["alder"] == [*LINES * 3]


def test_a_line_in_quotation_marks_is_read_as_what_it_stands_for() -> None:
    """As logfmt and the output of Fluent Bit have it, with other fields behind it."""
    quoted = [line.replace('"', '\\"') for line in LINES]
    marked = [
        f'level=info pod={name} msg="{line}" seq={at}'
        for at, line in enumerate(quoted * 3)
        for name in WRITERS
    ]
    assert _split(marked) == {name: [*LINES * 3] for name in WRITERS}


def test_levels_and_streams_that_tensorflow_never_has_belong_to_the_prefix() -> None:
    """All of its lines are on stderr."""
    marked = [
        f"{name} {'OUT' if line.startswith('step') else 'ERR'} {line}"
        for line in LINES * 3
        for name in WRITERS
    ]
    assert _split(marked) == {name: [*LINES * 3] for name in WRITERS}


def test_notes_of_the_collector_keep_no_prefix_from_being_learned() -> None:
    """If the prefix has brackets, fewer lines need to have it."""
    notes = ["Sender: LSF System", "Subject: Job 4471 in cluster <hpc> Exited"] * 10
    marked = [f"[{name}] {line}" for line in LINES for name in ("ash-a", "elm-b")]
    found = _split([*notes, *marked])
    assert found.pop(None) == notes
    assert found == {name: [*LINES] for name in ("ash-a", "elm-b")}


def test_a_bar_behind_some_lines_is_no_part_of_what_all_have() -> None:
    """The shorter prefix, which all lines have, is the collector's; a supervisor set the bar."""
    marked = [
        f"{name}\t{line}"
        for line in ("again: try 1", *(f"   | {each}" for each in LINES * 3))
        for name in WRITERS
    ]
    assert _split(marked) == {name: ["again: try 1", *LINES * 3] for name in WRITERS}


def test_what_a_program_prints_before_its_own_lines_is_no_prefix() -> None:
    """TensorFlow's lines do not have it."""
    lines = [
        line for each in LINES * 3 for line in (each, "[trainer alder] step 4", "[trainer birch] step 5")
    ]
    assert learned_style(lines) is None
    assert not has_unread_prefix(lines)


def test_a_bar_of_progress_before_lines_of_tensorflow_is_no_prefix() -> None:
    """It has another form each time."""
    bars = [f"epoch 1: {at}%|{'#' * at}{' ' * (30 - at)}| {at}/30 [00:0{at % 9}<00:20]" for at in range(30)]
    lines = [f"{bar}{LINES[0]}" if at % 2 else bar for at, bar in enumerate(bars)]
    assert learned_style([*lines, *LINES * 2]) is None


def test_a_counter_or_a_time_names_no_writer() -> None:
    """Each line has another one; the lines are of one stream."""
    marked = [f"{at:04d}~ [00:05:{at:02d}] {line}" for at, line in enumerate(LINES * 3)]
    assert _split(marked) == {None: [*LINES * 3]}


def test_lines_within_something_that_cannot_be_taken_off_are_an_unread_layout() -> None:
    """Their prefix has no single form, so that nothing is learned."""
    lines = [
        f"{'a b ' * (at % 3)}<{name}>' {line}" for at, line in enumerate(LINES * 5) for name in WRITERS[:1]
    ]
    assert not is_unread_layout([*LINES])
    assert is_unread_layout([f"<alder>' {line}" for line in LINES])
    assert not is_unread_layout([f"2026-11-21T00:05:01.083826Z {line}" for line in LINES])
    assert detect_style(lines) is None


@pytest.mark.parametrize(
    ("before", "names"),
    [
        ("[{}][{}] ", ["ash:0", "ash:1", "elm:0", "elm:1"]),
        ("{} pid={} > ", ["ash:0", "ash:1", "elm:0", "elm:1"]),
        ("[worker-{1}] ({0}) ", ["worker-0", "worker-1"]),
    ],
)
def test_the_number_of_a_process_on_its_host_belongs_to_the_name(before: str, names: list[str]) -> None:
    """Unless a word names the task."""
    marked = [before.format(host, n) + line for line in LINES * 3 for host in ("ash", "elm") for n in (0, 1)]
    assert sorted(filter(None, _split(marked))) == names


def test_the_process_id_of_a_host_is_no_other_writer() -> None:
    """A restarted process has another one."""
    pids = {0: 4711, 1: 5003}
    marked = [
        f"{{{host}}} {pids[again]}~ {line}"
        for again in (0, 1)
        for line in LINES * 2
        for host in ("ash", "elm")
    ]
    assert sorted(filter(None, _split(marked))) == ["ash", "elm"]


@pytest.mark.parametrize(
    "time", ["21/Nov/2026:00:05:{:02d} +0000", "Sat Nov 21 00:05:{:02d} 2026", "1795224{:03d}.5"]
)
def test_a_time_is_no_writer_though_some_lines_share_it(time: str) -> None:
    """However it is written."""
    marked = [f"[{time.format(at // 3)}] {line}" for at, line in enumerate(LINES * 4)]
    assert {*_split(marked)} == {None}


def test_a_counter_that_begins_anew_now_and_then_is_no_rank() -> None:
    """As Fluent Bit numbers the records of each chunk."""
    quoted = [line.replace('"', '\\"') for line in LINES * 3]
    marked = [f'{name}.log: {{"log"=>"{line}"}}' for line in quoted for name in WRITERS]
    numbered = [f"[{at % 7}] {line}" for at, line in enumerate(marked)]
    assert _split(numbered) == {f"{name}.log": [*LINES * 3] for name in WRITERS}


def test_the_processes_of_one_host_are_no_ranks() -> None:
    """Their numbers name them, where they take turns; a process that follows another is a restart."""
    marked = [f"train~[{pid}] {line}" for line in LINES * 3 for pid in (5003, 4711)]
    assert sorted(filter(None, _split(marked))) == ["pid=4711", "pid=5003"]
    restarted = [f"train~[{pid}] {line}" for pid in (5003, 4711) for line in LINES * 3]
    assert _split(restarted) == {None: [*LINES * 6]}


def test_what_python_prints_of_bytes_is_read_as_the_line() -> None:
    """With one quotation mark or the other, as the line needs it."""
    marked = [f"{name} said {(line + chr(10)).encode()!r}" for line in LINES * 3 for name in WRITERS]
    assert _split(marked) == {name: [*LINES * 3] for name in WRITERS}


def test_a_traceback_within_an_object_does_not_blur_the_prefix() -> None:
    """The object begins where the prefix ends, though the writers do not take turns."""
    said = json.dumps({"msg": "fatal", "exc": "\n".join(LINES[3:])})
    marked = [f"[{name}.lan] {line}" for name in ("ash", "elm") for line in (*LINES, said, said, said)]
    found = _split(marked)
    assert {*found} == {"ash.lan", "elm.lan"}
    assert found["ash.lan"][: len(LINES)] == [*LINES]


def test_one_of_several_is_a_number() -> None:
    """As launchers of a few processes print it."""
    marked = [f"({n}/3) {line}" for line in LINES * 3 for n in (1, 2, 3)]
    assert {*_split(marked)} == {"1-of-3", "2-of-3", "3-of-3"}


def test_titles_behind_a_prefix_are_no_headings() -> None:
    """`Instructions for updating:` stands behind the name of a task."""
    lines = [*LINES, "Instructions for updating:"] * 3
    marked = [f"wd-{name}~ {line}" for line in lines for name in ("chief0", "worker0")]
    assert _split(marked) == {f"wd-{name}~": lines for name in ("chief0", "worker0")}


def test_a_bar_behind_blanks_is_taken_off_apart_from_the_prefix() -> None:
    """A supervisor sets it before the lines of its child alone."""
    lines = ["again: try 1", *(f"   | {each}" for each in LINES * 3)]
    marked = [f"[00:05:01] [{name}] [STDERR] {line}" for line in lines for name in WRITERS]
    assert _split(marked) == {name: ["again: try 1", *LINES * 3] for name in WRITERS}


def test_letters_for_channels_and_instants_of_tai_name_no_writers() -> None:
    """As annotate-output and multilog print them."""
    letters = [f"00:05:01 {letter}: {line}" for letter in "IOE" for line in LINES * 2]
    instants = [f"@40000000674{number:05x}3b0de93e {line}" for number, line in enumerate(LINES * 6)]
    for marked, times in ((letters, 6), (instants, 6)):
        assert _split(marked) == {None: [*LINES] * times}


def test_a_name_with_the_number_of_its_line_is_the_writers() -> None:
    """As Drone prints the steps of a pipeline."""
    marked = [
        f"[bert-{name}:{at}] {line}" for at, line in enumerate(LINES * 3) for name in ("worker-0", "worker-1")
    ]
    assert {*_split(marked)} == {"bert-worker-0", "bert-worker-1"}


def test_an_address_is_no_name_with_a_number() -> None:
    """It is the same in many lines."""
    marked = [f"[gpu:222{at % 2}] {line}" for at, line in enumerate(LINES * 3)]
    assert {*_split(marked)} == {"gpu:2220", "gpu:2221"}


def test_words_that_differ_in_their_numbers_may_have_others_further_down() -> None:
    """As the times that Kafka's consumer prints before the key of a record."""
    times = iter(range(1795224703000, 1795224703999))
    marked = [f"CreateTime:{next(times)}\t{name}\t{line}" for line in LINES * 3 for name in WRITERS]
    assert _split(marked) == {name: [*LINES * 3] for name in WRITERS}


def test_notes_of_the_collector_do_not_shorten_the_prefix() -> None:
    """The first word of Cloud Build's prefix is no writer, though notes have one, too."""
    notes = ["starting build", "FETCHSOURCE", "BUILD", "ERROR", "ERROR: build step 0 failed"]
    marked = [f'Step #{at} - "worker-{at}": {line}' for line in LINES for at in (0, 1)]
    assert {*_split([*notes[:3], *marked, *notes[3:]])} - {None} == {"worker-0", "worker-1"}


@pytest.mark.parametrize(("between", "is_known"), [("\t", True), (" ", False)])
def test_a_host_without_lines_of_tensorflow_is_known_by_its_tab(between: str, is_known: bool) -> None:
    """A blank may stand behind any word."""
    marked = [f"gpu2{n}{between}{line}" for n in (1, 2) for line in LINES]
    marked += [f"gpu23{between}step 1 loss 0.5"]
    style = learned_style(marked)
    assert style is not None
    assert (style(marked[-1]) is not None) is is_known
    assert style("The replica ps 1 ran out-of-memory") is None


LOGGED = tuple(f"2026-11-21 00:05:{at:02d},083 INFO train: batch {at}" for at in range(20))


@pytest.mark.parametrize("before", ["({}) ", "PE {}: ", "gpu2{}>> ", "rank{}\t", "/job:worker/task:{} "])
def test_a_name_before_the_lines_of_a_logger_is_learned_too(before: str) -> None:
    """A quiet job shows no line of TensorFlow; who numbers the tasks tells them apart."""
    marked = [before.format(at) + line for line in LOGGED for at in range(3)]
    assert [len(lines) for lines in _timed(marked).values()] == [20, 20, 20]


@pytest.mark.parametrize("names", [("train", "data"), ("Thread-0", "Thread-2"), ("a0", "b2"), ("1", "2")])
def test_loggers_and_threads_are_no_tasks(names: tuple[str, str]) -> None:
    """A program prints their names before the time, if it likes; a count from 1 does not tell who is worker 1."""
    marked = [f"{name} {line}" for line in LOGGED for name in names]
    assert len(_timed(marked)) == 1
