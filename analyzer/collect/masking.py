"""Masks secrets in descriptions of jobs, which hold the environments of their containers.

Variables whose name suggests a secret are masked whole; `redact` searches everything else for secrets.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from analyzer.ingest.platform.environments import SECRET_NAME
from analyzer.redact import redact

MASKED = "[masked]"
_ENVIRONMENTS = frozenset({"env", "Env", "environment", "Environment", "containerSpecEnv"})
_COPIES = frozenset({"kubectl.kubernetes.io/last-applied-configuration", "managedFields"})
"""Fields of Kubernetes that repeat the object, environments included."""


def masked(description: Any, key: bytes) -> Any:  # noqa: ANN401 - JSON
    """Return a job's description in JSON without its secrets; with one `key`, equal ones get equal tokens."""
    return redact({"description": _without_named_secrets(description)}, key=key)["description"]


def _without_named_secrets(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return JSON with secrets in environments masked, and without annotations that repeat the object."""
    if isinstance(value, Mapping):
        return {
            key: _environment(each) if key in _ENVIRONMENTS else _without_named_secrets(each)
            for key, each in value.items()
            if key not in _COPIES
        }
    return [_without_named_secrets(each) for each in value] if isinstance(value, list) else value


def _environment(value: Any) -> Any:  # noqa: ANN401 - JSON
    """Return an environment with secrets masked: a mapping, or a list of `NAME=value` or objects."""
    if isinstance(value, Mapping):
        return {name: _masked_value(name, each) for name, each in value.items()}
    return [_variable(each) for each in value] if isinstance(value, list) else value


def _variable(variable: Any) -> Any:  # noqa: ANN401 - JSON
    if isinstance(variable, str):
        name, equals, value = variable.partition("=")
        return f"{name}{equals}{_masked_value(name, value)}"
    if isinstance(variable, Mapping) and "value" in variable:
        return {**variable, "value": _masked_value(str(variable.get("name")), variable["value"])}
    return variable


def _masked_value(name: str, value: Any) -> Any:  # noqa: ANN401 - JSON
    return MASKED if SECRET_NAME.search(name) and value else value


def variable(environment: Iterable[Any], name: str) -> str | None:
    """Return the value of a variable in a list of `NAME=value` or of objects with name and value."""
    for each in environment:
        if isinstance(each, str) and each.startswith(f"{name}="):
            return each.partition("=")[2]
        if isinstance(each, Mapping) and each.get("name") == name and isinstance(each.get("value"), str):
            return str(each["value"])
    return None
