"""Finds traces that TensorFlow wrote in two formats, so that each profiling session counts once."""

import re
from collections.abc import Iterable

from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind

_CHROME = re.compile(r"\.?trace\.json(?:\.\w+)?$")
_XPLANE = re.compile(r"\.xplane\.pb(?:\.\w+)?$")


def is_chrome(source: Source) -> bool:
    """Return whether a trace is in Chrome's format, judged by its name."""
    return bool(_CHROME.search(source.name))


def duplicate_traces(sources: Iterable[Source]) -> dict[str, str]:
    """Map each Chrome trace to the xplane of the same session and host, if there is one, by name."""
    traces = [source for source in sources if source.kind is Kind.TRACE and not source.skip]
    planes = {_XPLANE.sub("", source.name): source.name for source in traces if not is_chrome(source)}
    stems = {source.name: _CHROME.sub("", source.name) for source in traces if is_chrome(source)}
    return {name: planes[stem] for name, stem in stems.items() if stem in planes}
