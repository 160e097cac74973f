"""`mwms-collect docker` with a real `docker`, against an engine that answers from a recording."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer import analyze
from analyzer.cli.collect import main
from tests.collect.conftest import needs
from tests.collect.recorded_engine import SAMPLE, RecordedEngine
from tests.recordings import expected

pytestmark = [needs("docker"), pytest.mark.recordings]


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
    assert sorted(path.name for path in Path("run").iterdir()) == sorted(
        [*names, "collected_at.txt", "collected_from.txt", "exit_codes.txt"]
    )
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
