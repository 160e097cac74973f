"""A traceback is taken apart, and whose doing it was is told."""

from __future__ import annotations

from typing import Any

import pytest

from analyzer.model.run import Tables
from tests.derive.logs import Line, derived, fit, raised, says, step

_IMPL = "tensorflow.python.framework.errors_impl"
_REMOTE = "Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling /tensorflow."


def only(tables: Tables) -> dict[str, Any]:
    """The one exception of a run."""
    (row,) = tables["exceptions"].to_dicts()
    return row


@pytest.mark.parametrize(
    ("ending", "kind", "own"),
    [
        ("ValueError: bad cell", "ValueError", True),
        ("KeyError: 'x'", "KeyError", True),
        ("mypackage.errors.Oops: no colour", "Oops", True),
        ("tensorflow.python.framework.errors_impl.ResourceExhaustedError: /ckpt; No space left on device",
         "ResourceExhaustedError", True),
        ("tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed",
         "UnavailableError", False),
        ("tensorflow.python.framework.errors_impl.UnavailableError: Socket closed", "UnavailableError", False),
        (f"{_IMPL}.InvalidArgumentError: no feature x\n{_REMOTE}eager.EagerService/Enqueue:",
         "InvalidArgumentError", True),
        (f"{_IMPL}.InvalidArgumentError: shapes differ\n{_REMOTE}WorkerService/RecvBuf:",
         "InvalidArgumentError", False),
        (f"{_IMPL}.InvalidArgumentError:\n=====\nINVALID_ARGUMENT: From /job:ps/replica:0/task:0:\nid 303\n{_REMOTE}",
         "InvalidArgumentError", True),
        (f"{_IMPL}.InvalidArgumentError: From /job:worker/replica:0/task:0:\nCollective ops is aborted by: id 3\n{_REMOTE}",
         "InvalidArgumentError", False),
        (f"{_IMPL}.UnavailableError: Socket closed\n{_REMOTE}eager.EagerService/Enqueue:",
         "UnavailableError", False),
        ("RuntimeError: Run() == OK() (Unavailable: From /job:tpu_worker/replica:0/task:0:\nSocket closed vs. OK)",
         "RuntimeError", False),
        ("RuntimeError: Run() == OK() (Internal: From /job:tpu_worker/replica:0/task:0:\nbad op vs. OK)",
         "RuntimeError", True),
        ("requests.exceptions.ConnectionError: Connection reset by peer", "ConnectionError", True),
        ("KeyboardInterrupt", "KeyboardInterrupt", False),
    ],
)  # fmt: skip
def test_own_and_passed_on_are_told_apart(ending: str, kind: str, own: bool) -> None:
    """TensorFlow marks what it only passes on; a user's own network error is the user's own.

    What a coordinator had a worker run, and the answer to that, is the coordinator's own.
    """
    found = only(derived({"worker-0.log": [raised(ending)]}))
    assert (found["type"], found["own"], found["final"]) == (kind, own, True)
    assert found["frame"] == "/workspace/train.py:4 in <module>"


@pytest.mark.parametrize(
    ("status", "own"),
    [
        ("OutOfRangeError: End of sequence", True),
        ("UnavailableError: Socket closed", False),
        ("OutOfRangeError: Collective ops is aborted by: End of sequence", False),
        ("FailedPreconditionError: Could not find required function definition __inference_map_37", True),
        ("FailedPreconditionError: Error while reading resource variable w: it may have been deleted", False),
    ],
)
def test_what_a_coordinator_is_told_as_it_joins_is_its_own(status: str, own: bool) -> None:
    """TensorFlow before 2.12 does not name the call to the worker; a lost worker is no answer."""
    frame = '  File "/tf/python/distribute/coordinator/cluster_coordinator.py", line 1264, in join\n    self.wait()'
    ending = f"{_IMPL}.{status}\nAdditional GRPC error information from remote target /job:worker/replica:0/task:1:"
    assert only(derived({"worker-0.log": [raised(f"{frame}\n{ending}")]}))["own"] is own


@pytest.mark.parametrize("name", ["InputError", "ClosureInputError"])
@pytest.mark.parametrize(("original", "own"), [("InvalidArgumentError", True), ("UnavailableError", False)])
def test_a_coordinators_input_error_is_its_own_if_the_original_is(
    name: str, original: str, own: bool
) -> None:
    """It wraps whatever ended the input of a worker; a worker that was lost is no answer.

    TensorFlow 2.11 and later call it `ClosureInputError`.
    """
    frame = '  File "/tf/python/distribute/coordinator/cluster_coordinator.py", line 1108, in join\n    self.wait()'
    kind = f"tensorflow.python.distribute.coordinator.cluster_coordinator.{name}"
    ending = (
        f"{kind}: Input has an error, the original exception is {original}(), error message is x\n{_REMOTE}"
    )
    assert only(derived({"worker-0.log": [raised(f"{frame}\n{ending}")]}))["own"] is own


