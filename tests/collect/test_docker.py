"""`mwms-collect docker` with a real `docker`, against an engine that answers from a recording."""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from analyzer import analyze
from analyzer.cli.collect import main
from tests.collect.conftest import needs
from tests.collect.http_server import Answer, HttpServer, Request
from tests.recordings import expected, sample_run_named

pytestmark = [needs("docker"), pytest.mark.recordings]
SAMPLE = sample_run_named("worker-killed")
OOM_KILLED = 2


class RecordedEngine:
    """Docker's API for the containers of a Compose project `bert`, which left what the sample run holds."""

    def __init__(self, services: list[tuple[str, int]]) -> None:
        self.containers = [_container(n, service, number) for n, (service, number) in enumerate(services)]
        self.server = HttpServer(self._answer)

    def _answer(self, request: Request) -> Answer:
        url = urlsplit(request.path)
        path = re.sub(r"^/v[\d.]+", "", url.path)
        if request.method not in {"GET", "HEAD"}:
            return 403, {"message": "this engine is a recording"}
        if path == "/_ping":
            return 200, "OK"
        if path == "/containers/json":
            return 200, [_listed(each) for each in self._matching(parse_qs(url.query)["filters"][0])]
        found = next(each for each in self.containers if each["Id"] == path.split("/")[2])
        if path.endswith("/logs"):
            return 200, _stream(self.containers.index(found))
        return 200, found

    def _matching(self, filters: str) -> list[Any]:
        asked = {key: next(iter(values)) for key, values in json.loads(filters).items()}
        label, _, value = asked.get("label", "").partition("=")
        if label:
            return [each for each in self.containers if each["Config"]["Labels"].get(label) == value]
        return [each for each in self.containers if re.search(asked["name"], each["Name"])]


def _container(index: int, service: str, number: int) -> Any:
    code = (1, 1, 137)[index]
    given = (SAMPLE / "run" / f"tf_config-{index}.json").read_text().strip()
    project = "com.docker.compose"
    labels = {
        f"{project}.project": "bert",
        f"{project}.service": service,
        f"{project}.container-number": str(number),
    }
    return {
        "Id": f"{index}" * 64, "Name": f"/bert-{service}-{number}", "Image": "train:3", "RestartCount": 0,
        "State": {"Status": "exited", "ExitCode": code, "OOMKilled": index == OOM_KILLED},
        "Config": {"Tty": False, "Labels": labels, "Env": [f"TF_CONFIG={given}", "HF_TOKEN=abcdefgh12345678"]},
        "HostConfig": {"LogConfig": {"Type": "json-file"}},
    }  # fmt: skip


def _listed(container: Any) -> Any:
    return {"Id": container["Id"], "Names": [container["Name"]], "State": "exited", "Labels": {}}


def _stream(index: int) -> bytes:
    """Return a log as the engine sends it: frames of standard output (1) and standard error (2)."""
    lines = (SAMPLE / "run" / f"worker-{index}.log").read_bytes().splitlines(keepends=True)
    frames = [(1 + n % 2, b"2026-11-21T01:00:00.5Z " + line) for n, line in enumerate(lines)]
    return b"".join(struct.pack(">BxxxL", stream, len(line)) + line for stream, line in frames)


@pytest.fixture
def serve(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Return a function that points `docker` at an engine with the containers of some services."""
    engines: list[RecordedEngine] = []

    def serve(*services: tuple[str, int]) -> RecordedEngine:
        engines.append(RecordedEngine(list(services)))
        monkeypatch.setenv("DOCKER_HOST", engines[-1].server.url.replace("http://", "tcp://"))
        return engines[-1]

    yield serve
    for engine in engines:
        engine.server.close()


def test_a_project_is_collected_and_diagnosed(serve: Any, capsys: Any) -> None:
    """Both streams of each log, exit codes, TF_CONFIG, and why the engine ended it; by reading requests alone."""
    engine = serve(*((f"worker-{n}", 1) for n in range(3)))
    assert main(["docker", "bert", "-o", "run"]) == 1
    names = [
        f"{kind}worker-{n}{end}"
        for n in range(3)
        for kind, end in (("", ".log"), ("describe-", ".json"), ("tf_config-", ".json"))
    ]
    assert sorted(path.name for path in Path("run").iterdir()) == sorted([*names, "exit_codes.txt"])
    document = analyze("run").document
    assert document["cause"] == "resource.host_oom_killed", "which exit code 137 alone does not tell"
    assert document["culprits"] == expected(SAMPLE)["culprits"]
    assert len(Path("run/worker-0.log").read_text().splitlines()) == len(
        (SAMPLE / "run/worker-0.log").read_text().splitlines()
    )
    assert "abcdefgh12345678" not in Path("run/describe-worker-0.json").read_text()
    assert {request.method for request in engine.server.requests} <= {"GET", "HEAD"}


def test_a_scaled_service_is_numbered_from_zero(serve: Any) -> None:
    """As TF_CONFIG numbers tasks; Docker Compose counts from 1."""
    serve(("worker", 2), ("worker", 1), ("chief", 1))
    assert main(["docker", "bert", "-o", "run", "--no-analyze"]) == 0
    assert sorted(path.name for path in Path("run").glob("*.log")) == [
        "chief.log",
        "worker-0.log",
        "worker-1.log",
    ]


def test_a_container_is_found_by_its_name(serve: Any) -> None:
    """Where no project has that name."""
    serve(("worker-0", 1), ("worker-1", 1))
    assert main(["docker", "bert-worker-1-1", "-o", "run", "--no-analyze"]) == 0
    assert [path.name for path in Path("run").glob("*.log")] == ["worker-1.log"]


def test_an_unknown_project_is_told(serve: Any, capsys: Any) -> None:
    """With the command that lists what there is."""
    serve(("worker-0", 1))
    assert main(["docker", "gpt", "-o", "run"]) == 4
    assert (
        "no container of a project or of the name gpt: docker ps --all lists them" in capsys.readouterr().err
    )
