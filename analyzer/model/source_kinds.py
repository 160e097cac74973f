"""Kinds of files in a run. A new one needs a member of `Kind`, a row in `source_kinds.tsv`, and a reader."""

import re
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple


class Kind(StrEnum):
    """The kind of a source, detected from its name or its first bytes."""

    RECORDING = "recording"
    EVENT_FILE = "event_file"
    TRACE = "trace"
    TF_CONFIG = "tf_config"
    EXIT_CODES = "exit_codes"
    NODES = "nodes"
    PODS = "pods"
    SACCT = "sacct"
    NVIDIA_SMI = "nvidia_smi"
    CGROUP = "cgroup"
    DISKS = "disks"
    STACKS = "stacks"
    PACKAGES = "packages"
    ENVIRONMENT = "environment"
    CHECKPOINT = "checkpoint"
    COLLECTION = "collection"
    LOG = "log"
    OTHER = "other"

    @property
    def reader(self) -> str | None:
        """The module of `analyzer.ingest` that reads such files; None if nothing does."""
        return _FORMATS[self].reader if self in _FORMATS else None


class _Format(NamedTuple):
    """A row of `source_kinds.tsv`; its regexes are compiled when a file first needs them."""

    reader: str
    literals: list[str]
    names: str
    opening: bytes


def _formats(file: Path) -> dict[Kind, _Format]:
    """Return the rows of `source_kinds.tsv`, whose first lines explain its columns."""
    rows = (line.split("\t") for line in file.read_text(encoding="utf-8").splitlines() if "\t" in line)
    return {
        Kind(kind): _Format(reader, literals.split(" "), names, "".join(opening).encode())
        for kind, reader, literals, names, *opening in rows
    }


_FORMATS = _formats(Path(__file__).with_suffix(".tsv"))
_PRINTED = (Kind.EXIT_CODES, Kind.NODES, Kind.PODS, Kind.SACCT, Kind.NVIDIA_SMI)
"""Kinds of files that are the output of a command, which users save under names of their own."""


def kind_by_name(name: str) -> Kind:
    """Return the kind for a lower-case name without compression suffix."""
    held = ((kind, row.names) for kind, row in _FORMATS.items() for each in row.literals if each in name)
    return next((kind for kind, names in held if re.search(names, name)), Kind.OTHER)


def kind_by_opening(opening: bytes, kinds: Iterable[Kind] = tuple(_FORMATS)) -> Kind:
    """Return the first of `kinds` whose regex matches a file's first bytes; `OTHER` if none does."""
    known = ((kind, _FORMATS[kind].opening) for kind in kinds)
    fits = (kind for kind, words in known if words and re.match(words, opening, re.DOTALL))
    return next(fits, Kind.OTHER)


def kind_of_text(opening: bytes) -> Kind:
    """Return the kind of a `.txt` file: what `kubectl`, `sacct` or `nvidia-smi` printed, else a log.

    A file with lines of known loggers in its first bytes is a log, whatever it begins with.
    """
    kind = kind_by_opening(opening, (Kind.LOG, *_PRINTED))
    return Kind.LOG if kind is Kind.OTHER else kind
