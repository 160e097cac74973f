"""A GPU is there when the driver lists it, and each worker gets its own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from analyzer.trainer.jobs.gpus import GpuShares, MachineError, list_gpus
from analyzer.trainer.jobs.job_monitor import patience
from tests.trainer.test_faults import workspace

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
