"""Lines that belong together become one record."""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from analyzer.ingest.logs.prefixes.dates import Dates
from analyzer.ingest.logs.records import Record, records, wording
from analyzer.ingest.logs.text import lines
from tests.rules import our_rules

STATUS = """\
2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting RingReduce with UNAVAILABLE: Socket closed
Additional GRPC error information from remote target /job:worker/replica:0/task:1:
:{"created":"@1795225237.754186118","grpc_message":"Socket closed","grpc_status":14}
step 13 loss 0.5
"""
TRACEBACK = """\
step 12 loss 0.5
Traceback (most recent call last):
  File "/workspace/train.py", line 10, in load
    return int(cell)
ValueError: invalid literal for int()

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "/workspace/train.py", line 40, in <module>
    load()
RuntimeError: bad cell
cleaning up
"""
TENSORFLOW = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 109, in <module>
    model.fit(ds)
tensorflow.python.framework.errors_impl.UnavailableError: Graph execution error:

Detected at node 'SGD/CollectiveReduceV2' defined at (most recent call last):
    File "/workspace/train.py", line 109, in <module>
Node: 'SGD/CollectiveReduceV2'
Collective ops is aborted by: Socket closed
2026-11-21 01:40:38.000000: W tensorflow/core/kernels/data/generator_dataset_op.cc:108] Error occurred
"""


def read(text: str) -> list[Record]:
    """The records of a text, empty ones left out."""
    found = records(lines(enumerate(text.split("\n"), 1)), Dates(2026), wording(our_rules().messages))
    return [record for record in found if record.text.strip()]


def test_the_end_of_a_huge_record_is_kept() -> None:
    """The exception stands at the end of a traceback, however long it is."""
    frames = "".join(
        f'  File "/workspace/train.py", line {n}, in call\n    {"x" * 80}\n' for n in range(12_000)
    )
    raised, after = read(
        f"Traceback (most recent call last):\n{frames}ValueError: bad cell\nstep 5 loss 0.5\n"
    )
    assert (raised.line, raised.last_line, raised.kind) == (1, 24_002, "traceback")
    assert raised.text.endswith("\nValueError: bad cell")
    assert sum(len(piece.text) for piece in raised.pieces) < 2 << 20
    assert raised.cut == raised.last_line - len(raised.pieces) > 0
    assert after.kind == "progress"


def test_what_keras_tells_of_a_layer_belongs_to_its_exception() -> None:
    """The message stands below the layer's name, and the arguments below the message."""
    told = "RuntimeError: Exception encountered when calling Cond.call().\n\nbad cell\n\nArguments received by Cond.call():"
    first, _ = read(
        f'Traceback (most recent call last):\n  File "/w/train.py", line 4, in f\n{told}\n  • a=1\nstep 3 loss 0.5\n'
    )
    assert first.text.endswith(f"{told}\n  • a=1")


def test_a_status_and_its_details_are_one_record() -> None:
    """What gRPC adds stands on lines without a prefix."""
    status, progress = read(STATUS)
    assert (status.line, status.last_line, status.level) == (1, 3, "E")
    assert "task:1" in status.text
    assert progress.kind == "progress"


def test_a_chained_traceback_is_one_record() -> None:
    """From its first line to the message of the exception that ended it."""
    _, raised, after = read(TRACEBACK)
    assert (raised.kind, raised.line, raised.last_line, raised.level) == ("traceback", 2, 12, "E")
    assert after.text == "cleaning up"


def test_the_long_message_of_a_tensorflow_error_belongs_to_its_traceback() -> None:
    """Up to the next line that has a prefix."""
    raised, noise = read(TENSORFLOW)
    assert raised.text.endswith("Collective ops is aborted by: Socket closed")
    assert noise.origin == "generator_dataset_op.cc"


@pytest.mark.parametrize(
    "head",
    [
        "UnavailableError: From /job:worker/replica:0/task:2:",
        "InternalError (see above for traceback): NCCL failed on",
    ],
)
def test_the_message_of_an_error_of_tensorflow_goes_on_below_its_name(head: str) -> None:
    """Also where a notebook, or a session of TensorFlow 1, names the class without its module."""
    found = read(f"{head}\nthe other side of the ring\nstep 12 loss 0.5\n")
    assert [each.text for each in found] == [f"{head}\nthe other side of the ring", "step 12 loss 0.5"]


