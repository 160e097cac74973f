"""Addresses of the cluster, `host:port`, taken apart."""

from __future__ import annotations

import ipaddress
from functools import lru_cache


def split_address(address: str) -> tuple[str, str]:
    """Host and port; either is empty where it is missing."""
    host, colon, port = address.rpartition(":")
    return (host, port) if colon else (address, "")


@lru_cache(4_096)  # each of many workers names all of them
def is_local(host: str) -> bool:
    """Whether a name means the machine itself, on whatever machine it is used."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host in {"localhost", "localhost.localdomain"}
    return address.is_loopback or address.is_unspecified
