"""TF_CONFIG files → facts."""

from __future__ import annotations

import json

from analyzer.ingest.announcements import tf_config_facts
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.packed import unpacked
from analyzer.ingest.readings import Reading
from analyzer.ingest.text import decode
from analyzer.model import Source


def read(source: Source, _matcher: Matcher) -> Reading:
    """What a worker was told about the cluster; a text that is no JSON is a fact too (`tf_config_error`).

    Raises:
        OSError: the file cannot be read.

    """
    reading = Reading(source)
    data, damage = unpacked(source.path)
    if damage:
        reading.lost(damage)
    reading.bytes, text = len(data), decode(data).strip()
    reading.lines = text.count("\n") + 1 if text else 0
    text = text.removeprefix("export ").removeprefix("TF_CONFIG=").strip("'\"\n ")
    reading.add("facts", line=1, key="tf_config", value=text[:4_000])
    try:
        config = json.loads(text)
    except (ValueError, RecursionError) as error:
        line = getattr(error, "lineno", 1)
        reading.add("facts", line=line, key="tf_config_error", value=text.split("\n")[line - 1][:400])
        return reading
    for key, value in tf_config_facts(config):
        reading.add("facts", line=1, key=key, value=value)
    return reading
