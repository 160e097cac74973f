"""What services export of logs is read as the log that it was."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.identify import identify
from analyzer.ingest import ingest
from analyzer.ingest.logs import exports
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from tests.rules import our_rules

ENTRIES = [
    {"textPayload": f"step {n} loss 0.{n}", "timestamp": f"2026-11-21T01:40:3{n // 2}Z"} for n in range(1, 9)
]


TablesOf = Callable[[Mapping[str, str]], Tables]


def read(folder: Path, text: str, name: str = "worker-1.json") -> Tables:
    """The tables of a run with one such file."""
    (folder / name).write_text(text, encoding="utf-8")
    messages = our_rules().messages
    return identify(ingest(discover([folder]), [], messages), messages)


def steps(tables: Tables) -> list[Any]:
    """The steps in the order of the lines."""
    scalars = tables["scalars"]
    return scalars.filter(scalars["tag"] == "step").sort("line")["step"].to_list()


@pytest.mark.parametrize("turned", [False, True], ids=["oldest first", "newest first"])
@pytest.mark.parametrize("wrap", [json.dumps, "".join], ids=["array", "an entry a line"])
def test_entries_come_in_the_order_of_time(wrap: Any, turned: bool, tmp_path: Path) -> None:
    """Those of one second in the order in which they were printed; a line number counts entries."""
    entries = ENTRIES[::-1] if turned else ENTRIES
    made = [json.dumps(entry) + "\n" for entry in entries] if wrap == "".join else entries
    tables = read(tmp_path, wrap(made))
    assert steps(tables) == list(range(1, 9))
    assert tables["sources"].select("source", "kind", "worker", "lines").row(0) == (
        "worker-1.json",
        "log",
        "worker:1",
        8,
    )


def test_streams_of_loki_are_read(tmp_path: Path) -> None:
    """Each stream is the log of the pod among its labels; the times are nanoseconds."""
    values = [[f"17952252{n}500000000", f"step {n} loss 0.5"] for n in (38, 37)]
    labels = [{"pod": "mnist-worker-0"}, {"instance": "worker-1:9100", "job": "train"}]
    streams = [{"stream": each, "values": values} for each in labels]
    text = json.dumps({"status": "success", "data": {"resultType": "streams", "result": streams}})
    found = read(tmp_path, text, "loki.json")
    assert steps(found) == [37, 37, 38, 38]
    assert {*found["scalars"]["worker"]} == {"worker:0", "worker:1"}


@pytest.mark.parametrize(
    "header",
    [
        "@timestamp,@message,@logStream",
        '"_time","_raw","host"',
        "\ufeffDate,Content,Host",
        "TimeGenerated [UTC],LogMessage,PodName",
        "timestamp,jsonPayload.message,resource.labels.pod_name",
    ],
)
def test_rows_of_a_csv_file_are_entries(header: str, tmp_path: Path) -> None:
    """As the consoles of CloudWatch, Splunk, Datadog and Azure write them; a text may have several lines."""
    rows = [
        f'"2026-11-21 01:40:3{n}.000","step {n} loss 0.{n}\nbehind it",mnist-worker-{n % 2}'
        for n in range(6, 0, -1)
    ]
    tables = read(tmp_path, "\n".join([header, *rows]) + "\n", "results.csv")
    assert sorted(steps(tables)) == list(range(1, 7))
    assert {*tables["scalars"]["worker"]} == {"worker:0", "worker:1"}
    assert tables["scalars"]["time"].null_count() == 0


def test_rows_of_a_query_are_entries(tmp_path: Path) -> None:
    """As CloudWatch Logs Insights answers: a list of names and values for each line."""
    rows = [
        [{"field": "@timestamp", "value": f"2026-11-21 01:40:3{n}.000"},
         {"field": "@message", "value": f"step {n} loss 0.5"},
         {"field": "@logStream", "value": f"mnist-worker-{n % 2}"}]
        for n in (4, 3, 2, 1)
    ]  # fmt: skip
    tables = read(tmp_path, json.dumps({"results": rows, "status": "Complete"}), "query.json")
    assert sorted(steps(tables)) == [1, 2, 3, 4]
    assert {*tables["scalars"]["worker"]} == {"worker:0", "worker:1"}


def test_hits_of_a_search_are_entries(tmp_path: Path) -> None:
    """As Elasticsearch answers, in one line."""
    hits = [
        {"_index": "ml", "_source": {"@timestamp": f"2026-11-21T01:40:3{n}Z", "message": f"step {n} loss 0.5",
                                     "kubernetes": {"pod": {"name": f"mnist-worker-{n % 2}"}}}}
        for n in (4, 3, 2, 1)
    ]  # fmt: skip
    answer = {
        "took": 3,
        "timed_out": False,
        "_shards": {"total": 1},
        "hits": {"total": {"value": 4}, "hits": hits},
    }
    tables = read(tmp_path, json.dumps(answer), "search.json")
    assert sorted(steps(tables)) == [1, 2, 3, 4]
    assert {*tables["scalars"]["worker"]} == {"worker:0", "worker:1"}


def test_rows_of_kibana_are_entries(tmp_path: Path) -> None:
    """Its times have the month's name, and a comma."""
    rows = [
        f'"Nov 2{n}, 2026 @ 01:40:30.250",mnist-worker-{n % 2},step {n} loss 0.5' for n in range(4, 0, -1)
    ]
    tables = read(tmp_path, "\n".join(["@timestamp,host.name,message", *rows]) + "\n", "kibana.csv")
    assert sorted(steps(tables)) == [1, 2, 3, 4]
    assert {*tables["scalars"]["worker"]} == {"worker:0", "worker:1"}
    times = tables["scalars"]["time"].unique().sort().to_list()
    assert [time - times[0] for time in times] == [0, 86_400, 2 * 86_400, 3 * 86_400]


