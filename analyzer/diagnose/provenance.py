"""Describes how a diagnosis was made: rules, library versions and command line."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import cast

from analyzer import __version__
from analyzer.model.budget import Limits
from analyzer.model.contract import MadeWith
from analyzer.model.options import AnalysisOptions
from analyzer.model.task_names import printable

MAX_NAMES = 8
"""Maximum number of input files listed in the command line."""
_LIBRARIES = ("polars", "hyperscan", "regex", "protobuf", "pyyaml", "jinja2")


def made_with(rules: Mapping[str, object], command: str) -> MadeWith:
    """Return the section `made_with` of the document; `rules` describes the rules that were evaluated."""
    own = {"mwms_analyze": __version__, **rules, "versions": library_versions()}
    return cast(MadeWith, own | ({"command": command} if command else {}))


@cache
def library_versions() -> Mapping[str, str]:
    """Return library → version, also of Python; versions come from the names of `.dist-info` directories."""
    found = {"python": sys.version.partition(" ")[0]}
    installed = dict(
        folder.stem.lower().split("-", 1)
        for place in reversed(sys.path)
        for folder in Path(place).glob("*-*.dist-info")
    )
    return found | {name: installed[name] for name in _LIBRARIES if name in installed}


def command_line(
    name: str,
    paths: Sequence[Path],
    options: AnalysisOptions,
    rule_directories: Sequence[str],
    baseline: str | None,
) -> str:
    """Return the command that repeats the analysis, with file names instead of absolute paths."""
    inputs = options.shown_paths or _inputs(paths, name)
    compared = ["--against", *_inputs(options.against, baseline)] if baseline else []
    words = [*inputs, *_options(options, rule_directories), *compared]
    return shlex.join(["mwms-analyze", *words, *(["--xprof"] if options.xprof_seconds else [])])


def _inputs(paths: Sequence[Path], name: str) -> Sequence[str]:
    """Return the names of the input paths; for a directory, the name of the run."""
    if len(paths) == 1:
        return [name if paths[0].is_dir() else printable(paths[0].name)]
    names = sorted({printable(path.name) for path in paths})
    return names if len(names) <= MAX_NAMES else [*names[:MAX_NAMES], "…"]


def _options(options: AnalysisOptions, rule_directories: Sequence[str]) -> Iterator[str]:
    for name in rule_directories:
        yield from ("--rules", name)
    if not options.packs:
        yield "--no-packs"
    if options.redaction != "secrets":
        yield from ("--redact", options.redaction)
    if options.budget != Limits():
        yield from ("--budget", str(options.budget))
