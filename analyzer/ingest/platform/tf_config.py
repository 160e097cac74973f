"""The contents of a TF_CONFIG → facts, in whatever file it was found."""

import json
import re

from analyzer.ingest.logs.fact_patterns import tf_config_facts
from analyzer.ingest.reader_output import SourceRows, why_no_json

_QUOTES = "'\" \t\r\n"
_OPENING = re.compile(rf"\s*(?:export\s+)?(?:TF_CONFIG\s*=)?[{_QUOTES}]*")
"""Shell syntax before the JSON."""


def add_facts(output: SourceRows, text_with_prefix: str, first: int) -> None:
    """Add the facts of a text that holds a TF_CONFIG; `first` is the line on which it begins."""
    opening = _OPENING.match(text_with_prefix)
    start = opening.end() if opening else 0
    text = text_with_prefix[start:].rstrip(_QUOTES)
    line = _line(text_with_prefix, start)
    quote = text_with_prefix.split("\n")[line - 1][:400]
    output.add("facts", line=first - 1 + line, key="tf_config", value=text[:4_000], excerpt=quote)
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = _line(text_with_prefix, start + getattr(error, "pos", 0))
        value = text_with_prefix.split("\n")[line - 1][:400]
        output.add("facts", line=first - 1 + line, key="tf_config_error", value=value)
        output.add_damage(f"is not JSON: {why_no_json(error)}", line=first - 1 + line)
        return
    for key, value in tf_config_facts(config):
        output.add("facts", line=first - 1 + line, key=key, value=value)


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
