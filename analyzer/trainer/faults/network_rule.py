"""A network rule for the guilty worker's host, from the start or from a step on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.jobs.hosts import PORT

if TYPE_CHECKING:
    from analyzer.trainer.jobs.hosts import Hosts
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.scenario import Scenario

RULES = {
    "firewall": [f"iptables -A INPUT -i eth0 -p tcp --dport {PORT} -j DROP"],
    "partition": ["iptables -A INPUT -i eth0 -j DROP", "iptables -A OUTPUT -o eth0 -j DROP"],
    "lossy": [
        "iptables -A INPUT -i eth0 -m statistic --mode random --probability 0.08 -j DROP",
        "iptables -A OUTPUT -o eth0 -m statistic --mode random --probability 0.08 -j DROP",
    ],
    "narrow": ["tc qdisc add dev eth0 root tbf rate 6mbit burst 64kb latency 500ms"],
}


@dataclass
class NetworkRule(Fault):
    """`rule` is `firewall` (nothing gets in), `partition` (nothing in or out), `lossy` or `narrow`."""

    rule: str = "firewall"
    everyone: bool = False
    hosts: Hosts | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"no such rule: {self.rule!r}")

    def check(self, scenario: Scenario) -> None:
        """Require hosts of their own, because a rule needs a network."""
        if not scenario.hosts:
            raise ValueError("a network rule needs `hosts: true`")

    def prepare(self, workspace: Workspace) -> None:
        """Apply the rule now, unless it waits for a step."""
        self.hosts = workspace.hosts
        if self.step == 1:
            self._set(range(workspace.scenario.workers) if self.everyone else [self.guilty])

    def on_step(self, workers: WorkerProcesses, index: int, step: int) -> None:  # noqa: ARG002 - as the job calls it
        """Apply the rule when the guilty worker reaches the step."""
        if index == self.guilty and 1 < self.step <= step:
            self._set([index])

    def _set(self, indices: list[int] | range) -> None:
        hosts, self.hosts = self.hosts, None
        if hosts is None:
            return
        for index in indices:
            for command in RULES[self.rule]:
                hosts.run(index, command)
