"""Logs that somebody saved as a document of an office program."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.model.source_kinds import Kind
from analyzer.storage.office import text_of

ODT = (
    '<office:text><text:p text:style-name="P1">2026-11-21 03:57:01.000001: I a.cc:1]<text:s text:c="2"/>on &amp; on'
    "</text:p>\n  <text:p>step 1<text:line-break/>step<text:tab/>2</text:p><text:p/></office:text>"
)
DOCX = (
    "<w:body><w:p><w:r><w:t>2026-11-21 03:57:01.000001: I a.cc:1]   on &amp; on</w:t></w:r></w:p>"
    "<w:p><w:r><w:t>step 1</w:t><w:br/><w:t>step</w:t><w:tab/><w:t>2</w:t></w:r></w:p></w:body>"
)
LINES = ["2026-11-21 03:57:01.000001: I a.cc:1] on & on", "step 1", "step\t2"]


def document(path: Path, name: str, text: str) -> Path:
    """A document with such a text."""
    with zipfile.ZipFile(path, "w") as packed:
        packed.writestr("mimetype", "application/x")
        packed.writestr(name, text)
    return path


@pytest.mark.parametrize(
    ("suffix", "name", "text"), [(".odt", "content.xml", ODT), (".docx", "word/document.xml", DOCX)]
)
def test_a_paragraph_is_a_line(suffix: str, name: str, text: str, tmp_path: Path) -> None:
    """Breaks, tabs and blanks are what they show."""
    path = document(tmp_path / f"log of worker-1{suffix}", name, text)
    shown = text_of(path).decode().split("\n")
    assert [
        " ".join(line.split(" ")).replace("   ", " ").replace("  ", " ") for line in shown if line
    ] == LINES
    document(tmp_path / f"log of worker-0{suffix}", name, text)
    found = [(source.kind, source.worker) for source in discover([tmp_path]).sources]
    assert found == [(Kind.LOG, "worker:0"), (Kind.LOG, "worker:1")]


def test_another_archive_is_no_document(tmp_path: Path) -> None:
    """Whatever its name says."""
    path = document(tmp_path / "worker-1.odt", "styles.xml", "<a/>")
    with pytest.raises(OSError, match="no text"):
        text_of(path)
    (source,) = discover([tmp_path]).sources
    assert "no text of a document" in source.skip
    path.write_bytes(b"PK\3\4 no archive")
    with pytest.raises(OSError, match="zip"):
        text_of(path)


def test_a_report_beside_logs_is_no_log(tmp_path: Path) -> None:
    """It tells of other runs."""
    report = (
        "<w:p><w:t>Worker 1 was Killed, as last week.</w:t></w:p><w:p><w:t>We need more memory.</w:t></w:p>"
    )
    document(tmp_path / "report 2.docx", "word/document.xml", report)
    (tmp_path / "worker-0.log").write_text("step 1 loss 0.5\n", encoding="utf-8")
    found = {source.name: source.kind for source in discover([tmp_path]).sources}
    assert found == {"report 2.docx/document": Kind.OTHER, "worker-0.log": Kind.LOG}
