"""Masks secrets in a diagnosis and, on request, hosts, addresses, users and directories.

Runs once, on the diagnosis document, so that no renderer ever sees a secret. The patterns are our own, and
each runs only on texts that contain a certain literal: `detect-secrets` takes 0.27 s to import, as long as a
whole diagnosis, and expects values quoted as in source code, which logs rarely have.
"""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from analyzer.model.options import Redaction
from analyzer.redact.secrets import Secrets
from analyzer.redact.walk import rewrite, texts_of_run


def redact(
    document: Mapping[str, Any],
    redaction: Redaction = "secrets",
    texts: Iterable[str] = (),
    *,
    key: bytes = b"",
    shown: Collection[str] = (),
) -> dict[str, Any]:
    """Return the document with secrets masked and counted in `made_with.options`.

    With `topology`, hosts, addresses, users and directories get stable pseudonyms too. Their names are
    learned from the document and from `texts`, further texts of the run. Documents masked with one `key`, of
    at most 64 bytes, have equal tokens for equal secrets. Secrets of the kinds in `shown` are not masked.
    """
    secrets = Secrets(texts_of_run(document), key, shown)
    made: dict[str, Any] = dict(document)
    if secrets.masked:
        made = _with_options(rewrite(made, secrets.replacements), masked=str(secrets.masked))
    if redaction == "topology":
        from analyzer.redact.topology import Topology

        made = _with_options(rewrite(made, Topology(made, texts).replacements), redact="topology")
    return made


def _with_options(document: dict[str, Any], **options: str) -> dict[str, Any]:
    """Return the document with these options added to `made_with.options`, if it has that field."""
    made_with = document.get("made_with")
    if not isinstance(made_with, Mapping) or not isinstance(made_with.get("options"), Mapping):
        return document
    return {**document, "made_with": {**made_with, "options": {**made_with["options"], **options}}}
