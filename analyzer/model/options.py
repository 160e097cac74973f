"""Options of an analysis."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from analyzer.model.budget import Limits
from analyzer.model.errors import UsageError

Redaction = Literal["secrets", "topology"]
"""What is masked: secrets always; for `topology` hosts, addresses, users and directories too."""

ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of a source, the bytes read of all sources, and those they have."""


class AnalysisOptions(NamedTuple):
    """The options of one analysis; the defaults are those of the command line."""

    rules: tuple[Path, ...] = ()
    packs: bool = True
    redaction: Redaction = "secrets"
    budget: Limits = Limits()
    against: tuple[Path, ...] = ()
    xprof_seconds: float = 0.0
    shown_paths: tuple[str, ...] = ()
    progress: ProgressCallback | None = None
    warm_up: Callable[[], None] | None = None


_MEANINGS = {
    "rules": "Directories with rules to use in addition to those of the package.",
    "packs": "Whether to use the rules and readers of installed packages.",
    "redaction": "What is masked: 'secrets', or 'topology' for hosts, addresses, users and directories too.",
    "budget": "The most that reading one run may take, `Limits(cpu_seconds, unpacked_gigabytes)` of "
    "analyzer.model.budget; the rest of its files is left out, and the report says so.",
    "against": "Paths of a good run; the diagnosis lists what differs from it.",
    "xprof_seconds": "Time limit in seconds for running XProf on the traces; 0 skips XProf.",
    "shown_paths": "Texts to show for the paths in the quoted command line: `-` for standard input.",
    "progress": "Called with the name of a source, the bytes read of all sources, and those they have.",
    "warm_up": "Called once while large logs are being read, to prepare what the caller needs afterwards.",
}
"""Field → what `help(AnalysisOptions)` says of it."""
for _field, _meaning in _MEANINGS.items():
    getattr(AnalysisOptions, _field).__doc__ = _meaning


def checked(options: AnalysisOptions) -> AnalysisOptions:
    """Return the options that a program gave, with texts as paths.

    Raises:
        UsageError: there is no such redaction.
        TypeError: an option has a wrong type; the message shows the right form.
    """
    if not isinstance(options, AnalysisOptions):
        raise TypeError(f"options is a {type(options).__name__}: pass AnalysisOptions(redaction=…)")
    if options.redaction not in get_args(Redaction):
        known = " or ".join(get_args(Redaction))
        raise UsageError(f"redaction is {options.redaction!r}; choose {known}")
    if not isinstance(options.budget, Limits):
        raise TypeError("budget is to be Limits(cpu_seconds, unpacked_gigabytes) of analyzer.model.budget")
    _require_types(options)
    return options._replace(rules=_paths("rules", options.rules), against=_paths("against", options.against))


def _require_types(options: AnalysisOptions) -> None:
    if not isinstance(options.packs, bool):
        raise TypeError(f"packs is {options.packs!r}; give True or False")
    seconds = options.xprof_seconds
    if not isinstance(seconds, int | float) or isinstance(seconds, bool):
        raise TypeError(f"xprof_seconds is {seconds!r}; give a number of seconds, 0 for no XProf")
    for name in ("progress", "warm_up"):
        given = getattr(options, name)
        if given is not None and not callable(given):
            raise TypeError(f"{name} is {given!r}; give a function or None")


def _paths(name: str, given: object) -> tuple[Path, ...]:
    if not isinstance(given, tuple | list) or not all(isinstance(each, str | Path) for each in given):
        raise TypeError(f'{name} is to be a tuple of paths, as in {name}=(Path("my-{name}"),)')
    return tuple(map(Path, given))
