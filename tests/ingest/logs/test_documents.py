"""Logs that are texts of another format, JSON, YAML, a chat or a page, are read as the logs that they were."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.ingest.logs.exports import entries_of
from analyzer.model.errors import NothingReadable
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind

TablesOf = Callable[[Mapping[str, str]], Tables]
LOGS = {
    name: [f"2026-11-21 03:57:0{n}.000001: I tensorflow/core/util/port.cc:113] <oneDNN> & 'more': on", f"step {n} loss 0.5"]
    for n, name in enumerate(("worker-0", "worker-1"), 1)
}  # fmt: skip


def quoted(line: str) -> str:
    """A text of YAML in single quotes."""
    return "'" + line.replace("'", "''") + "'"


def posted(key: str, **more: str) -> list[dict[str, str]]:
    """The messages of a chat, the newest first, with chatter between them."""
    texts = ["the job died again", *(f"{name}:\n```\n{chr(10).join(log)}\n```" for name, log in LOGS.items())]
    return [{**more, key: text, "ts": f"179522991{n}.000100"} for n, text in enumerate(texts)][::-1]


FILES = {
    "names and lists of lines": ("logs.json", json.dumps(LOGS)),
    "names and texts": ("logs.json", json.dumps({name: "\n".join(log) for name, log in LOGS.items()}, indent=1)),
    "records with a name": ("logs.json", json.dumps([{"pod": f"bert-{name}-x9", "log": "\n".join(log)} for name, log in LOGS.items()])),
    "YAML, lists": ("logs.yaml", "".join(f"{name}:\n" + "".join(f"- {quoted(line)}\n" for line in log) for name, log in LOGS.items())),
    "YAML, texts": ("logs.yml", "".join(f"{name}: |\n" + "".join(f"  {line}\n" for line in log) for name, log in LOGS.items())),
    "a ConfigMap": ("logs.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: logs\ndata:\n" + "".join(
        f"  {name}.log: |\n" + "".join(f"    {line}\n" for line in log) for name, log in LOGS.items())),
    "Ansible, a line each": ("ansible.txt", "".join(
        f"{name} | FAILED | rc=1 | (stdout)  (stderr) " + "\\n".join(log) + "\n" for name, log in LOGS.items())),
    "comments with a name above": ("stories.json", json.dumps({"data": [{"type": "comment", "text": f"bert-{name}\n\n" + "\n".join(log)}
        for name, log in LOGS.items()]})),
    "Stack Exchange": ("question.json", json.dumps({"items": [{"tags": ["tensorflow"], "body_markdown": "It died:\r\n\r\n" + "\r\n".join(
        f"**{name}**\r\n\r\n" + "".join(f"    {escape(line, quote=False)}\r\n" for line in log) for name, log in LOGS.items())}]})),
    "Slack": ("general.json", json.dumps([{**each, "text": escape(each["text"], quote=False)} for each in posted("text", type="message")])),
    "Discord": ("ml.json", json.dumps({"guild": {"name": "g"}, "messages": posted("content")})),
    "a notebook": ("look.ipynb", json.dumps({"cells": [{"cell_type": "markdown", "source": ["# Look"]}, *(
        {"cell_type": "code", "source": [f"!ssh {name} cat train.log"], "outputs": [{"text": [f"{line}\n" for line in log]}]}
        for name, log in LOGS.items())], "nbformat": 4}, indent=1)),
    "a GitHub issue": ("issue.json", json.dumps({"title": "it died", "body": "### Logs\n", "comments": [
        {"author": {"login": "a"}, "body": each["text"].replace("```", "```text", 1), "createdAt": each["ts"]} for each in posted("text")]})),
    "a Trello board": ("board.json", json.dumps({"name": "b", "actions": [{"data": {"text": each["text"]}, "date": each["ts"]} for each in posted("text")]})),
    "Zendesk": ("ticket.json", json.dumps({"ticket": {"subject": "it died", "comments": [
        {"plain_body": "our logs:\n\n" + "\n\n".join(f"== {name} ==\n" + "\n".join(log) for name, log in LOGS.items())}]}})),
    "AWX": ("job_events.json", json.dumps({"count": 2, "results": [{"event": "runner_on_failed", "host_name": name, "event_data": {
        "host": name, "task": "train", "res": {"cmd": ["python", "train.py"], "stdout": "", "stderr": "\n".join(log)}}}
        for name, log in LOGS.items()]})),
    "Evernote": ("notes.enex", '<?xml version="1.0"?>\n<en-export>' + "".join(
        f"<note><title>{name}</title><content><![CDATA[<?xml version=\"1.0\"?><!DOCTYPE en-note SYSTEM \"enml2.dtd\"><en-note>"
        + "".join(f"<div>{escape(line)}</div>" for line in log) + "</en-note>]]></content></note>" for name, log in LOGS.items()) + "</en-export>"),
    "Reddit": ("comments.json", json.dumps([{"kind": "Listing", "data": {"children": [{"kind": "t3", "data": {
        "title": "it died", "created_utc": 1795229910.0,
        "selftext": "Logs:\n\n" + "\n\n".join(f"{name}\n\n" + "\n".join(f"    {line}" for line in log) for name, log in LOGS.items())}}]}}])),
    "ctest -V": ("tests.txt", "".join(f"test {n}\n    Start {n}: {name}\n\n{n}: Test command: python train.py\n" for n, name in enumerate(LOGS, 1))
        + "".join(f"{n}: {line}\n" for n, log in enumerate(LOGS.values(), 1) for line in log) + "1/2 Test #1: worker-0 ....***Failed   1.20 sec\n"),
    "a page": ("console.html", "<!doctype html><title>log</title>" + "".join(
        f"<h2>{name}</h2><pre>" + "\n".join(f'<a id="L{n}">{n}</a>{escape(line)}' for n, line in enumerate(log)) + "</pre>"
        for name, log in LOGS.items())),
}  # fmt: skip


@pytest.mark.parametrize("given", FILES.values(), ids=FILES)
def test_each_writer_has_its_lines(given: tuple[str, str], tables_of: TablesOf) -> None:
    """By the name that the document gives it; nothing of the format is left in them."""
    name, text = given
    tables = tables_of({name: text})
    steps = tables["scalars"].filter(tag="step").select("worker", "step").sort("worker").rows()
    assert steps == [("worker:0", 1), ("worker:1", 2)]
    told = tables["records"].filter(origin="port.cc").sort("worker")
    assert told["worker"].to_list() == ["worker:0", "worker:1"]
    assert all(each.endswith("<oneDNN> & 'more': on") for each in told["text"])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("settings.json", '{"name": "bert", "epochs": 3, "hosts": ["gpu21", "gpu22"]}'),
        ("cluster.json", '{"cluster": {"worker": ["a:1", "b:1"]}, "task": {"type": "worker", "index": 0}}'),
        ("notes.json", '{"license": "first line\\nsecond line"}'),
        ("values.yaml", "resources:\n  limits:\n    cpu: 4\n"),
        ("config.yaml", "apiVersion: v1\nkind: ConfigMap\ndata:\n  worker-0.cfg: |\n    steps=3\n"),
        ("curve.html", "<html><body><pre>1 2 3</pre></body></html>"),
    ],
)
def test_other_documents_are_no_logs(name: str, text: str, tmp_path: Path) -> None:
    """Settings, notes and pages beside logs."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    (source,) = discover([tmp_path]).sources
    assert source.kind is Kind.OTHER
    if not name.endswith(".html"):
        assert entries_of(source.path).lines is None