@pytest.mark.parametrize(
    ("ending", "runtime"),
    [
        ("tensorflow.python.framework.errors_impl.DeadlineExceededError: Deadline Exceeded", True),
        ("tensorflow.python.framework.errors_impl.InternalError: NCCL: unhandled system error.", True),
        ("tensorflow.python.framework.errors_impl.UnknownError: Failed to get convolution algorithm. This is probably"
         " because cuDNN failed to initialize", True),
        ("tensorflow.python.framework.errors_impl.InternalError: buffer size does not match", True),
        ("tensorflow.python.framework.errors_impl.UnknownError: KeyError: 'nclass'", False),
        ("ValueError: UnavailableError is not what I expected", False),
        ("java.lang.NoSuchMethodError: isEncrypted", True),
        ("mylib.errors.NoSuchMethodError: isEncrypted", False),
    ],
)  # fmt: skip
def test_what_only_the_runtime_met_is_told(ending: str, runtime: bool) -> None:
    """It is nobody's code that was wrong; the exception of somebody's function inside tf.data is theirs."""
    assert only(derived({"worker-0.log": [raised(ending)]}))["runtime"] is runtime


def test_a_broken_nccl_connection_is_not_the_workers_own_where_another_one_raised() -> None:
    """Every rank reports it when one process ends; where all ranks do, nothing says on which side it broke."""
    broken = raised("tensorflow.python.framework.errors_impl.InternalError: NCCL: unhandled system error.")

    def owners(other: str) -> dict[str, bool]:
        tables = derived({"worker-0.log": [broken], "worker-1.log": [raised(other)]})
        return dict(tables["exceptions"].select("worker", "own").rows())

    assert owners("KeyError: 'label'") == {"worker:0": False, "worker:1": True}
    nccl = "tensorflow.python.framework.errors_impl.InternalError: NCCL: unhandled system error."
    assert owners(nccl) == {"worker:0": True, "worker:1": True}


def test_a_status_of_tensorflow_without_the_users_frame_is_of_the_runtime() -> None:
    """Nothing in a bare line shows whose code met it."""
    bare = "tensorflow.python.framework.errors_impl.DataLossError: 4 root error(s) found."
    assert only(derived({"worker-0.log": [says(bare, level="E", kind="traceback")]}))["runtime"]


def test_a_message_is_free_of_frames_and_of_a_bar_that_was_flushed_late() -> None:
    """Whether TensorFlow kept the frames of the node or not."""
    node = "Detected at node IteratorGetNext defined at (most recent call last):\n<stack traces unavailable>"
    ending = f"errors_impl.DataLossError: Graph execution error:\n\n{node}\ncorrupted record at 21"
    found = only(
        derived({"worker-0.log": [raised(f"{ending}\n      4/Unknown - 4s 20ms/step - loss: 2.9\n")]})
    )
    assert found["message"] == "Graph execution error:\n\ncorrupted record at 21"


@pytest.mark.parametrize("head", ["", " Graph execution error:\n\n"])
def test_a_message_begins_below_the_name_of_the_task(head: str) -> None:
    """And ends above the log lines that TensorFlow adds, which have nothing to do with it."""
    words = "From /job:worker/replica:0/task:1:\ntruncated record at 8925\nRecent warning and error logs:\n  Input of"
    found = only(derived({"worker-1.log": [raised(f"errors_impl.DataLossError:{head or ' '}{words}")]}))
    assert found["message"].split("\n")[-1] == "truncated record at 8925"
    assert found["message_line"] == found["line"] + 1 + head.count("\n")


def test_a_dump_of_the_fault_handler_is_of_the_runtime() -> None:
    """It says that native code aborted, and where Python stood."""
    dump = 'Fatal Python error: Aborted\n\nThread 0x00007f0c (most recent call first):\n  File "/w/t.py", line 3 in f'
    assert only(derived({"worker-0.log": [says(dump, level="E", kind="traceback")]}))["runtime"]


