"""Applies a network rule to the guilty worker's host, from the start or from a step on."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.jobs.sandbox.hosts import PORT
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.processes import WorkerProcesses
    from analyzer.trainer.jobs.sandbox.hosts import Hosts
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.witness.evidence import Evidence

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
    """Apply `rule`: `firewall` (TensorFlow's port blocked), `partition` (no traffic), `lossy` or `narrow`."""

    fits_any_program: ClassVar[bool] = True
    rule: str = "firewall"
    everyone: bool = False
    hosts: Hosts | None = field(default=None, init=False)
    on: list[int] = field(default_factory=list, init=False)
    """Indexes of the hosts that have the rule."""

    def __post_init__(self) -> None:
        if self.rule not in RULES:
            raise ValueError(f"no such rule: {self.rule!r}")

    def check(self, scenario: Scenario) -> None:
        """Raise ValueError unless the scenario has simulated hosts, whose network the rule needs."""
        if not scenario.hosts:
            raise ValueError("a network rule needs `hosts: true`")

    def prepare(self, workspace: Workspace) -> None:
        """Apply the rule at once if the step is 1."""
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
        self.strike()
        self.on = [*indices]
        for index in indices:
            for command in RULES[self.rule]:
                hosts.run(index, command)

    def witness(self, evidence: Evidence) -> str:
        """Return proof that the kernel counted packets matching the rule, on each host that has the rule."""
        require(self.on, f"worker {self.guilty} never came to step {self.step}")
        evidence.require_nobody_ended_badly(before=self.struck, but=-1)
        hosts = evidence.workspace.hosts
        counts = {index: self._packets(hosts, index) for index in self.on} if hosts else {}
        require(counts and min(counts.values()) > 0, f"packets that the rule met, by host: {counts}")
        return "; ".join(f"rule of host {index} met {count} packets" for index, count in counts.items())

    def _packets(self, hosts: Hosts, index: int) -> int:
        """Return how many packets the rule dropped or delayed on a host."""
        if self.rule == "narrow":
            output = hosts.ask(index, "tc -s qdisc show dev eth0")
            return sum(map(int, re.findall(r"(?:dropped|overlimits) (\d+)", output)))
        rules = hosts.ask(index, "iptables -L -v -x -n").splitlines()
        return sum(int(rule.split()[0]) for rule in rules if re.match(r"\s*\d.* DROP ", rule))