def test_the_message_of_a_users_error_is_one_line() -> None:
    """What stands below it is the next thing that the program says."""
    found = read("UnavailableError: the feature store is down\nleaving\n")
    assert [each.text for each in found] == ["UnavailableError: the feature store is down", "leaving"]


def test_a_plain_line_carries_the_time_of_the_one_before() -> None:
    """As what it is: a neighbour's time, not its own."""
    _, progress = read(STATUS)
    assert progress.time is None
    assert progress.near is not None


DUMPS = {
    "dump_traceback_later": """\
Timeout (0:00:30)!
Thread 0x00007f2d973d06c0 (most recent call first):
  File "/workspace/train.py", line 4 in other
  File "/usr/lib/python3.11/threading.py", line 982 in run

Thread 0x00007f2d98215b80 (most recent call first):
  File "/workspace/train.py", line 13 in <module>
""",
    "dump_traceback": """\
Thread 0x00007f92d89076c0 (most recent call first):
  <no Python frame>

Current thread 0x00007f92d966bb80 (most recent call first):
  File "/workspace/train.py", line 18 in <module>
""",
    "one thread with a name": """\
Current thread 0x00007f92d966bb80 [MainThread] (most recent call first):
  File "/workspace/train.py", line 18 in <module>
""",
}
FATAL = """\
Fatal Python error: Segmentation fault

Thread 0x00007f71cbbb76c0 (most recent call first):
  File "/workspace/train.py", line 4 in other

Current thread 0x00007f71cc9f9b80 (most recent call first):
  File "/workspace/train.py", line 8 in <module>

Extension modules: numpy._core._multiarray_umath, numpy.linalg._umath_linalg (total: 2)
"""


@pytest.mark.parametrize("dump", DUMPS.values(), ids=DUMPS)
def test_a_dump_of_threads_is_one_record_and_no_exception(dump: str) -> None:
    """As Python 3.8 to 3.14 write it where nothing failed; the training goes on behind it."""
    before, dumped, step, done = read(f"step 1 loss 0.5\n{dump}step 2 loss 0.4\n  done\n")
    assert (before.kind, dumped.kind, step.kind, done.kind) == ("progress", "plain", "progress", "plain")
    assert (dumped.line, dumped.last_line) == (2, 1 + dump.count("\n"))


def test_a_fatal_error_with_its_threads_is_one_record() -> None:
    """With what the shell says of it behind."""
    fatal, shell = read(f"{FATAL}Segmentation fault (core dumped)\n")
    assert (fatal.kind, fatal.last_line, shell.kind) == ("traceback", FATAL.count("\n"), "plain")


def test_an_ignored_exception_is_none() -> None:
    """Python prints its traceback below a line that says so, and goes on."""
    ignored, after = read(
        "Exception ignored in: <function Pool.__del__ at 0x7f5c>\n" + TRACEBACK.split("\n", 1)[1]
    )
    assert (ignored.kind, ignored.level, ignored.last_line) == ("plain", None, 12)
    assert after.text == "cleaning up"


@pytest.mark.parametrize(
    ("above", "kind"),
    [
        ("(Trainer pid=9064) Exception ignored in: <function Pool.__del__ at 0x7f5c>", "plain"),
        ("(Trainer pid=9064) the destructor ran", "traceback"),
    ],
)
def test_an_ignored_exception_is_none_behind_a_prefix(above: str, kind: str) -> None:
    """A launcher prints one in front of each line."""
    *_, dropped, after = read(
        f"{above}\n(Trainer pid=9064) Traceback (most recent call last):\n"
        '(Trainer pid=9064)   File "/usr/lib/python3.8/multiprocessing/pool.py", line 268, in __del__\n'
        "(Trainer pid=9064)     self._change_notifier.put(None)\n"
        "(Trainer pid=9064) OSError: [Errno 9] Bad file descriptor\ncleaning up\n"
    )
    assert (dropped.kind, after.text) == (kind, "cleaning up")


def test_an_indented_line_is_no_part_of_a_plain_one() -> None:
    """But for that of a dump."""
    assert len(read("loading\n  a\n  b\n")) == 3


def test_the_box_of_a_launcher_ends_a_traceback() -> None:
    """However much the message of the error may go on."""
    failed, *box = read(
        TENSORFLOW.replace("2026-11-21 01:40:38.000000: W", f"{'-' * 74}\nmpirun noticed that W")
    )
    assert failed.text.endswith("Socket closed")
    assert box[-1].text.startswith("mpirun noticed")


