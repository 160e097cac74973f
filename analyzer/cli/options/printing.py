"""Prints options as a configuration file would hold them, each with its origin."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from analyzer.cli.options.configuration import Setting


def as_toml(command: str, settings: Mapping[str, Setting]) -> str:
    """Return settings as a configuration file; passwords and the paths of webhooks are masked."""
    return "\n".join([f"[{command}]", *_settings(settings), *_tables(command, settings)]) + "\n"


def _settings(settings: Mapping[str, Setting]) -> Iterator[str]:
    for name, (value, origin) in settings.items():
        if isinstance(value, dict):
            continue
        key = name.replace("_", "-")
        shown = f"# {key} =" if value is None else f"{key} = {toml_value(_masked(name, value))}"
        yield f"{shown}  # {origin}"


def _tables(command: str, settings: Mapping[str, Setting]) -> Iterator[str]:
    for name, (value, origin) in settings.items():
        if isinstance(value, dict):
            yield from ("", f"[{command}.{name}]  # {origin}")
            yield from (f"{toml_value(key)} = {toml_value(text)}" for key, text in value.items())


def _masked(name: str, value: Any) -> Any:  # noqa: ANN401 - an option's value
    if isinstance(value, list):
        return [_masked(name, each) for each in value]
    if name in {"notify", "post"} and "$" not in value:
        from urllib.parse import urlsplit

        return f"{value.partition('://')[0]}://{urlsplit(value).hostname}/…"
    if name == "history" and value:
        return re.sub(r"(?<=:)[^:/@]+(?=@)", "***", value)
    return value


def toml_value(value: object) -> str:
    """Return a value as it stands in a configuration file."""
    import json

    return json.dumps(value, ensure_ascii=False, default=str)
