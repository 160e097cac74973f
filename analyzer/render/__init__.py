"""Renderers: each a function of the diagnosis document alone, imported only when it is asked for."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, cast

Diagnosis = Mapping[str, Any]
_SINCE: Mapping[str, Any] = MappingProxyType({"last_words": [], "collect": [], "events_left_out": 0})
_OF_FINDINGS: Mapping[str, Any] = MappingProxyType({"lacks": None})
"""What the contract demands by now and the first documents did not have, and what that means."""


class Renderer(NamedTuple):
    """One format: the suffix of its files and the module that has its `render`."""

    suffix: str
    module: str

    def render(self, diagnosis: Diagnosis) -> str:
        """Render a diagnosis document in this format."""
        return cast("str", self.load().render(completed(diagnosis)))

    def load(self) -> Any:  # noqa: ANN401  (a module)
        """Import what renders it."""
        return import_module(f"analyzer.render.{self.module}")

    def warm_up(self) -> None:
        """Import what renders it, and its templates if it has some: that may take longer than rendering."""
        getattr(self.load(), "warm_up", _nothing)()


FORMATS: Mapping[str, Renderer] = MappingProxyType(
    {
        "html": Renderer(".html", "page"),
        "json": Renderer(".json", "document"),
        "junit": Renderer(".xml", "junit"),
        "markdown": Renderer(".md", "markdown"),
        "sarif": Renderer(".sarif", "sarif"),
        "text": Renderer(".txt", "text"),
    }
)


def _nothing() -> None:
    """It has no templates."""


def completed(diagnosis: Diagnosis) -> Diagnosis:
    """Add what an old document lacks; one of today is as it was."""
    findings = [{**_OF_FINDINGS, **finding} for finding in diagnosis["findings"]]
    for finding in findings:
        finding["evidence"] = [_numbered(place) for place in finding["evidence"]]
    return {**_SINCE, **diagnosis, "findings": findings}


def _numbered(place: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return evidence with context in pairs: at first it was lines alone, and their numbers are not known."""
    if not any(isinstance(line, str) for line in place["context"]):
        return place
    return {**place, "context": [[None, line] for line in place["context"]]}


def render(diagnosis: Diagnosis, format: str) -> str:  # noqa: A002  (the word the command line uses)
    """Render a diagnosis document in one of `FORMATS`."""
    return FORMATS[format].render(diagnosis)
