"""Gives the hosts, addresses, people, directories and cloud resources of one document pseudonyms.

Names are learned from the run's facts (its name, workers, TF_CONFIG) and from texts that state one in a known
form. A learned name that is no ordinary word is replaced wherever it occurs.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from analyzer.redact.directories import find_directories
from analyzer.redact.node_lists import find_node_lists
from analyzer.redact.places import NameSpan, find_places, is_address
from analyzer.redact.walk import Replacement, any_of, texts_of_run

_GENERIC = re.compile(
    r"localhost|(?:ip6-)?loopback|unknown|none|null|true|false|host|node|all|secret|default|kube-\w+|std|bridge"
    r"|an?|the|its?|itself|another|others?|peers?|kernel|launcher|scheduler|signal|system|timeouts?|watchdog"
    r"|(?:worker|chief|ps|evaluator|master|rank|task|host|job|run|attempt)[-_.:]?\d*|(?:run|logs?)[-_]dir"
    r"|(?:host|address|user|group|dir|pod|namespace|instance|project|account|resource)-\d+",
    re.IGNORECASE,
)
"""Generic names, which identify nobody, and pseudonyms."""
_SYSTEM_USERS = frozenset(
    {"root", "user", "ubuntu", "shared", "public", "runner", "jovyan", "app", "default", "nobody", "admin"}
    | {"airflow", "spark", "hadoop", "yarn", "jenkins", "gitlab-runner"}
    | {"ec2-user", "sagemaker-user", "slurm"}
)
"""Accounts of images and services, which are nobody's."""
_WITH_HOSTS = frozenset({"cluster_spec", "server_address"})
_PACKAGE = re.compile(
    r"(?m)(?:(?:site|dist)-packages/|No module named ['\"]|^[ >]{0,40}(?:from|import) )"
    r"(?P<loaded>[A-Za-z_]\w*)\b(?!-)"
    r"|(?<![\w.\-/@:])(?P<raising>[A-Za-z_]\w{0,62})(?=(?:\.[A-Za-z_]\w{0,62}){0,7}\.[A-Z]\w{0,62}(?![\w.\-]))"
)
"""Regex for the package of a Python module or class: installed, imported, or before the name of a class."""
_LABEL = r"[A-Za-z0-9](?:[A-Za-z0-9_-]{0,62})"
_WITH_PORT = re.compile(rf"(?<![\w.\-])(?P<host>{_LABEL}(?:\.{_LABEL}){{0,7}}):\d{{2,5}}(?!\d)")


