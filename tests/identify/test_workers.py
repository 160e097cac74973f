"""Which worker a log belongs to whose name does not tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import polars as pl
import pytest

from analyzer import analyze
from analyzer.discover import discover
from analyzer.identify import identify
from analyzer.ingest import ingest, reader_output
from analyzer.pipeline import load_tables
from analyzer.render.explain import explain
from analyzer.render.text import terminal
from tests.recordings import ROOT
from tests.rules import our_rules

pytestmark = pytest.mark.runs


def test_a_log_of_the_kernel_is_no_workers(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Beside logs that name their workers; its words still count for the job."""
    killed = "[14079.25] Memory cgroup out of memory: Killed process 13117 (python) anon-rss:285148kB\n"
    run = make_run(
        {"worker-0.log": "step 1 loss 0.5\n", "worker-1.log": "step 1 loss 0.5\n", "kernel.log": killed}
    )
    tables = load_tables(discover([run]), our_rules())
    assert tables["workers"]["worker"].to_list() == ["worker:0", "worker:1"]
    assert tables["matches"].filter(tables["matches"]["source"] == "kernel.log")["worker"].to_list() != []
    assert set(tables["matches"].filter(tables["matches"]["source"] == "kernel.log")["worker"]) == {None}


def test_a_log_of_the_kernel_with_numbers_like_steps_is_no_workers(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """A dump of the kernel counts processors; beside another kernel log alone, nobody's it is, too."""
    dump = "".join(
        f"2026-11-20T18:27:19,3{n:05}+00:00 CPU: {n} PID: 30332 Comm: python3 0.5\n" for n in range(9)
    )
    kernel_logs = {"gpu21/kernel.log": dump, "gpu22/kernel.log": dump}
    named = {"gpu21/worker-0.log": "step 1 loss 0.5\n", "gpu22/worker-1.log": "step 1 loss 0.5\n"}
    for logs in (named | kernel_logs, kernel_logs):
        assert {workers_of(make_run(logs))[name] for name in kernel_logs} == {None}


def test_a_kernel_log_alone_is_no_workers_and_proves_little(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """What it says of a kill may be of any job of the last weeks."""
    killed = (
        "2026-11-23T03:12:07,133456+00:00 Out of memory: Killed process 4242 (python3) "
        "total-vm:98304000kB, anon-rss:61234567kB, file-rss:0kB, shmem-rss:0kB, UID:1000\n"
    )
    run = make_run({"gpu21/kernel.log": killed})
    assert workers_of(run) == {"gpu21/kernel.log": None}
    document = analyze(run).document
    assert (document["culprits"], document["suspects"]) == ([], [])
    assert document["confidence"] <= 0.6


def workers_of(run: Path) -> dict[str, str | None]:
    """Source → the worker that it is given to."""
    sources = load_tables(discover([run]), our_rules())["sources"]
    return dict(sources.select("source", "worker").iter_rows())


LINE = "step 1 loss 0.5\n"
SERVER = "I0000 00:00:1795224703.563885 6 x.cc:1] Started server with target: grpc://{}:2222\n"
CLUSTER = '{"cluster": {"worker": ["a:2222", "b:2222"]}}'


def test_notes_beside_a_log_are_no_workers(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Prose shows no training; alone, it is all that there is."""
    notes = "We restarted it twice on Tuesday.\nIt hung again at night, ask Kim.\n"
    assert workers_of(make_run({"notes.txt": notes})) == {"notes.txt": "worker:0"}
    assert workers_of(make_run({"notes.txt": notes, "train.log": "step 1 loss 0.5\nstep 2 loss 0.4\n"})) == {
        "notes.txt": None,
        "train.log": "worker:0",
    }


def test_one_more_log_than_the_cluster_has_tasks_is_no_workers(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """As `nohup.out` of another program; where a task has no log, it may be that task's."""
    strayed = {
        "nohup.out": LINE + "Traceback (most recent call last):\n  File 'x.py', line 1\nKeyError: 'x'\n"
    }
    logs = {"tf_config.json": CLUSTER, "worker-0.log": SERVER.format("a") + LINE}
    assert workers_of(make_run(logs | strayed))["nohup.out"] == "worker:1"
    logs["worker-1.log"] = SERVER.format("b") + LINE
    assert workers_of(make_run(logs | strayed))["nohup.out"] is None


def test_numbers_from_one_are_counted_from_zero(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """As docker compose gives them; also in a file that speaks of the workers by these numbers."""
    run = make_run(
        {"trainer-1.log": LINE, "trainer-2.log": LINE, "exit_codes.txt": "worker-1 0\nworker-2 1\n"}
    )
    tables = load_tables(discover([run]), our_rules())
    assert workers_of(run) == {
        "trainer-1.log": "worker:0",
        "trainer-2.log": "worker:1",
        "exit_codes.txt": None,
    }
    codes = tables["facts"].filter(tables["facts"]["key"] == "exit_code")
    assert dict(codes.select("worker", "value").iter_rows()) == {"worker:0": "0", "worker:1": "1"}


def test_a_restart_is_no_second_worker(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """Its server has the address that it had; servers of two tasks in one file are two workers."""
    once = SERVER.format("b") + LINE
    (worker,) = {
        *workers_of(make_run({"all.log": once + once, "cluster/tf_config.json": CLUSTER})).values()
    } - {None}
    assert worker == "worker:1"
    run = make_run({"all.log": once + SERVER.format("a") + LINE, "cluster/tf_config.json": CLUSTER})
    assert workers_of(run)["all.log"] is None


def test_words_say_more_than_a_number(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """The address that a server listens on."""
    logs = {"run-1.log": SERVER.format("b") + LINE, "run-2.log": SERVER.format("a") + LINE}
    assert workers_of(make_run({**logs, "cluster/tf_config.json": CLUSTER})) == {
        "run-1.log": "worker:1",
        "run-2.log": "worker:0",
        "cluster/tf_config.json": None,
    }


def test_numbers_stay_where_something_speaks_against(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Roles, a gap, a launcher's ranks, or a cluster of more tasks."""
    for files in (
        {"worker-1.log": LINE, "worker-2.log": LINE},
        {"job-1.log": LINE, "job-3.log": LINE},
        {"job-1.log": LINE},
        {
            "job-1.log": LINE,
            "job-2.log": LINE,
            "tf_config.json": CLUSTER.replace('"a:2222"', '"a:2222", "c:1"'),
        },
        {"all.log": "1: step 1 loss 0.5\n2: step 1 loss 0.5\n"},
    ):
        run = make_run(files)
        assert "worker:0" not in workers_of(run).values()
        for path in run.iterdir():
            path.unlink()


def test_a_log_that_tells_only_values_is_a_workers(
    make_run: Callable[[Mapping[str, str]], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As any log is that no name gives to a worker, even if none of its lines is kept."""
    monkeypatch.setattr(reader_output, "MIN_COLUMN_ROWS", 1)
    monkeypatch.setattr("analyzer.ingest.logs.stream.EDGE_RECORDS", 0)
    run, messages = make_run({"train.log": "step 1 loss 0.5\nstep 2 loss 0.5\n"}), our_rules().messages
    tables = identify(ingest(discover([run]), [], messages), messages)
    assert not tables["records"].height
    assert set(tables["scalars"]["worker"]) == {"worker:0"}


def test_how_a_worker_was_found_is_a_fact_without_a_line(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Its basis is told of logs that no name gives to a worker, and of no others."""
    logs = {"alpha.log": LINE, "beta.log": SERVER.format("a") + LINE, "worker-7.log": LINE}
    facts = load_tables(discover([make_run({**logs, "tf_config.json": CLUSTER})]), our_rules())["facts"]
    told = facts.filter(facts["key"] == "attributed").select("source", "worker", "line", "value")
    assert told.rows() == [
        ("alpha.log", "worker:1", None, "by the order of the files"),
        ("beta.log", "worker:0", None, "by the address of its server"),
    ]


@pytest.mark.recordings
@pytest.mark.parametrize("named", [True, False])
def test_a_guessed_culprit_is_told_and_never_certain(named: bool, tmp_path: Path) -> None:
    """In JSON, in text and in the explanation, with the file that is meant."""
    for name, host in zip(range(4), ("alpha", "beta", "gamma", "omega"), strict=True):
        log = ROOT / "sample_runs" / "worker-exception" / "run" / f"worker-{name}.log"
        (tmp_path / (log.name if named else f"{host}.log")).write_bytes(log.read_bytes())
    document = analyze(tmp_path).diagnosis.document
    (worker,) = [each for each in document["workers"] if each["id"] == "worker:3"]
    (finding,) = [each for each in document["findings"] if each["rule"] == document["rule"]]
    assert document["culprits"] == ["worker:3"]
    assert worker.get("guessed") == (None if named else "by what the logs say of their peers")
    assert finding["confidence"] == document["confidence"]
    assert (document["confidence"] > 0.85) is named
    for text in (explain(document), terminal(document, colour=False, width=200)):
        assert ("omega.log; index guessed by what the logs say" in text) is not named


@pytest.mark.recordings
@pytest.mark.parametrize("named", [True, False])
def test_the_worker_of_a_lone_log_is_suspected_unless_the_log_names_it(named: bool, tmp_path: Path) -> None:
    """Without the other logs nothing tells whether the fault is this worker's, nor which one it is."""
    log = ROOT / "sample_runs" / "port-in-use" / "run" / "worker-1.log"
    (tmp_path / (log.name if named else "train.log")).write_bytes(log.read_bytes())
    document = analyze(tmp_path).diagnosis.document
    assert document["cause"] == "network.port_in_use"
    assert bool(document["culprits"]) is named
    assert bool(document["suspects"]) is not named


def test_a_gap_in_the_indices_is_a_missing_worker(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """It belongs to the job with that as the reason, and left nothing; a local device is no member."""
    logs = {f"worker-{index}.log": LINE for index in (0, 1, 2, 4)}
    logs["worker-0.log"] += "/job:localhost/replica:0/task:0/device:CPU:0 and /job:ps/replica:0/task:1\n"
    workers = load_tables(discover([make_run(logs)]), our_rules())["workers"]
    missing = workers.filter(~workers["seen"]).select("worker", "expected", "known_by").rows()
    gap = "a gap between the indices of its peers"
    assert missing == [
        ("worker:3", True, gap),
        ("ps:0", True, gap),
        ("ps:1", True, "lines of its peers name it"),
    ]


GROUP = (
    "INFO:tensorflow:Collective all_reduce tensors: 4 all_reduces, num_devices = {}, group_size = {}, "
    "implementation = CommunicationImplementation.AUTO, num_packs = 1\n"
)


@pytest.mark.parametrize(
    ("devices", "size", "absent"), [(1, 4, ["worker:0", "worker:1", "worker:3"]), (2, 4, [])]
)
def test_a_collective_counts_the_workers(
    make_run: Callable[[Mapping[str, str]], Path], devices: int, size: int, absent: list[str]
) -> None:
    """The group of a lone log is the whole job, if each worker has one device."""
    run = make_run({"worker-2.log": GROUP.format(devices, size) + LINE})
    workers = load_tables(discover([run]), our_rules())["workers"]
    known = workers.filter(~workers["seen"] & (workers["known_by"].str.starts_with("the number")))
    assert known["worker"].to_list() == absent


LOST = (
    "2026-11-21 05:27:06.817901: E tensorflow/core/common_runtime/ring_alg.cc:291] Aborting RingReduce with "
    "UNAVAILABLE: Collective ops is aborted by: Socket closed\n"
    "Additional GRPC error information from remote target /job:worker/replica:0/task:{} while calling "
    "/tensorflow.WorkerService/RecvBuf:\n:UNKNOWN:Error received from peer\n"
)


def test_a_number_in_the_names_of_all_hosts_is_no_index(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """Logs are often named after the machine."""
    config = 'TF_CONFIG={"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": %d}}\nstep 1 loss 0.5\n'
    found = workers_of(make_run({"ip-10-0-3-54.log": config % 0, "ip-10-0-3-11.log": config % 1}))
    assert found == {"ip-10-0-3-54.log": "worker:0", "ip-10-0-3-11.log": "worker:1"}


CONFIG = 'TF_CONFIG={"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": %d}}\n'
WAITS = (
    "2026-11-21 03:10:02.204177: I tensorflow/core/distributed_runtime/master.cc:221] CreateSession still "
    "waiting for response from worker: /job:worker/replica:0/task:{}\n"
)
LEADS = "I0000 00:00:1795225733.920389 6 coordination_service.cc:221] Initializing CoordinationService\n"


@pytest.mark.parametrize(
    "logs",
    [
        pytest.param([CONFIG % 0, CONFIG % 1], id="own tasks"),
        pytest.param([LEADS, LINE], id="the leader's lines"),
        pytest.param([LINE, LOST.format(0)], id="a task without a log"),
        pytest.param([LOST.format(1), LOST.format(0)], id="a log's own number as a peer"),
        pytest.param(
            [LINE, LINE, CLUSTER.replace('"a:2222"', '"a:2222", "c:1"')], id="the size of the cluster"
        ),
    ],
)
@pytest.mark.parametrize("name", ["worker_{}.log", "node0{}.example.com.log", "train-node-{}/stderr.txt"])
def test_numbers_from_one_beside_a_role_are_counted_from_zero_if_the_logs_say_so(
    make_run: Callable[[Mapping[str, str]], Path], logs: list[str], name: str
) -> None:
    """An exit code by the same numbers is of the same worker."""
    names = [name.format(number) for number in range(1, len(logs) + 1)]
    files = {each: LINE + text for each, text in zip(names, logs, strict=True)}
    tables = load_tables(
        discover([make_run({**files, "exit_codes.txt": f"worker-{len(logs)} 1\n"})]), our_rules()
    )
    found = dict(tables["sources"].select("source", "worker").iter_rows())
    assert [found[each] for each in names] == [f"worker:{index}" for index in range(len(logs))]
    codes = tables["facts"].filter(tables["facts"]["key"] == "exit_code")
    assert codes["worker"].to_list() == [f"worker:{len(logs) - 1}"]


@pytest.mark.parametrize(
    "logs",
    [
        pytest.param({"worker-1": LOST.format(0), "worker-2": LOST.format(0)}, id="worker 0 lost by all"),
        pytest.param(
            {"worker-1": LINE, "worker-2": LOST.format(1) + WAITS.format(0)}, id="its number less 1"
        ),
        pytest.param(
            {"worker-1": LOST.format(2), "worker-2": LOST.format(0)}, id="the last number as a peer"
        ),
        pytest.param({"worker-1": CONFIG % 0, "worker-2": CONFIG % 0}, id="a task stated twice"),
        pytest.param({"worker-1": LEADS, "worker-2": LINE, "chief-0": LINE}, id="a chief"),
        pytest.param({"worker-1": LEADS, "worker-3": LINE}, id="a gap"),
        pytest.param({"worker-1": LINE, "worker-2": LEADS}, id="another log leads"),
    ],
)
def test_a_number_beside_a_role_is_the_index_unless_it_fits_less_well(
    make_run: Callable[[Mapping[str, str]], Path], logs: Mapping[str, str]
) -> None:
    """The log of worker 0 may be missing."""
    found = workers_of(make_run({f"{name}.log": LINE + text for name, text in logs.items()}))
    assert found == {f"{name}.log": name.replace("-", ":") for name in logs}


@pytest.mark.parametrize("first", [0, 1])
def test_other_files_are_counted_like_the_logs_unless_they_begin_at_zero(
    make_run: Callable[[Mapping[str, str]], Path], first: int
) -> None:
    """A script names its own files by the index."""
    others = {f"env-worker-{number}.txt": "TF_CPP_MIN_LOG_LEVEL=0\n" for number in (first, first + 1)}
    found = workers_of(make_run({"worker-1.log": LEADS + LINE, "worker-2.log": LINE, **others}))
    assert [found[name] for name in ("worker-1.log", "worker-2.log", *others)] == ["worker:0", "worker:1"] * 2


def test_numbers_from_one_that_no_log_speaks_of_are_a_guess(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """They stay as they are."""
    run = make_run({"worker-1.log": LINE, "worker-2.log": LINE})
    workers = load_tables(discover([run]), our_rules())["workers"].filter(pl.col("seen"))
    assert dict(workers.select("worker", "guessed").iter_rows()) == dict.fromkeys(
        ("worker:1", "worker:2"), "by the number in its name"
    )
