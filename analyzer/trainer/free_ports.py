"""Finds TCP ports for a job's workers."""

from __future__ import annotations

import errno
import random
import socket
from contextlib import ExitStack, suppress
from pathlib import Path

FIRST_PORT = 10_000
EPHEMERAL_PORTS = Path("/proc/sys/net/ipv4/ip_local_port_range")


def free_ports(count: int) -> tuple[int, ...]:
    """Return `count` different free TCP ports of this machine; the port below each is free too.

    They are below the kernel's ephemeral ports, so that no connection takes one before its worker starts.
    """
    ephemeral = int(EPHEMERAL_PORTS.read_text().split()[0])
    candidates = range(FIRST_PORT + 1, ephemeral, 2)
    ports: list[int] = []
    with ExitStack() as held:
        for port in random.SystemRandom().sample(candidates, len(candidates)):
            with suppress(OSError):
                for one in (port - 1, port):
                    held.enter_context(socket.create_server(("", one)))
                ports.append(port)
            if len(ports) == count:
                return tuple(ports)
    raise OSError(errno.EADDRNOTAVAIL, f"fewer than {count} pairs of free ports")
