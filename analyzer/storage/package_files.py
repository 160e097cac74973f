"""Paths of files that travel with the package, and of the user's cache directory."""

import os
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent.parent


def resource(*parts: str) -> Path:
    """Return the path of packaged data, e.g. `resource("reports", "templates")`.

    A wheel carries it inside the package; a checkout has it next to the package.
    """
    installed = _PACKAGE / "_data"
    return (installed if installed.is_dir() else _PACKAGE.parent).joinpath(*parts)


def cache_directory() -> Path | None:
    """Return the user's cache directory, created if missing; None if it is not safe to use.

    Cached code is executed, so the directory must belong to the user and be writable by nobody else.
    """
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")  # noqa: PTH111 - keeps an unknown home as text
    folder = Path(base, "mwms-analyze")
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    is_private = status.st_uid == os.getuid() and not status.st_mode & 0o022
    return folder if is_private and os.access(folder, os.W_OK) else None
