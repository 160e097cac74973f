"""What the faults do to a job's files and processes, without TensorFlow."""

from __future__ import annotations

import json
import os
import signal
import struct
import subprocess
import sys
import time
from typing import TYPE_CHECKING
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

import google_crc32c
import pytest

from analyzer.trainer.faults.busy_machine import BusyMachine
from analyzer.trainer.faults.catalogue_service import CatalogueService
from analyzer.trainer.faults.data_file import RECORD, DataFile
from analyzer.trainer.faults.feed import Feed
from analyzer.trainer.faults.learning_rate import LearningRate
from analyzer.trainer.faults.owner import NOBODY, Owner
from analyzer.trainer.faults.peer_list import PeerList
from analyzer.trainer.faults.slurm import Slurm
from analyzer.trainer.faults.tf_config import EDITS, TfConfig
from analyzer.trainer.faults.wrong_checkpoint import WrongCheckpoint
from analyzer.trainer.handover import hand_over
from analyzer.trainer.jobs.job import Outcome
from analyzer.trainer.jobs.processes import WorkerProcesses
from analyzer.trainer.jobs.sandbox.hosts import Hosts
from analyzer.trainer.jobs.sandbox.workspace import Workspace, tfrecords
from analyzer.trainer.layouts import Chunk
from analyzer.trainer.path_anonymizer import PathAnonymizer
from analyzer.trainer.scenario import Scenario

if TYPE_CHECKING:
    from pathlib import Path


def workspace(folder: Path, **values: object) -> Workspace:
    """Make the workspace of a small job of three."""
    told = {"workers": 3, "mode": "fit", "hands_over": ("logs",), "epochs": 1, "steps": 6, "batch_size": 8}
    scenario = Scenario("one", folder, "", expect={"cause": "healthy", "culprits": []}, **{**told, **values})  # type: ignore[arg-type]
    folder.mkdir(parents=True, exist_ok=True)
    return Workspace.create(folder, scenario)


@pytest.mark.parametrize("change", sorted(EDITS))
def test_only_the_guilty_workers_tf_config_changes(tmp_path: Path, change: str) -> None:
    """And it stays JSON."""
    job = workspace(tmp_path)
    fault = TfConfig(guilty=2, step=1, change=change)
    assert fault.tf_config(0, job.tf_config(0)) == job.tf_config(0)
    changed = fault.tf_config(2, job.tf_config(2))
    assert changed is not None
    assert json.loads(changed) != json.loads(job.tf_config(2))


def test_a_chief_is_task_0_of_its_own_kind(tmp_path: Path) -> None:
    """The workers beside it count from zero."""
    job = workspace(tmp_path, chief=True)
    config = json.loads(job.tf_config(2))
    assert config["task"] == {"type": "worker", "index": 1}
    assert {kind: len(addresses) for kind, addresses in config["cluster"].items()} == {
        "chief": 1,
        "worker": 2,
    }
    assert [job.name(index) for index in range(3)] == ["chief-0", "worker-0", "worker-1"]


def test_a_parameter_server_job_has_a_chief_and_one_server(tmp_path: Path) -> None:
    """The others are its workers."""
    job = workspace(tmp_path, mode="ps", workers=4)
    assert [job.name(index) for index in range(4)] == ["chief-0", "ps-0", "worker-0", "worker-1"]
    assert list(json.loads(job.tf_config(0))["cluster"]) == ["chief", "ps", "worker"]


def test_records_carry_their_checksums() -> None:
    """As TensorFlow wants them: masked CRC-32C of the length and of the content."""
    row = ",".join(["0.5"] * 65)
    content = tfrecords([row, row])
    assert len(content) == 2 * RECORD
    (length,) = struct.unpack("<Q", content[:8])
    payload = content[12 : 12 + length]
    crc = google_crc32c.value(payload)
    masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
    assert content[12 + length : 16 + length] == struct.pack("<I", masked)


def test_a_shortened_file_ends_before_the_step(tmp_path: Path) -> None:
    """The guilty worker has the batches of the steps before, and its peers have all."""
    job = workspace(tmp_path)
    whole = len(job.part_file(0).read_text().splitlines())
    DataFile(guilty=1, step=4, happened="shortened").prepare(job)
    assert len(job.part_file(1).read_text().splitlines()) == 3 * 8
    assert len(job.part_file(0).read_text().splitlines()) == whole


