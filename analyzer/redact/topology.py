"""Finds the hosts, addresses, users and directories of one document and gives each a pseudonym."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from ipaddress import ip_address
from itertools import chain
from typing import Any

from analyzer.redact.walk import Replacement, any_of, texts_of_run

_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62})"
_IN_HOST = re.compile(
    r"(?<![\w.\-])"
    rf"(?:ip-\d{{1,3}}(?:-\d{{1,3}}){{3}}(?:\.{_LABEL}){{0,6}}"
    rf"|(?:{_LABEL}\.){{1,7}}(?:local|internal|svc|lan|corp|intra|cluster|home|amazonaws\.com))(?![\w\-])"
)
_AT_PLACE = re.compile(
    rf"(?:\bgrpc://|\bhostname=|\bnode(?:name)?=|\bhost=|\bssh\s|(?<=\w)@)(?P<host>{_LABEL}(?:\.{_LABEL}){{0,7}})(?![\w.]*\()"
    rf"|\"(?P<task>{_LABEL}(?:\.{_LABEL}){{0,7}}):\d{{2,5}}\"",
    re.IGNORECASE,
)
_V4 = re.compile(r"(?<![\w.\-])(?<!==)(?<!ersion )\d{1,3}(?:\.\d{1,3}){3}(?![\w\-]|\.\d)")
_V6 = re.compile(r"(?<![\w:.])[0-9a-fA-F]{0,4}(?::[0-9a-fA-F]{0,4}){2,7}(?![\w:])")
_HOME = re.compile(
    r"(?:/home|/Users|/export/home|\\Users)(?:/|\\{1,2})(?P<user>[A-Za-z0-9_][\w.\-]{0,63})", re.IGNORECASE
)
_USER = re.compile(
    r"(?:\buser(?:name)?|\blogname)[=:]\s?[\"']?(?P<user>[a-z_][a-z0-9_.\-]{1,31})\b", re.IGNORECASE
)
_GENERIC = re.compile(
    r"localhost|(?:ip6-)?loopback|unknown|none|null|host|node|all|secret"
    r"|(?:worker|chief|ps|evaluator|master|rank|task|node|host|job)[-_.:]?\d*"
    r"|(?:host|address|user)-\d+",
    re.IGNORECASE,
)
"""Generic names, which identify nobody."""
_SYSTEM_USERS = frozenset(
    {"root", "user", "ubuntu", "shared", "public", "runner", "jovyan", "app", "default"}
)


_WITH_HOSTS = frozenset({"cluster_spec", "server_address"})
_WITH_PORT = re.compile(rf"(?<![\w.\-])(?P<host>{_LABEL}(?:\.{_LABEL}){{0,7}}):\d{{2,5}}(?!\d)")


_PATH = re.compile(
    r"(?:(?<![\w./:>~-])|(?<=[\w)\]]:)|\b(?:gs|s3[an]?|hdfs|viewfs|abfss?|wasbs?|file|dbfs|nfs):/)"
    r"/(?!tensorflow\.|grpc\.)(?P<path>[\w.+@%=~-]+(?:/[\w.+@%=~-]+)+)(?![\w:]*:)/?"
)
"""Regex for an absolute path or one in a file store, but not for a device, a gRPC method or a web page."""
_PLACES = re.compile(
    r"usr|lib(?:32|64)?|local|s?bin|share|etc|proc|sys|dev|shm|tmp|var|run|logs?|opt|mnt|media|home|users|srv|data"
    r"|root|workspace|workdir|work|export|\.?venv|envs?|conda|self|fd|cgroup|fs|spool|cache|src|app"
    r"|checkpoints?|ckpt|tb|tensorboard|secrets|kubernetes\.io|serviceaccount",
    re.IGNORECASE,
)
"""Names of directories that are common everywhere."""
_LIBRARY = re.compile(r"(?:site|dist)-packages|python\d(?:\.\d+)?")
"""Directories whose content belongs to a library, which identifies nobody."""
_PSEUDONYM = re.compile(r"(?:host|address|user|dir)-\d+")


class Topology:
    """Pseudonyms of hosts, addresses, users and directories, numbered by first mention in the document."""

    def __init__(self, document: Mapping[str, Any]) -> None:
        texts = list(texts_of_run(document))
        declared = [name for name in _declared(document) if _names_machine(name)]
        told = (name for text in texts for name in _hosts(text) if _is_clearly_host(name))
        hosts = dict.fromkeys([*declared, *told])
        self._names: dict[str, str] = {}
        self._name("host", dict.fromkeys(map(_short, hosts)), hosts)
        users = dict.fromkeys(name for text in texts for name in _users(text))
        self._name("user", users, users)
        self._addresses: dict[str, str] = {}
        for text in texts:
            for match in _addresses(text):
                self._addresses.setdefault(match[0].lower(), f"address-{len(self._addresses) + 1}")
        self._directories: dict[str, str] = {}
        for text in texts:
            for start, end in _directories(text):
                if text[start:end].lower() not in self._names:
                    self._directories.setdefault(text[start:end], f"dir-{len(self._directories) + 1}")
        words = {name.lower() for name in declared if not _is_clearly_host(name)}
        self._any = _anywhere([name for name in self._names if name not in words])
        self._as_host = _as_host(words)

    def _name(self, kind: str, owners: Mapping[str, object], names: Mapping[str, object]) -> None:
        """Give each owner a pseudonym; the long and short form of a host share one."""
        given = {owner: f"{kind}-{number}" for number, owner in enumerate(owners, 1)}
        for name in (*names, *owners):
            self._names.setdefault(name.lower(), given[_short(name) if kind == "host" else name])

    def replacements(self, text: str) -> Sequence[Replacement]:
        """Return the replacements that pseudonymize a text."""
        addresses = (match for match in _addresses(text) if match[0].lower() in self._addresses)
        changes = [Replacement(*match.span(), self._addresses[match[0].lower()]) for match in addresses]
        for pattern in (self._any, self._as_host):
            changes += [Replacement(*m.span(), self._names[m[0].lower()]) for m in pattern.finditer(text)]
        for start, end in _directories(text):
            if name := self._directories.get(text[start:end]):
                changes.append(Replacement(start, end, name))
        return list(_without_overlaps(changes))


def _declared(document: Mapping[str, Any]) -> Iterator[str]:
    """Yield the hosts of the document's workers and of their cluster specifications."""
    for worker in _rows(document, "workers"):
        if isinstance(worker.get("host"), str):
            yield worker["host"]
    for fact in _rows(document, "facts"):
        values = fact.get("values")
        if fact.get("key") in _WITH_HOSTS and isinstance(values, Mapping):
            for value in filter(lambda each: isinstance(each, str), values.values()):
                yield from (match["host"] for match in _WITH_PORT.finditer(value))