@pytest.mark.parametrize(
    "header", ["epoch,loss,time", "timestamp, name, index, utilization.gpu [%]", "message,label"]
)
def test_a_csv_file_without_a_message_and_its_time_is_no_log(header: str, tmp_path: Path) -> None:
    """As what `CSVLogger` or nvidia-smi writes, or a data set."""
    (tmp_path / "results.csv").write_text(f"{header}\n1,2,3\n", encoding="utf-8")
    (source,) = discover([tmp_path]).sources
    assert source.kind is not Kind.LOG


@pytest.mark.parametrize(
    "wrap", [lambda events: json.dumps({"data": events}), lambda events: "\n".join(map(json.dumps, events))]
)
def test_events_of_datadog_are_read(wrap: Callable[[list[Any]], str], tmp_path: Path) -> None:
    """The answer of its API, or an event a line; the pod is among the tags, and no field is put behind a message."""
    events = [
        {"id": str(n), "type": "log", "attributes": {
            "timestamp": f"2026-11-21T01:40:3{n}Z", "message": f"step {n} loss 0.5", "host": "node-7",
            "status": "info", "tags": ["env:prod", f"pod_name:mnist-worker-{n % 2}"]}}
        for n in (4, 3, 2, 1)
    ]  # fmt: skip
    tables = read(tmp_path, wrap(events), "datadog.jsonl")
    assert sorted(steps(tables)) == [1, 2, 3, 4]
    assert {*tables["scalars"]["worker"]} == {"worker:0", "worker:1"}
    assert {*tables["scalars"]["tag"]} == {"step", "loss"}


@pytest.mark.parametrize(
    "wrap",
    [
        lambda n, text: {"preview": False, "result": {"_raw": text, "_time": f"2026-11-21T01:40:3{n}Z", "host": f"worker-{n % 2}"}},
        lambda n, text: {"_index": "ml", "_id": f"q{n}", "_source": {
            "@timestamp": f"2026-11-21T01:40:3{n}Z", "message": text, "kubernetes": {"pod_name": f"mnist-worker-{n % 2}"}}},
    ],
)  # fmt: skip
def test_events_in_envelopes_are_read(wrap: Callable[[int, str], object], tmp_path: Path) -> None:
    """As Splunk exports the results of a search, and Elasticsearch's tools its documents."""
    lines = "\n".join(json.dumps(wrap(n, f"step {n} loss 0.5")) for n in (4, 3, 2, 1))
    tables = read(tmp_path, lines + "\n", "1795225237_export.json")
    assert sorted(steps(tables)) == [1, 2, 3, 4]
    assert {*tables["scalars"]["worker"]} == {"worker:0", "worker:1"}
    assert tables["scalars"]["time"].null_count() == 0


def test_a_broken_array_is_read_as_lines(tmp_path: Path) -> None:
    """It is no reason to read nothing."""
    (source,) = read(tmp_path, json.dumps(ENTRIES, indent=1)[:-9])["sources"].to_dicts()
    assert (source["read"], source["lines"]) == ("partial", 32)
    assert source["reason"] == "a broken JSON array, read as lines"


