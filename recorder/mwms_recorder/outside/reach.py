"""Tests whether the addresses in TF_CONFIG accept TCP connections."""

from __future__ import annotations

import errno
import socket
import threading
import time
from typing import Any

from mwms_recorder.outside.task import Peer

UNREACHABLE = {errno.ENETUNREACH, errno.EHOSTUNREACH}
TRIES = 3
"""Number of connections to a peer that answers; the fastest counts, as a busy host delays single ones."""
ANSWER_SECONDS = 1.0
"""How long to wait for the first bytes of a gRPC server, which it sends unasked (HTTP/2 SETTINGS)."""


def reach(peers: list[Peer], own: str | None, timeout: float) -> list[dict[str, Any]]:
    """Return the outcome of connecting to each peer, in parallel; `own` is this task as `role:index`."""
    found: dict[Peer, dict[str, Any]] = {}

    def probe_peer(peer: Peer) -> None:
        found[peer] = probe(peer.address, timeout)

    threads = [threading.Thread(target=probe_peer, args=(peer,), daemon=True) for peer in peers]
    for thread in threads:
        thread.start()
    ends = time.monotonic() + timeout + ANSWER_SECONDS + 0.5
    for thread in threads:
        thread.join(max(0.0, ends - time.monotonic()))
    late = {"outcome": "timed_out", "detail": "name resolution did not answer"}
    return [_row(peer, own, found.get(peer, late)) for peer in peers]


def _row(peer: Peer, own: str | None, answer: dict[str, Any]) -> dict[str, Any]:
    return {"task": peer.task, "address": peer.address, "own": peer.task == own, **answer}


def probe(address: str, timeout: float) -> dict[str, Any]:
    """Return the outcome (`open`, `refused`, …) of connecting to one `host:port`; no byte is sent."""
    host, _, port = address.rpartition(":")
    begin = time.monotonic()
    try:
        found = socket.getaddrinfo(host.strip("[]"), int(port), type=socket.SOCK_STREAM)
    except (OSError, ValueError, UnicodeError) as error:
        return {"outcome": "unresolvable", "detail": str(error)}
    resolved = str(found[0][4][0])
    first = _connected(found[0], timeout)
    if first.get("answer_seconds") is None:
        return {**first, "resolved": resolved, "seconds": round(time.monotonic() - begin, 4)}
    tries = [first, *(_connected(found[0], timeout) for _ in range(TRIES - 1))]
    answered = [each for each in tries if each.get("answer_seconds") is not None]
    return {**min(answered, key=lambda each: each["seconds"]), "resolved": resolved}


def _connected(found: Any, timeout: float) -> dict[str, Any]:
    """Return outcome and duration (s) of one attempt to connect to a resolved address."""
    begin, (family, kind, protocol, _, place) = time.monotonic(), found
    with socket.socket(family, kind, protocol) as connection:
        connection.settimeout(timeout)
        try:
            connection.connect(place)
        except socket.timeout:
            return {"outcome": "timed_out"}
        except ConnectionRefusedError:
            return {"outcome": "refused"}
        except OSError as error:
            return {"outcome": "unreachable" if error.errno in UNREACHABLE else "error", "detail": str(error)}
        if connection.getsockname() == connection.getpeername():  # TCP allows that on a free port
            return {"outcome": "refused"}
        answer = _answered(connection, min(timeout, ANSWER_SECONDS))
    return {"outcome": "open", "answer_seconds": answer, "seconds": round(time.monotonic() - begin, 4)}


def _answered(connection: socket.socket, timeout: float) -> float | None:
    """Return after how many seconds the first byte came; None if none did, as from a stopped process."""
    begin = time.monotonic()
    connection.settimeout(timeout)
    try:
        byte = connection.recv(1)
    except OSError:
        return None
    return round(time.monotonic() - begin, 4) if byte else None
