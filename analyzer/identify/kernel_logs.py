"""Finds the worker that ran on the host of a kernel log, by the host in the log's name."""

import re
from collections.abc import Sequence

from analyzer.identify.statements import NamedSource, Statements
from analyzer.model.task_names import is_kernel_log, is_numbered

_HOST = re.compile(r"(?:grpc://)?([a-z][a-z0-9-]*)", re.IGNORECASE)
_NO_HOSTS = frozenset({"localhost", "worker", "node", "host"})
"""Names that tell one machine from another nowhere."""


def logs_beside(sources: Sequence[NamedSource], stated: Statements) -> dict[str, str]:
    """Return kernel log → a log of the only server on the host that its name holds: `gn-014.dmesg`.

    A kernel log whose name holds a role is left out: it states its worker.
    """
    servers: dict[str, set[str]] = {}
    for name, facts in stated.items():
        for fact in facts:
            if fact.key in {"server_address", "host"} and (host := _HOST.match(fact.value)):
                servers.setdefault(host[1].lower(), set()).add(name)
    kernel_logs = [each for each in sources if each.is_log and is_kernel_log(each.name)]
    hosts = {host: min(logs) for host, logs in servers.items() if len(logs) == 1 and host not in _NO_HOSTS}
    free = (each.name for each in kernel_logs if each.worker is None or is_numbered(each.name))
    return {name: log for name in free for host, log in hosts.items() if _holds(name.lower(), host)}


def _holds(name: str, host: str) -> bool:
    return re.search(rf"(?<![a-z0-9]){re.escape(host)}(?![a-z0-9])", name) is not None
