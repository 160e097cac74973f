"""Entries that are no line each, of the journal and of JSON, are read as the log that they were."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Mapping
from html import escape
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.ingest.logs import exports
from analyzer.ingest.logs.entries.answers import entries_in
from analyzer.ingest.logs.entries.columns import entries_of_answer
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind

TablesOf = Callable[[Mapping[str, str]], Tables]
MESSAGES = [f"step {n} loss 0.{n}" for n in range(1, 4)]


def steps(tables: Tables) -> list[Any]:
    """The steps in the order of the lines."""
    return tables["scalars"].filter(tag="step").sort("line")["step"].to_list()


def entry(number: int) -> dict[str, str]:
    """A message of the journal, whose time is so many seconds after another."""
    return {
        "__REALTIME_TIMESTAMP": f"{1795225237 + number}000000",
        "MESSAGE": MESSAGES[number],
        "_HOSTNAME": "ash",
    }


def test_the_journal_in_its_verbose_form_is_read(tables_of: TablesOf, tmp_path: Path) -> None:
    """A message of several lines is indented; line numbers are those where an entry begins."""
    told = "".join(
        f"Sat 2026-11-21 01:40:3{n}.500000 UTC [s=ab;i=1;b=c;m=1;t={1795225237000000 + n:x};x=1]\n"
        f"    PRIORITY=6\n    MESSAGE=X: no\n            {message}\n    _HOSTNAME=ash\n"
        for n, message in enumerate(MESSAGES)
    )
    path = tmp_path / "journal.txt"
    path.write_text(told, encoding="utf-8")
    assert steps(tables_of({path.name: told})) == [1, 2, 3]
    assert exports.entries_of(path).numbers == [1, 6, 11]


@pytest.mark.parametrize("mark", ["", "\x1e"], ids=["json-pretty", "json-seq"])
def test_objects_that_are_broken_over_lines_are_entries(mark: str, tables_of: TablesOf) -> None:
    """As `journalctl -o json-pretty` and `jq` print them; the last one may break off."""
    text = "".join(mark + json.dumps(entry(n), indent="\t") + "\n" for n in range(3))
    assert steps(tables_of({"journal.json": text + '{\n\t"MESS'})) == [1, 2, 3]


def test_objects_that_a_program_printed_before_its_log_are_no_export(tables_of: TablesOf) -> None:
    """The lines below them are not lost."""
    settings = json.dumps({"message": "settings", "rate": 0.5}, indent=1) + "\n"
    assert steps(tables_of({"worker-1.log": settings * 2 + "step 7 loss 0.5\n"})) == [7]


@pytest.mark.parametrize(
    "answer",
    [
        {"tables": [{"name": "PrimaryResult", "columns": [{"name": "TimeGenerated"}, {"name": "PodName"}, {"name": "LogMessage"}], "rows": []}]},
        {"schema": [{"name": "@timestamp", "type": "timestamp"}, {"name": "host"}, {"name": "message"}], "datarows": []},
        {"columns": [{"name": "@timestamp"}, {"name": "host.name"}, {"name": "message"}], "rows": []},
        {"meta": [{"name": "timestamp"}, {"name": "pod"}, {"name": "line"}], "rows": []},
    ],
    ids=["Azure", "OpenSearch", "Elasticsearch", "ClickHouse"],
)  # fmt: skip
def test_rows_below_the_names_of_columns_are_entries(answer: dict[str, Any], tables_of: TablesOf) -> None:
    """Newest first, as the services often answer; a row of another length is none."""
    rows = [[f"2026-11-21T01:40:3{n}Z", f"worker-{n % 2}", message] for n, message in enumerate(MESSAGES)]
    table = answer["tables"][0] if "tables" in answer else answer
    table["datarows" if "datarows" in table else "rows"].extend([*rows[::-1], ["cut"]])
    tables = tables_of({"query.json": json.dumps(answer)})
    found = tables["scalars"].filter(tag="step").sort("time").select("worker", "step").rows()
    assert found == [("worker:0", 1), ("worker:1", 2), ("worker:0", 3)]


@pytest.mark.parametrize("columns", [["time", "value"], ["message", "count"]])
def test_rows_without_message_and_time_are_no_log(columns: list[str], tables_of: TablesOf) -> None:
    """Metrics have no message, and counts of messages no time."""
    answer = {
        "columns": [{"name": name} for name in columns],
        "rows": [["2026-11-21T01:40:30Z", "step 1 loss 0.5"]],
    }
    assert not tables_of({"query.json": json.dumps(answer), "worker-1.log": "begins\n"})["scalars"].height


def test_an_export_may_be_compressed(tmp_path: Path) -> None:
    """Whatever its name is."""
    entries = [{"message": message, "time": f"2026-11-21T01:40:3{n}Z"} for n, message in enumerate(MESSAGES)]
    path = tmp_path / "part.gz"
    path.write_bytes(gzip.compress(json.dumps(entries[::-1]).encode()))
    assert discover([tmp_path]).sources[0].kind is Kind.LOG
    lines = exports.entries_of(path).lines or ()
    assert [json.loads(line)["message"] for line in lines] == MESSAGES


def test_a_compressed_log_is_none(tmp_path: Path) -> None:
    """It is read as it is."""
    path = tmp_path / "worker-1.log.gz"
    path.write_bytes(gzip.compress(b"step 1 loss 0.5\n"))
    assert exports.entries_of(path) == exports.Export()


BROKEN = ("2026-11-21 03:57:01.000001: I tensorflow/core/util/port.cc:113] on", "step 4 <b> loss 0.5")


def _splunk(line: str, at: int) -> str:
    marked = escape(line).replace("step", "<sg h='1'>step</sg>")
    return (
        f"<result offset='{at}'><field k='_time'>\n<value><text>2026-11-21T03:57:0{at}Z</text></value></field>"
        f"<field k='host'><value><text>worker-1</text></value></field>"
        f"<field k='_raw'><v xml:space='preserve' trim='0'>{marked}</v></field></result>\n"
    )


def _collector(line: str, at: int) -> str:
    return (
        f"2026-11-21T04:00:00Z\tinfo\tResourceLog #0\nResource attributes:\n     -> k8s.pod.name: Str(worker-1)\n"
        f"ScopeLogs #0\nLogRecord #0\nTimestamp: 2026-11-21 03:57:0{at}.5 +0000 UTC\nSeverityText: \nBody: Str({line})\n"
        "Attributes:\n     -> log.iostream: Str(stderr)\nTrace ID: \n"
    )


@pytest.mark.parametrize(
    ("name", "entry"), [("<results preview='0'>\n", _splunk), ("", _collector)], ids=["Splunk", "collector"]
)
def test_entries_of_several_lines_are_read(
    name: str, entry: Callable[[str, int], str], tables_of: TablesOf
) -> None:
    """Newest first or last, each with the line where it begins, as XML and as the debug exporter prints them."""
    text = name + "".join(entry(line, at) for at, line in [*enumerate(BROKEN)][::-1])
    tables = tables_of({"export.xml": text})
    (step,) = tables["scalars"].filter(tag="step").select("worker", "step").rows()
    assert step == ("worker:1", 4)
    assert tables["records"].filter(origin="port.cc")["worker"].to_list() == ["worker:1"]


def test_the_column_of_the_writer_is_learned(tables_of: TablesOf) -> None:
    """Graylog calls it `source`; the length of a line is none."""
    lines = [BROKEN[0]] * 8 + ["step 8 loss 0.5", "step 9 loss 0.5"]
    rows = [f'"2026-11-21T01:40:{n:02d}Z","bert-worker-{n % 2}","{line}",{n}' for n, line in enumerate(lines)]
    tables = tables_of({"search.csv": '"timestamp","source","message","size"\n' + "\n".join(rows) + "\n"})
    found = tables["scalars"].filter(tag="step").sort("time").select("worker", "step").rows()
    assert found == [("worker:0", 8), ("worker:1", 9)]


def test_streams_may_be_pushed_to_loki(tables_of: TablesOf) -> None:
    """As agents send them."""
    pushed = [
        {"stream": {"pod": f"w-worker-{n}"}, "values": [["1795225230000000000", f"step {n} loss 0.5"]] * 2}
        for n in (0, 1)
    ]
    tables = tables_of({"push.json": json.dumps({"streams": pushed})})
    assert {*tables["scalars"].filter(tag="step").select("worker", "step").rows()} == {
        ("worker:0", 0),
        ("worker:1", 1),
    }


def test_batches_follow_each_other_without_line_breaks(tables_of: TablesOf) -> None:
    """As CloudWatch sends them to Firehose; the name of the stream stands beside the list."""
    batches = [
        json.dumps({"messageType": "DATA_MESSAGE", "subscriptionFilters": ["x"], "logStream": f"worker-{n % 2}",
                    "logEvents": [{"timestamp": 1795225230000 + n, "message": message}]})
        for n, message in enumerate(MESSAGES)
    ]  # fmt: skip
    tables = tables_of({"batch": "".join(batches), "run.log": "begins\n"})
    found = tables["scalars"].filter(tag="step").sort("time").select("worker", "step").rows()
    assert found == [("worker:0", 1), ("worker:1", 2), ("worker:0", 3)]


def test_fields_may_be_printed_as_ruby_does(tables_of: TablesOf) -> None:
    """Logstash's `rubydebug`; a time has no quotation marks, and an arrow in a line stays."""
    lines = ["2026-11-21 03:57:01.000001: I tensorflow/core/x.cc:1] 'b' => c", "step 4 loss 0.5"]
    entries = [
        f'{{\n  "@timestamp" => 2026-11-21T03:57:0{n}.5Z,\n  "message" => "{line}",\n  "pod" => "worker-1"\n}}\n'
        for n, line in enumerate(lines)
    ]
    tables = tables_of({"logstash.out": "".join(entries)})
    assert tables["records"].filter(origin="x.cc")["text"].to_list() == [lines[0]]