def test_a_block_of_code_ends_its_log() -> None:
    """What stands in Markdown around a block belongs to no record of it; its last line may be an error."""
    text = """\
Traceback (most recent call last):
  File "/srv/train.py", line 3, in <module>
```
The other worker says:
~~~text
ValueError: bad cell
~~~
"""
    block, _, prose, _, error, _ = read(text)
    assert (block.last_line, prose.kind, prose.text) == (2, "plain", "The other worker says:")
    assert (error.kind, error.level) == ("traceback", "E")


def test_a_status_without_a_prefix_is_one_record() -> None:
    """The head of a paste may be cut off: what names the peer still stands beside what it met."""
    _, *rest = STATUS.splitlines(keepends=True)
    status, step = read("".join(["Collective ops is aborted by: Socket closed\n", *rest]))
    assert (status.line, status.last_line, step.line) == (1, 3, 4)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("step 5 loss 0.5\nKeyError: 'x'\n\n", ["progress", "traceback"]),
        ("KeyError: 'x'\nstep 5 loss 0.5\n", ["plain", "progress"]),
        ("step 5 loss 0.5\nError: see above\n", ["progress", "plain"]),
    ],
)
def test_an_exception_in_the_last_line_is_an_error(text: str, kinds: list[str]) -> None:
    """Its traceback may have been cut off; in the middle of a log, a program only prints what it caught."""
    assert [record.kind for record in read(text)] == kinds


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (
            "    train(path)\n          ^^^^^^^^^^^\n\nPermissionError: [Errno 13] denied: 'a'\nstep 3\n",
            ["traceback"],
        ),
        (
            "\nValueError: could not convert string to float: 'n/a'\n\n\t [[{{node PyFunc}}]]\nstep 3\n",
            ["traceback"],
        ),
        ("    a table\nstep 3\nValueError: the last try failed; trying again\nstep 4\n", []),
        ("step 3\n    train(path)\nValueError: the last try failed; trying again\nstep 4\n", []),
    ],
    ids=["within its code", "above its class", "below other text", "in the middle"],
)
def test_a_log_may_begin_within_a_traceback(text: str, kinds: list[str]) -> None:
    """As the last ten lines of a task do; in the middle of a log, such a line is a message like others."""
    found = [record.kind for record in read(text)]
    assert [kind for kind in found if kind == "traceback"] == kinds


WORDS = wording(our_rules().messages)
RAISED = 'Traceback (most recent call last):\n  File "train.py", line 3, in <module>\nKeyError: 1'
LONG = RAISED + ": " + "".join(f"\n  detail {at} " + 90 * "x" for at in range(300))


def every(step: int, text: str) -> Record:
    """Return the one record of a text whose lines are `step` apart in their file."""
    numbered = ((at * step + 1, line) for at, line in enumerate(text.splitlines()))
    return only(records(lines(numbered), Dates(2026), wording(our_rules().messages)))


def only(found: Iterable[Record]) -> Record:
    """Return the only record."""
    (record,) = found
    return record


def test_lines_that_follow_one_another_are_not_listed() -> None:
    """As in almost every log: `line` and `last_line` say it all, also of a record whose middle is cut."""
    assert every(1, RAISED).listed_lines(RAISED) is None
    huge = every(1, LONG)
    assert huge.listed_lines(huge.text) is None


def test_lines_between_which_others_stand_are_listed() -> None:
    """As where a collector mixes the lines of all workers."""
    assert every(3, RAISED).listed_lines(RAISED) == "1,4,7"
    assert (
        only(records(lines([(5, RAISED.replace("\n", "\r"))]), Dates(2026), WORDS)).listed_lines(RAISED)
        == "5,5,5"
    )
    huge = every(3, LONG)
    listed = huge.listed_lines(huge.text)
    assert listed is not None
    assert listed.count(",") == huge.text.count("\n")
    assert listed.endswith(f",{LONG.count(chr(10)) * 3 + 1}")


def test_the_lines_of_endless_records_are_not_listed() -> None:
    """Their list could take more memory than their text."""
    endless = every(
        2, "Traceback (most recent call last):\n" + '  File "a.py", line 1\n' * 9 + "  x\n" * 4_000
    )
    assert endless.listed_lines(endless.text) is None
