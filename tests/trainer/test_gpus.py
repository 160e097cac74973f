"""A GPU is there when the driver lists it, and each worker gets its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.cli.terminal.live_table import SilentObserver
from analyzer.cli.train import main
from analyzer.trainer.catalogue import SAMPLE_RUNS, all_scenarios
from analyzer.trainer.gpus.capture import GpuCapture
from analyzer.trainer.gpus.nvidia_smi import list_gpus
from analyzer.trainer.gpus.shares import GpuShares, MachineError
from analyzer.trainer.jobs.job import run_job
from analyzer.trainer.jobs.job_monitor import patience
from analyzer.trainer.jobs.programs import UserProgram
from analyzer.trainer.witness.evidence import FaultMissedError
from tests.trainer.test_faults import workspace
from tests.trainer.test_witness import FAIL, Trial

if TYPE_CHECKING:
    from pathlib import Path

    from analyzer.trainer.scenario import Scenario

pytestmark = pytest.mark.processes


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `nvidia-smi` that lists as many GPUs as the file `count` says, or fails without it."""
    tool = tmp_path / "bin/nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(
        "#!/bin/sh\n"
        f"[ -f {tmp_path}/count ] || {{ echo 'NVIDIA-SMI has failed'; exit 9; }}\n"
        f"for n in $(seq 0 $(($(cat {tmp_path}/count) - 1))); do\n"
        '  echo "GPU $n: NVIDIA A100-SXM4-40GB (UUID: GPU-0000000$n)"\ndone\n'
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/bin:/bin")
    return tmp_path / "count"


def scenario(folder: Path, **values: object) -> Scenario:
    """A job of two that needs GPUs."""
    return workspace(folder / "job", workers=2, needs_gpu=True, **values).scenario


def test_a_tool_without_a_driver_is_no_gpu(driver: Path) -> None:
    """Its place on the path says nothing."""
    assert not driver.exists()
    assert list_gpus() == ()


@pytest.mark.parametrize(("there", "values"), [(None, {}), (1, {}), (3, {"gpus_per_worker": 2})])
def test_too_few_gpus_are_refused(
    driver: Path, tmp_path: Path, there: int | None, values: dict[str, int]
) -> None:
    """And the line says how many are needed and how many there are."""
    if there is not None:
        driver.write_text(str(there))
    needed = 2 * values.get("gpus_per_worker", 1)
    with pytest.raises(MachineError, match=f"needs {needed} GPUs .* lists {there or 0};"):
        GpuShares.of(scenario(tmp_path, **values))


def test_each_worker_sees_its_own(driver: Path, tmp_path: Path) -> None:
    """One, or as many as the scenario says."""
    driver.write_text("4")
    one, two = GpuShares.of(scenario(tmp_path)), GpuShares.of(scenario(tmp_path / "b", gpus_per_worker=2))
    assert one.environment(1) == {"CUDA_VISIBLE_DEVICES": "GPU-00000001"}
    assert two.environment(1) == {"CUDA_VISIBLE_DEVICES": "GPU-00000002,GPU-00000003"}


def test_workers_may_share_too_few(driver: Path, tmp_path: Path) -> None:
    """If that is asked for; NCCL then takes them for two hosts. Where there are enough, nothing changes."""
    driver.write_text("1")
    job = scenario(tmp_path, shared_gpus=True)
    one, two = (GpuShares.of(job).environment(index) for index in range(2))
    assert one["CUDA_VISIBLE_DEVICES"] == two["CUDA_VISIBLE_DEVICES"] == "GPU-00000000"
    assert one["NCCL_HOSTID"] != two["NCCL_HOSTID"]
    driver.write_text("2")
    assert GpuShares.of(job).environment(1) == {"CUDA_VISIBLE_DEVICES": "GPU-00000001"}
    driver.unlink()
    with pytest.raises(MachineError, match="needs 2 GPUs"):
        GpuShares.of(job)


def test_workers_without_a_share_see_none(driver: Path, tmp_path: Path) -> None:
    """Where one GPU is there for two workers that need none, they do not quarrel about it."""
    driver.write_text("1")
    job = workspace(tmp_path / "job", workers=2).scenario
    assert GpuShares.of(job).environment(0) == {"CUDA_VISIBLE_DEVICES": "-1"}