class Topology:
    """Pseudonyms of the names in a document, numbered by first mention."""

    def __init__(self, document: Mapping[str, Any], further: Iterable[str] = ()) -> None:
        """Learn names from the texts of the document, then from `further` texts of the run."""
        texts = list(dict.fromkeys(chain(texts_of_run(document), further)))
        declared = [name for name in _declared(document) if _names_machine(name)]
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}
        self._places = {text: list(_identifying_names(text)) for text in texts}
        self._lists = {text: lists for text in texts if (lists := list(find_node_lists(text)))}
        listed = (name for lists in self._lists.values() for each in lists for name in each.names)
        for name in (*declared, *listed):
            self._learn("host", name)
        for text, places in self._places.items():
            for place in places:
                self._learn(place.kind, text[place.start : place.end])
        words = {name.lower() for name in declared if not _is_clearly_host(name)}
        distinctive = [each for each in self._names if each not in words and self._is_distinctive(each)]
        self._any = _anywhere(distinctive)
        self._as_host = _as_host(words)
        self._learn_run(document)

    def _learn(self, kind: str, name: str) -> None:
        """Give a name a pseudonym; the long and short form of a host share one."""
        owner = _machine_name(name) if kind == "host" else name.lower()
        if owner not in self._names:
            self._counts[kind] = self._counts.get(kind, 0) + 1
            self._names[owner] = f"{kind}-{self._counts[kind]}"
        self._names.setdefault(name.lower(), self._names[owner])

    def _learn_run(self, document: Mapping[str, Any]) -> None:
        """Give the run's directory a pseudonym."""
        run = document.get("run")
        name = run.get("name") if isinstance(run, Mapping) else None
        self._run = re.compile(r"(?!)")
        if isinstance(name, str) and len(name) > 2 and not _GENERIC.fullmatch(name):
            self._learn("dir", name)
            is_odd = re.search(r"[\d\-_.]", name)
            boundary = r"(?<![\w\-])(?:{})(?![\w\-])" if is_odd else r"\A(?:{})\Z|(?<=/)(?:{})(?=/)"
            self._run = re.compile(boundary.replace("{}", re.escape(name)))

    def _is_distinctive(self, name: str) -> bool:
        """Return True if a name may be replaced wherever it occurs."""
        kind = self._names[name].rpartition("-")[0]
        if kind in ("host", "user"):
            return len(name) > 2 and not name.isdecimal()
        return kind not in ("dir", "address", "group") and len(name) > 4 and bool(re.search(r"[\d\-]", name))

    def replacements(self, text: str) -> Sequence[Replacement]:
        """Return the replacements that pseudonymize a text."""
        lists = self._lists.get(text, ())
        changes = [Replacement(each.start, each.end, self._pseudonyms(each.names)) for each in lists]
        places = self._places.get(text)
        for place in _identifying_names(text) if places is None else places:
            changes += self._replaced(text, place.start, place.end)
        packages = {match.span(match.lastgroup or 0) for match in _PACKAGE.finditer(text)}
        for pattern in (self._any, self._as_host, self._run):
            for match in pattern.finditer(text):
                if match.span() not in packages:
                    changes += self._replaced(text, *match.span())
        return list(_without_overlaps(changes))

    def _replaced(self, text: str, start: int, end: int) -> Iterator[Replacement]:
        if pseudonym := self._names.get(text[start:end].lower()):
            yield Replacement(start, end, pseudonym)

    def _pseudonyms(self, names: Sequence[str]) -> str:
        given = [self._names[name.lower()] for name in names]
        return ",".join(given) if len(given) <= 8 else f"{given[0]}…{given[-1]}"


def _identifying_names(text: str) -> Iterator[NameSpan]:
    """Yield the names in a text that identify a machine, a person or a place; generic ones are left out."""
    for place in find_places(text):
        name = text[place.start : place.end]
        kept = name.rstrip(".-") if place.kind in ("user", "group") else name
        if _identifies(place.kind, kept):
            yield place._replace(end=place.start + len(kept))
    for start, end in find_directories(text):
        if not _GENERIC.fullmatch(text[start:end]) and text[start:end] not in _SYSTEM_USERS:
            yield NameSpan(start, end, "dir")


def _identifies(kind: str, name: str) -> bool:
    if kind == "host":
        return _is_clearly_host(name)
    if kind in ("user", "group"):
        return len(name) > 2 and name.lower() not in _SYSTEM_USERS and not _GENERIC.fullmatch(name)
    return kind == "address" or not _GENERIC.fullmatch(name)


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


def _is_clearly_host(name: str) -> bool:
    """Return True if a name can only denote a machine: not an address, a role or an ordinary word."""
    return bool(re.search(r"[\d.\-_]", name)) and _names_machine(name)


def _names_machine(name: str) -> bool:
    """Return True if a host name is neither an address nor a role."""
    generic = _GENERIC.fullmatch(name.partition(".")[0]) and "." not in name
    if len(name) < 3 or generic:
        return False
    return not is_address(name) and bool(re.search(r"[A-Za-z]", name))


def _machine_name(host: str) -> str:
    """Return a host's name up to the first dot, in small letters; the whole name if that part is generic."""
    short = host.partition(".")[0].lower()
    is_odd = re.search(r"[\d-]", short) and not _GENERIC.fullmatch(short)
    return short if is_odd or "." not in host else host.lower()


def _anywhere(names: Sequence[str]) -> re.Pattern[str]:
    """Return a regex that matches the names as whole words."""
    either = any_of(names) or "(?!)"
    return re.compile(rf"(?<![A-Za-z0-9\-])(?:{either})(?![A-Za-z0-9\-]|\.py\b|\()", re.IGNORECASE)


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
