"""Logs as terminals, editors, patches and pages save them are read as the logs that they were."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from itertools import zip_longest
from pathlib import Path
from pprint import pformat

import pytest

from analyzer.ingest.logs.documents import NoLogsError, logs_in
from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
WORDS = ("alder", "birch", "cedar", "elder", "hazel", "larch", "maple")
LOGS = {
    name: [
        *(f"2026-11-21 03:57:0{at}.000001: I tensorflow/core/util/port.cc:1] {word} <b> {{x}} \\ 'more' {word} {'long ' * at}on"
          for at, word in enumerate(WORDS)),
        f"step {n} loss 0.5",
    ]
    for n, name in enumerate(("worker-0", "worker-1"), 1)
}  # fmt: skip
TEXTS = {name: "\n".join(lines) + "\n" for name, lines in LOGS.items()}


def patch(name: str) -> str:
    """A log that a commit adds."""
    added = "".join(f"+{line}\n" for line in LOGS[name])
    return f"diff --git a/{name}.log b/{name}.log\n--- /dev/null\n+++ b/logs/{name}.log\n@@ -0,0 +1,{len(LOGS[name])} @@\n{added}"


def rich(text: str) -> str:
    """A text as TextEdit saves it."""
    for sign in "\\{}":
        text = text.replace(sign, f"\\{sign}")
    return (
        "{\\rtf1\\ansi{\\fonttbl\\f0\\fmodern Courier;}{\\*\\x;}\\f0\\fs24 "
        + text.replace("\n", "\\\n")
        + "}"
    )


def escaped_pre(name: str) -> str:
    """A block in the page of an issue."""
    return f"<h3>{name}</h3><pre>{escape(TEXTS[name])}</pre>"


FILES = {
    "a patch": {"logs.patch": "Subject: add logs\n---\n" + "".join(map(patch, LOGS))},
    "rich text": {f"{name}.rtf": rich(text) for name, text in TEXTS.items()},
    "what Python prints": {"logs.txt": pformat({f"bert-{name}": text for name, text in TEXTS.items()})},
    "rows of a page": {f"{name}.html": "<!doctype html><html><head><title>x</title></head><body>" + "".join(
        f'<div><a href="#{at}">{at}</a><span>{escape(line)}</span></div>' for at, line in enumerate(lines)) + "</body></html>"
        for name, lines in LOGS.items()},
    "Confluence": {"page.xml": "".join(
        f"<h2>{name}</h2><ac:structured-macro><ac:plain-text-body><![CDATA[{text}]]></ac:plain-text-body></ac:structured-macro>"
        for name, text in TEXTS.items())},
    "a tracker's feed": {"ML-7.xml": f"<?xml version='1.0'?><rss><description>{escape(''.join(map(escaped_pre, LOGS)))}</description></rss>"},
}  # fmt: skip


@pytest.mark.parametrize("files", FILES.values(), ids=FILES)
def test_each_writer_has_its_lines(files: Mapping[str, str], tables_of: TablesOf) -> None:
    """Nothing of the form is left in them."""
    tables = tables_of(files)
    steps = tables["scalars"].filter(tag="step").select("worker", "step").sort("worker").rows()
    assert steps == [("worker:0", 1), ("worker:1", 2)]
    texts = tables["records"].filter(origin="port.cc", worker="worker:1")["text"].to_list()
    assert [text.split() for text in texts] == [line.split() for line in LOGS["worker-1"][:-1]]


def test_a_patch_of_programs_is_no_log(tmp_path: Path) -> None:
    """No line of TensorFlow is in it."""
    text = "diff --git a/train.py b/train.py\n--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-x = 1\n+x = 2\n"
    path = tmp_path / "fix.patch"
    path.write_text(text)
    assert not logs_in(path, text.encode()).lines


def test_a_line_that_a_patch_removes_is_no_line_of_the_log(tmp_path: Path) -> None:
    """It is one of the log before."""
    old, new = LOGS["worker-0"][:2]
    text = f"--- a/good.log\n+++ b/bad.log\n@@ -1,2 +1,2 @@\n-{old}\n+{new}\n {old}\n\\ No newline at end of file\n"
    path = tmp_path / "diff.txt"
    path.write_text(text)
    assert [(line.text, line.number) for line in logs_in(path, text.encode()).lines] == [(new, 5), (old, 6)]


@pytest.mark.parametrize(
    "text", ["{'worker-0': ['10.0.0.1:2222']}", "{'a': open('x')}", "[" * 9_000, "{'a': 1"]
)
def test_other_values_of_python_hold_no_log(text: str, tmp_path: Path) -> None:
    """An address is no line of a log, and nothing is executed."""
    path = tmp_path / "value.txt"
    path.write_text(text)
    assert not logs_in(path, text.encode()).lines


def test_objects_may_end_with_a_nul(tables_of: TablesOf) -> None:
    """As GELF has them on TCP."""
    sent = [{"host": f"bert-{name}", "short_message": line} for name, lines in LOGS.items() for line in lines]
    tables = tables_of({"gelf.log": "".join(json.dumps(each) + "\0" for each in sent)})
    assert tables["scalars"].filter(tag="step").sort("worker")["worker"].to_list() == ["worker:0", "worker:1"]
    assert not tables["damage"].height


def side_by_side(*columns: list[str], width: int = 80) -> str:
    """Return texts as a terminal shows them in panes, long lines broken."""
    shown = [
        [line[at : at + width] for line in lines for at in range(0, len(line), width)] for lines in columns
    ]
    rows = zip_longest(*shown, fillvalue="")
    return "".join("│".join(part.ljust(width) for part in row).rstrip() + "\n" for row in rows)


def test_each_pane_of_a_terminal_is_a_log(tables_of: TablesOf) -> None:
    """A line that the edge of the pane broke is one line."""
    tables = tables_of({"screen.txt": side_by_side(LOGS["worker-0"], LOGS["worker-1"])})
    steps = tables["scalars"].filter(tag="step").select("worker", "step").sort("worker").rows()
    assert steps == [("worker:0", 1), ("worker:1", 2)]
    texts = tables["records"].filter(origin="port.cc", worker="worker:1")["text"].to_list()
    assert [text.split() for text in texts] == [line.split() for line in LOGS["worker-1"][:-1]]


@pytest.mark.parametrize(
    "beside", [["worker-1"] * 30, [f"{at:5d}" for at in range(30)]], ids=["a column of names", "of numbers"]
)
def test_a_column_beside_a_log_is_no_pane(beside: list[str], tmp_path: Path) -> None:
    """As in a table, or where `bat` numbers the lines."""
    text = side_by_side(beside, LOGS["worker-0"] * 3)
    path = tmp_path / "table.txt"
    path.write_text(text)
    assert not logs_in(path, text.encode()).lines


def table(name: str, number: str = "<td>{}</td>") -> str:
    """Rows of a page with the number, the time and the writer of each line."""
    rows = (
        f"<tr>{number.format(at)}<td>2026-11-21T03:57:0{at}.5Z</td><td>bert-{name}</td><td>{escape(line)}</td></tr>\n"
        for at, line in enumerate(LOGS[name])
    )
    return "".join(rows)


@pytest.mark.parametrize("number", ["<td>{}</td>", "<td></td>", ""])
def test_cells_of_a_page_are_told_apart(tables_of: TablesOf, number: str) -> None:
    """The writer of a line stands in one of them, whether its number is there or not."""
    rows = "".join(table(name, number) for name in LOGS)
    page = f"<html><body><table><tr><th>Time</th><th>Pod</th></tr>{rows}</table></body></html>"
    tables = tables_of({"logs.html": page})
    steps = tables["scalars"].filter(tag="step").select("worker", "step").sort("worker").rows()
    assert steps == [("worker:0", 1), ("worker:1", 2)]


def test_a_page_that_quotes_one_line_shows_no_log(tmp_path: Path) -> None:
    """Its prose would be read as a log."""
    path = tmp_path / "page.html"
    path.write_text(f"<html><body><p>It says</p><p>{escape(LOGS['worker-0'][0])}</p></body></html>")
    with pytest.raises(NoLogsError):
        logs_in(path, path.read_bytes())


def test_blocks_of_code_in_telegram_are_logs(tables_of: TablesOf) -> None:
    """The text before a block names its writer."""
    messages = [
        {"type": "message", "date": f"2026-11-21T0{n}:00:00", "from": "Anna",
         "text": [f"{name}\n", {"type": "pre", "text": TEXTS[name]}]}
        for n, name in enumerate(LOGS)
    ]  # fmt: skip
    talk = {
        "type": "message",
        "date": "2026-11-21T00:00:00",
        "from": "Bob",
        "text": "step 7 loss 0.5, really?",
    }
    chat = {"name": "on call", "type": "private_group", "id": 4, "messages": [talk, *messages]}
    tables = tables_of({"result.json": json.dumps(chat)})
    steps = tables["scalars"].filter(tag="step").select("worker", "step").sort("worker").rows()
    assert steps == [("worker:0", 1), ("worker:1", 2)]
