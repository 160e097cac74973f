"""Renders a diagnosis document; each format has a module, which is imported on demand."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, cast

from analyzer.model.errors import UsageError

Diagnosis = Mapping[str, Any]
_DEFAULTS: Mapping[str, Any] = MappingProxyType({"last_words": [], "collect": [], "events_left_out": 0})
"""Default values of fields that documents of earlier versions lack."""
_FINDING_DEFAULTS: Mapping[str, Any] = MappingProxyType({"lacks": None})
"""Default values of finding fields that documents of earlier versions lack."""


class Renderer(NamedTuple):
    """An output format: file suffix, and name of the module with the function `render`."""

    suffix: str
    module: str

    def render(self, diagnosis: Diagnosis) -> str:
        """Return the diagnosis document in this format."""
        return cast("str", self.load().render(completed(diagnosis)))

    def load(self) -> Any:  # noqa: ANN401  (a module)
        """Import and return the module of this format."""
        return import_module(f"analyzer.render.{self.module}")


FORMATS: Mapping[str, Renderer] = MappingProxyType(
    {
        "github": Renderer(".github.txt", "ci.github"),
        "gitlab": Renderer(".gitlab.json", "ci.gitlab"),
        "html": Renderer(".html", "page"),
        "jira": Renderer(".jira", "posts.jira"),
        "json": Renderer(".json", "document"),
        "junit": Renderer(".xml", "ci.junit"),
        "markdown": Renderer(".md", "markdown"),
        "sarif": Renderer(".sarif", "ci.sarif"),
        "slack": Renderer(".slack.json", "posts.slack"),
        "text": Renderer(".txt", "text"),
    }
)


def completed(diagnosis: Diagnosis) -> Diagnosis:
    """Return the document with the fields that earlier versions of the schema lack set to their defaults."""
    findings = [{**_FINDING_DEFAULTS, **finding} for finding in diagnosis["findings"]]
    for finding in findings:
        finding["evidence"] = [_numbered(place) for place in finding["evidence"]]
    return {**_DEFAULTS, **diagnosis, "findings": findings}


def _numbered(place: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return evidence with its context as (number, line); earlier versions stored lines without numbers."""
    if not any(isinstance(line, str) for line in place["context"]):
        return place
    return {**place, "context": [[None, line] for line in place["context"]]}


def render(diagnosis: Diagnosis, format: str) -> str:  # noqa: A002  (the word the command line uses)
    """Return a diagnosis document in the given format, a key of `FORMATS`.

    Raises:
        UsageError: there is no such format, or the document is no diagnosis.
    """
    if format not in FORMATS:
        raise UsageError(f"no format {format}; choose from {', '.join(FORMATS)}")
    if "findings" not in diagnosis:
        raise UsageError("this is not a diagnosis; pass `run.diagnosis.document` or what --format json wrote")
    return FORMATS[format].render(diagnosis)
