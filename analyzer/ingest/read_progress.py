"""Counts the bytes read from all sources."""

from __future__ import annotations

from collections.abc import Sequence

from analyzer.model.options import ProgressCallback
from analyzer.model.run import Source


class ReadProgress:
    """Sums the bytes read per source and reports them; sources are read one after the other."""

    def __init__(self, sources: Sequence[Source], callback: ProgressCallback | None) -> None:
        self._sizes = {source.name: _size(source) for source in sources}
        self._total, self._done, self._callback = sum(self._sizes.values()), 0, callback

    def size(self, source: Source) -> int:
        """Return the size of a source in bytes; 0 if it is not read."""
        return self._sizes[source.name]

    def advance(self, source: Source, offset: int) -> None:
        """Note that the current source has been read up to an offset."""
        if self._callback:
            self._callback(source.name, self._done + min(offset, self.size(source)), self._total)

    def finish(self, source: Source) -> None:
        """Note that a source has been read."""
        self._done += self.size(source)
        self.advance(source, 0)


def _size(source: Source) -> int:
    try:
        return 0 if source.skip else source.path.stat().st_size
    except OSError:
        return 0
