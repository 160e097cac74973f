"""Threads take turns on one core while tables are small, and may run anywhere again behind that.

It is the threads of a whole process that are placed: each test has a process of its own.
"""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

BEGIN = """
import os, sys, threading
import polars as pl
from analyzer import one_core
from analyzer.one_core import one_core as placed

def places():
    return {frozenset(os.sched_getaffinity(int(thread))) for thread in os.listdir("/proc/self/task")}

usual = frozenset(os.sched_getaffinity(0))
small = {"one": pl.DataFrame({"n": range(100)}), "two": pl.DataFrame({"n": range(10)})}
large = {"one": pl.DataFrame({"n": range(one_core.MOST_ROWS)}), "two": pl.DataFrame({"n": range(10)})}
"""

pytestmark = pytest.mark.skipif(
    not hasattr(os, "sched_setaffinity") or len(os.sched_getaffinity(0)) < 2, reason="there is one core"
)


def in_its_own_process(program: str) -> None:
    """Run it there; what it asserts holds."""
    command = [sys.executable, "-c", BEGIN + program]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr


def test_small_tables_are_worked_on_by_one_core() -> None:
    """All threads, those that begin meanwhile too; and polars has as many as without that."""
    in_its_own_process("""
assert pl.thread_pool_size() == len(usual)
with placed(small):
    (core,) = places()
    assert len(core) == 1 and core < usual
    small["one"].group_by("n").len()  # whatever threads this begins
    assert places() == {core}
assert places() == {usual}
""")


def test_threads_that_begin_meanwhile_are_set_free_too() -> None:
    """They begin where the one is that begins them."""
    in_its_own_process("""
over = threading.Event()
with placed(small):
    threading.Thread(target=over.wait, daemon=True).start()
    assert len(os.listdir("/proc/self/task")) > 1 and all(len(cores) == 1 for cores in places())
assert places() == {usual}
over.set()
""")


def test_an_error_sets_them_free() -> None:
    """And goes on its way."""
    in_its_own_process("""
try:
    with placed(small):
        raise ValueError
except ValueError:
    assert places() == {usual}
else:
    sys.exit("the error is lost")
""")


def test_who_was_told_a_place_keeps_it() -> None:
    """Each thread gets its own cores back."""
    in_its_own_process("""
pl.thread_pool_size()
thread = max(map(int, os.listdir("/proc/self/task")))
os.sched_setaffinity(thread, {min(usual)})
before = {each: os.sched_getaffinity(int(each)) for each in os.listdir("/proc/self/task")}
with placed(small):
    pass
assert {each: os.sched_getaffinity(int(each)) for each in before} == before
""")


@pytest.mark.parametrize("why", ["tables, others = large, 0", "tables, others = small, 1"])
def test_nothing_is_placed_where_cores_or_threads_are_of_use(why: str) -> None:
    """Large tables want all cores, and threads of others are not ours to place."""
    in_its_own_process(f"""
{why}
over = threading.Event()
for _ in range(others):
    threading.Thread(target=over.wait, daemon=True).start()
with placed(tables):
    assert places() == {{usual}}
assert places() == {{usual}}
over.set()
""")


def test_a_system_that_places_nobody_is_no_loss() -> None:
    """Some do not allow it, and some do not know it."""
    in_its_own_process("""
def refused(*given):
    raise PermissionError
os.sched_setaffinity = refused
with placed(small):
    assert places() == {usual}
del os.sched_getaffinity
with placed(small):
    pass
""")
