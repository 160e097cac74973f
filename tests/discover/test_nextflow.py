"""Nextflow keeps the output of a task in hidden files, below the hash of the task."""

from __future__ import annotations

from pathlib import Path

from analyzer.discover import discover
from analyzer.model.source_kinds import Kind

TRACE = (
    "task_id\thash\tnative_id\tname\tstatus\texit\n"
    "1\tfc/8e34e0\t4711\tTRAIN (worker_1)\tFAILED\t1\n2\t13/029f9e\t4712\tTRAIN (worker_0)\tFAILED\t137\n"
    "3\taa/bbbbbb\t4713\tSPLIT\tCOMPLETED\t0\n"
)
FOLDERS = ("work/fc/8e34e0c172f1dfe3dc4c", "work/13/029f9e83d15b3d437c2a", "work/aa/bbbbbb83d15b3d437c2a")


def test_the_trace_names_the_worker_of_a_task(tmp_path: Path) -> None:
    """Its log has the same lines again; a task that trains nothing has no worker."""
    (tmp_path / "trace.txt").write_text(TRACE, encoding="utf-8")
    for folder in FOLDERS:
        (tmp_path / folder).mkdir(parents=True)
        for name in (".command.err", ".command.log", ".command.sh", ".exitcode"):
            (tmp_path / folder / name).write_text("1\n", encoding="utf-8")
    found = {source.name: (source.kind, source.worker) for source in discover([tmp_path]).sources}
    assert found.pop("trace.txt") == (Kind.OTHER, None)
    workers = ("worker:1", "worker:0", None)
    assert found == {
        f"{folder}/{name}": (kind, worker)
        for folder, worker in zip(FOLDERS, workers, strict=True)
        for name, kind in ((".command.err", Kind.LOG), (".exitcode", Kind.EXIT_CODES))
    }


def test_hidden_files_of_others_are_left_out(tmp_path: Path) -> None:
    """A table beside logs is no trace of Nextflow."""
    for name in ("worker-0.log", ".worker-1.log", ".bash_history", "trace.txt"):
        (tmp_path / name).write_text(TRACE if name == "trace.txt" else "step 1 loss 0.5\n", encoding="utf-8")
    assert [source.name for source in discover([tmp_path]).sources] == ["trace.txt", "worker-0.log"]
