"""Gives the guilty worker, or all workers, a wrong TF_CONFIG."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.witness.evidence import Evidence

Edit = Callable[[dict[str, Any]], object]


def _addresses(config: dict[str, Any]) -> list[str]:
    addresses: list[str] = config["cluster"]["worker"]
    return addresses


def _duplicate_index(config: dict[str, Any]) -> None:
    index = config["task"]["index"]
    config["task"]["index"] = index - 1 if index else 1


def _outside(config: dict[str, Any]) -> None:
    config["task"]["index"] = len(_addresses(config))


def _larger(config: dict[str, Any]) -> None:
    host, port = _addresses(config)[-1].rsplit(":", 1)
    _addresses(config).append(f"{host}:{int(port) + 1}")


def _smaller(config: dict[str, Any]) -> None:
    _addresses(config).pop(0 if config["task"]["index"] else -1)
    config["task"]["index"] = max(0, config["task"]["index"] - 1)


def _no_port(config: dict[str, Any]) -> None:
    addresses, index = _addresses(config), config["task"]["index"]
    addresses[index] = addresses[index].rsplit(":", 1)[0]


def _wrong_port(config: dict[str, Any]) -> None:
    """Change the port of the first peer."""
    addresses = _addresses(config)
    peer = 0 if config["task"]["index"] else 1
    host, port = addresses[peer].rsplit(":", 1)
    addresses[peer] = f"{host}:{int(port) + 1000}"


def _unresolvable(config: dict[str, Any], place: int) -> None:
    addresses = _addresses(config)
    addresses[place] = f"mnist-worker-{place}.mnist:{addresses[place].rsplit(':', 1)[1]}"


def _loopback(config: dict[str, Any]) -> None:
    addresses = _addresses(config)
    addresses[:] = [f"localhost:{address.rsplit(':', 1)[1]}" for address in addresses]


EDITS: dict[str, Edit] = {
    "no_task": lambda config: config.pop("task"),
    "no_cluster": lambda config: config.pop("cluster"),
    "no_port": _no_port,
    "twice": _duplicate_index,
    "outside": _outside,
    "unknown_type": lambda config: config["task"].update(type="trainer"),
    "larger": _larger,
    "smaller": _smaller,
    "wrong_port": _wrong_port,
    "loopback": _loopback,
    "reversed": lambda config: _addresses(config).reverse(),
}


@dataclass
class TfConfig(Fault):
    """Change TF_CONFIG: `absent`, `not_json`, `not_filled_in`, `unresolvable`, or a key of EDITS."""

    fits_any_program: ClassVar[bool] = True
    change: str = "absent"
    everyone: bool = False

    def __post_init__(self) -> None:
        if self.change not in {"absent", "not_json", "not_filled_in", "unresolvable", *EDITS}:
            raise ValueError(f"no such change of TF_CONFIG: {self.change!r}")

    def tf_config(self, index: int, usual: str) -> str | None:
        """Return the TF_CONFIG of a worker, changed if the worker is affected; None to leave it unset."""
        if index != self.guilty and not self.everyone:
            return usual
        if self.change == "absent":
            return None
        if self.change == "not_json":
            return usual.replace('"', "'")
        if self.change == "not_filled_in":
            return re.sub(r'"index": \d+', '"index": $(JOB_COMPLETION_INDEX)', usual)
        config = json.loads(usual)
        if self.change == "unresolvable":
            _unresolvable(config, self.guilty)
        else:
            EDITS[self.change](config)
        return json.dumps(config)

    def witness(self, evidence: Evidence) -> str:
        """Return proof from `/proc` that each affected worker has a TF_CONFIG of another meaning."""
        everyone = range(evidence.workspace.scenario.workers)
        for index in everyone if self.everyone else [self.guilty]:
            evidence.life(index)
            require(index in evidence.environments, f"worker {index} ended before its environment was seen")
            usual, there = evidence.usual[index].tf_config, evidence.tf_config(index)
            require(
                _meaning(there) != _meaning(usual),
                f"the TF_CONFIG of worker {index} means what it always does",
            )
        return "TF_CONFIG in /proc"


def _meaning(config: str | None) -> str | None:
    """Return a TF_CONFIG with `127.0.0.1` written as `localhost`, for comparison."""
    return config and config.replace("127.0.0.1", "localhost")
