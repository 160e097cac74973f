"""The attachments and texts of mails are the files of a run."""

from __future__ import annotations

from email.message import EmailMessage
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.storage.mail import mail_parts

LOG = "2026-11-21 03:57:01.000001: I tensorflow/core/util/port.cc:113] on\nstep 4 loss = 0.5 ä\n"


def mail(text: str, *logs: str, subtype: str = "plain") -> bytes:
    """A mail with the log of some workers as attachments."""
    message = EmailMessage()
    message["From"], message["Subject"] = "a@example.org", "died"
    message.set_content(text, subtype=subtype)
    for name in logs:
        message.add_attachment(LOG, filename=name)
    return message.as_bytes()


def parts(folder: Path, data: bytes) -> list[tuple[str, str]]:
    """Name and text of each part of a saved mail."""
    path = folder / "mail.eml"
    path.write_bytes(data)
    return [(name, content.decode()) for name, content in mail_parts(path)]


def test_attachments_are_the_logs_and_chatter_is_left_out(tmp_path: Path) -> None:
    """Whatever their encoding; a name that is used twice gets a folder."""
    found = parts(tmp_path, mail("the job died, see below", "worker-0.log", "worker-0.log"))
    assert found == [("worker-0.log", LOG), ("part 2/worker-0.log", LOG)]


@pytest.mark.parametrize("logs", [(), ("worker-0.log",)])
def test_a_log_in_the_text_counts(logs: tuple[str, ...], tmp_path: Path) -> None:
    """With attachments or without."""
    assert parts(tmp_path, mail(LOG, *logs))[-1] == ("text.txt", LOG)


def test_a_page_counts_where_the_mail_has_no_other_text(tmp_path: Path) -> None:
    """A line of it ends where a paragraph does."""
    ((_, text),) = parts(tmp_path, mail("<p>step 1 &lt;loss&gt; 0.5</p><p>step 2</p>", subtype="html"))
    assert text.split("\n")[:2] == ["step 1 <loss> 0.5", "step 2"]


def test_each_mail_of_a_folder_is_read(tmp_path: Path) -> None:
    """What begins with `From` within a mail is marked there."""
    path = tmp_path / "thread.mbox"
    line = b"From a@example.org Sat Nov 21 06:01:22 2026\n"
    path.write_bytes(line + mail("step 1 loss 0.5\n>From now on\n") + line + mail("x", "worker-1.log"))
    assert [(name, text.decode()) for name, text in mail_parts(path)] == [
        ("mail 1/text.txt", "step 1 loss 0.5\nFrom now on\n"),
        ("mail 2/worker-1.log", LOG),
    ]


def test_a_mail_is_a_run(tmp_path: Path) -> None:
    """A path in the name of an attachment leads nowhere."""
    path = tmp_path / "died.eml"
    path.write_bytes(mail("died", "../worker-1.log", "worker-0.log"))
    assert [(each.name, each.worker) for each in discover([path]).sources] == [
        ("worker-0.log", "worker:0"),
        ("worker-1.log", "worker:1"),
    ]


def test_rubbish_is_a_mail_without_parts_of_a_log(tmp_path: Path) -> None:
    """No crash."""
    assert parts(tmp_path, b"\n\n") == []


PAGE = "<html><head><title>worker-1</title></head><body><pre>{log}</pre></body></html>"


@pytest.mark.parametrize(("location", "name"), [("https://argo/bert", "page.html"), ("", "text.txt")])
def test_a_page_that_a_browser_saved_stays_a_page(location: str, name: str, tmp_path: Path) -> None:
    """A mail in HTML is shown as a text."""
    head = f"Content-Location: {location}\r\n" if location else ""
    saved = f"MIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n{head}\r\n{PAGE.format(log=LOG)}"
    ((found, text),) = parts(tmp_path, saved.encode())
    assert found == name
    assert LOG.splitlines()[0] in text
    assert ("<pre>" in text) == bool(location)
