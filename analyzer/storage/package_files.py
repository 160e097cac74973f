"""Where things lie that are not code: what travels with the package, and what is kept between calls."""

from __future__ import annotations

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def resource(*parts: str) -> Path:
    """Return the path of packaged data, e.g. `resource("reports", "templates")`.

    A wheel carries it inside the package; a checkout has it beside the package.
    """
    installed = _PACKAGE / "_data"
    return (installed if installed.is_dir() else _PACKAGE.parent).joinpath(*parts)


def cache_directory() -> Path | None:
    """Return the user's own directory for compiled things, or None where none can be had.

    Everything in it can be made again; it is never below a run. It holds code that is run, so a directory
    to which anybody else can write is none.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - a bare HOME stays a text
    folder = Path(base, "mwms-analyze")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    ours = status.st_uid == os.getuid() and not status.st_mode & 0o022
    return folder if ours and os.access(folder, os.W_OK) else None
