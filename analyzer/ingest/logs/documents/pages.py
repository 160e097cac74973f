"""HTML pages of logs, as consoles of CI servers save them: the lines of what is preformatted."""

from collections.abc import Sequence
from html.parser import HTMLParser

from analyzer.ingest.logs.collectors.headings import stream_below
from analyzer.ingest.logs.documents import NoLogsError, TextLine

_HEADINGS = frozenset({"title", "h1", "h2", "h3", "h4", "h5", "h6", "summary"})


def read(data: bytes) -> Sequence[TextLine]:
    """Return the lines of all `pre` elements; a heading above one that names a task names their writer.

    Raises:
        NoLogsError: there is no such element.

    """
    page = _Page()
    page.feed(data.decode("utf-8", "replace"))
    page.close()
    if not page.lines:
        raise NoLogsError("an HTML page without preformatted text; save the log as text")
    return page.lines


class _Page(HTMLParser):
    """Collects the lines of preformatted text, without numbers of lines that are links."""

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[TextLine] = []
        self._stream, self._heading, self._text = "", "", ""
        self._open: list[str] = []
        """Elements around the present place that matter: headings, links, `pre`."""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Note what begins."""
        del attrs
        if tag == "br" and "pre" in self._open:
            self._text += "\n"
        if tag in _HEADINGS:
            self._heading = ""
        if tag in {*_HEADINGS, "a", "pre"}:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        """Add the lines of preformatted text that ends, and take the name from a heading that ends."""
        if tag not in self._open:
            return
        while self._open.pop() != tag:
            pass
        if tag in _HEADINGS:
            self._stream = stream_below(f"[{self._heading.strip().rstrip(':')}]") or self._stream
        if tag == "pre":
            self._end_text()

    def handle_data(self, data: str) -> None:
        """Add text to the heading or to the preformatted text that it belongs to."""
        inside = self._open[-1] if self._open else ""
        if inside in _HEADINGS:
            self._heading += data
        elif "pre" in self._open and not (inside == "a" and data.strip().isdigit()):
            self._text += data

    def close(self) -> None:
        """End the text of a page that was cut."""
        super().close()
        self._end_text()

    def _end_text(self) -> None:
        lines = self._text.strip("\n").split("\n") if self._text.strip() else ()
        self.lines += (TextLine(self._stream, line) for line in lines)
        self._text = ""
