"""Exit codes as launchers, schedulers and people write them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables
from analyzer.model.task_names import attempt_of

TablesOf = Callable[[Mapping[str, str]], Tables]
QUIET = "step 1 loss 0.5\nstep 2 loss 0.4\n"


def codes(tables: Tables) -> list[tuple[str, int, str]]:
    """Worker, attempt and exit code, as they are stated."""
    facts = tables["facts"].filter(tables["facts"]["key"] == "exit_code")
    return list(facts.select("worker", "attempt", "value").iter_rows())


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("worker-0 1", ("worker:0", 1, "1")),
        ("worker:0 137", ("worker:0", 1, "-9")),
        ("worker:0 247", ("worker:0", 1, "-9")),
        ("worker:0 255", ("worker:0", 1, "255")),
        ("worker:1: 0", ("worker:1", 1, "0")),
        ('{"worker:2": 1}', ("worker:2", 1, "1")),
        ("worker-0:1", ("worker:0", 1, "1")),
        ("chief=None", ("chief:0", 1, "running")),
        ("worker-0-restart1: -15", ("worker:0", 2, "-15")),
        ("worker-0-attempt-2 1", ("worker:0", 2, "1")),
        ("worker 0: 1", ("worker:0", 1, "1")),
        ("worker 1 3", ("worker:1", 1, "3")),
        ("rank 1 exited with code 137", ("worker:1", 1, "-9")),
        ("worker-1: killed by signal 9", ("worker:1", 1, "-9")),
        ("worker-1 (pid 312): SIGSEGV", ("worker:1", 1, "-11")),
        ("worker 1 -> 143", ("worker:1", 1, "-15")),
        ("| worker-1 | 3 |", ("worker:1", 1, "3")),
        ("[worker-1]\nexit_code = 3", ("worker:1", 1, "3")),
        ("worker-1:\n  exit code: 3", ("worker:1", 1, "3")),
        ("worker 2 took 31 s and returned 0", ("worker:2", 1, "0")),
    ],
)
def test_a_line_names_a_worker_and_its_code(
    line: str, expected: tuple[str, int, str], tables_of: TablesOf
) -> None:
    """With a colon in the name of the worker, behind it, or both; in words; below its name."""
    assert codes(tables_of({"exit_codes.txt": line + "\n"})) == [expected]


def test_attempts_that_are_counted_from_0_are_shifted(tables_of: TablesOf) -> None:
    """All that are named, in paths and in files of exit codes; a worker with one life stays at its first."""
    tables = tables_of(
        {
            "attempt_0/worker-0.log": QUIET,
            "attempt_1/worker-0.log": QUIET,
            "worker-1.log": QUIET,
            "exit_codes.txt": "worker-0-attempt-0 137\nworker-0-attempt-1 0\nworker-1 0\n",
        }
    )
    sources = dict(tables["sources"].select("source", "attempt").iter_rows())
    assert sources["attempt_0/worker-0.log"] == 1
    assert sources["attempt_1/worker-0.log"] == 2
    assert sources["worker-1.log"] == 1
    assert codes(tables) == [("worker:0", 1, "-9"), ("worker:0", 2, "0"), ("worker:1", 1, "0")]
    lives = {row["worker"]: row["attempts"] for row in tables["lifetimes"].iter_rows(named=True)}
    assert lives == {"worker:0": 2, "worker:1": 1}


def test_attempts_that_are_counted_from_1_stay(tables_of: TablesOf) -> None:
    """The first is the first."""
    tables = tables_of({"attempt_1/worker-0.log": QUIET, "attempt_2/worker-0.log": QUIET})
    assert tables["sources"]["attempt"].to_list() == [1, 2]


@pytest.mark.parametrize(
    ("name", "attempt"),
    [
        ("attempt_0/worker-0.log", 0),
        ("worker-0-attempt-3.log", 3),
        ("worker-0.restart.log", 2),
        ("worker-0-restart-2.log", 3),
        ("worker-0.log", None),
        ("attempt_1700000000000_0001/stdout", None),
        ("wildlife-3/worker-0.log", None),
    ],
)
def test_a_name_tells_the_attempt(name: str, attempt: int | None) -> None:
    """As it counts them; a time stamp is no count."""
    assert attempt_of(name) == attempt


@pytest.mark.parametrize("line", ["worker-0 ", "worker-0 q", "worker-0 exited", "worker-0 13777"])
def test_a_worker_without_a_code_is_damage(line: str, tables_of: TablesOf) -> None:
    """A line that was cut or overwritten must not pass for one that is not there."""
    tables = tables_of({"exit_codes.txt": f"worker-1 1\n{line}\n"})
    assert codes(tables) == [("worker:1", 1, "1")]
    what = "names worker:0 without a readable exit code"
    assert tables["damage"].select("line", "what").rows() == [(2, what)]


@pytest.mark.timeout(20)
@pytest.mark.parametrize("line", ["x" * 200_000, "a" + " " * 200_000 + "|", "a/" * 20_000])
def test_an_endless_line_takes_no_time(line: str, tables_of: TablesOf) -> None:
    """Neither one of letters nor one of blanks."""
    assert codes(tables_of({"exit_codes.txt": f"{line}\nworker-1 1\n"})) == [("worker:1", 1, "1")]


def test_a_table_of_ranks_has_bare_numbers(tables_of: TablesOf) -> None:
    """Its heading says what they are."""
    table = "rank\texit_code\n0\t1\n1\t139\n"
    assert codes(tables_of({"exit_codes.tsv": table})) == [("worker:0", 1, "1"), ("worker:1", 1, "-11")]


def test_a_host_is_no_worker(tables_of: TablesOf) -> None:
    """The numbers of an address are no index."""
    assert codes(tables_of({"exit_codes.txt": "ip-10-0-3-11 1\n"})) == []


JOB_LOG = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"


def test_the_job_log_of_gnu_parallel_states_exit_codes(tables_of: TablesOf) -> None:
    """The command names the worker; a signal counts more than the value beside it."""
    jobs = (
        "3\t:\t1795753091.529\t    71.253\t0\t1115\t137\t0\t./w.sh 'worker:2'\n"
        "1\t:\t1795753091.520\t    72.100\t0\t990\t-1\t15\t./w.sh 'worker:0'\n"
        "2\t:\t1795753091.525\t    72.101\t0\t990\t0\t0\tpython train.py --shard a\n"
    )
    tables = tables_of({"joblog.tsv": JOB_LOG + jobs, "worker-0.log": "step 1 loss 0.5\n"})
    assert sorted(codes(tables)) == [("worker:0", 1, "-15"), ("worker:2", 1, "-9")]


DOCKER = (
    "CONTAINER ID   IMAGE     COMMAND                  CREATED         STATUS                       PORTS     NAMES\n"
    '3f2a1b   seg:1     "python bars.py --dat…"   3 minutes ago   Exited (137) 2 minutes ago             worker-1\n'
    '9c8d7e   seg:1     "python bars.py --dat…"   3 minutes ago   Up 3 minutes                 2222/tcp  worker-0\n'
)
COMPOSE = (
    "NAME             IMAGE   COMMAND           SERVICE    CREATED         STATUS                     PORTS\n"
    'job-worker-1-1   seg:1   "python bars.py"  worker-1   3 minutes ago   Exited (1) 2 minutes ago\n'
)


@pytest.mark.parametrize("name", ["docker-ps.txt", "podman_compose_ps.log", "containers"])
def test_tables_of_containers_state_their_exit_codes(name: str, tables_of: TablesOf) -> None:
    """By the names of the containers; one that is up still runs."""
    logs = {"worker-0.log": QUIET, "worker-1.log": QUIET}
    assert codes(tables_of({name: DOCKER, **logs})) == [("worker:1", 1, "-9"), ("worker:0", 1, "running")]
    assert codes(tables_of({name: COMPOSE, **logs})) == [("worker:1", 1, "1")]


def test_only_rows_with_a_state_count(tables_of: TablesOf) -> None:
    """A container that was never started has no exit code; ends of lines do not matter."""
    created = '5d1c7e   seg:1     "python bars.py"   3 minutes ago   Created             worker-2\n'
    found = codes(tables_of({"docker-ps.txt": (DOCKER + created).replace("\n", "\r\n")}))
    assert found == [("worker:1", 1, "-9"), ("worker:0", 1, "running")]


def test_a_container_is_that_of_the_log_with_its_name(tables_of: TablesOf) -> None:
    """Names of containers seldom have a role."""
    files = {"docker-ps.txt": DOCKER.replace("worker-1", "seg-z").replace("worker-0", "seg-x")}
    found = codes(tables_of({**files, "seg-x.log": QUIET, "seg-z.log": QUIET}))
    assert found == [("worker:1", 1, "-9"), ("worker:0", 1, "running")]


JOBLOG = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand\n"


def test_the_job_log_of_gnu_parallel(tables_of: TablesOf) -> None:
    """A task in the command, or else the host, tells whose code it is; a host with two jobs does not."""
    rows = [
        ("a1", 1, 0, "python train.py --name worker-0"),
        (":", 0, 9, "python train.py --name worker-1"),
        ("a7", 1, 0, "python other.py"),
        ("a7", 2, 0, "python other.py"),
    ]
    text = JOBLOG + "".join(
        f"{n}\t{host}\t1795380579.313\t     2.010\t0\t9\t{code}\t{signal}\t{command}\n"
        for n, (host, code, signal, command) in enumerate(rows, 1)
    )
    tables = tables_of({"jobs.tsv": text, "worker-0.log": QUIET, "worker-1.log": QUIET})
    assert codes(tables) == [("worker:0", 1, "1"), ("worker:1", 1, "-9")]


@pytest.mark.parametrize(
    "command",
    [
        "python fit.py --task_index 1 --shards 4",
        "WORKER_INDEX=1 python fit.py",
        "./fit.sh b >> out/worker-1.log 2>&1",
        "./fit.sh node7 &> 'worker-1.txt'",
    ],
)
@pytest.mark.parametrize("name", ["joblog", "job.log"])
def test_a_job_is_known_by_its_index_or_by_its_output(command: str, name: str, tables_of: TablesOf) -> None:
    """`Seq` counts from 1 and is no index."""
    text = f"{JOBLOG}2\t:\t1795380579.313\t     2.010\t0\t9\t0\t9\t{command}\n"
    tables = tables_of({name: text, "worker-0.log": QUIET, "worker-1.log": QUIET})
    assert codes(tables) == [("worker:1", 1, "-9")]


@pytest.mark.parametrize(
    "name", ["worker-1.exit", "worker-1.status", "worker-1.rc", "worker-1/exit_status.txt"]
)
@pytest.mark.parametrize("text", ["137\n", "exit status: 137\n", "rc=137"])
def test_a_worker_has_a_file_of_its_own(name: str, text: str, tables_of: TablesOf) -> None:
    """Its name says whose exit code it holds."""
    assert codes(tables_of({"worker-0.log": QUIET, name: text})) == [("worker:1", 1, "-9")]


@pytest.mark.parametrize(
    "line",
    ["worker 1 took 137 s", "worker 1: 12 steps, exit code unknown", "worker-1: SIGNED off", "worker 1"],
)
def test_another_number_is_no_exit_code(line: str, tables_of: TablesOf) -> None:
    """Durations, counts, and the index itself."""
    assert codes(tables_of({"worker-0.log": QUIET, "exit_codes.txt": line + "\n"})) == []


def test_codes_without_names_are_damage(tables_of: TablesOf) -> None:
    """A file that tells of nobody is not passed over."""
    tables = tables_of({"worker-0.log": QUIET, "worker-1.log": QUIET, "returncodes.json": "[1, 137]"})
    assert tables["damage"].select("source", "what").rows() == [
        ("returncodes.json", "names no worker with an exit code")
    ]
