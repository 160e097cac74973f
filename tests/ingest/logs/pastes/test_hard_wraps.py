"""Lines that a terminal broke at its width are joined."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.pastes.hard_wraps import joined, refilled, with_frames, with_messages
from analyzer.ingest.logs.text import ESCAPES

WIDTH = 80
LOG = [
    "2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting RingReduce: gone",
    "2026-11-21 01:40:38.1: W tensorflow/core/common_runtime/base_collective_executor.cc:217] StartAbort",
    "Traceback (most recent call last):",
    '  File "/usr/local/lib/python3.10/dist-packages/tensorflow/python/eager/execute.py", line 53, in quick_execute',
    "    tensors = run()",
    "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed",
]


def wrapped(lines: list[str], width: int = WIDTH) -> list[str]:
    """Return the lines as a terminal shows them."""
    return [line[at : at + width] for line in lines for at in range(0, len(line), width)]


@pytest.mark.parametrize("width", [60, 80, 90])
def test_broken_lines_are_joined_where_they_begin(width: int) -> None:
    """Their other parts are left empty, so that each line keeps its number."""
    broken = wrapped(LOG, width)
    found = joined(broken)
    assert [line for line in found if line] == LOG
    assert len(found) == len(broken)


def test_colours_take_no_columns() -> None:
    """A window may be saved with them."""
    broken = [f"\x1b[3{at % 8}m{line}\x1b[0m" for at, line in enumerate(wrapped(LOG))]
    assert [ESCAPES.sub("", line) for line in joined(broken) if line] == LOG


@pytest.mark.parametrize(
    "lines",
    [
        LOG,
        [
            f"step {step} loss 0.5 of the model that is trained on the first worker of it all"
            for step in range(4)
        ],
        ["| a" + " " * 70 + "|", "| b" + " " * 70 + "|", "| c" + " " * 70 + "|", "on"],
        [f"{gpu}" + "     20210  C   python" * 3 for gpu in "abcd"] + ["on"],
        [
            f"{step}/469 [=====>.......................] - ETA: 1:12 - loss: 0.7313 - acc: 0.50"
            for step in (1, 2, 3)
        ],
        [line[:WIDTH] for line in LOG[:2] * 3],
        [LOG[0]] * 9,
        [f"trainer-0  | {letter * 60} has read its part of it all" for letter in "abcd"]
        + ["trainer-0  | on"],
    ],
    ids=[
        "unbroken",
        "one message",
        "table",
        "columns",
        "progress",
        "cut at the edge",
        "the same line again",
        "labelled",
    ],
)
def test_lines_that_are_of_equal_length_stay(lines: list[str]) -> None:
    """Nothing goes on below them, or they are all of one form."""
    assert list(joined(lines)) == lines


QUOTED = [
    "2026-11-21 09:11:12.350021: I tensorflow/core/master.cc:209] CreateSession still",
    "waiting for response from worker: /job:worker/replica:0/task:1",
    "2026-11-21 09:11:22.350170: I tensorflow/core/master.cc:209] CreateSession still",
    "waiting for response from worker: /job:worker/replica:0/task:1",
    "INFO:tensorflow:Graph was finalized.",
]


def test_lines_that_a_mail_filled_with_words_are_joined() -> None:
    """The first word of the next line did not fit behind them."""
    found = refilled(QUOTED, [True] * len(QUOTED))
    assert [line for line in found if line] == [
        f"{QUOTED[0]} {QUOTED[1]}",
        f"{QUOTED[2]} {QUOTED[3]}",
        QUOTED[4],
    ]
    assert len(found) == len(QUOTED)


def test_the_lines_of_a_traceback_are_joined_like_those_of_a_logger() -> None:
    """A path is broken behind a slash, a message between words."""
    mail = [
        '  File "/opt/tf/lib/python3.9/site-packages/tensorflow/python/distribute/',
        'cluster_resolver/slurm_cluster_resolver.py", line 136, in _get_slurm_var',
        "RuntimeError: SLURM_PROCID not found in environment. Not running inside a",
        "SLURM step?",
    ]
    found = refilled(mail, [True] * len(mail))
    assert [line for line in found if line] == [mail[0] + mail[1], f"{mail[2]} {mail[3]}"]


def test_a_line_that_is_broken_in_two_places_is_enough() -> None:
    """A line is full by chance once, hardly twice in a row."""
    mail = [
        "tensorflow.python.framework.errors_impl.InvalidArgumentError: No OpKernel was",
        "registered to support Op 'NcclReduce' used by {{node sum_of_the_losses/all/red}}",
        "with these attrs: [num_devices=2]",
    ]
    assert refilled(mail, [True] * len(mail)) == [" ".join(mail), "", ""]


@pytest.mark.parametrize(
    ("lines", "quoted"),
    [
        (QUOTED, False),
        (QUOTED[:2] + QUOTED[4:], True),
        ([QUOTED[0], "[[node]]", QUOTED[2][:60], "waits", QUOTED[2][:60], "waits"], True),
        ([line + "!" * 30 for line in QUOTED], True),
        ([QUOTED[0], "  waiting for response", QUOTED[2], "  waiting for response"], True),
    ],
)
def test_lines_that_had_room_for_the_next_word_are_none_of_them(lines: list[str], quoted: bool) -> None:
    """Nor a single one, one that is not quoted or too long for a mail, and one above an indented line."""
    assert refilled(lines, [quoted] * len(lines)) == lines


@pytest.mark.parametrize(
    ("head", "rest"),
    [
        ('  File "/opt/tf/lib/python3.7/runpy.py", line 193, in', "_run_module_as_main"),
        ('  File "/opt/tf/lib/python3.7/site-packages/horovod/run/task_fn.py",', "line 42, in _task_fn"),
        ('  File "train.py", line 8,', "in <module>"),
    ],
)
def test_a_frame_that_lacks_its_end_is_joined_with_it(head: str, rest: str) -> None:
    """Whatever the width, and whether it is quoted or not: no frame ends like that."""
    lines = ["Traceback (most recent call last):", head, rest, "    run()", "ValueError: no"]
    assert with_frames(lines) == [lines[0], f"{head} {rest}", "", *lines[3:]]


def test_a_frame_of_a_syntax_error_has_no_function() -> None:
    """Its line ends with a number, and one that was cut off at the end of a post has nothing to be joined with."""
    lines = [
        '  File "train.py", line 8',
        "    loss =",
        "SyntaxError: invalid syntax",
        '  File "train.py", line 8, in',
        "",
    ]
    assert with_frames(lines) == lines


def test_a_message_below_the_name_of_its_error_is_joined_to_it() -> None:
    """It is indented deeper; what follows at the depth of the name is another line."""
    broken = ["a.b.InvalidArgumentError:", "    Cannot assign a device for", "      operation x.", "step 3"]
    assert with_messages(broken) == [
        "a.b.InvalidArgumentError: Cannot assign a device for operation x.",
        "",
        "",
        "step 3",
    ]
    apart = [
        "a.b.InvalidArgumentError:",
        "step 3",
        "AssertionError",
        "    at x",
        "Known errors:",
        "    KeyError",
    ]
    assert with_messages(apart) == apart
