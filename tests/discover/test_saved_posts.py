"""Posts that a user saved as Markdown."""

from __future__ import annotations

from pathlib import Path

from analyzer.discover import discover
from analyzer.model.source_kinds import Kind

POST = "Training stops. What is it?\n\nmpirun noticed that process rank 7 exited on signal 9 (Killed).\n"


def kinds(folder: Path, **texts: str) -> dict[str, Kind]:
    """Return name → kind of the files that a run with these texts has."""
    for stem, text in texts.items():
        suffix = "log" if stem.startswith("worker") else "md"
        (folder / f"{stem}.{suffix}").write_text(text, encoding="utf-8")
    return {source.name: source.kind for source in discover([folder]).sources}


def test_a_post_counts_where_there_is_no_log(tmp_path: Path) -> None:
    """Under names of documentation, Markdown describes something else."""
    assert kinds(tmp_path, issue=POST, README=POST) == {"issue.md": Kind.LOG, "README.md": Kind.OTHER}


def test_a_post_beside_a_log_may_be_about_another_run(tmp_path: Path) -> None:
    """Only the log is read."""
    found = kinds(tmp_path, issue=POST, worker_0="step 1\n")
    assert found == {"issue.md": Kind.OTHER, "worker_0.log": Kind.LOG}
