"""Tracebacks are recognized and taken apart in every form in which people have them."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.collectors.streams import detect_style, split_streams
from analyzer.ingest.logs.prefixes.dates import Dates
from analyzer.ingest.logs.records import Record, records, wording
from analyzer.ingest.logs.text import lines
from analyzer.model.tracebacks.frames import executed
from analyzer.model.tracebacks.lines import starts_traceback
from analyzer.model.tracebacks.parse import parse
from tests.rules import our_rules

PLAIN = """\
Traceback (most recent call last):
  File "/srv/train.py", line 41, in main
    step(batch)
  File "/opt/venv/lib/python3.10/site-packages/keras/engine.py", line 9, in fit
    raise ValueError("bad shape")
ValueError: bad shape
"""
HEADLESS = PLAIN.partition("\n")[2]
INDENTED = "".join(f"    {line}\n" for line in PLAIN.splitlines())
ONE_LINE = 'message: "Exit 1.\\n' + PLAIN.replace('"', '\\"').replace("\n", "\\n") + '"\n'
JOINED = (
    "The replica worker 0 exited with a non-zero status of 1. Termination reason: Error. "
    + " ".join(PLAIN.split())
    + "\n"
)
OLD_IPYTHON = """\
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
<ipython-input-5-0a1b> in <module>()
     11 for batch in data:
---> 12     main(batch)

/srv/train.py in main(batch)
     40     check(batch)
---> 41     step(batch)
     42

/opt/conda/lib/python3.7/site-packages/keras/engine.py in fit(self, x)
      8
----> 9     raise ValueError("bad shape")

ValueError: bad shape
"""
IPYTHON = """\
---------------------------------------------------------------------------
ValueError                                Traceback (most recent call last)
Cell In[9], line 6
      5 for batch in data:
----> 6   main(batch)

File /srv/train.py:41, in main(batch)
     40 check(batch)
---> 41 step(batch)

File /srv/conda/lib/python3.10/site-packages/keras/engine.py:9, in fit(self, x)
----> 9 raise ValueError("bad shape")

ValueError: bad shape
"""
RICH = """\
╭─────────────────── Traceback (most recent call last) ───────────────────╮
│ /srv/train.py:41 in main                                                │
│                                                                         │
│   40 │   check(batch)                                                   │
│ ❱ 41 │   step(batch)                                                    │
╰─────────────────────────────────────────────────────────────────────────╯
ValueError: bad shape
"""
LOGURU = """\
2026-11-22 17:14:19.123 | ERROR    | __main__:<module>:60 - An error has been caught, process 'MainProcess' (1):
Traceback (most recent call last):

> File "/srv/train.py", line 41, in main
    step(batch)
    │    └ <tf.Tensor: shape=(2,)>
    └ <function step at 0x7f>

  File "/opt/venv/lib/python3.10/site-packages/keras/engine.py", line 9, in fit
    raise ValueError("bad shape")

ValueError: bad shape
"""
AUTOGRAPH = """\
    /srv/train.py:41 main  *
        step(batch)
    /opt/venv/lib/python3.7/site-packages/tensorflow/python/keras/optimizer_v2.py:9 fit  **
        raise ValueError("bad shape")

    ValueError: bad shape
"""
DEBUGGER = """\
Exception has occurred: ValueError       (note: full exception trace is shown but execution is paused)
in user code:

    File "/srv/train.py", line 41, in main  *
        step(batch)

    ValueError: bad shape
"""
ELIDED = """\
Traceback (most recent call last):
[... absl ...]
  File "/srv/train.py", line 41, in main
    step(batch)