def test_fields_of_a_line_that_was_json_are_found(tmp_path: Path) -> None:
    """Cloud Logging takes such a line apart."""
    entries = [{"jsonPayload": {"message": f"step {n} loss 0.5"}, "timestamp": 1795225237} for n in (1, 2)]
    assert steps(read(tmp_path, json.dumps(entries))) == [1, 2]


def test_an_array_that_is_too_large_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would have to be held whole; entries on lines of their own need not."""
    monkeypatch.setattr(exports, "MAX_BYTES", 100)
    (source,) = read(tmp_path, json.dumps(ENTRIES))["sources"].to_dicts()
    assert source["reason"] == "one JSON array of more than 100 bytes; export one entry per line"


@pytest.mark.parametrize("text", ['{"name": "x", "scripts": {}}', "[1, 2]", '{"step": 1, "loss": 0.5}'])
def test_other_json_is_no_log(text: str, tmp_path: Path) -> None:
    """As of a package or of a model."""
    (tmp_path / "model.json").write_text(text, encoding="utf-8")
    (source,) = discover([tmp_path]).sources
    assert source.kind is Kind.OTHER


def test_yaml_of_cloud_logging_is_read(tables_of: TablesOf) -> None:
    """What `gcloud logging read` prints by default: newest first, fields apart, text over several lines."""
    entries = """---
insertId: b
jsonPayload:
  levelname: ERROR
  message: |-
    Traceback (most recent call last):
      File "/srv/train.py", line 41, in main
    ValueError: bad shape
labels:
  ml.googleapis.com/task_name: worker-1
timestamp: '2026-11-22T17:13:20.5Z'
---
insertId: a
jsonPayload:
  message: batch done
  loss: 0.5
  step: 3
labels:
  ml.googleapis.com/task_name: worker-1
