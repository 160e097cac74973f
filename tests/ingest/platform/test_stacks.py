"""Where the main thread of a worker stands, as py-spy prints it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
LOG = {"worker-1.log": "step 1 loss 0.5\n"}
NAME = "py-spy-worker-1.txt"

HELD = """\
Process 13253: python train.py --token s3cret
Python v3.11.7 (/usr/bin/python3.11)

Thread 13253 (idle): "MainThread"
    Statistics.refresh (train.py:139)
    fit (tf_keras/src/engine/training.py:1803)
    <module> (train.py:533)
Thread 13301 (active): "Thread-3 (worker)"
    quick_execute (tensorflow/python/eager/execute.py:53)
"""
WAITS = """\
Process 13252: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 13301 (idle): "ThreadPoolExecutor-0_0"
    wait (threading.py:320)
Thread 13252 (idle): "MainThread"
    quick_execute (tensorflow/python/eager/execute.py:53)
    main (train.py:528)
"""
NATIVE = """\
Process 99: /opt/venv/bin/python -m job
Python v3.12.3 (/opt/venv/bin/python3.12)

Thread 0x7F2A4C0 (idle): "MainThread"
    __futex_abstimed_wait_common (libc.so.6)
    tensorflow::ProcessFunctionLibraryRuntime::RunSync (tensorflow/libtensorflow_cc.so.2)
    TFE_Py_Execute (tensorflow/python/_pywrap_tfe.so)
    quick_execute (/opt/venv/lib/python3.12/site-packages/tensorflow/python/eager/execute.py:53)
    Locals:
        ctx: <Context at 0x7f2a>
"""
OLD = """\
Process 7: python3 train.py
Python v3.8.18 (/usr/bin/python3.8)

Thread 7 (idle)
    load (feed.py:12)
Thread 9 (idle)
    quick_execute (tensorflow/python/eager/execute.py:59)
"""
READS = """\
Process 7: python3 train.py
Python v3.9.18 (/usr/bin/python3.9)

Thread 7 (idle): "MainThread"
    read (ssl.py:1100)
    get (/opt/venv/lib/python3.9/site-packages/acme_client/http.py:7)
    get_object (acme/store.py:88)
    generator (train.py:61)
"""


FEED = """\
Process 16063: python train.py
Python v3.11.7 (/usr/bin/python3.11)

Thread 16063 (idle): "MainThread"
    quick_execute (tensorflow/python/eager/execute.py:53)
    main (train.py:528)
Thread 16418 (idle)
    read_rows (train.py:41)
    generator_py_func (tensorflow/python/data/ops/from_generator_op.py:198)
    FuncRegistry.__call__ (tensorflow/python/ops/script_ops.py:269)
"""


def stands(tables: Tables) -> list[tuple[str, str, str, int]]:
    """Worker, key, value and line of each fact."""
    facts = tables["facts"]
    own = facts.filter(facts["key"].str.contains("stands_"))
    return own.select("worker", "key", "value", "line").rows()


@pytest.mark.parametrize(
    ("text", "side", "frame", "line"),
    [
        (HELD, "outside", "Statistics.refresh (train.py:139)", 5),
        (WAITS, "inside", "quick_execute (tensorflow/python/eager/execute.py:53)", 7),
        (
            NATIVE,
            "inside",
            "quick_execute (/opt/venv/lib/python3.12/site-packages/tensorflow/python/eager/execute.py:53)",
            8,
        ),
        (OLD, "outside", "load (feed.py:12)", 5),
        (READS, "outside", "read (ssl.py:1100), called from get_object (acme/store.py:88)", 5),
    ],
)
def test_where_the_main_thread_stands(
    text: str, side: str, frame: str, line: int, tables_of: TablesOf
) -> None:
    """The innermost frame of Python; native ones are passed over, and so are other threads."""
    tables = tables_of({**LOG, NAME: text})
    assert stands(tables) == [("worker:1", f"stands_{side}_tensorflow", frame, line)]
    assert tables["damage"].height == 0


@pytest.mark.parametrize("name", ["worker-1/pyspy.txt", "worker-1.dump", "stacks/worker-1.txt"])
def test_names(name: str, tables_of: TablesOf) -> None:
    """However such a file may be called."""
    assert [row[0] for row in stands(tables_of({**LOG, name: HELD}))] == ["worker:1"]


def test_a_log_is_a_log(tables_of: TablesOf) -> None:
    """Whatever the job may be called."""
    tables = tables_of({"full-stack-worker-1.log": "step 1 loss 0.5\n"})
    assert tables["sources"]["kind"].to_list() == ["log"]


def test_what_the_input_waits_for(tables_of: TablesOf) -> None:
    """A function of the user's that tf.data called, on a thread without a name."""
    assert stands(tables_of({**LOG, NAME: FEED})) == [
        (
            "worker:1",
            "stands_inside_tensorflow",
            "quick_execute (tensorflow/python/eager/execute.py:53)",
            5,
        ),
        ("worker:1", "input_stands_in", "read_rows (train.py:41)", 8),
    ]


def test_what_is_no_stack_is_named(tables_of: TablesOf) -> None:
    """With its line; what stands around it is read."""
    tables = tables_of({**LOG, NAME: "Error: Permission denied\n" + HELD})
    assert len(stands(tables)) == 1
    assert tables["damage"]["line"].to_list() == [1]