def test_a_page_without_a_log_is_said(tables_of: TablesOf) -> None:
    """It may load its lines by a script, and then has none."""
    tables = tables_of({"worker-0.html": "<html><p>Loading…</p></html>", "worker-1.log": "step 1 loss 0.5\n"})
    told = dict(tables["sources"].select("source", "reason").rows())
    assert told["worker-0.html"] == "an HTML page without preformatted text; save the log as text"


def test_text_that_yaml_refuses_is_read(tables_of: TablesOf) -> None:
    """Colours and redrawn lines have control characters; a line may look like a mapping."""
    text = "worker-0:\n- step: 3\n- \x1b[1mstep\x1b[0m 4 loss 0.5\n- 'step 5 loss 0.4\x08\x08'\n"
    tables = tables_of({"worker-0.log": text})
    assert {4, 5} <= {*tables["scalars"].filter(tag="step")["step"]}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (FILES["names and lists of lines"][1][:-30] + "\n", "broken JSON, read as lines"),
        (FILES["YAML, lists"][1] + "- 'step 9 \ud800'\n", "holds bytes that are no UTF-8"),
        ('{"time": "2026-11-21T03:57:01Z", "step": 1}\n{"time": "2026-11-21T03:57:02Z", "step": 2}\n', ""),
    ],
    ids=["cut", "other bytes", "an object a line"],
)
def test_what_is_wrong_with_a_document_is_said(text: str, what: str, tmp_path: Path) -> None:
    """As of any other file; a log with an object a line is no broken document."""
    (tmp_path / "worker-1.log").write_bytes(text.encode("utf-8", "surrogatepass"))
    assert entries_of(tmp_path / "worker-1.log").damage == what


