"""Checksums and norms of the weights that training loops print, to compare between workers.

Replicas in sync have equal weights to the last bit, so their checksums and norms are equal too.
Norms of gradients and of updates are no fingerprint of the weights: each replica has its own.
"""

import re
from collections.abc import Iterator

from analyzer.model.lazy_regex import lazy_regex

_WEIGHTS = (
    r"(?:weights?|params?|parameters?|variables?|theta|model[ _-]?(?:state|weights)|model"
    r"|gewichte?|pesos|poids|веса|权重|重み)"
)
_SUM = r"(?:sha[-_]?\d*|md5|crc[-_]?\d*|hash|digest|check[-_ ]?sum|fingerprint|(?:l2[-_ ]?)?norm)"
_VALUE = r"[\"'\[(]?\s{0,2}(?P<value>\d+\.\d{4,}(?:e[-+]?\d+)?|(?:0x)?[0-9a-f]{6,64})\b(?!\.\d)"
_FINGERPRINT = lazy_regex(
    r"(?<![a-z])(?<!grad[ _])(?<!gradient[ _])(?<!gradients[ _])(?<!update[ _])(?<!delta[ _])"
    rf"(?P<name>{_WEIGHTS}[ _./-]{{0,2}}{_SUM}|{_SUM} of (?:the |all )?{_WEIGHTS}"
    rf"|(?<!\|)\|{{1,2}}(?:theta|w|weights|params)\|{{1,2}}|w[ _](?:sha\d*|md5|crc\d*|hash|checksum|norm))"
    rf"(?![a-z])[\"']?\s{{0,3}}[:=]?\s{{0,3}}{_VALUE}",
    re.IGNORECASE,
)
_HINTS = ("sha", "md5", "crc", "hash", "digest", "sum", "fingerprint", "norm", "|")
_MAX_LINE_CHARS = 2_000
"""Longer lines are not searched."""


def fingerprints(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name, value) of each checksum or norm of the weights in a line: `weights sha1=72fb1a475bd1`."""
    lower = text.lower()
    if len(text) > _MAX_LINE_CHARS or not any(map(lower.__contains__, _HINTS)):
        return
    for found in _FINGERPRINT.finditer(text):
        yield found["name"], found["value"].lower()