def test_a_feed_gives_the_rows_before_the_step_and_then_waits(tmp_path: Path) -> None:
    """A reader gets them and no end of the file; the writer ends with the job."""
    job = workspace(tmp_path)
    fault = Feed(guilty=0, step=3)
    fault.prepare(job)
    pipe = os.open(job.part_file(0), os.O_RDONLY | os.O_NONBLOCK)
    read = b""
    while read.count(b"\n") < 16:
        try:
            read += os.read(pipe, 1 << 16)
        except BlockingIOError:
            time.sleep(0.01)
    assert read.count(b"\n") == 16
    with pytest.raises(BlockingIOError):
        os.read(pipe, 1)
    os.close(pipe)
    fault.cleanup()
    assert not any(writer.is_alive() for writer in fault.writers)


def test_a_rate_stands_in_the_schedule_for_its_steps_only(tmp_path: Path) -> None:
    """In the schedule of every worker."""
    job = workspace(tmp_path)
    before = (job.folder(2) / "config/schedule.csv").read_text().splitlines()
    LearningRate(guilty=0, step=3, rate=9.0, steps=2).prepare(job)
    after = (job.folder(2) / "config/schedule.csv").read_text().splitlines()
    assert after[2:4] == ["3,9.0", "4,9.0"]
    assert (after[:2], after[4:]) == (before[:2], before[4:])


@pytest.mark.processes
def test_the_busy_processes_end_with_the_job(tmp_path: Path) -> None:
    """Nobody keeps computing."""
    fault = BusyMachine(guilty=0, step=1, processes=1)
    fault.prepare(workspace(tmp_path))
    fault.cleanup()
    assert [other.poll() for other in fault.others] == [-signal.SIGKILL]


@pytest.mark.parametrize(
    ("layout", "names"),
    [
        ("flat", {"worker-0.log", "worker-1.log"}),
        ("ranks", {"logs/rank0.out", "logs/rank1.out"}),
        ("pods", {"mnist-worker-0.log", "mnist-worker-1.log"}),
        ("srun", {"slurm-48213.out"}),
        ("compose", {"docker-compose.log"}),
    ],
)
def test_each_layout_has_its_names(tmp_path: Path, layout: str, names: set[str]) -> None:
    """What was heard is there, under the names that such a launcher gives."""
    job = workspace(tmp_path / "job", workers=2, layout=layout)
    heard = [(0, b"one\ntw"), (1, b"three\n"), (0, b"o\n"), (1, b"unfinished")]
    chunks = [Chunk(index, f"worker-{index}", 1.7e9, content) for index, content in heard]
    for index, content in heard:
        with job.log(index, "out").open("ab") as log:
            log.write(content)
    target = tmp_path / "run"
    hand_over(
        job,
        Outcome({0: 0, 1: 0}, {}, False, {}, chunks, {"kernel.log": b"x"}, {}, {}, ""),
        PathAnonymizer({"/nowhere": "/usr"}),
        target,
    )
    assert {str(path.relative_to(target)) for path in target.rglob("*") if path.is_file()} == {
        *names,
        "kernel.log",
    }
    if layout == "srun":
        assert (target / "slurm-48213.out").read_text() == "0: one\n1: three\n0: two\n1: unfinished\n"


def test_a_process_that_never_ended_is_running(tmp_path: Path) -> None:
    """Codes of a stalled job name no process that was never started, and none is `None`."""
    job = workspace(tmp_path / "job", workers=3, hands_over=("exit_codes",))
    target = tmp_path / "run"
    ended = Outcome({0: None, 2: -9}, {}, True, {}, [], {}, {}, {}, "")
    hand_over(job, ended, PathAnonymizer({"/nowhere": "/usr"}), target)
    assert (target / "exit_codes.txt").read_text() == "worker-0 running\nworker-2 -9\n"


@pytest.mark.processes
@pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")
def test_hosts_reach_each_other_and_leave_nothing_behind() -> None:
    """Two hosts talk over their switch; afterwards no namespace is left."""
    hosts = Hosts(2)
    try:
        hosts.make()
    except Exception as error:  # noqa: BLE001 - a container may forbid it
        hosts.remove()
        pytest.skip(f"no network namespaces here: {error}")
    server = subprocess.Popen(
        hosts.command(0, [sys.executable, "-c", SERVER]), stdout=subprocess.PIPE, text=True
    )
    try:
        assert server.stdout
        assert server.stdout.readline() == "on\n"
        subprocess.run(hosts.command(1, [sys.executable, "-c", CLIENT]), check=True)
        assert server.wait(5) == 0
    finally:
        server.kill()
        server.wait()
        hosts.remove()
    left = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True).stdout
    assert f"mwms-{os.getpid()}-" not in left


