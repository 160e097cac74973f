"""Checks whether a process listens at an address."""

from __future__ import annotations

import socket


def answers(address: str) -> bool:
    """Return True if a connection to `host:port` is accepted within a second."""
    host, port = address.rsplit(":", 1)
    try:
        socket.create_connection((host, int(port)), timeout=1).close()
    except OSError:
        return False
    return True