timestamp: '2026-11-22T17:13:19.5Z'
"""
    tables = tables_of({"cloud.yaml": entries})
    assert tables["scalars"].select("worker", "tag", "value").rows() == [
        ("worker:1", "step", 3.0), ("worker:1", "loss", 0.5),
    ]  # fmt: skip
    assert tables["exceptions"].select("worker", "type", "frame").rows() == [
        ("worker:1", "ValueError", "/srv/train.py:41 in main")
    ]


def test_entries_for_the_bulk_interface_of_elasticsearch_are_read(tmp_path: Path) -> None:
    """Each has a line before it that says what to do with it, and says itself which host it came from."""
    entries = [
        {
            "@timestamp": f"2026-11-21T01:40:3{n}Z",
            "host": {"name": f"worker-{n % 2}"},
            "message": f"step {n} loss 0.5",
        }
        for n in range(1, 9)
    ]
    text = "".join(f'{{"index": {{"_index": "logs"}}}}\n{json.dumps(entry)}\n' for entry in entries)
    tables = read(tmp_path, text, "bulk.ndjson")
    assert steps(tables) == [*range(1, 9)]
    assert set(tables["scalars"]["worker"]) == {"worker:0", "worker:1"}
    assert not tables["records"].filter(tables["records"]["text"].str.contains("host")).height


def test_the_journal_in_its_export_format_is_read(tmp_path: Path) -> None:
    """A value with line breaks or control codes stands behind its length."""
    fields = [
        f"__CURSOR=s=1;i={n}\n__REALTIME_TIMESTAMP=17952252{n}8500000\n_HOSTNAME=gpu{n % 2}\nPRIORITY=6\n"
        for n in range(1, 9)
    ]
    plain = [f"{each}MESSAGE=step {n} loss 0.5\n\n".encode() for n, each in enumerate(fields, 1)]
    told = b"step 9 loss 0.4\nstep 10 loss 0.3"
    coded = f"{fields[0]}MESSAGE\n".encode() + len(told).to_bytes(8, "little") + told + b"\n\n"
    (tmp_path / "train.export").write_bytes(b"".join([*plain, coded, b"__CURSOR=s=1;i=99\nMESSA"]))
    messages = our_rules().messages
    tables = identify(ingest(discover([tmp_path]), [], messages), messages)
    assert {*steps(tables)} == {*range(1, 11)}
    assert set(tables["scalars"]["worker"]) == {"worker:0", "worker:1"}


@pytest.mark.parametrize("separator", [";", "\t"])
def test_other_separators_than_commas_are_known(separator: str, tmp_path: Path) -> None:
    """As spreadsheets of some countries write them."""
    rows = [f"2026-11-21T01:40:3{n}Z,rank-{n % 2},step {n} loss 0.5" for n in range(1, 5)]
    text = "".join(f"{row}\n" for row in ["timestamp,host,message", *rows]).replace(",", separator)
    (tmp_path / "logs.csv").write_text(text, encoding="utf-8")
    messages = our_rules().messages
    tables = identify(ingest(discover([tmp_path]), [], messages), messages)
    assert steps(tables) == [1, 2, 3, 4]
    assert set(tables["scalars"]["worker"]) == {"worker:0", "worker:1"}


@pytest.mark.parametrize("column", ["task_name", "worker", "labels.rank"])
def test_a_column_that_names_the_task_tells_the_writer(column: str, tmp_path: Path) -> None:
    """As consoles export labels of an entry."""
    rows = "".join(f"2026-11-21T01:40:3{n}Z,rank-{n % 2},step {n} loss 0.5\n" for n in range(1, 9))
    tables = read(tmp_path, f"timestamp,{column},message\n{rows}", "logs.csv")
    assert set(tables["scalars"]["worker"]) == {"worker:0", "worker:1"}


def test_the_half_of_the_day_counts(tmp_path: Path) -> None:
    """As the console of Azure shows times, newest first."""
    times = ["01:40:31.250 PM", "12:40:31.250 PM", "11:40:31.250 AM", "12:40:31.250 AM"]
    rows = [
        f'"11/21/2026, {time}",rank-0,step {n} loss 0.5' for n, time in zip((4, 3, 2, 1), times, strict=True)
    ]
    tables = read(tmp_path, "\n".join(["TimeGenerated [UTC],PodName,LogMessage", *rows]) + "\n", "logs.csv")
    assert steps(tables) == [1, 2, 3, 4]
    found = tables["scalars"].filter(tables["scalars"]["tag"] == "step").sort("line")["time"].to_list()
    assert [time - found[0] for time in found] == [0, 11 * 3600, 12 * 3600, 13 * 3600]


@pytest.mark.parametrize(
    "header",
    [
        "insertId,labels.compute.googleapis.com/resource_name,resource.labels.pod_name,textPayload,timestamp",
        "_messagetime,_sourcehost,_sourcecategory,_raw,x",
    ],
)
def test_columns_of_consoles_are_known(header: str, tmp_path: Path) -> None:
    """Google's have slashes in their names; Sumo Logic's begin with an underscore."""
    names = header.split(",")
    told = {"textPayload": "step {} loss 0.5", "_raw": "step {} loss 0.5", "_sourcehost": "rank-1"}
    told |= {"resource.labels.pod_name": "rank-1", "timestamp": "2026-11-21T01:40:3{}Z"}
    told |= {"_messagetime": "11/21/2026 01:40:3{}.250 +0000"}
    rows = [",".join(told.get(name, "x") for name in names).replace("{}", str(n)) for n in (3, 2, 1)]
    (tmp_path / "download.csv").write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    messages = our_rules().messages
    tables = identify(ingest(discover([tmp_path]), [], messages), messages)
    assert steps(tables) == [1, 2, 3]
    assert {*tables["scalars"]["worker"]} == {"worker:1"}


def test_records_of_open_telemetry_are_a_log(tmp_path: Path) -> None:
    """The line is a value deep within; the name of the host stands before it."""
    lines = [
        "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN is on.",
        "step 5 loss 0.5",
    ]
    entries = [
        {
            "resourceLogs": [
                {
                    "resource": {
                        "attributes": [{"key": "host.name", "value": {"stringValue": f"rank-{rank}"}}]
                    },
                    "scopeLogs": [
                        {"logRecords": [{"timeUnixNano": "17952252", "body": {"stringValue": line}}]}
                    ],
                }
            ]
        }
        for line in lines * 3
        for rank in (0, 1)
    ]
    (tmp_path / "otel.json").write_text(
        "".join(f"{json.dumps(each)}\n" for each in entries), encoding="utf-8"
    )
    messages = our_rules().messages
    tables = identify(ingest(discover([tmp_path]), [], messages), messages)
    assert set(tables["scalars"]["worker"]) == {"worker:0", "worker:1"}
