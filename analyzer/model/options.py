"""Options of an analysis."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, NamedTuple

Redaction = Literal["secrets", "topology"]
"""What is masked: secrets always; for `topology` hosts, addresses, users and directories too."""

ProgressCallback = Callable[[str, int, int], None]
"""Called with the name of a source, the bytes read of all sources, and the bytes of all sources."""


class AnalysisOptions(NamedTuple):
    """The options of one analysis; the defaults are those of the command line."""

    rules: tuple[Path, ...] = ()
    """Directories of rules, tried beside those of the package."""
    redaction: Redaction = "secrets"
    against: tuple[Path, ...] = ()
    """A run that went well; the diagnosis says what differs from it."""
    xprof_seconds: float = 0.0
    """How long XProf may take to comment on the traces; 0 does not ask it."""
    shown_paths: tuple[str, ...] = ()
    """What the quoted command line shows instead of the paths: `-` for standard input."""
    progress: ProgressCallback | None = None
    warm_up: Callable[[], None] | None = None
    """Called once while large logs are being read, to prepare what the caller needs afterwards."""
