"""Collects a Docker Compose project, or single containers, with `docker`: logs, exit codes, TF_CONFIG."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.collect.commands import Commands
from analyzer.collect.masking import variable

Json = Mapping[str, Any]
_PROJECT, _SERVICE = "com.docker.compose.project", "com.docker.compose.service"
_NUMBER = "com.docker.compose.container-number"


def collect(commands: Commands, name: str) -> None:
    """Save logs, exit codes and descriptions of a project's containers, or of the one container `name`."""
    conditions = (f"label={_PROJECT}={name}", f"name=^/?{name}$")
    containers = next(filter(None, (_containers(commands, each) for each in conditions)), None)
    if not containers:
        what = f"no container of a project or of the name {name}"
        commands.report_missing(f"{what}: docker ps --all lists them")
        return
    names = _names(containers)
    codes = [f"{name} {_exit_code(each)}\n" for name, each in zip(names, containers, strict=True)]
    commands.write("exit_codes.txt", "".join(codes))
    for name, each in zip(names, containers, strict=True):
        commands.save_both(f"{name}.log", "docker", "logs", "--timestamps", str(each["Id"]))
        commands.write_json(f"describe-{name}.json", each)
        if value := variable(each["Config"].get("Env") or (), "TF_CONFIG"):
            commands.write(f"tf_config-{name}.json", value + "\n")
    commands.state_platform("docker")


def _containers(commands: Commands, condition: str) -> list[Json]:
    """Return the descriptions of all containers that match a filter, also of those that ended."""
    listed = commands.query("docker", "ps", "--all", "--no-trunc", "--quiet", f"--filter={condition}")
    ids = (listed or "").split()
    found = commands.query_json("docker", "inspect", "--type=container", *ids) if ids else []
    return sorted(found or [], key=lambda container: (_service(container), _number(container)))


def _names(containers: Sequence[Json]) -> list[str]:
    """Return a name for each container: its service, numbered from 0 if the service is scaled."""
    sizes = Counter(map(_service, containers))
    return [
        f"{_service(each)}-{_number(each) - 1}" if sizes[_service(each)] > 1 else _service(each)
        for each in containers
    ]


def _service(container: Json) -> str:
    labels = container["Config"].get("Labels") or {}
    return str(labels.get(_SERVICE) or container["Name"]).removeprefix("/")


def _number(container: Json) -> int:
    """Return the number of a container in its service; Docker Compose counts from 1."""
    number = str((container["Config"].get("Labels") or {}).get(_NUMBER))
    return int(number) if number.isdecimal() else 1


def _exit_code(container: Json) -> str:
    """Return the exit code as text; `running` for a container that did not exit, even if it never started."""
    state = container["State"]
    return str(state["ExitCode"]) if state.get("Status") in {"exited", "dead"} else "running"
