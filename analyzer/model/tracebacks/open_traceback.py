"""Decides line by line what belongs to a traceback that is being read."""

import re

from analyzer.model.tracebacks.lines import (
    ERROR,
    FRAME_LINE,
    header_of,
    is_within,
    prefix_pattern,
    reported_error,
)


class OpenTraceback:
    """Parser of a traceback, fed line by line: finds its extent and the line that names the exception."""

    def __init__(self, first: str) -> None:
        """Start with the first line of the traceback."""
        self.ending: str | None = None
        """The line that names the exception; None until it has been read."""
        self._raised: str | None = None
        self._prefix: re.Pattern[str] | None = None
        header = header_of(first)
        self.has_header = header is not None
        if header:
            self._open(first, header)
        elif not FRAME_LINE.match(first):
            logged = reported_error(first)
            self.ending = first[logged.start("error") :] if logged else first

    def _open(self, line: str, header: re.Match[str]) -> None:
        self.has_header, self.ending, self._raised = True, None, header["raised"]
        if self._prefix is None:
            self._prefix = prefix_pattern(line[: header.start()])

    def continues(self, line: str) -> bool | None:
        """Return whether a line belongs to the traceback; None if only the log reader can decide."""
        text = self._bare(line)
        if header_of(line):
            return True
        if not self.has_header:
            return self._continues_headless(text)
        return True if text is not line or is_within(text) else None

    def _continues_headless(self, text: str) -> bool | None:
        if self.ending is not None:
            return True if not text or text[0] in " \t" else None
        belongs = is_within(text) or text.startswith("Node: ")
        return belongs or (FRAME_LINE.match(text) or ERROR.match(text)) is not None

    def add(self, line: str) -> None:
        """Append the next line of the traceback."""
        if header := header_of(line):
            self._open(line, header)
            return
        text = self._bare(line) if self.has_header else line.lstrip(" ")
        if self.ending is not None or is_within(text):
            return
        if not self.has_header and not ERROR.match(text):
            return
        if self._raised is None or re.match(rf"(?:\w+\.)*{self._raised}\b", text):
            self.ending = text

    @property
    def has_error(self) -> bool:
        """Return True if a header or an error was read; a stack that was only printed has neither."""
        return self.has_header or self.ending is not None

    def reopen(self) -> None:
        """Prepare for the next exception of a chain, which has its own header."""
        self.has_header, self.ending = True, None

    def _bare(self, line: str) -> str:
        """Return a line without the prefix that the header had; the line itself if it lacks that prefix."""
        match = self._prefix.match(line) if self._prefix else None
        return line[match.end() :] if match else line
