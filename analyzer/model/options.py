"""Options of an analysis."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

from analyzer.model.budget import Limits

Redaction = Literal["secrets", "topology"]
"""What is masked: secrets always; for `topology` hosts, addresses, users and directories too."""

ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of a source, the bytes read of all sources, and the bytes of all sources."""


class AnalysisOptions(NamedTuple):
    """The options of one analysis; the defaults are those of the command line."""

    rules: tuple[Path, ...] = ()
    """Directories with rules to use in addition to those of the package."""
    packs: bool = True
    """Whether to use the rules and readers of installed packages."""
    redaction: Redaction = "secrets"
    budget: Limits = Limits()
    """The most that reading one run may take; the rest of its files is left out, and the report says so."""
    against: tuple[Path, ...] = ()
    """Paths of a good run; the diagnosis lists what differs from it."""
    xprof_seconds: float = 0.0
    """Time limit for running XProf on the traces; 0 skips XProf."""
    shown_paths: tuple[str, ...] = ()
    """Texts to show for the paths in the quoted command line: `-` for standard input."""
    progress: ProgressCallback | None = None
    warm_up: Callable[[], None] | None = None
    """Called once while large logs are being read, to prepare what the caller needs afterwards."""
