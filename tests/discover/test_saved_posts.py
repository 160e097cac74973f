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


PAGE = "<html><head><style>p {}</style></head><body><p>It stops:</p><pre>\nKilled\n</pre></body></html>"


def page(folder: Path, text: str, **beside: str) -> Kind:
    """Return the kind of a page that a user saved, beside files of Markdown and logs."""
    (folder / "question.html").write_text(text, encoding="utf-8")
    return kinds(folder, **beside)["question.html"]


def test_a_page_counts_where_there_is_no_log(tmp_path: Path) -> None:
    """However long its head is."""
    assert page(tmp_path, PAGE.replace("p {}", "p {}" * 2_000)) is Kind.LOG


def test_a_page_beside_a_log_may_be_about_another_run(tmp_path: Path) -> None:
    """As a post."""
    assert page(tmp_path, PAGE, worker_0="step 1\n") is Kind.OTHER


def test_a_page_without_preformatted_words_is_no_post(tmp_path: Path) -> None:
    """Such as a chart."""
    assert page(tmp_path, "<html><body><pre>1 2 3</pre></body></html>") is Kind.OTHER


ROWS = "<div>2026-11-21 03:57:01.000001: I tensorflow/core/util/port.cc:1] on</div>"


def test_a_page_with_rows_of_a_log_counts(tmp_path: Path) -> None:
    """Even without preformatted text; prose about a log is no such row."""
    assert page(tmp_path, f"<html><body>{ROWS}</body></html>") is Kind.LOG
    assert (
        page(tmp_path, "<html><body><p>It says: I tensorflow/core/util/port.cc:1]</p></body></html>")
        is Kind.OTHER
    )