def test_elements_of_mpirun_are_lines_of_their_ranks(tables_of: TablesOf, tmp_path: Path) -> None:
    """As Open MPI prints with `--xml`: what is escaped is what it stands for, and each ends with its line."""
    lines = [(rank, line) for line in BROKEN for rank in range(2)]
    elements = (f'<stderr rank="{rank}">{escape(line)}&#010;</stderr>\n' for rank, line in lines)
    path = tmp_path / "mpirun.xml"
    path.write_text(f"<mpirun>\n{''.join(elements)}</mpirun>\n", encoding="utf-8")
    assert exports.entries_of(path).numbers == [2, 3, 4, 5]
    tables = tables_of({path.name: path.read_text(encoding="utf-8")})
    found = tables["records"].sort("line").select("worker", "text").rows()
    assert [worker for worker, _ in found] == ["worker:0", "worker:1"] * 2
    assert found[-1][1] == BROKEN[1]


def test_columns_of_unknown_names_are_told_by_what_they_hold() -> None:
    """As ClickHouse answers; a table of numbers is no log."""
    banner = "2026-11-21 03:57:0{n}.000001: I tensorflow/core/util/port.cc:113] on"
    rows = [[f"2026-11-21 03:57:0{n}.5", f"bert-worker-{n % 2}", banner.format(n=n)] for n in range(6)]
    names = [
        {"name": "event_ts", "type": "DateTime64"},
        {"name": "k8s", "type": "String"},
        {"name": "raw", "type": "String"},
    ]
    found = entries_in({"meta": names, "data": rows})
    assert [(each["message"], each["logStreamName"]) for each in found] == [(row[2], row[1]) for row in rows]
    assert not [*entries_of_answer({"meta": names, "data": [[n, n, n] for n in range(6)]})]