CLIENT = "import socket; socket.create_connection(('10.20.0.11', 2222), 5).close()"
SERVER = """
import socket
with socket.create_server(("", 2222)) as server:
    print("on", flush=True)
    server.accept()
"""


def test_a_slurm_step_lacks_one_variable_on_the_guilty_worker(tmp_path: Path) -> None:
    """All have their rank; the launcher drops what is set to nothing."""
    fault = Slurm(guilty=1, step=1, change={"SLURM_PROCID": ""})
    fault.prepare(workspace(tmp_path))
    assert [fault.environment(index)["SLURM_PROCID"] for index in range(3)] == ["0", "", "2"]
    assert {fault.environment(index)["SLURM_STEP_NUM_TASKS"] for index in range(3)} == {"3"}
    assert fault.tf_config(0, "{}") is None


def test_only_the_guilty_worker_has_another_list_of_peers(tmp_path: Path) -> None:
    """It differs in one port."""
    job, fault = workspace(tmp_path), PeerList(guilty=2, step=1, peer=0)
    fault.prepare(job)
    lists = [fault.arguments(index)[3].split(",") for index in range(3)]
    assert lists[0] == lists[1] == [*job.addresses]
    assert [one != other for one, other in zip(lists[0], lists[2], strict=True)] == [True, False, False]


@pytest.mark.parametrize(("answer", "error"), [("none", URLError), ("forbidden", HTTPError)])
def test_the_catalogue_serves_all_but_the_guilty_worker(
    tmp_path: Path, answer: str, error: type[URLError]
) -> None:
    """And is gone after the job."""
    job, fault = workspace(tmp_path), CatalogueService(guilty=1, step=1, answer=answer)
    fault.prepare(job)
    try:
        with urlopen(fault.arguments(0)[1]) as told:
            assert told.read() == (job.folder(0) / "config/files.txt").read_bytes()
        with pytest.raises(error):
            urlopen(fault.arguments(1)[1])
    finally:
        fault.cleanup()
    with pytest.raises(URLError):
        urlopen(fault.arguments(0)[1])


@pytest.mark.skipif(os.geteuid() != 0, reason="files can be given away by root only")
def test_one_file_belongs_to_somebody_else(tmp_path: Path) -> None:
    """Everything else belongs to the user of the workers."""
    job = workspace(tmp_path / "job")
    Owner(guilty=1, step=1).prepare(job)
    others = [path for index in range(3) for path in job.folder(index).rglob("*")]
    assert [path for path in others if path.stat().st_uid != NOBODY] == [job.part_file(1)]
    assert job.part_file(1).stat().st_mode & 0o077 == 0


@pytest.mark.processes
@pytest.mark.parametrize(
    ("found", "left"), [("first", "of step 3"), ("latest", "of step 30"), ("none", None)]
)
def test_a_checkpoint_is_another_one_after_the_restart(found: str, left: str | None, tmp_path: Path) -> None:
    """An old copy, the very same, or none."""
    job = workspace(tmp_path)
    fault = WrongCheckpoint(guilty=0, step=31, found=found)
    fault.prepare(job)
    kept = job.folder(1) / "checkpoints" / "latest.index"
    kept.parent.mkdir()
    kept.write_text("of step 3")
    with WorkerProcesses() as workers:
        workers.start(1, ["sleep", "60"], tmp_path, {}, tmp_path / "log", tmp_path / "log")
        fault.on_step(workers, 1, 4)
        kept.write_text("of step 30")
        fault.before_restart(1)
    assert (kept.read_text() if kept.exists() else None) == left


@pytest.mark.parametrize("found", ["first", "none"])
def test_a_worker_without_a_checkpoint_has_none_to_replace(found: str, tmp_path: Path) -> None:
    """It failed before it wrote one, and is restarted all the same."""
    fault = WrongCheckpoint(guilty=0, step=31, found=found)
    fault.folders = [tmp_path]
    fault.before_restart(0)
    assert fault.replaced == 0
    assert list(tmp_path.iterdir()) == []