def test_another_block_of_a_post_does_not_survive_an_exception() -> None:
    """It may show a run that worked; progress in the same block does."""
    block = says("```", facts={"excerpt_begins": "yes"})
    failed = raised("KeyError: 'x'")
    assert only(derived({"worker-0.log": [step(1), failed, block, step(2)]}))["final"]
    assert not only(derived({"worker-0.log": [step(1), failed, step(2), block, step(3)]}))["final"]


_THREAD = '  File "/usr/lib/python3.10/threading.py", line 1016, in _bootstrap_inner\n    self.run()\n'


@pytest.mark.parametrize(
    ("frames", "main", "final"),
    [
        (_THREAD, "tensorflow.python.framework.errors_impl.UnavailableError: Socket closed", False),
        (_THREAD, "_queue.Empty", True),
        ("", "tensorflow.python.framework.errors_impl.UnavailableError: Socket closed", True),
    ],
    ids=["the main thread lost a peer", "the main thread failed by itself", "not of a thread"],
)
def test_a_thread_that_ended_does_not_end_a_worker_that_lost_a_peer(
    frames: str, main: str, final: bool
) -> None:
    """Its traceback is in another file than the last step, and nothing shows which came first."""
    own = "Traceback (most recent call last):\n" + frames
    own += '  File "/workspace/train.py", line 10, in upload\n    post()\nOSError: refused'
    logs = {
        "worker-1.err": [says(own, level="E", kind="traceback")],
        "worker-1.out": [step(3), raised(main)],
    }
    found = derived(logs)["exceptions"].filter(type="OSError").to_dicts()
    assert [row["final"] for row in found] == [final]


def test_an_exception_that_training_survived_is_not_final() -> None:
    """Later progress clears it."""
    found = only(derived({"worker-0.log": [raised("ValueError: bad cell"), step(3)]}))
    assert not found["final"]


@pytest.mark.parametrize(
    ("lines", "below"),
    [
        (["", "Detected at node Conv2D defined at (most recent call last):", '  File "train.py", line 4, in f', "",
          "input depth must be even"], 5),
        (["", "2 root error(s) found.", "  (0) UNAVAILABLE: Socket closed"], 3),
        (["", "Detected at node Conv2D defined at (most recent call last):", '  File "train.py", line 4, in f'], 0),
    ],
)  # fmt: skip
def test_the_line_of_a_message_below_the_graphs_frames_is_found(lines: list[str], below: int) -> None:
    """It is the line that proves what the exception says, and that its worker's end cites."""
    ending = "\n".join([f"{_IMPL}.InvalidArgumentError: Graph execution error:", *lines])
    tables = derived({"worker-0.log": [raised(ending)]})
    found = only(tables)
    assert found["message_line"] == (found["line"] + below if below else None)
    assert tables["lifetimes"]["line"].item() == found["line"] + below


def test_a_message_beside_its_exception_is_where_that_is() -> None:
    """A colon alone makes no heading."""
    assert only(derived({"worker-0.log": [raised("ValueError: bad cell:\nx")]}))["message_line"] is None


_CHAIN = """\
Traceback (most recent call last):
  File "/usr/lib/python3.11/logging/__init__.py", line 1201, in _open
    return open_func(self.baseFilename, self.mode)
OSError: [Errno 30] Read-only file system: '/out/w2.log'

{link}

Traceback (most recent call last):
  File "/workspace/train.py", line 9, in <module>
    dictConfig(LOGGING)
ValueError: Unable to configure handler 'file'"""


def test_the_error_of_the_system_from_which_another_was_raised_is_told_with_it() -> None:
    """One that was raised while the first was handled may have nothing to do with it."""
    told = {}
    for link in ("The above exception was the direct cause of the following exception:",
                 "During handling of the above exception, another exception occurred:"):  # fmt: skip
        chain = says(_CHAIN.format(link=link), level="E", kind="traceback")
        told[link[:3]] = only(derived({"worker-0.log": [chain]}))["message"]
    wrapper = "Unable to configure handler 'file'"
    cause = "[Errno 30] Read-only file system: '/out/w2.log'"
    assert told == {"The": f"{wrapper} (caused by {cause})", "Dur": wrapper}


@pytest.mark.parametrize(
    ("indent", "told"), [(20, "No space left on device"), (0, "No space left on\ndevice")]
)
def test_a_message_that_was_broken_to_fit_a_column_is_one_line(indent: int, told: str) -> None:
    """Rich's handler puts a traceback below the message, in its column; elsewhere lines are the program's."""
    lines = [
        "Traceback (most recent call last):",
        '  File "/workspace/train.py", line 9, in <module>',
        "    save()",
    ]
    text = "\n".join(" " * indent + line for line in [*lines, "OSError: No space left on", "device"])
    chain = says(text, level="E", kind="traceback")
    assert only(derived({"worker-0.log": [chain]}))["message"] == told


