"""How launchers written for a shell or in Python say, in a few words, how their workers ended."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
STEPS = "step 1 loss 0.7\nstep 2 loss 0.6\n"


@pytest.mark.parametrize(
    ("line", "ended"),
    [
        ("[10:10:01] rank 1 => exit code 139", ("worker:1", "-11")),
        ("worker-1 → -9", ("worker:1", "-9")),
        ("wait: pid 812 (worker 1): 137", ("worker:1", "-9")),
        ("worker 0 -> 10.0.0.137", None),
        ("worker 1 -> 137 shards", None),
        ("worker 1 -> -1", None),
        ("worker 1 -> 1", None),
        ("FAILED rank=1, code=134", ("worker:1", "-6")),
        ("worker 1 poll() = -9", ("worker:1", "-9")),
        ("worker 1 退出, 退出码 137", ("worker:1", "-9")),
        ("worker=1 status=200", None),
        ("worker=1 batch 137", None),
        ("task 1 (pid 812) was killed by SIGKILL", ("worker:1", "-9")),
        ("worker 1 died from signal 11.", ("worker:1", "-11")),
        ("<Process name='worker-1' pid=11 parent=9 stopped exitcode=-SIGSEGV>", ("worker:1", "-11")),
        ("worker 1 was killed by signal 9 each time we tried more memory", None),
        ("if worker 1 is killed by signal 9, it is started again", None),
        ("[1]-  Killed                  python fit.py --worker-index=1", ("worker:1", "-9")),
        ("go.sh: line 7:   811 Segmentation fault      RANK=1 python fit.py", ("worker:1", "-11")),
        ("go.sh: line 7:   811 Killed                  python fit.py --index 1 --batch 2", ("worker:1", "-9")),
        ("go.sh: line 7:   811 Killed                  python fit.py --num-index 1", None),
        ("[2]+  Killed                  ./fit.sh b > out/worker-1.log 2>&1", ("worker:1", "-9")),
        ("exit codes: worker-0=0, worker-1=139", ("worker:1", "-11")),
        ("exit codes: {'worker-0': -9, 'worker-1': -9}", None),
        ("_pmiu_daemon(SIGCHLD): [NID 7] [c0-0] [Fri Nov 27 10:10:01 2026] PE RANK 1 exit signal Bus error",
         ("worker:1", "-7")),
        ("=   RANK 1 PID 47 RUNNING AT n2\n=   EXIT STATUS: 139", ("worker:1", "-11")),
    ],
)  # fmt: skip
def test_a_line_tells_how_one_task_ended(
    line: str, ended: tuple[str, str] | None, tables_of: TablesOf
) -> None:
    """Only the exit codes of signals count where any number could stand."""
    logs = {"worker-0.log": STEPS, "worker-1.log": STEPS}
    facts = tables_of({**logs, "launch.log": f"starting\n{line}\n"})["facts"].filter(key="exit_code")
    assert facts.select("worker", "value").rows() == ([ended] if ended else [])


@pytest.mark.parametrize(
    "line",
    ["[1] 10:10:01 [FAILURE] ml@node7 Exited with error code 137", "node7 -> exit 137", "node7: FAIL (-9)"],
)
def test_a_host_is_known_by_the_name_of_a_log(line: str, tables_of: TablesOf) -> None:
    """Whatever its number is."""
    logs = {"node4.log": STEPS, "node7.log": STEPS}
    tables = tables_of({**logs, "launch.log": f"starting\n{line}\n"})
    of_log = dict(tables["sources"].select("source", "worker").iter_rows())
    facts = tables["facts"].filter(key="exit_code")
    assert facts.select("worker", "value").rows() == [(of_log["node7.log"], "-9")]
    assert of_log["node7.log"] is not None
