"""`mwms-collect slurm` on a real Slurm with accounting, and where `scontrol` has forgotten the job."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer import analyze
from analyzer.cli.collect import main
from tests.collect.conftest import needs
from tests.collect.real_slurm import DAEMONS, Slurm
from tests.recordings import ROOT, expected

pytestmark = [
    needs(*DAEMONS),
    pytest.mark.skipif(os.getuid() != 0, reason="Slurm's daemons run as root"),
    pytest.mark.slow,
    pytest.mark.xdist_group("slurm"),
]
LOGS = ROOT / "sample_runs" / "worker-exception" / "run"
SCRIPT = f"""\
#!/bin/bash
#SBATCH --job-name=bert --ntasks=4 --overcommit
srun --label --overcommit bash -c 'cat {LOGS}/worker-$SLURM_PROCID.log; exit 1'
"""


class Job:
    """A job that ended: its id, and the directory that it ran in."""

    def __init__(self, number: str, folder: Path) -> None:
        self.number = number
        self.folder = folder


@pytest.fixture(scope="module")
def job(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Job]:
    """Run a job whose tasks print the logs of the sample run worker-exception and fail."""
    folder = tmp_path_factory.mktemp("slurm")
    slurm = Slurm(folder)
    try:
        slurm.start()
        (folder / "work").mkdir()
        script = folder / "job.sh"
        script.write_text(SCRIPT)
        number = slurm.run_job(script, folder / "work")
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
            yield Job(number, folder / "work")
    finally:
        slurm.stop()


def test_a_job_is_collected_and_diagnosed(job: Job, tmp_path: Path, capsys: Any) -> None:
    """Accounting, description, node and output; the culprit is that of the recording."""
    assert main(["slurm", job.number, "-o", str(tmp_path / "run"), "--no-analyze"]) == 0
    stored = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert stored == [
        "collected_at.txt",
        "sacct.txt",
        "scontrol.job",
        "scontrol.nodes",
        f"slurm-{job.number}.out",
    ]
    assert "JobState=FAILED" in (tmp_path / "run" / "scontrol.job").read_text()
    run = analyze(tmp_path / "run")
    truth = expected(LOGS.parent)
    assert run.diagnosis.document["cause"] == truth["cause"]
    assert run.diagnosis.document["culprits"] == truth["culprits"]
    facts = {(row["source"], row["key"], row["value"]) for row in run.tables["facts"].iter_rows(named=True)}
    assert ("sacct.txt", "job_state", "FAILED") in facts


def test_a_dry_run_names_the_logs(job: Job, tmp_path: Path, capsys: Any) -> None:
    """By the path that Slurm knows."""
    assert main(["slurm", job.number, "-o", str(tmp_path / "run"), "--dry-run"]) == 0
    assert f"cat -- {job.folder}/slurm-{job.number}.out > " in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_accounting_is_enough_once_scontrol_has_forgotten(
    job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Some minutes after the end; a `scontrol` of our own says what a real one then says."""
    forgetful = tmp_path / "scontrol"
    forgetful.write_text("#!/bin/sh\necho 'slurm_load_jobs error: Invalid job id specified' >&2\nexit 1\n")
    forgetful.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    assert main(["slurm", job.number, "-o", str(tmp_path / "run"), "--no-analyze"]) == 0
    stored = sorted(path.name for path in (tmp_path / "run").iterdir())
    assert stored == ["collected_at.txt", "sacct.txt", f"slurm-{job.number}.out"]
    assert "Invalid job id specified" in capsys.readouterr().err


def test_logs_elsewhere_are_named(job: Job, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a pattern; of several with one name, the folders tell which is whose."""
    monkeypatch.chdir(tmp_path)
    for task in "01":
        (tmp_path / "logs" / f"task-{task}").mkdir(parents=True)
        (tmp_path / "logs" / f"task-{task}" / "stderr.txt").write_text("step 1 loss 0.5\n")
    main(["slurm", job.number, "-o", "run", "--no-analyze", "--logs", "logs/*/stderr.txt"])
    stored = {path.parent.name for path in (tmp_path / "run").rglob("stderr.txt")}
    assert stored == {"task-0", "task-1"}


def test_a_pattern_without_a_file_is_told(job: Job, tmp_path: Path, capsys: Any) -> None:
    """On the terminal and in the list of what is missing; the job's own logs are stored."""
    run = tmp_path / "run"
    assert main(["slurm", job.number, "-o", str(run), "--no-analyze", "--logs", "/none/*.out"]) == 0
    assert "mwms-collect: --logs /none/*.out: no file there" in capsys.readouterr().err
    assert (run / "not_collected.txt").read_text() == "/none/*.out\t--logs /none/*.out: no file there\n"


def test_what_is_no_job_is_refused(tmp_path: Path, capsys: Any) -> None:
    """Before anything is asked."""
    assert main(["slurm", "bert", "-o", str(tmp_path / "run")]) == 2
    assert "bert is not a Slurm job ID" in capsys.readouterr().err