def _rows(document: Mapping[str, Any], key: str) -> Iterator[Mapping[str, Any]]:
    rows = document.get(key)
    yield from (row for row in (rows if isinstance(rows, list) else ()) if isinstance(row, Mapping))


def _hosts(text: str) -> Iterator[str]:
    yield from (match[0] for match in _IN_HOST.finditer(text))
    yield from (match["host"] or match["task"] for match in _AT_PLACE.finditer(text))


def _is_clearly_host(name: str) -> bool:
    """Return True if a name can only denote a machine: not an address, a role or an ordinary word."""
    return bool(re.search(r"[\d.\-_]", name)) and _names_machine(name)


def _names_machine(name: str) -> bool:
    """Return True if a host name is neither an address nor a role."""
    generic = _GENERIC.fullmatch(name.partition(".")[0]) and "." not in name
    if len(name) < 3 or generic:
        return False
    return not _is_address(name) and bool(re.search(r"[A-Za-z]", name))


def _short(name: str) -> str:
    return name.partition(".")[0].lower()


def _users(text: str) -> Iterator[str]:
    for pattern in (_HOME, _USER):
        for match in pattern.finditer(text):
            name = match["user"].rstrip(".-")
            if len(name) > 2 and name.lower() not in _SYSTEM_USERS and not _GENERIC.fullmatch(name):
                yield name


def _addresses(text: str) -> Iterator[re.Match[str]]:
    """Yield addresses that identify a machine, without loopback, which may be the cause of the failure."""
    for match in chain(_V4.finditer(text), _V6.finditer(text)):
        if _is_address(match[0]):
            address = ip_address(match[0])
            if not (address.is_loopback or address.is_unspecified) and len(match[0]) > 5:
                yield match


def _directories(text: str) -> Iterator[tuple[int, int]]:
    """Yield (start, end) of directory names chosen by users, not of file or checkpoint names."""
    for match in _PATH.finditer(text):
        at = match.start("path")
        *folders, last = match["path"].split("/")
        named = [*folders, *([] if re.search(r"[\d.]", last) and not match[0].endswith("/") else [last])]
        for name in named:
            if _LIBRARY.fullmatch(name):
                break
            known = _PLACES.fullmatch(name) or _PSEUDONYM.fullmatch(name) or name in _SYSTEM_USERS
            if not known and len(name) > 1 and re.search(r"[A-Za-z]", name):
                yield at, at + len(name)
            at += len(name) + 1


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _anywhere(names: Sequence[str]) -> re.Pattern[str]:
    either = any_of(names) or "(?!)"
    return re.compile(rf"(?<![A-Za-z0-9_\-])(?:{either})(?![A-Za-z0-9_\-])", re.IGNORECASE)


def _as_host(words: Iterable[str]) -> re.Pattern[str]:
    """Return a regex that matches ordinary words used as host names: alone, or where a host is expected."""
    either = any_of(words) or "(?!)"
    port, quote = r"(?=:\d{2,5}(?!\d))", r"(?=\\*[\"'])"
    before = r"(?:(?<=grpc://)|(?<=hostname=)|(?<=host=)|(?<=node=)|(?<=ssh )|(?<=\w@))"
    alone = rf"(?<![\w.\-])(?:{either}){port}|(?<=[\"'])(?:{either}){quote}|\A(?:{either})\Z"
    return re.compile(rf"{alone}|{before}(?:{either})(?![\w\-])", re.IGNORECASE)


def _without_overlaps(changes: Sequence[Replacement]) -> Iterator[Replacement]:
    end = 0
    for change in sorted(changes, key=lambda each: (each.start, -each.end)):
        if change.start >= end:
            yield change
            end = change.end