def test_bars_that_are_flushed_below_a_traceback_are_of_the_step_that_failed() -> None:
    """Standard output is flushed as the process ends; a new epoch below it shows that training went on."""
    failed = raised("OSError: 6400 requested and 5088 written")
    assert only(derived({"worker-0.log": [fit(1), failed, fit(2)]}))["final"]
    assert not only(derived({"worker-0.log": [fit(1), failed, fit(2), fit(3)]}))["final"]
    assert not only(derived({"worker-0.log": [step(1), failed, step(2)]}))["final"]


_UTIL = "/opt/lib/python3.11/multiprocessing/util.py"


@pytest.mark.parametrize(
    ("text", "counts"),
    [
        (f'  File "{_UTIL}", line 300, in _run_finalizers\n    finalizer()\n  File "/opt/lib/python3.11/shutil.py", '
         'line 673, in _rmtree_safe_fd\n    os.unlink(name)\nOSError: [Errno 16] Device or resource busy: \'.nfs1\'', False),
        ('  File "/workspace/train.py", line 9, in clean\n    _run_finalizers()\n'
         f'  File "{_UTIL}", line 300, in _run_finalizers\n    finalizer()\nOSError: [Errno 16] busy', True),
        (f'  File "{_UTIL}", line 433, in spawnv_passfds\n    fork()\nOSError: [Errno 11] no process', True),
    ],
)  # fmt: skip
def test_what_multiprocessing_prints_as_it_cleans_up_ends_nothing(text: str, counts: bool) -> None:
    """Its finalizers print what they met, and go on; what a program calls itself counts."""
    log = says(f"Traceback (most recent call last):\n{text}", level="E", kind="traceback")
    assert derived({"worker-0.log": [step(1), log]})["exceptions"].height == counts


@pytest.mark.parametrize(
    ("module", "counts"), [("IPython/core/ultratb.py", False), ("IPython/core/magics/basic.py", True)]
)
def test_what_fails_while_a_traceback_is_shown_is_not_the_programs(module: str, counts: bool) -> None:
    """IPython may fail as it shows what interrupted a cell."""
    frames = f'  File "/workspace/train.py", line 4, in <module>\n    go()\n  File "/opt/{module}", line 451, in find\n'
    text = f"Traceback (most recent call last):\n{frames}    len(rows)\nTypeError: object of type 'NoneType' has no len()"
    log = says(text, level="E", kind="traceback")
    assert derived({"worker-0.log": [step(1), log]})["exceptions"].height == counts


_HEADING = "Graph execution error:"
_CLOSURE = "ERROR:tensorflow: /job:worker/task:1 encountered the following error when processing closure: "


def closure(text: str) -> list[Line]:
    """What a coordinator logs of a closure's error: a line of its logger, and others without a prefix."""
    first, _, below = text.partition("\n\n")
    return [says(_CLOSURE + first, level="E", kind="python"), *([says(below)] if below else [])]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("OutOfRangeError():Graph execution error:\n\nEnd of sequence", ("chief:0", "OutOfRangeError", True)),
        (
            "ResourceExhaustedError(): OOM when allocating tensor with shape[9] on /job:ps/replica:0/task:2/device:CPU:0",
            ("ps:2", "ResourceExhaustedError", True),
        ),
        (f"UnavailableError():\n\nSocket closed\n{_REMOTE}", ("chief:0", "UnavailableError", False)),
    ],
)  # fmt: skip
def test_a_coordinator_logs_the_error_that_it_raises(text: str, found: tuple[str, str, bool]) -> None:
    """A log that was cut below it has no traceback; memory ran out on the task whose device it names."""
    row = only(derived({"chief-0.log": closure(text)}))
    assert (row["worker"], row["type"], row["own"]) == found


@pytest.mark.parametrize(
    ("raised_text", "message"),
    [(f"{_IMPL}.OutOfRangeError: {_HEADING}", "End of sequence"), ("ValueError: no", "no")],
)
def test_the_traceback_of_a_coordinator_takes_precedence(raised_text: str, message: str) -> None:
    """If only its heading was kept, the message is the one that the coordinator logged."""
    logged = closure("OutOfRangeError():Graph execution error:\n\nEnd of sequence")
    row = only(derived({"chief-0.log": [*logged, raised(raised_text)]}))
    assert row["message"].endswith(message)
    assert row["frame"]
