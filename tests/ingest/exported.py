"""What log services export of a recorded run, in one file for all workers."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

Lay = Callable[[Path, Path], Path]


def others(run: Path, target: Path) -> None:
    """Copy what is no log."""
    for path in run.rglob("*"):
        if path.is_file() and path.suffix != ".log":
            copy = target / path.relative_to(run)
            copy.parent.mkdir(parents=True, exist_ok=True)
            copy.write_bytes(path.read_bytes())


def json_line(index: int, line: str) -> str:
    """As a log service exports it."""
    return json.dumps({"message": line, "resource": {"labels": {"pod_name": f"job-worker-{index}"}}})


def at(number: int) -> str:
    """A time as collectors write it, of lines that are a millisecond apart."""
    return f"2026-11-21T23:{number // 60_000 % 60:02d}:{number // 1000 % 60:02d}.{number % 1000:03d}456789Z"


def exported(entry: Callable[[int, str, int], dict[str, Any]], wrap: Callable[[list[Any]], str]) -> Lay:
    """A layout with one file of JSON entries, for all workers."""

    def lay(run: Path, target: Path) -> Path:
        others(run, target)
        logs = [path.read_text(encoding="utf-8").splitlines() for path in sorted(run.glob("worker-*.log"))]
        longest = max(map(len, logs))
        entries = [
            entry(i, log[n], len(logs) * n + i)
            for n in range(longest)
            for i, log in enumerate(logs)
            if n < len(log)
        ]
        (target / "export.json").write_text(wrap(entries), encoding="utf-8")
        return target

    return lay


def cloud_logging(index: int, line: str, number: int) -> dict[str, Any]:
    """An entry of Cloud Logging."""
    return {
        "insertId": f"x{number}",
        "logName": "projects/p/logs/stdout",
        "resource": {"labels": {"pod_name": f"job-worker-{index}"}, "type": "k8s_container"},
        "severity": "INFO",
        "textPayload": line,
        "timestamp": at(number),
    }


def cloud_watch(index: int, line: str, number: int) -> dict[str, Any]:
    """An event of CloudWatch, of a SageMaker job; its hosts count from 1."""
    return {
        "logStreamName": f"job-2026/algo-{index + 1}-1795225237",
        "timestamp": 1795225237000 + number,
        "message": line,
        "eventId": str(number),
    }


def fluent_bit(index: int, line: str, number: int) -> dict[str, Any]:
    """A record of Fluent Bit."""
    return {
        "date": 1795225237 + number / 1000,
        "stream": "stderr",
        "_p": "F",
        "log": line,
        "kubernetes": {"pod_name": f"job-worker-{index}", "container_name": "tensorflow"},
    }


def open_telemetry(index: int, line: str, number: int) -> dict[str, Any]:
    """A batch of one record, as OpenTelemetry's collector writes it."""
    host = {"attributes": [{"key": "host.name", "value": {"stringValue": f"job-worker-{index}"}}]}
    record = {"timeUnixNano": str(1795225237 * 10**9 + number), "body": {"stringValue": line}}
    return {"resourceLogs": [{"resource": host, "scopeLogs": [{"logRecords": [record]}]}]}


def new_relic(index: int, line: str, number: int) -> dict[str, Any]:
    """A result of a search at New Relic: it says more of where a line came from than is asked for."""
    return {
        "timestamp": 1795225237000 + number,
        "hostname": f"job-worker-{index}",
        "level": "INFO",
        "filePath": "/var/log/train.log",
        "messageId": f"m{number}",
        "message": line,
    }


def json_lines(entries: list[Any]) -> str:
    """An entry a line."""
    return "".join(json.dumps(entry) + "\n" for entry in entries)


def bulk(entries: list[Any]) -> str:
    """As Elasticsearch takes entries: what to do with each stands before it."""
    return "".join(f'{{"index": {{"_index": "logs"}}}}\n{json.dumps(entry)}\n' for entry in entries)