...
ValueError: bad shape
"""
OLD_IPYTHON_CUT = OLD_IPYTHON[OLD_IPYTHON.index("/srv/") :]
UNCAUGHT = "2026-11-22 17:14:19,123 CRITICAL root: Uncaught exception: ValueError: bad shape\n"
PREFIXES = {
    "Ray": "(RayTrainWorker pid=4242, ip=10.0.0.3) ",
    "worker in brackets": "[worker 0] ",
    "mpirun": "[1,2]<stderr>:",
    "launcher": "INFO|2018-04-14T23:31:05|/opt/launcher.py|27| ",
    "journald": "Nov 22 17:14:19 gpu21 trainer[4200]: ",
    "journald, ISO": "2026-11-22T17:14:19+0000 gpu21 trainer[4200]: ",
    "srun": "0: ",
    "torchrun": "[rank3]:",
    "logger": "2026-11-22 17:14:19,123 ERROR stderr: ",
    "unknown": "<17:14:19> stderr>> ",
}


def read(text: str) -> list[Record]:
    """The tracebacks in a file."""
    physical = text.split("\n")
    messages = wording(our_rules().messages)
    found = [
        record
        for stream in split_streams(list(enumerate(physical, 1)), detect_style(physical))
        for record in records(lines(stream.lines), Dates(2026), messages)
    ]
    return [record for record in found if record.kind == "traceback"]


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        pytest.param(PLAIN, "/srv/train.py:41 in main", id="plain"),
        pytest.param(HEADLESS, "/srv/train.py:41 in main", id="header cut off"),
        pytest.param(INDENTED, "/srv/train.py:41 in main", id="indented"),
        pytest.param(ONE_LINE, "/srv/train.py:41 in main", id="escaped line breaks"),
        pytest.param(JOINED, "/srv/train.py:41 in main", id="Cloud ML's one line"),
        pytest.param(OLD_IPYTHON, "/srv/train.py:41 in main", id="IPython 7"),
        pytest.param(IPYTHON, "/srv/train.py:41 in main", id="IPython 8"),
        pytest.param(OLD_IPYTHON_CUT, "/srv/train.py:41 in main", id="IPython 7, header cut off"),
        pytest.param(RICH, "/srv/train.py:41 in main", id="rich"),
        pytest.param(LOGURU, "/srv/train.py:41 in main", id="loguru"),
        pytest.param(AUTOGRAPH, "/srv/train.py:41 in main", id="AutoGraph before TensorFlow 2.5"),
        pytest.param(DEBUGGER, "/srv/train.py:41 in main", id="AutoGraph in a debugger"),
        pytest.param(ELIDED, "/srv/train.py:41 in main", id="lines left out"),
        pytest.param(UNCAUGHT, None, id="logged without frames"),
        *(
            pytest.param(
                "".join(f"{prefix}{line}\n" for line in PLAIN.splitlines()), "/srv/train.py:41 in main", id=name
            )
            for name, prefix in PREFIXES.items()
        ),
    ],
)  # fmt: skip
def test_a_traceback_is_one_record_with_its_error(text: str, frame: str | None) -> None:
    """Class, message and the user's frame, whatever stands around them."""
    (record,) = read(f"starting\n{text}cleaning up\n")
    raised = parse(record.text)
    assert raised is not None
    assert (raised.type, raised.message, raised.frame) == ("ValueError", "bad shape", frame)


@pytest.mark.parametrize(
    "prose", ["\nNote: it worked before\n", "\nAny ideas?\n", "Does anybody know why?\n"]
)
def test_prose_below_a_traceback_that_was_cut_off_is_no_exception(prose: str) -> None:
    """A paste ends in the middle of the frames, and a question follows."""
    cut = PLAIN[: PLAIN.rindex("ValueError")]
    assert parse(cut + prose) is None


def test_a_class_alone_is_an_exception_whatever_stands_below() -> None:
    """Without a message, and at once below the frames."""
    text = PLAIN[: PLAIN.rindex("ValueError")] + "_queue.Empty\nworker 3 is done\n"
    raised = parse(text)
    assert raised is not None
    assert (raised.type, raised.message) == ("Empty", "")


def test_a_coordinator_reports_an_exception() -> None:
    """TensorFlow 1 logs class and message of what a thread raised; the traceback may be lost."""
    text = "INFO:tensorflow:Error reported to Coordinator: <class 'tensorflow.python.framework.errors_impl.UnavailableError'>, OS Error"
    (record,) = read(f"step 4\n{text}\nstep 5\n")
    raised = parse(record.text)
    assert raised is not None
    assert (raised.type, raised.message, raised.frame) == ("UnavailableError", "OS Error", None)


@pytest.mark.parametrize(
    ("shown", "raised"),
    [
        ("\"KeyError('label_17')\"", ("KeyError", "'label_17'", None)),
        ("'UnavailableError()'", None),
        ("the worker stopped", None),
    ],
    ids=["its message", "a class of TensorFlow's", "a sentence"],
)
def test_a_worker_of_dask_shows_an_exception(shown: str, raised: tuple[str, str, None] | None) -> None:
    """As its repr; that of TensorFlow's errors hides whether they report a peer's failure."""
    parsed = parse(f"Exception: {shown}") if starts_traceback(f"Exception: {shown}") else None
    assert (parsed and (parsed.type, parsed.message, parsed.frame)) == raised


@pytest.mark.parametrize(
    ("text", "shown", "lost"),
    [
        pytest.param(IPYTHON, "main(batch)", "for batch in data", id="IPython"),
        pytest.param(RICH, "step(batch)", "check(batch)", id="rich"),
        pytest.param(PLAIN, "step(batch)", None, id="plain"),
    ],
)
def test_code_around_the_current_line_did_not_run(text: str, shown: str, lost: str | None) -> None:
    """Lines of code that are only shown are blanked, and all others keep their place."""
    ran = executed(text)
    assert shown in ran
    assert lost is None or lost not in ran
    assert [len(line) for line in ran.split("\n")] == [len(line) for line in text.split("\n")]


