"""The list of entries is found wherever in an answer it stands."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.model.run import Tables
from analyzer.pipeline import load_tables
from tests.rules import our_rules

pytestmark = pytest.mark.runs

TablesOf = Callable[[Mapping[str, str]], Tables]
BANNER = "2026-11-21 01:40:3{n}.500000: I tensorflow/core/util/port.cc:153] oneDNN is on."
LINES = [(f"worker-{n % 2}", f"17952252{37 + n}500000000", BANNER.format(n=n)) for n in range(6)]
LINES += [("worker-1", "1795225249500000000", "step 7 loss 0.5")]


def pairs(**fields: str) -> list[dict[str, object]]:
    """Return fields as OpenTelemetry writes them: a list of names and typed values."""
    return [{"key": name, "value": {"stringValue": value}} for name, value in fields.items()]


def record(time: str, text: str) -> dict[str, Any]:
    """Return a record of OpenTelemetry."""
    return {"timeUnixNano": time, "body": {"stringValue": text}, "attributes": pairs(iostream="stderr")}


def batch(lines: list[tuple[str, str, str]]) -> dict[str, Any]:
    """Return a batch of OpenTelemetry: the records of each pod below what is said of it."""
    pods = sorted({pod for pod, _, _ in lines})
    records = {pod: [record(time, text) for each, time, text in lines if each == pod] for pod in pods}
    return {
        "resourceLogs": [
            {"resource": {"attributes": pairs(pod=pod)}, "scopeLogs": [{"logRecords": records[pod]}]}
            for pod in pods
        ]
    }


FORMS = {
    "a batch": json.dumps(batch(LINES)),
    "a batch a line": "".join(json.dumps(batch(part)) + "\n" for part in (LINES[:4], LINES[4:])),
    "beside other fields": json.dumps(
        {"id": 8, "state": "failed",
         "output": [{"absolute_time": time, "node": pod, "log": text} for pod, time, text in LINES]}
    ),
    "in an object of a list": json.dumps(
        [{"server": pod, "data": {"crumbs": [{"at": time, "message": text}
         for each, time, text in LINES if each == pod]}} for pod in ("worker-0", "worker-1")]
    ),
    "in an object in an object": json.dumps(
        {"answer": {"took": 3, "rows": [{"ts": time, "pod": pod, "value": text} for pod, time, text in LINES]}}
    ),
}  # fmt: skip


@pytest.mark.parametrize("text", FORMS.values(), ids=FORMS)
def test_entries_are_found_at_any_depth(text: str, tables_of: TablesOf) -> None:
    """The objects around a list tell who wrote its entries."""
    tables = tables_of({"answer.json": text})
    steps = tables["scalars"].filter(tag="step")
    assert steps.select("worker", "step").rows() == [("worker:1", 7)]
    assert {*tables["records"]["worker"]} == {"worker:0", "worker:1"}


def test_an_entry_that_has_a_list_of_messages_is_an_entry(tables_of: TablesOf) -> None:
    """Sentry's breadcrumbs say what came before; each is of another time, and of none of the lines."""
    crumbs = [{"message": f"step {n} loss 0.5", "timestamp": "2026-11-21T01:40:30Z"} for n in (1, 2, 3)]
    told = ({"message": f"step {n} loss 0.5", "breadcrumbs": crumbs} for n in (8, 9))
    tables = tables_of({"worker-1.json": "".join(json.dumps(each) + "\n" for each in told)})
    assert tables["scalars"].filter(tag="step")["step"].to_list() == [8, 9]


def test_one_value_without_entries_is_no_export(tables_of: TablesOf) -> None:
    """A report may hold the whole output of a command, and no list of its lines."""
    text = "".join(f"{line}\n" for _, _, line in LINES)
    value = {"tasks": [{"name": "train", "log": text}]}
    tables = tables_of({"worker-1.json": json.dumps(value, indent=1)})
    assert not tables["damage"].filter(source="worker-1.json").height


def psql(number: int, pod: str, time: str, text: str) -> str:
    """Return a row as psql prints it in its expanded display."""
    return f"-[ RECORD {number} ]-----\nts      | {time}\npod     | {pod}\nmessage | {text}\n"


def mysql(number: int, pod: str, time: str, text: str) -> str:
    """Return a row as mysql prints it vertically."""
    return f"*************************** {number}. row ***************************\n     ts: {time}\n    pod: {pod}\nmessage: {text}\n"


def format_list(_: int, pod: str, time: str, text: str) -> str:
    """Return a row as PowerShell's `Format-List` prints it."""
    return f"\nTimeGenerated : {time}\nPodName       : {pod}\nLogMessage    : {text}\n"


@pytest.mark.parametrize("row", [psql, mysql, format_list])
def test_a_row_may_have_a_line_for_each_column(
    row: Callable[[int, str, str, str], str], tables_of: TablesOf
) -> None:
    """Below a text of several lines, one may look like a column; it is none that the first row has."""
    rows = [row(number, *line) for number, line in enumerate(LINES, 1)]
    rows[-1] += "WARNING: step 8 loss 0.4\n"
    tables = tables_of({"query.txt": "".join(rows) + "(7 rows)\n"})
    steps = tables["scalars"].filter(tag="step")
    assert steps.select("worker", "step").rows() == [("worker:1", 7), ("worker:1", 8)]


def test_a_heading_of_names_and_values_is_no_row(tables_of: TablesOf) -> None:
    """A script may print its settings, with a blank line between them, before it logs."""
    log = "".join(f"{text}\n" for _, _, text in LINES)
    tables = tables_of({"worker-1.log": f"job: bert\nnodes: 2\n\nseed: 4\n{log}"})
    assert tables["scalars"].filter(tag="step")["step"].to_list() == [7]
    assert tables["sources"]["lines"].to_list() == [11]


def test_powershell_writes_what_a_command_prints_in_utf_16(tmp_path: Path) -> None:
    """A file of Windows PowerShell is an export like any other."""
    entries = [{"textPayload": text, "timestamp": time} for _, time, text in LINES]
    (tmp_path / "worker-1.json").write_bytes(json.dumps(entries, indent=1).encode("utf-16"))
    tables = load_tables(discover([tmp_path]), our_rules())
    assert tables["scalars"].filter(tag="step").select("worker", "step").rows() == [("worker:1", 7)]
