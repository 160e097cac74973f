"""Readers of installed packages: modules with `NAMES` or `OPENING`, and `read(output, matcher)`."""

import re
from collections.abc import Sequence
from importlib import import_module
from typing import NamedTuple

from analyzer.model.errors import UsageError
from analyzer.model.run import RunDir
from analyzer.storage.extensions import READERS, Extension, extensions


class InstalledReader(NamedTuple):
    """Regexes for names (within the run, in lower case) and first bytes of the files that a module reads."""

    kind: str
    module: str
    names: re.Pattern[str] | None
    opening: re.Pattern[bytes] | None

    def takes(self, name: str, opening: bytes) -> bool:
        """Return True if the module reads files with this name or these first bytes."""
        by_name = self.names is not None and self.names.search(name)
        return bool(by_name or (self.opening is not None and self.opening.match(opening)))


def installed_readers() -> Sequence[InstalledReader]:
    """Return the readers of all installed packages.

    Raises:
        UsageError: a package is broken; the message names it.
    """
    return [_reader(each) for each in extensions(READERS)]


def reader_versions(run: RunDir) -> dict[str, str]:
    """Return name and version of each installed package whose readers read a source of a run."""
    modules = {source.reader for source in run.sources if source.reader}
    used = (each for each in extensions(READERS) if each.value in modules) if modules else ()
    return {each.distribution: each.version for each in used}


def _require(holds: object, fault: str) -> None:
    if not holds:
        raise TypeError(fault)


def _reader(extension: Extension) -> InstalledReader:
    try:
        module = import_module(extension.value)
        names, opening = getattr(module, "NAMES", None), getattr(module, "OPENING", None)
        _require(callable(getattr(module, "read", None)), "no function read(output, matcher)")
        _require(names or opening, "neither NAMES nor OPENING")
        by_name, by_opening = names and re.compile(names), opening and re.compile(opening)
        return InstalledReader(extension.name, extension.value, by_name, by_opening)
    except (Exception, SystemExit) as error:
        what = f"reader {extension.name} of {extension.title}: {type(error).__name__}: {error}"
        raise UsageError(f"{what}; --no-packs leaves installed packages out") from error
