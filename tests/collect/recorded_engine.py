"""A Docker engine that answers from a recording, for a real `docker`; it refuses to change anything."""

from __future__ import annotations

import json
import re
import struct
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.collect.http_server import Answer, HttpServer, Request
from tests.recordings import sample_run_named

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
