"""TF_CONFIG files → facts."""

from __future__ import annotations

import json
import re

from analyzer.ingest.announcements import tf_config_facts
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.readings import Reading, whole_text, why_no_json
from analyzer.model import Source

_QUOTES = "'\" \t\r\n"
_OPENING = re.compile(rf"\s*(?:export\s+)?(?:TF_CONFIG\s*=)?[{_QUOTES}]*")
"""What stands before the JSON in a file for a shell."""


def read(source: Source, _matcher: Matcher) -> Reading:
    """What a worker was told about the cluster; a text that is no JSON is a fact too (`tf_config_error`).

    Raises:
        OSError: the file cannot be read.

    """
    reading = Reading(source)
    whole = whole_text(reading)
    opening = _OPENING.match(whole)
    begins = opening.end() if opening else 0
    text = whole[begins:].rstrip(_QUOTES)
    line = _line(whole, begins)
    reading.add("facts", line=line, key="tf_config", value=text[:4_000])
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = _line(whole, begins + getattr(error, "pos", 0))
        value = whole.split("\n")[line - 1][:400]
        reading.add("facts", line=line, key="tf_config_error", value=value)
        reading.lost(f"is no JSON: {why_no_json(error)}", line=line)
        return reading
    for key, value in tf_config_facts(config):
        reading.add("facts", line=line, key=key, value=value)
    return reading


def _line(text: str, at: int) -> int:
    return text.count("\n", 0, at) + 1
