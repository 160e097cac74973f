"""Which directories are runs, told by names and by the first lines of logs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from analyzer.triage.examine.output_conflicts import enclosing_run, hidden_run
from analyzer.triage.examine.run_discovery import UnlistedDirectory, find_runs
from tests.recordings import RECORDED_RUNS, SAMPLE_RUNS

Tree = Callable[..., Path]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Write empty files below a root and give it."""

    def make(*names: str) -> Path:
        for name in names:
            path = tmp_path / "root" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        return tmp_path / "root"

    return make


def runs(root: Path, pattern: str | None = None, leave_out: str = "") -> list[str]:
    """The runs below a root, relative to it."""
    unlisted: list[UnlistedDirectory] = []
    return [
        os.path.relpath(each.path, root)
        for each in find_runs(str(root), 0.0, unlisted.append, pattern, leave_out)
    ]


LAYOUTS: dict[str, tuple[list[str], list[str]]] = {
    "a log a worker": (["a/worker-0.log", "a/worker-1.log", "b/rank0.out"], ["a", "b"]),
    "a directory a worker": (["a/worker-0/stderr.txt", "a/worker-1/stderr.txt", "b/x.log"], ["a", "b"]),
    "logs beside events": (["a/logs/worker-0.log", "a/tensorboard/events.out.tfevents.1", "a/x.py"], ["a"]),
    "attempts": (["a/attempt-1/worker-0.log", "a/attempt-2/worker-0.log"], ["a"]),
    "deep below": (["team/2026/a/worker-0.log", "team/2026/b/worker-0.log"], ["team/2026/a", "team/2026/b"]),
    "a note beside runs": (["README.txt", "a/worker-0.log", "b/worker-0.log"], ["a", "b"]),
    "runs called like workers": (["chief-only/worker-0.log", "b/worker-0.log"], ["b", "chief-only"]),
    "a root of attempts is one run": (["attempt-1/chief.log", "attempt-2/chief.log"], ["."]),
    "a task that a host names": (
        [f"a/{task}/{name}" for task in ("worker-0", "gpu07") for name in ("recording.jsonl", "stdout.log")],
        ["a"],
    ),
    "two attempts of a task that a host names": (
        [f"a/{task}/{name}" for task in ("vm", "vm.2") for name in ("recording.jsonl", "stdout.log")],
        ["a"],
    ),
    "versions of jobs": (["v1/x.log", "v1.2/x.log"], ["v1", "v1.2"]),
    "archives": (["a/worker-0.log", "b.tar.gz", "c.zip", "d.csv"], ["a", "b.tar.gz", "c.zip"]),
    "hidden": ([".git/x.log", "a/worker-0.log"], ["a"]),
    "what mwms-triage wrote": (
        [
            "a/x.log",
            *(f"triage/{name}" for name in ("digest.md", "groups.json", "metrics.prom", "runs.jsonl")),
        ],
        ["a"],
    ),
    "nothing": (["a/code.py", "b/exit-codes.yaml"], []),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_runs_are_found_by_their_layout(tree: Tree, layout: str) -> None:
    """The topmost directory that is one run; what lies beside is none."""
    files, expected = LAYOUTS[layout]
    assert runs(tree(*files)) == expected


def state(root: Path, texts: dict[str, str]) -> Path:
    """Write logs below a root and return it."""
    for name, text in texts.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return root


CLUSTER = "['10.0.0.4:2222', '10.0.0.5:2222', '10.0.0.6:2222']"
OWN = "cluster_spec = {{'worker': {}}}, task_type = 'worker', task_id = {}, num_workers = 3\n"
SERVER = "Started server with target: grpc://{}:2222\n"
ONE_JOB = {
    "a host a directory": {
        f"job/{host}/train.log": OWN.format(CLUSTER, index)
        for index, host in enumerate(("oak", "elm", "fir"))
    },
    "a container a directory": {
        f"job/{digit * 64}/{digit * 64}-json.log": json.dumps({"log": OWN.format(CLUSTER, index)})
        for index, digit in enumerate("bcd")
    },
    "folders called as the hosts of their servers": {
        f"job/{host}/train.log": SERVER.format(host) for host in ("oak", "elm", "fir")
    },
    "TF_CONFIG, and one that says nothing": {
        **{
            f"job/{host}/TF_CONFIG": json.dumps(
                {"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": index}}
            )
            for index, host in enumerate(("oak", "elm"))
        },
        "job/fir/train.log": "",
    },
    "an index twice": {
        f"job/{host}/train.log": OWN.format(CLUSTER, index)
        for index, host in zip((0, 1, 1), "xyz", strict=True)
    },
    "what a log service exported": {"job/downloaded.json": '[{"textPayload": "step 1", "insertId": "a"}]'},
    "AzureML": {"job/user_logs/std_log_process_0.txt": "", "job/system_logs/lifecycler/wrapper.log": ""},
    "SageMaker": {"job/algo-1-1772615412": "", "job/algo-2-1772615412": ""},
}
SEVERAL_RUNS = {
    "lives of one worker": {f"48{n}/train.log": OWN.format(CLUSTER, 0) for n in range(3)},
    "clusters of different jobs": {
        f"48{n}/train.log": OWN.format(f"['10.0.{n}.1:2222', '10.0.{n}.2:2222']", n) for n in range(3)
    },
    "logs of all workers of a job": {
        f"48{n}/train.log": OWN.format(CLUSTER, 0) + OWN.format(CLUSTER, 1) for n in range(3)
    },
    "logs that state nothing": {f"48{n}/train.log": "step 1\n" for n in range(3)},
    "the same server again": {f"48{n}/train.log": SERVER.format("oak") for n in range(3)},
}