def test_silence_may_last_longer_where_more_processes_share_the_cores(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twenty seconds for three on two cores."""
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert patience(3, 0.0) == 20
    assert patience(8, 0.0) > 40
    assert patience(3, 6.0) == 60
    assert patience(1, 0.0) == 20


ANSWERS = """#!/bin/sh
# two GPUs, GPU-0 and GPU-1; the second is full, busy and, once limited, slow
case "$*" in
  *-lgc*) touch {0}/limited; echo "GPU clocks set" ;;
  *-rgc*) rm {0}/limited; echo "All done." ;;
  *clocks.sm*GPU-1) [ -f {0}/limited ] && echo 300 || echo 1410 ;;
  *clocks.sm*) echo 1410 ;;
  *memory.total*) echo 40960 ;;
  *memory.used*GPU-1) echo 39800 ;;
  *memory.used*) echo 900 ;;
  *utilization.gpu*GPU-1) echo 100 ;;
  *utilization.gpu*) echo 3 ;;
  *pci.bus_id*) echo 00000000:81:00.0 ;;
  dmon*) echo "# gpu pwr"; exec sleep 60 ;;
  -q) echo "Driver Version : 535.104"; echo "    Serial Number : 1321021012345" ;;
  *) exit 9 ;;
esac
"""

GPU_FAULTS = {
    "clock_limit": Trial("clock_limit", seconds=1),
    "gpu_hang": Trial("gpu_hang", {"add": ["--batch-size", "4"]}, seconds=3),
    "gpu_memory": Trial("gpu_memory", {"add": ["--batch-size", "4"]}, FAIL, seconds=1),
}


@pytest.fixture
def two_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An `nvidia-smi` that answers for two GPUs."""
    tool = tmp_path / "bin/nvidia-smi"
    tool.parent.mkdir()
    tool.write_text(ANSWERS.format(tmp_path))
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tool.parent}:/usr/sbin:/usr/bin:/bin")
    monkeypatch.setattr("analyzer.trainer.gpus.samples.INTERVAL_SECONDS", 0.05)
    return tmp_path


@pytest.mark.parametrize("kind", sorted(GPU_FAULTS))
def test_the_driver_is_the_witness(two_gpus: Path, kind: str) -> None:
    """What it reads of the guilty worker's own GPU counts; the limit of the clock is taken back."""
    job = two_gpus / "job"
    job.mkdir()
    assert GPU_FAULTS[kind].run(job)
    assert not (two_gpus / "limited").exists()


def test_another_workers_gpu_is_no_witness(two_gpus: Path) -> None:
    """Here the innocent one's is full and busy."""
    tool = two_gpus / "bin/nvidia-smi"
    tool.write_text(tool.read_text().replace("GPU-1)", "GPU-0)"))
    for kind in ("gpu_hang", "gpu_memory"):
        (two_gpus / kind).mkdir()
        with pytest.raises(FaultMissedError):
            GPU_FAULTS[kind].run(two_gpus / kind)


def test_what_the_driver_says_is_kept(two_gpus: Path) -> None:
    """If the scenario hands it over; then NCCL must be in the logs, too."""
    log = two_gpus / "0.log"
    log.write_bytes(b"step 1\n")
    with GpuCapture(scenario(two_gpus, hands_over=("gpu",), program=("nccl",)), two_gpus) as capture:
        while not (two_gpus / "dmon.txt").read_bytes():
            pass
        reports = capture.reports()
        with pytest.raises(FaultMissedError, match="NCCL"):
            capture.require_nccl({0: log})
        log.write_bytes(b"host:1:2 [0] NCCL INFO Bootstrap\n")
        capture.require_nccl({0: log})
    assert b"# gpu pwr" in reports["nvidia-smi-dmon.txt"]
    assert b"535.104" in reports["nvidia-smi-q.txt"]
    assert b"1321021012345" not in reports["nvidia-smi-q.txt"]
    with GpuCapture(scenario(two_gpus / "other"), two_gpus) as capture:
        assert capture.reports() == {}


def test_without_gpus_their_matrix_is_refused(
    driver: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, and nothing is written."""
    assert not driver.exists()
    assert main(["matrix", "--gpu", "-o", str(tmp_path / "recordings")]) == 2
    assert capsys.readouterr().err.startswith("mwms-train: no GPU: `nvidia-smi -L` lists none")
    assert not (tmp_path / "recordings").exists()


def test_scenarios_with_gpus_say_whether_they_are_recorded() -> None:
    """In their descriptions, until somebody has recorded them."""
    known = [one for one in all_scenarios() if one.needs_gpu]
    assert len(known) >= 14
    without = {one.name for one in known if not (SAMPLE_RUNS / one.name / "origin.md").is_file()}
    assert {one.name for one in known if "no recording yet" in one.description} == without


def test_stacks_without_their_tool_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the job runs, not after it."""
    monkeypatch.setattr("analyzer.trainer.jobs.job.STACK_TOOL", str(tmp_path / "py-spy"))
    job = workspace(tmp_path / "job", hands_over=("stacks",))
    with pytest.raises(MachineError, match="py-spy is missing"):
        run_job(job, UserProgram(("true",), tmp_path), SilentObserver())
