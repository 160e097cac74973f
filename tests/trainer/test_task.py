"""One task of a job, as launchers start it: `mwms-train worker`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from analyzer import analyze
from analyzer.trainer.jobs.rank import Rank, RankError, meet
from tests.trainer.test_own_program import SCENARIO, SUM

TF_CONFIG = json.dumps(
    {"cluster": {"chief": ["a:1"], "worker": ["b:1", "c:1"]}, "task": {"type": "worker", "index": 1}}
)
COUNT = """
import time
for step in range(1, 61):
    print(f"step {step}: total 7", flush=True)
    time.sleep(0.05)
"""


@pytest.mark.parametrize(
    ("environment", "rank"),
    [
        ({"SLURM_PROCID": "2", "SLURM_NTASKS": "4"}, Rank(2, 4)),
        ({"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "2"}, Rank(0, 2)),
        ({"JOB_COMPLETION_INDEX": "1", "JOB_COMPLETIONS": "3"}, Rank(1, 3)),
        ({"TF_CONFIG": TF_CONFIG, "SLURM_PROCID": "0"}, Rank(2, 3, ("a:1", "b:1", "c:1"), chief=True)),
    ],
)
def test_a_launcher_says_which_task_it_is(environment: dict[str, str], rank: Rank) -> None:
    """TF_CONFIG, which has the addresses too, goes before all others."""
    assert Rank.found(environment) == rank


@pytest.mark.parametrize("environment", [{}, {"SLURM_PROCID": "0"}, {"TF_CONFIG": "{"}, {"TF_CONFIG": "[]"}])
def test_no_rank_is_an_error(environment: dict[str, str]) -> None:
    """And never a job of one."""
    with pytest.raises(RankError):
        Rank.found(environment)


@pytest.mark.parametrize("text", ["1", "2/2", "a/2", "-1/2"])
def test_a_rank_is_an_index_and_a_count(text: str) -> None:
    """As `--rank` takes it."""
    with pytest.raises(RankError):
        Rank.given(text)


@pytest.mark.processes
def test_tasks_meet_in_a_directory(tmp_path: Path) -> None:
    """Each gets all addresses, in the order of the ranks; who waits in vain is told how many came."""
    found: dict[int, tuple[str, ...]] = {}

    def come(index: int) -> None:
        found[index] = meet(tmp_path, Rank(index, 2), f"host-{index}:1", 10)

    threads = [threading.Thread(target=come, args=(index,)) for index in (1, 0)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {0: ("host-0:1", "host-1:1"), 1: ("host-0:1", "host-1:1")}
    with pytest.raises(RankError, match="only 2 of 3"):
        meet(tmp_path, Rank(0, 3), "host-0:1", 0.1)


@pytest.mark.processes
@pytest.mark.parametrize(
    ("fault", "statuses"),
    [
        ("{name: send_signal, signal: KILL}", [1, 137]),
        ("{name: data_file, happened: lost, path: rows.txt}", [124, 1]),  # the other one waits for it in vain
        ("{name: none}", [0, 0]),
    ],
)
def test_the_fault_strikes_on_the_guilty_rank_alone(fault: str, statuses: list[int], tmp_path: Path) -> None:
    """Each task leaves its part in the shared directory; its exit status is that of its worker."""
    home = run_two_tasks(fault, statuses, tmp_path)
    names = {path.name for path in (home / "run").iterdir()}
    assert {"worker-0.log", "worker-1.log", "exit_code-worker-0.txt", "exit_code-worker-1.txt"} <= names
    assert (home / "witness-1.txt").exists()
    assert not (home / "witness-0.txt").exists()
    assert json.loads((home / "expected.json").read_text())["culprits"] == ["worker:1"]


@pytest.mark.processes
def test_the_run_of_recorded_tasks_is_their_recordings(tmp_path: Path) -> None:
    """Their logs lie beside it; the recorder, which connects to the tasks, passes the signal on."""
    home = run_two_tasks("{name: send_signal, signal: KILL}", [0, 137], tmp_path, "--recorder", program=COUNT)
    assert {path.name for path in (home / "run").iterdir()} == {"worker-0", "worker-1"}
    assert {path.name for path in (home / "logs").iterdir()} == {"worker-0.log", "worker-1.log"}
    said = analyze(home / "run").document
    assert (said["cause"], said["culprits"]) == ("peer.killed", ["worker:1"])


def run_two_tasks(fault: str, statuses: list[int], folder: Path, *options: str, program: str = SUM) -> Path:
    """Run both tasks of a job, see with which statuses they end, and return what they leave."""
    code = folder / "code"
    code.mkdir()
    (code / "sum.py").write_text(program)
    (code / "rows.txt").write_text("".join(f"{number}\n" for number in range(50)))
    scenario = folder / "mine.yaml"
    scenario.write_text(SCENARIO.format(fault=fault, more=""))
    start = "import sys; from analyzer.cli.train import main; sys.exit(main(sys.argv[1:]))"
    words = ["worker", str(scenario), "--shared", str(folder / "shared"), "--host", "127.0.0.1", *options]
    words += ["--program", f"{sys.executable} sum.py", "--directory", str(code), "--stall-timeout", "20"]
    tasks = [
        subprocess.Popen(
            [sys.executable, "-c", start, *words],
            env={**os.environ, "SLURM_PROCID": str(index), "SLURM_NTASKS": "2"},
        )
        for index in range(2)
    ]
    assert [task.wait(240) for task in tasks] == statuses
    return folder / "shared/mine"


@pytest.mark.processes
def test_a_scheduler_that_asks_twice_leaves_no_worker_behind(tmp_path: Path) -> None:
    """Slurm repeats SIGTERM while the trainer still ends a worker that is deaf to it."""
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(SCENARIO.format(fault="{name: none}", more=""))
    start = "import sys; from analyzer.cli.train import main; sys.exit(main(sys.argv[1:]))"
    deaf = "sh -c \"trap '' TERM; echo on; sleep 57 & wait; sleep 58\""
    words = [
        "worker",
        str(scenario),
        "--shared",
        str(tmp_path),
        "--program",
        deaf,
        "--directory",
        str(tmp_path),
    ]
    environment = {**os.environ, "SLURM_PROCID": "0", "SLURM_NTASKS": "1", "TMPDIR": "/tmp"}
    scenario.write_text(scenario.read_text().replace("guilty: 1", "guilty: 0"))
    task = subprocess.Popen([sys.executable, "-c", start, *words], env=environment, stdout=subprocess.PIPE)
    log = tmp_path / "mine/run/worker-0.log"
    deadline = time.monotonic() + 30
    while not (log.exists() and "on" in log.read_text()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    for _ in range(3):
        task.terminate()
        time.sleep(0.3)
    assert task.communicate(timeout=30)[0] == b""
    assert task.returncode == 143
    assert not [
        link for link in Path("/proc").glob("[0-9]*/cwd") if f"mwms-job-{task.pid}-" in target_of(link)
    ]


def target_of(link: Path) -> str:
    """Where a link leads, if that may be read."""
    try:
        return str(link.readlink())
    except OSError:
        return ""