@pytest.mark.parametrize("layout", ONE_JOB)
def test_directories_of_one_job_are_one_run(tmp_path: Path, layout: str) -> None:
    """Where names tell nothing, the first lines of the logs do."""
    assert runs(state(tmp_path / "root", {**ONE_JOB[layout], "other/worker-0.log": ""})) == ["job", "other"]


@pytest.mark.parametrize("layout", SEVERAL_RUNS)
def test_directories_of_several_jobs_are_several_runs(tmp_path: Path, layout: str) -> None:
    """Attempts and jobs that state other clusters, or nothing, stay apart."""
    assert runs(state(tmp_path / "root", SEVERAL_RUNS[layout])) == ["480", "481", "482"]


@pytest.mark.usefixtures("store")
def test_directories_of_one_job_are_one_run_in_a_store(tmp_path: Path) -> None:
    """The first bytes of objects are asked for by range."""
    import s3fs

    system = s3fs.S3FileSystem(anon=False, skip_instance_cache=True)
    system.mkdir("fleet")
    system.put(str(state(tmp_path / "root", ONE_JOB["a host a directory"])), "fleet/runs", recursive=True)
    assert [each.path for each in find_runs("s3://fleet/runs", 0.0, print)] == ["s3://fleet/runs/job"]


@pytest.mark.recordings
def test_every_sample_run_is_found() -> None:
    """Nothing more, and of each at least the directory with its logs."""
    root = SAMPLE_RUNS[0].parent
    homes = sorted(str(each.relative_to(root)) for each in (*SAMPLE_RUNS, *RECORDED_RUNS))
    found = [Path(name) for name in runs(root)]
    assert sorted(str(next(up for up in each.parents if str(up) in homes)) for each in found) == homes


def test_a_pattern_says_what_runs_are(tree: Tree) -> None:
    """Where names tell nothing, the user does."""
    root = tree("host-a/x/data.txt", "host-a/y/data.txt", "host-b/x/data.txt", "notes.txt")
    assert runs(root, "*/*") == ["host-a/x", "host-a/y", "host-b/x"]
    assert runs(root, "host-a/x*") == ["host-a/x"]


def test_our_own_directory_is_no_run(tree: Tree) -> None:
    """Reports may lie below a root, and never in a run."""
    root = tree("a/worker-0.log", "out/worker-0.log")
    assert runs(root, leave_out=str(root / "out")) == ["a"]
    assert enclosing_run(str(root / "a" / "reports"), str(root)) == str(root / "a")
    assert enclosing_run(str(root / "elsewhere"), str(root)) is None
    assert enclosing_run(str(root.parent / "elsewhere"), str(root)) is None


OUTPUTS = [
    f"triage/{name}" for name in ("digest.md", "groups.json", "metrics.prom", "runs.jsonl", "index.html")
]


@pytest.mark.parametrize("pattern", ["*", "*/*", "triage/*"])
def test_outputs_are_no_run_by_a_pattern_either(tree: Tree, pattern: str) -> None:
    """A run among them is one."""
    root = tree("a/worker-0.log", "triage/reports/a-1.html", "triage/cron.log", "triage/b/x.log", *OUTPUTS)
    assert not {*runs(root, pattern)} - {"a", "a/worker-0.log", "triage/b"}
    assert runs(root) == ["a", "triage/b"]


def test_outputs_may_not_hide_a_run(tree: Tree) -> None:
    """A first call with such a directory is refused; earlier outputs and an empty directory are taken."""
    root = tree(
        "a/worker-0.log", "misc/b/worker-0.log", "triage/reports/a-1.html", "triage/cron.log", *OUTPUTS
    )
    (root / "empty").mkdir()
    assert enclosing_run(str(root / "triage"), str(root)) is None
    for pattern in (None, "*", "*/*"):
        assert hidden_run(str(root / "misc"), str(root), pattern)
        for name in ("triage", "empty", "new"):
            assert hidden_run(str(root / name), str(root), pattern) is None
    assert hidden_run(str(root.parent), str(root)) is None
    killed = tree("out/history.sqlite", "out/reports/a-1.html") / "out"
    assert hidden_run(str(killed), str(root), "*") is None


def test_the_stamp_tells_each_change(tree: Tree) -> None:
    """A file more, a byte more, a later time; nothing changed, the same stamp."""
    root = tree("a/worker-0.log")
    log = root / "a" / "worker-0.log"

    def stamp() -> str:
        return next(find_runs(str(root), 0.0, print)).stamp

    stamps = [stamp()]
    assert stamp() == stamps[0]
    log.write_text("x", encoding="utf-8")
    stamps.append(stamp())
    os.utime(log, (1, 1))
    stamps.append(stamp())
    (root / "a" / "worker-1.log").touch()
    stamps.append(stamp())
    assert len({*stamps}) == 4


def test_what_cannot_be_listed_is_told(tmp_path: Path) -> None:
    """A root that is not there, a chain of directories without end, a name that is no UTF-8."""
    unlisted: list[UnlistedDirectory] = []
    assert list(find_runs(str(tmp_path / "gone"), 0.0, unlisted.append)) == []
    deep = tmp_path.joinpath("deep", *["d"] * 60)
    deep.mkdir(parents=True)
    assert list(find_runs(str(tmp_path), 0.0, unlisted.append)) == []
    assert [each.reason for each in unlisted] == [
        "no such file or directory", "it is more than 40 directories deep",
    ]  # fmt: skip
    odd = os.fsencode(tmp_path) + b"/odd-\xff"
    os.mkdir(odd)  # noqa: PTH102 - bytes
    Path(os.fsdecode(odd), "worker-0.log").touch()
    (found,) = find_runs(str(tmp_path), 0.0, unlisted.append)
    assert found.place.endswith("odd-\\xff")
    assert os.fsencode(found.path) == odd
