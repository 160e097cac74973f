"""`mwms-collect vertex` and `sagemaker` with real `gcloud` and `aws`, against servers that answer from a recording."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer import analyze
from analyzer.cli.collect import main
from tests.collect.conftest import needs
from tests.collect.http_server import Answer, HttpServer, Request

pytestmark = pytest.mark.slow
LINES = ["step 1 loss 0.5", "step 2 loss 0.4", "ValueError: bad batch"]
SECRET = "abcdefgh12345678"


@pytest.fixture
def server(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HttpServer]:
    """Return a server of both clouds, to which both tools are pointed."""
    made = HttpServer(_answer)
    given = {
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_AIPLATFORM": f"{made.url}/",
        "CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING": f"{made.url}/",
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_CORE_PROJECT": "ml",
        "AWS_ENDPOINT_URL": made.url,
        "AWS_ACCESS_KEY_ID": "none",
        "AWS_SECRET_ACCESS_KEY": "none",
    }
    for name, value in given.items():
        monkeypatch.setenv(name, value)
    yield made
    made.close()


def _answer(request: Request) -> Answer:
    asked = request.headers.get("X-Amz-Target", request.path).rpartition(".")[2]
    if "customJobs" in request.path:
        env = [{"name": "HF_TOKEN", "value": SECRET}, {"name": "EPOCHS", "value": "3"}]
        pool = {"containerSpec": {"imageUri": "train:3", "env": env}, "replicaCount": "2"}
        return 200, {"name": "bert", "state": "JOB_STATE_FAILED", "jobSpec": {"workerPoolSpecs": [pool]}}
    if "entries:list" in request.path:
        return 200, {"entries": [_entry(n, line) for n, line in enumerate(LINES)]}
    if asked == "DescribeTrainingJob":
        return 200, {"TrainingJobStatus": "Failed", "Environment": {"HF_TOKEN": SECRET, "EPOCHS": "3"}}
    events = [
        {"logStreamName": "bert/algo-1-1795225237", "timestamp": 1795225237500 + n, "message": line}
        for n, line in enumerate(LINES)
    ]
    return 200, {"events": events}


def _entry(number: int, line: str) -> Any:
    labels = {"job_id": "4711", "task_name": "workerpool1-0"}
    return {
        "insertId": f"x{number}", "timestamp": f"2026-11-21T01:40:3{number}.5Z", "textPayload": line,
        "resource": {"type": "ml_job", "labels": labels}, "logName": "projects/ml/logs/workerpool1-0",
    }  # fmt: skip


def _asserted(run: Path, description: str) -> None:
    """The description is there without its secret, and the steps of the log are read."""
    assert SECRET not in (run / description).read_text()
    assert json.loads((run / description).read_text())
    assert analyze(run).tables["scalars"].height


@needs("gcloud")
def test_a_custom_job_of_vertex_is_collected(server: HttpServer) -> None:
    """Its description and the entries of its logs."""
    assert main(["vertex", "4711", "--region", "europe-west4", "-o", "run", "--no-analyze"]) == 0
    _asserted(Path("run"), "vertex-job.json")


@needs("aws")
def test_a_training_job_of_sagemaker_is_collected(server: HttpServer) -> None:
    """Its description and the events of its log streams."""
    assert main(["sagemaker", "bert", "--region", "eu-west-1", "-o", "run", "--no-analyze"]) == 0
    _asserted(Path("run"), "sagemaker-job.json")
