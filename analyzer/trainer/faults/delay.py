"""Delays all traffic to the guilty worker's port through a proxy."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING, ClassVar

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.jobs.processes import die_with_parent
from analyzer.trainer.jobs.sandbox.hosts import PORT
from analyzer.trainer.witness.evidence import require

if TYPE_CHECKING:
    from analyzer.trainer.jobs.sandbox.workspace import Workspace
    from analyzer.trainer.scenario import Scenario
    from analyzer.trainer.witness.evidence import Evidence

PROXY = Path(__file__).parent.parent / "program" / "slow_proxy.py"
REDIRECTION = "iptables -t nat -A PREROUTING -i eth0 -p tcp --dport {port} -j REDIRECT --to-ports {proxy}"


@dataclass
class Delay(Fault):
    """Delay each direction by `milliseconds`, from the start of the job."""

    fits_any_program: ClassVar[bool] = True
    milliseconds: int = 40
    proxy: Popen[bytes] | None = field(default=None, init=False)

    def check(self, scenario: Scenario) -> None:
        """Raise ValueError unless the scenario has simulated hosts, whose network the proxy needs."""
        if not scenario.hosts:
            raise ValueError("a delay needs `hosts: true`")

    def prepare(self, workspace: Workspace) -> None:
        """Start the proxy on the host and redirect all connections for the worker to it."""
        hosts = workspace.hosts
        if hosts is None:
            return
        command = [sys.executable, str(PROXY), str(PORT + 1), str(PORT), str(self.milliseconds)]
        self.proxy = Popen(  # noqa: S603 - our own program
            hosts.command(self.guilty, command), preexec_fn=die_with_parent
        )
        hosts.run(self.guilty, REDIRECTION.format(port=PORT, proxy=PORT + 1))

    def witness(self, evidence: Evidence) -> str:
        """Return proof from iptables that connections were redirected to the proxy, which still runs."""
        hosts = evidence.workspace.hosts
        require(self.proxy and self.proxy.poll() is None, "the proxy has ended")
        require(self.milliseconds > 0, "the delay is none")
        rules = hosts.ask(self.guilty, "iptables -t nat -L PREROUTING -v -x -n") if hosts else ""
        count = sum(int(line.split()[0]) for line in rules.splitlines() if " REDIRECT " in line)
        require(count, "the kernel redirected no connection")
        return f"{count} connections redirected to the proxy"

    def cleanup(self) -> None:
        """Kill the proxy; the redirection disappears with the simulated host."""
        if self.proxy:
            self.proxy.kill()
            self.proxy.wait()
