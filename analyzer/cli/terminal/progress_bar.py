"""Progress bar for reading a run: appears on the terminal after two seconds and is erased at the end."""

import os
import sys
import time
from typing import Self, TextIO

from analyzer.render.formatting import size
from analyzer.render.sanitize import one_line

DELAY_SECONDS = 2.0
"""Seconds before the bar appears."""

_REDRAW_SECONDS = 0.1
"""Seconds between updates."""
_BAR_WIDTH = 20
_ERASE = "\r\x1b[K"


class ProgressBar:
    """Draws one line on standard error and erases it on exit; does nothing without a terminal."""

    def __init__(self, screen: TextIO | None = None) -> None:
        self._screen = screen or sys.stderr
        self._visible = _is_terminal(self._screen)
        self._next = time.monotonic() + DELAY_SECONDS
        self._drawn = False

    def __enter__(self) -> Self:
        return self

    def __call__(self, source: str, done: int, whole: int) -> None:
        """Show that `done` of `whole` bytes are read; `source` is the current file."""
        now = time.monotonic()
        if self._visible and now >= self._next:
            self._next, self._drawn = now + _REDRAW_SECONDS, True
            self._write(_ERASE + _line(source, done, max(whole, 1))[: self._columns() - 1])

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            self._write(_ERASE)

    def _write(self, text: str) -> None:
        try:
            self._screen.write(text)
            self._screen.flush()
        except (OSError, UnicodeError):  # the terminal is gone, or cannot show these characters
            self._visible = False

    def _columns(self) -> int:
        try:
            return os.get_terminal_size(self._screen.fileno()).columns or 80
        except (OSError, ValueError):
            return 80


def _is_terminal(screen: TextIO | None) -> bool:
    return screen is not None and screen.isatty() and os.environ.get("TERM") != "dumb"


def _line(source: str, done: int, whole: int) -> str:
    share = min(done / whole, 1.0)
    bar = "#" * round(share * _BAR_WIDTH)
    return f"reading [{bar:.<{_BAR_WIDTH}}] {share:4.0%} of {size(whole)}  {one_line(source, 60)}"
