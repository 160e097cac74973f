"""Logs of several processes that somebody joined into one file without titles, as `cat` does."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer import analyze
from analyzer.discover import discover
from analyzer.ingest.raw_lines import lines_at
from analyzer.model.log_layout import is_part, part_key
from analyzer.pipeline import load_tables
from tests.rules import our_rules

MakeRun = Callable[[Mapping[str, str]], Path]


def process(
    begin: int, *, index: int | None = None, port: int = 2222, before: str = "", after: str = ""
) -> str:
    """The log of a process that begins at a second and ends 30 seconds later; `index` states its task."""
    words = {
        begin: "cpu_feature_guard.cc:182] This TensorFlow binary is optimized to use available CPU",
        begin + 5: f"grpc_server_lib.cc:457] Started server with target: grpc://10.0.0.1:{port}",
        begin + 30: "context.cc:99] some word of the runtime",
    }
    stated = "" if index is None else f"TensorFlow 2.15.1 task {{'type': 'worker', 'index': {index}}}\n"
    lines = [f"2026-11-21 01:{s // 60:02}:{s % 60:02}.500000: I x/{text}\n" for s, text in words.items()]
    return before + lines[0] + stated + "".join(lines[1:]) + after


def workers(run: Path) -> dict[str, tuple[str | None, int]]:
    """Source → its worker, and in how many attempts it has records."""
    tables = load_tables(discover([run]), our_rules())
    attempts = {source: set[int]() for source in tables["sources"]["source"]}
    for source, attempt in tables["records"].select("source", "attempt").iter_rows():
        attempts[source].add(attempt)
    return {
        source: (worker, len(attempts[source]))
        for source, worker in tables["sources"].select("source", "worker").iter_rows()
    }


@pytest.mark.runs
def test_processes_of_one_time_are_several_workers(make_run: MakeRun) -> None:
    """The one that began while the other ran is no later attempt of it; what it states names it."""
    run = make_run({"D.log": process(100, index=1, port=1) + process(101, index=0, port=2)})
    assert workers(run) == {"D.log#part-a": ("worker:1", 1), "D.log#part-b": ("worker:0", 1)}


@pytest.mark.runs
def test_the_one_that_failed_is_blamed_whatever_comes_first(make_run: MakeRun) -> None:
    """And each line keeps its number in the file."""
    error = (
        'Traceback (most recent call last):\n  File "/app/train.py", line 3, in <module>\n    load()\n'
        "FileNotFoundError: [Errno 2] No such file or directory: '/data/b.npz'\n"
    )
    lost = (
        "2026-11-21 01:02:30.600000: E x/coordination_service.cc:992] /job:worker/replica:0/task:1 has been set "
        "to ERROR in coordination service: UNAVAILABLE: Task /job:worker/replica:0/task:1 heartbeat timeout.\n"
    )
    logs = [process(100, index=0, port=1, after=lost), process(101, index=1, port=2, after=error)]
    for order in (logs, logs[::-1]):
        run = make_run({"D.log": "".join(order)})
        document = analyze(run).document
        assert (document["cause"], document["culprits"]) == ("data.missing_file", ["worker:1"])
        places = (place for finding in document["findings"] for place in finding["evidence"])
        place = next(each for each in places if "FileNotFound" in (each["excerpt"] or ""))
        quoted = lines_at(discover([run]), {place["source"]: [place["line"]]})[place["source"]]
        assert quoted == {place["line"]: [error.splitlines()[-1]]}


@pytest.mark.runs
@pytest.mark.parametrize(
    "text",
    [
        process(100) + process(140),
        process(140) + process(100),
        process(100, after="2026-11-21 01:01:45 INFO printed late\n") + process(140),
        process(100, after="2026-11-21 01:01:45 INFO printed late\n"),
    ],
    ids=["a restart", "the attempt before a restart, below it", "late output and a restart", "late output"],
)
def test_attempts_of_one_process_stay_one_log(text: str, make_run: MakeRun) -> None:
    """Their times do not overlap, but for what Python prints when it ends."""
    assert [*workers(make_run({"D.log": text}))] == ["D.log"]


@pytest.mark.runs
@pytest.mark.parametrize(("tasks", "worker"), [((0, 1), None), ((1, 1), "worker:1")])
def test_a_log_of_two_tasks_in_turn_is_of_neither(
    tasks: tuple[int, int], worker: str | None, make_run: MakeRun
) -> None:
    """Whether the runtime logs times or nothing; a restarted process states the task that it had."""
    first, second = tasks
    run = make_run({"D.log": process(100, index=first, port=1) + process(140, index=second, port=2)})
    assert workers(run)["D.log"][0] == worker
    run = make_run(
        {"D.log": "".join(f"TensorFlow 2.15.1 task {{'type': 'worker', 'index': {n}}}\n" for n in tasks)}
    )
    assert workers(run)["D.log"][0] == worker


@pytest.mark.runs
def test_two_clocks_of_one_process_are_none_of_two(make_run: MakeRun) -> None:
    """TensorFlow's own prefix has local time, that of absl has UTC, here seven hours less."""
    banner = "This TensorFlow binary is optimized to use available CPU"
    local = f"2026-11-21 08:01:40.500000: I x/cpu_feature_guard.cc:182] {banner}\n"
    absl = f"I0000 00:00:1795224103.500000 6 cpu_feature_guard.cc:227] {banner}\n"
    server = "I0000 00:00:1795224104.5 6 x.cc:1] Started server with target: grpc://10.0.0.1:2222\n"
    assert [*workers(make_run({"D.log": local + absl + server + local}))] == ["D.log"]