def test_a_statement_of_several_lines_ran_as_a_whole() -> None:
    """IPython points at its first line."""
    text = '    1 raise A("no")\n--> 2 raise B(\n    3     "yes"\n    4 )\n    5 raise C("no")'
    assert (
        executed(text) == '                   \n--> 2 raise B(\n    3     "yes"\n    4 )\n                   '
    )


def test_a_list_of_root_errors_names_its_class() -> None:
    """TensorFlow prints the codes of the statuses below it."""
    status = "2 root error(s) found.\n  (0) DATA_LOSS:  corrupted record at 0\n\t [[{{node Next}}]]\n0 successful operations.\n"
    (record,) = read(status)
    raised = parse(record.text)
    assert raised is not None
    assert (raised.type, raised.message.partition("\n")[0]) == ("DataLossError", "2 root error(s) found.")


def test_a_cut_chain_is_one_record() -> None:
    """The first header is cut off, the second is there."""
    chain = "\nDuring handling of the above exception, another exception occurred:\n\n"
    (record,) = read(f"{HEADLESS}{chain}{PLAIN.replace('ValueError: bad', 'KeyError: worse')}")
    raised = parse(record.text)
    assert raised is not None
    assert raised.type == "KeyError"


@pytest.mark.parametrize(
    "line",
    [
        "loss error: 0.5",
        "ERROR: job failed",
        "the Traceback is below",
        'open File "/a", line 3',
        "Errors: none",
        "Exceptions: 3",
        "Exception handling: on",
        "/srv/train.py:41 restored",
        "libc++abi: terminating due to uncaught exception of type google::protobuf::FatalException: no",
        "libc++abi.dylib: terminating with uncaught exception of type std::logic_error: no",
    ],
)
def test_other_lines_are_no_traceback(line: str) -> None:
    """Words alone are not enough, nor is what the C++ runtime of macOS says of an exception of its own."""
    assert read(f"{line}\nstep 3 loss 0.5\n") == []
    assert read(f"step 3 loss 0.5\n{line}\n") == []


def test_frames_of_a_stack_without_an_error_raise_nothing() -> None:
    """`traceback.print_stack` prints frames too."""
    stack = HEADLESS.rpartition("ValueError")[0]
    assert read(f"{stack}step 3 loss 0.5\n") == []


def test_of_a_chain_whose_end_is_cut_the_first_exception_counts() -> None:
    """A paste often ends within the last traceback."""
    chain = "\nDuring handling of the above exception, another exception occurred:\n\n"
    (record,) = read(f"{PLAIN}{chain}{PLAIN.rpartition('ValueError')[0]}")
    raised = parse(record.text)
    assert raised is not None
    assert (raised.type, raised.message) == ("ValueError", "bad shape")


def test_a_traceback_without_its_error_raises_nothing() -> None:
    """What stands before the header on its line, as Spark's wrapper does, is not the error."""
    record = read(
        "org.apache.spark.api.python.PythonException: " + PLAIN.replace("ValueError: bad shape", "[...]")
    )[0]
    assert parse(record.text) is None


def test_an_error_whose_name_begins_with_an_underscore_is_one() -> None:
    """NumPy's class for a failed allocation does."""
    record = read("numpy.core._exceptions._ArrayMemoryError: Unable to allocate 1 GiB\n")[0]
    found = parse(record.text)
    assert found is not None
    assert found.type == "_ArrayMemoryError"


def test_the_plain_class_ends_frames_without_a_header() -> None:
    """Keras raises `Exception` itself; people paste the last frames and the line below."""
    frames = (
        '  File "/opt/venv/lib/python3.9/site-packages/keras/utils/data_utils.py", line 300, in get_file\n'
    )
    record = read(f"{frames}    raise Exception(message)\nException: URL fetch failure on https://a.b/c\n")[0]
    found = parse(record.text)
    assert found is not None
    assert (found.type, found.message) == ("Exception", "URL fetch failure on https://a.b/c")


def test_a_logged_exception_may_have_no_class() -> None:
    """SageMaker's container names only its message; the traceback below it is cut."""
    line = "2018-05-29 11:03:22,916 ERROR - container.training - uncaught exception during training: bad features"
    (record,) = read(f'{line}\nTraceback (most recent call last):\n  File "/usr/lib/py\n')
    raised = parse(record.text)
    assert raised is not None
    assert (raised.type, raised.message) == ("Exception", "bad features")


def test_a_cell_of_databricks_is_the_users_code_and_spark_is_a_library() -> None:
    """Spark's worker calls the function of a notebook."""
    text = PLAIN.replace("/srv/train.py", "<command-1071>").replace(
        "/opt/venv/lib/python3.10/site-packages/keras/engine.py", "/databricks/spark/python/pyspark/worker.py"
    )
    raised = parse(text)
    assert raised is not None
    assert raised.frame == "<command-1071>:41 in main"
