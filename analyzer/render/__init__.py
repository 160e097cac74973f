"""Renderers: each a function of the diagnosis document alone, imported only when it is asked for."""

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import Any, NamedTuple, cast

Diagnosis = Mapping[str, Any]


class Renderer(NamedTuple):
    """One format: the suffix of its files and the module that has its `render`."""

    suffix: str
    module: str

    def render(self, diagnosis: Diagnosis) -> str:
        """Render a diagnosis document in this format."""
        return cast("str", import_module(f"analyzer.render.{self.module}").render(diagnosis))


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


def render(diagnosis: Diagnosis, format: str) -> str:  # noqa: A002  (the word the command line uses)
    """Render a diagnosis document in one of `FORMATS`."""
    return FORMATS[format].render(diagnosis)
