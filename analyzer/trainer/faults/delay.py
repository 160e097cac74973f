"""Whatever is sent to the guilty worker's host is kept back for a moment, by a proxy before its port."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from pathlib import Path
from subprocess import Popen
from typing import TYPE_CHECKING

from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.jobs.hosts import PORT

if TYPE_CHECKING:
    from analyzer.trainer.jobs.workspace import Workspace
    from analyzer.trainer.scenario import Scenario

PROXY = Path(__file__).parent.parent / "program" / "slow_proxy.py"
REDIRECTION = "iptables -t nat -A PREROUTING -i eth0 -p tcp --dport {port} -j REDIRECT --to-ports {proxy}"


@dataclass
class Delay(Fault):
    """`milliseconds` each way, from the start."""

    milliseconds: int = 40
    proxy: Popen[bytes] | None = field(default=None, init=False)

    def check(self, scenario: Scenario) -> None:
        """Without hosts there is no network to put a proxy into."""
        if not scenario.hosts:
            raise ValueError("a delay needs `hosts: true`")

    def prepare(self, workspace: Workspace) -> None:
        """Start the proxy on the host, and lead all that comes for the worker through it."""
        hosts = workspace.hosts
        if hosts is None:
            return
        command = [sys.executable, str(PROXY), str(PORT + 1), str(PORT), str(self.milliseconds)]
        self.proxy = Popen(hosts.command(self.guilty, command))  # noqa: S603 - our own program
        hosts.run(self.guilty, REDIRECTION.format(port=PORT, proxy=PORT + 1))

    def cleanup(self) -> None:
        """End the proxy; the redirection ends with the host."""
        if self.proxy:
            self.proxy.kill()
            self.proxy.wait()