@pytest.mark.runs
def test_a_name_that_states_a_task_is_trusted(make_run: MakeRun) -> None:
    """What is in `worker-0.log` is of worker:0."""
    run = make_run({"worker-0.log": process(100, index=0) + process(101, index=1)})
    assert [*workers(run)] == ["worker-0.log"]


@pytest.mark.runs
def test_what_a_process_prints_first_goes_with_it(make_run: MakeRun) -> None:
    """Before its first dated line, as the process above did; numbers may differ."""
    run = make_run(
        {"D.log": process(100, before="TF_CONFIG index 0\n") + process(101, before="TF_CONFIG index 1\n")}
    )
    tables = load_tables(discover([run]), our_rules())
    said = tables["records"].filter(tables["records"]["text"].str.starts_with("TF_CONFIG"))
    assert said["source"].to_list() == ["D.log#part-a", "D.log#part-b"]


def test_parts_have_letters() -> None:
    """A number would be taken for that of a task."""
    assert [part_key(number) for number in (0, 25, 26, 701, 702)] == [
        "part-a", "part-z", "part-aa", "part-zz", "part-aaa",
    ]  # fmt: skip
    assert is_part("part-b")
    assert not is_part(None)


@pytest.mark.runs
def test_parts_of_fewer_processes_than_tasks_name_no_worker(make_run: MakeRun) -> None:
    """The traceback may be of a process that failed before it started TensorFlow, and has no part of its own."""
    error = 'Traceback (most recent call last):\n  File "/app/train.py", line 3, in <module>\nKeyError: 3\n'
    lost = "2026-11-21 01:02:10.6: E x/coordination_service.cc:992] /job:worker/replica:0/task:2 has been set to ERROR\n"
    for tasks, named in ((2, {"worker:0", "worker:1"}), (3, {None})):
        last = process(101, index=1, port=2, after=lost if tasks > 2 else "")
        run = make_run({"D.log": process(100, index=0, port=1, after=error) + last})
        assert {worker for worker, _ in workers(run).values()} == named


@pytest.mark.runs
def test_tasks_that_write_to_one_file_are_not_joined_logs(make_run: MakeRun) -> None:
    """All banners stand above all servers, though the first server is earlier than the last banner."""
    banner, server = (line for line in process(100).splitlines(keepends=True)[:2])
    later = [f"2026-11-21 01:0{1 + n // 60}:{n % 60:02}.500000" for n in (40, 50)]
    lines = [banner, banner.replace("2026-11-21 01:01:40.500000", later[1]), server]
    lines.append(server.replace("2222", "2223"))
    assert [*workers(make_run({"slurm-991.out": "".join(lines)}))] == ["slurm-991.out"]


TASKS = (
    "".join(
        f"2026-11-21 01:01:4{n}.500000: I x/cpu_feature_guard.cc:182] This TensorFlow binary is optimized to use "
        "available CPU\n"
        for n in range(3)
    )
    + "".join(
        f"2026-11-21 01:01:4{n}.600000: I x/grpc_server_lib.cc:457] Started server with target: grpc://node1{n}:2222\n"
        for n in range(3)
    )
    + "step 1: loss=2.3\n" * 3
)
RAISED = "Traceback (most recent call last):\n  File \"/app/data.py\", line 33, in decode\n    f()\nKeyError: 'lynx'\n"


@pytest.mark.runs
@pytest.mark.parametrize(
    ("ends", "culprits"),
    [
        (RAISED + "srun: error: node12: task 2: Exited with exit code 1\n", ["worker:2"]),
        (RAISED + "srun: error: node12: tasks 1-2: Exited with exit code 1\n", []),
        (RAISED, []),
        ("srun: error: node12: task 2: Exited with exit code 1\n" + RAISED, []),
    ],
    ids=["one failed", "two failed", "nobody knows", "it failed before"],
)
def test_the_launcher_tells_which_task_raised(ends: str, culprits: list[str], make_run: MakeRun) -> None:
    """In what several tasks wrote into one file without labels."""
    found = analyze(make_run({"slurm-991.out": TASKS + ends})).document
    assert (found["cause"], found["culprits"]) == ("user.exception", culprits)
    assert {each["attempts"] for each in found["workers"]} <= {0, 1}


@pytest.mark.runs
def test_what_several_tasks_wrote_ends_in_a_traceback(make_run: MakeRun) -> None:
    """Then the job failed, though nobody knows whose it is; a step below it is another matter."""
    lost = (
        "Traceback (most recent call last):\n"
        "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed\n"
        "Additional GRPC error information from remote target /job:worker/replica:0/task:0 while calling "
        "/tensorflow.WorkerService/RecvBuf:\n"
    )
    found = analyze(make_run({"slurm-992.out": TASKS + lost})).document
    assert (found["verdict"], found["cause"]) == ("failed", "unknown")
    assert "unknown lost" not in str(found)
    went_on = analyze(make_run({"slurm-992.out": TASKS + lost + "step 2: loss=2.2\n"})).document
    assert went_on["verdict"] == "inconclusive"
