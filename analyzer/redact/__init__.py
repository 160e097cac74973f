"""What must not travel with a report: secrets always, hosts and people where that is asked for.

Masked once, on the diagnosis document, so that no renderer ever sees a secret. `detect-secrets` was tried
first: it takes 0.27 s to import, as long as a whole diagnosis, and looks at one line at a time for values
that are quoted as in source code, which logs are not. So the patterns are our own, each behind a literal
that must occur first: a document without one of them is only searched for words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analyzer.model.options import Redaction
from analyzer.redact.secrets import Secrets
from analyzer.redact.walk import rewritten, strings


def redact(document: Mapping[str, Any], redaction: Redaction = "secrets") -> dict[str, Any]:
    """The document without its secrets, which are counted in `made_with.options`.

    For `topology`, hosts, addresses and people get stable names too, so that it can leave the company.
    """
    secrets = Secrets(strings(document))
    made: dict[str, Any] = dict(document)
    if secrets.masked:
        made = _noted(rewritten(made, secrets.found), masked=str(secrets.masked))
    if redaction == "topology":
        from analyzer.redact.topology import Topology

        made = _noted(rewritten(made, Topology(made).found), redact="topology")
    return made


def _noted(document: dict[str, Any], **options: str) -> dict[str, Any]:
    """The document with more `made_with.options`, where it has such a place."""
    made_with = document.get("made_with")
    if not isinstance(made_with, Mapping) or not isinstance(made_with.get("options"), Mapping):
        return document
    return {**document, "made_with": {**made_with, "options": {**made_with["options"], **options}}}
