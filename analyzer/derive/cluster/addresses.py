"""Parses cluster addresses, `host:port`."""

import ipaddress
import re
from functools import lru_cache


def split_address(address: str) -> tuple[str, str]:
    """Split an address into host and port; a missing part is empty."""
    host, colon, port = address.rpartition(":")
    return (host, port) if colon else (address, "")


@lru_cache(4_096)  # each of many workers names all of them
def is_local(host: str) -> bool:
    """Return True for loopback and unspecified hosts: `localhost`, `127.0.0.1`, `0.0.0.0`, `::1`."""
    try:
        address = ipaddress.ip_address(host.strip("[]"))
    except ValueError:
        return host in {"localhost", "localhost.localdomain"}
    return address.is_loopback or address.is_unspecified


def is_service(host: str) -> bool:
    """Return True for the name of a Kubernetes service, `NAME.NAMESPACE.svc`, which is no machine."""
    return ".svc." in f"{host}."


def host_name(address: str) -> str:
    """Return the host of an address: its IP address, or its name without a port and a domain."""
    host = re.sub(r":\d+$", "", address)
    return host if host[:1].isdigit() else host.partition(".")[0]
