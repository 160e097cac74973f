"""Determines where reports are written, before the run is read, so that a bad target fails early."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from analyzer.cli.options.choices import choice_hint
from analyzer.model.errors import UsageError
from analyzer.model.task_names import is_archive
from analyzer.render import FORMATS
from analyzer.storage.atomic_write import write_atomically


class Targets(NamedTuple):
    """The directory for the reports, and the file name in it if `-o` names a file."""

    folder: Path
    file: str | None = None
    suffix: str = ""
    """What follows the run's name in the names of files, such as a digest of a name that is masked."""

    def paths(self, run: str, formats: Sequence[str]) -> list[Path]:
        """Return the file named by `-o`, else one `mwms-report-RUN` path per format."""
        if self.file:
            return [self.folder / self.file]
        name = f"{_file_name(run)}{self.suffix}"
        return [self.folder / f"mwms-report-{name}{FORMATS[each].suffix}" for each in formats]


def chosen_formats(given: str | None, output: str | None) -> list[str]:
    """Return the requested formats; by default that of the suffix of `-o`, text for `-o -`, else HTML.

    Raises:
        UsageError: a format or suffix is unknown, `-o` lists several files, or `-o -` gets several formats.
    """
    if given is None:
        return [_by_suffix(output) or ("text" if output == "-" else "html")]
    formats = [name.strip() for name in given.split(",") if name.strip()]
    if strange := [name for name in formats or [given] if name not in FORMATS]:
        raise UsageError(f"--format {strange[0]}: {choice_hint(strange[0], FORMATS)}")
    if output == "-" and len(formats) > 1:
        raise UsageError("-o - takes one format")
    if len(formats) == 1 and _is_misnamed(output, formats[0]):
        raise UsageError(
            f"-o {output}: --format {formats[0]} goes into a file {FORMATS[formats[0]].suffix}; "
            "give a name with this suffix, or no --format"
        )
    return formats


def digest_of(names: Sequence[str]) -> str:
    """Return `-` and a short digest of the names of the inputs, which tells reports of masked names apart."""
    own = [
        name.rstrip("/").rpartition("/")[2] if "://" in name else Path(name).resolve().name for name in names
    ]
    return f"-{hashlib.sha256(os.fsencode('/'.join(own))).hexdigest()[:8]}"


def _is_misnamed(output: str | None, format_: str) -> bool:
    """Return True if a file's suffix is that of another format, and not the general `.txt`."""
    if not output or output == "-" or _is_folder(output):
        return False
    suffixes = {name: f".{each.suffix.rpartition('.')[2]}" for name, each in FORMATS.items()}
    suffix = Path(output).suffix
    if suffix in {"", ".txt", suffixes[format_]} or (format_, suffix) == ("sarif", ".json"):
        return False
    return suffix in suffixes.values()


def _by_suffix(output: str | None) -> str | None:
    if not output or _is_folder(output):
        return None
    suffix = Path(output).suffix
    known = {renderer.suffix: name for name, renderer in FORMATS.items()}
    fitting = [each for each in known if output.endswith(each)]
    if any(f"{each}," in output for each in known):
        raise UsageError(f"-o {output}: names one file; several formats: --format html,json -o DIR/")
    if suffix and not fitting:
        raise UsageError(f"-o {output}: no format has the suffix {suffix}; there are {', '.join(known)}")
    return known[max(fitting, key=len)] if fitting else None


def resolve_targets(output: str | None, formats: Sequence[str], inputs: Sequence[Path]) -> Targets:
    """Return the target given by `-o`, else the current directory; creates nothing.

    If the current directory lies inside the run or is not writable, the system's temporary directory is used.

    Raises:
        UsageError: the target lies inside the run, is not writable, or is one file for several formats.
    """
    if output is None:
        return Targets(_default_folder(inputs))
    path, is_folder = Path(output), _is_folder(output)
    if len(formats) > 1 and path.suffix in {FORMATS[each].suffix for each in formats} and not is_folder:
        what = f"{len(formats)} formats need a directory, for a file each"
        raise UsageError(f"-o {output}: {what}; write -o {output}/")
    targets = Targets(path) if is_folder or len(formats) > 1 else Targets(path.parent, path.name)
    folders = [each.resolve() for each in inputs if each.is_dir()]
    if _is_inside(targets.folder, folders) or path.resolve() in {each.resolve() for each in inputs}:
        raise UsageError(f"-o {output}: is inside the run, and nothing is ever written there")
    above = (targets.folder, *targets.folder.absolute().parents)
    there = next(each for each in above if os.access(each, os.F_OK))
    if not there.is_dir():
        raise UsageError(f"-o {output}: {there} is no directory")
    if not os.access(there, os.W_OK | os.X_OK):
        raise UsageError(f"-o {output}: nothing can be written to {there.absolute()}")
    return targets


def _is_folder(output: str) -> bool:
    try:
        return output.endswith("/") or Path(output).is_dir()
    except PermissionError as error:
        raise UsageError(f"-o {output}: {error.strerror}") from error


def _default_folder(inputs: Sequence[Path]) -> Path:
    """Return the current directory; the temporary directory if that is read-only or part of the run.

    Files that are named one by one lie in their run; a file alone is all of it.
    """
    places = [each.resolve() for each in inputs if not is_archive(each)]
    runs = [
        place if place.is_dir() else place.parent for place in places if place.is_dir() or len(places) > 1
    ]
    here = Path.cwd()
    if os.access(here, os.W_OK) and not _is_inside(here, runs):
        return here
    import tempfile

    return Path(tempfile.gettempdir())


def _is_inside(path: Path, folders: Sequence[Path]) -> bool:
    return any(folder in (path.resolve(), *path.resolve().parents) for folder in folders)


def _file_name(name: str) -> str:
    plain = "".join(letter if letter.isalnum() or letter in "-_." else "-" for letter in name)
    return plain.strip(".-") or "run"


def write(target: Path, text: str) -> None:
    """Write a report atomically; creates missing directories.

    Raises:
        UsageError: the file cannot be written.
    """
    content = text.encode("utf-8", "replace")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        if target.exists() and not target.is_file():  # a device or pipe cannot be replaced
            target.write_bytes(content)
        else:
            write_atomically(target, content)
    except OSError as error:
        raise UsageError(f"{target}: cannot be written: {error.strerror}") from error
