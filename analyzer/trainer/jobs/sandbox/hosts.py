"""Simulates one host per worker: network namespaces with addresses on one bridge."""

from __future__ import annotations

import os
import shutil
import subprocess
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from analyzer.model.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Sequence

PORT = 2222
SPACE = "mwms"
"""Prefix of the namespaces' names; the trainer's process ID follows."""

NAMES = Path("/etc/netns")
"""Directory whose `SPACE/hosts` replaces `/etc/hosts` for the commands of a namespace."""
RENAME = 'hostname "$0" && exec "$@"'


class HostsError(UserError):
    """The network namespaces cannot be created."""


@dataclass
class Hosts:
    """The network namespaces of one job; `remove` deletes them with everything in them."""

    count: int
    names: tuple[str, ...] = ()
    """Names of the hosts, which all of them can resolve; empty for addresses alone."""
    made: list[str] = field(default_factory=list)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the `host:port` of each worker."""
        return tuple(f"{host}:{PORT}" for host in self.names or map(self._ip, range(self.count)))

    def make(self) -> None:
        """Create the bridge and connect every host to it."""
        if os.geteuid():
            raise HostsError("hosts of their own need root, for network namespaces")
        switch = self._space("switch")
        self._add(switch)
        self._ip_of(switch, "link add bridge type bridge")
        self._ip_of(switch, "link set bridge up")
        for index in range(self.count):
            host = self._space(str(index))
            self._add(host)
            self._ip_of(switch, f"link add port{index} type veth peer name eth0 netns {host}")
            self._ip_of(switch, f"link set port{index} master bridge up")
            self._ip_of(host, f"addr add {self._ip(index)}/24 dev eth0")
            self._ip_of(host, "link set eth0 up")
            self._ip_of(host, "link set lo up")
            self._name_all(host)

    def command(self, index: int, command: Sequence[str]) -> list[str]:
        """Return the command line that runs a command on a host."""
        inside = ["ip", "netns", "exec", self._space(str(index))]
        if self.names:
            inside += ["unshare", "--uts", "sh", "-c", RENAME, self.names[index]]
        return [*inside, *command]

    def run(self, index: int, command: str) -> None:
        """Run a command on a host and wait for it; raise HostsError if it fails."""
        self._run(self.command(index, command.split()))

    def ask(self, index: int, command: str) -> str:
        """Run a command on a host and return its standard output; raise HostsError if it fails."""
        return self._run(self.command(index, command.split()))

    def remove(self) -> None:
        """Delete all namespaces."""
        while self.made:
            space = self.made.pop()
            shutil.rmtree(NAMES / space, ignore_errors=True)
            with suppress(HostsError):
                self._run(["ip", "netns", "del", space])

    def _space(self, name: str) -> str:
        return f"{SPACE}-{os.getpid()}-{name}"

    def _ip(self, index: int) -> str:
        return f"10.20.0.{11 + index}"

    def _name_all(self, space: str) -> None:
        """Write the `/etc/hosts` of a namespace."""
        if self.names:
            (NAMES / space).mkdir(parents=True)
            lines = [f"{self._ip(index)}\t{name}\n" for index, name in enumerate(self.names)]
            (NAMES / space / "hosts").write_text("127.0.0.1\tlocalhost\n" + "".join(lines))

    def _add(self, space: str) -> None:
        self._run(["ip", "netns", "add", space])
        self.made.append(space)

    def _ip_of(self, space: str, words: str) -> None:
        self._run(["ip", "-n", space, *words.split()])

    def _run(self, command: Sequence[str]) -> str:
        try:
            done = subprocess.run(command, check=True, capture_output=True, text=True)  # noqa: S603 - ours
        except OSError as error:
            raise HostsError(f"{command[0]}: {error.strerror}") from error
        except subprocess.CalledProcessError as error:
            raise HostsError(f"{' '.join(command)}: {error.stderr.strip()}") from error
        return done.stdout