def test_a_recording_of_a_terminal_is_what_it_showed(tables_of: TablesOf) -> None:
    """Lines may be spread over several events; what was typed is left out."""
    header = {"version": 2, "width": 80, "height": 24, "timestamp": 1795229821}
    events = [[0.1, "o", "0: step 1 lo"], [0.2, "i", "x"], [0.3, "o", "ss 0.5\r\n1: step 1 loss 0.5\r\n"]]
    text = "\n".join(map(json.dumps, [header, *events]))
    assert tables_of({"session.cast": text})["scalars"].filter(tag="step")["worker"].to_list() == [
        "worker:0",
        "worker:1",
    ]


def test_a_notebook_beside_logs_is_a_program(tmp_path: Path) -> None:
    """What it shows may be of another run."""
    for name in ("look.ipynb", "worker-0.log"):
        (tmp_path / name).write_text(FILES["a notebook"][1], encoding="utf-8")
    assert [source.kind for source in discover([tmp_path]).sources] == [Kind.OTHER, Kind.LOG]


def test_a_notebook_that_printed_nothing_is_no_log(tables_of: TablesOf) -> None:
    """Its cells are a program."""
    empty = {"cells": [{"cell_type": "code", "source": ["step = 1"], "outputs": []}], "nbformat": 4}
    with pytest.raises(NothingReadable, match="a notebook whose cells have no outputs"):
        tables_of({"worker-0.ipynb": json.dumps(empty)})


QUESTION = "<html><div id='question' class='question'><p>It stops:</p><pre><code>step 1 loss 0.5\nKilled</code></pre></div>"
ANSWER = "<div id='answer-7' class='answer js-answer'><p>Not this one?</p><pre><code>step 9 loss 0.5</code></pre></div></html>"


@pytest.mark.parametrize(
    ("page", "steps"),
    [
        (QUESTION + ANSWER, [1]),
        (QUESTION + ANSWER.replace("class='answer js-answer'", "itemprop='suggestedAnswer'"), [1]),
        (QUESTION + ANSWER.replace("answer", "comment"), [1, 9]),
        (QUESTION.replace("pre>", "p>") + ANSWER, [9]),
    ],
    ids=["an answer", "marked for search engines", "a comment", "a question without a log"],
)
def test_an_answer_quotes_other_jobs(page: str, steps: list[int], tables_of: TablesOf) -> None:
    """A comment may be of who asked."""
    assert tables_of({"console.html": page})["scalars"].filter(tag="step")["step"].to_list() == steps


def test_the_letters_of_buildbot_are_no_part_of_the_lines(tmp_path: Path) -> None:
    """Its own lines have one too; a text whose lines have none stays as it is."""
    marked = "hpython train.py\n" + "".join(f"e{line}\n" for line in LOGS["worker-0"])
    for content, expected in (
        (marked, ["python train.py", *LOGS["worker-0"]]),
        ("step 1 loss 0.5\nended\n", ["step 1 loss 0.5", "ended"]),
    ):
        path = tmp_path / "contents.json"
        path.write_text(
            json.dumps({"logchunks": [{"content": content, "firstline": 0, "logid": 8}], "meta": {}})
        )
        assert [line for line in entries_of(path).lines or () if line] == expected


def test_numbered_lines_of_which_no_test_began_are_no_tests(tmp_path: Path) -> None:
    """As `srun --label` numbers tasks, from 0."""
    path = tmp_path / "job.log"
    path.write_text("0: step 1 loss 0.5\n1: step 1 loss 0.5\n")
    assert entries_of(path).lines is None


def test_code_in_json_that_is_no_log_is_not_read(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """An answer of an API about another program has blocks of code, too."""
    answer = json.dumps(
        {"body": "worker 0:\n```\nfor step in range(9): print(step)\n```\n", "createdAt": "2026-11-21"}
    )
    run = discover([make_run({"issue.json": answer, "worker-0.log": "step 1 loss 0.5\n"})])
    assert {source.name: source.kind for source in run.sources}["issue.json"] is Kind.OTHER
