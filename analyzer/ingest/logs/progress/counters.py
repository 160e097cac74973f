"""Counters of steps by names other than the usual ones, such as `round 12: bce 0.31`."""

import re
from functools import lru_cache

from analyzer.ingest.logs.progress.layouts import NOT_PROGRESS
from analyzer.ingest.logs.progress.metrics import has_pair, metrics
from analyzer.ingest.logs.progress.points import MAX_LINE_CHARS, Layout
from analyzer.model.lazy_regex import lazy_regex

_COUNTER = lazy_regex(
    r"(?i)\s{0,40}\W{0,3}(?:[\w.-]{1,24}(?:\W{1,3}|\s{1,30})){0,3}?(?<![\w.-])"
    r"(?!(?:attempts?|day(?!=)|device|file|gpu|host|id|jobs?|line|node|part|pid|port|process|rank|replica|restarts?"
    r"|retr(?:y|ies)|seed|shard|task|thread|try|uptime|version|wait\w*|workers?)\b)"
    r"(?P<name>[^\W\d]{2,24}[\s:=#]|[iknt]=)[\s:=#]{0,2}(?P<count>\d+)"
    r"(?![\w.%-]|[,:]\d| ?(?:[mu]?s|secs?|seconds|[kmg]i?b|bytes)\b)"
    r"(?:\s*(?:/|of)\s*(?P<total>\d+))?(?=.*?[\s=:(][-+]?\d+\.\d)"
)
"""Regex for a counter of any name near the start of a line with a decimal, as `round 12: bce 0.31`.

Columns of a logger may stand before it, filled with spaces.
"""
_COUNTER_NAMES = r"(?:update|round|cycle|tick|episode|generation|timestep)s?"
_COUNTER_BY_NAME = lazy_regex(
    rf"(?i)(?<![\w.-])(?P<name>{_COUNTER_NAMES})[=:] ?(?P<count>\d+)"
    r"(?![\w.%-]|[,:]\d)(?:\s*(?:/|of=?)\s*(?P<total>\d+))?"
)
"""Regex for a counter of a usual name anywhere in its line, as in `reward=3.1 update=32`."""
_USUAL = lazy_regex(rf"{_COUNTER_NAMES}[\s:=#]?", re.IGNORECASE)
_TRIAL = lazy_regex(r"Trial \d+ finished with values?: .+?(?= and parameters: )")
"""Regex for what Optuna logs at the end of a trial, but for the parameters that it had tried."""
_RISES = 2
"""How often a counter must have grown before its lines are progress."""
_MAX_COUNTERS = 50


@lru_cache(maxsize=4096)
def counter_layout(shape: str) -> tuple[str, Layout] | None:
    """Return (key, layout) of a line with a counter of any name, such as `round 12`; None without one.

    The key identifies the counter in other lines: its usual name, or the text before it.
    """
    shape = trial[0] if (trial := _TRIAL.match(shape)) else shape
    if len(shape) > MAX_LINE_CHARS or NOT_PROGRESS.search(shape):
        return None
    match, at = _COUNTER.match(shape), 0
    named = None if match and _USUAL.fullmatch(match["name"]) else _COUNTER_BY_NAME.search(shape)
    if named and has_pair(shape):
        match, at = named, named.start()
    if not match:
        return None
    span, total = match.span("count"), match.span("total") if match["total"] else None
    key = re.sub(r"[-+.0\s]", "", shape[at : span[0]])
    values = tuple(metric for metric in metrics(shape) if metric.number != span)
    return key, Layout("loop", (None, None, span, total), values)


class Counters:
    """Counters of one source by the words before them; the first that grows often enough counts steps."""

    def __init__(self) -> None:
        """Create for a source of which no line has been read."""
        self._seen: dict[str, tuple[int, int, int]] = {}
        """Words before a counter → its first and last value, and how often it has grown in a row."""
        self._chosen = ""

    def counts_steps(self, key: str, count: int) -> bool:
        """Return whether the counter behind these words has grown often enough, as the first one that has.

        It may begin again at 0, at 1 or at its first value.
        """
        if self._chosen not in {"", key} or (key not in self._seen and len(self._seen) >= _MAX_COUNTERS):
            return False
        first, last, rises = self._seen.get(key, (count, count, 0))
        rises = rises + (count > last) if count >= last or count in {0, 1, first} else 0
        self._seen[key] = (first, count, rises)
        if rises >= _RISES:
            self._chosen = key
        return rises >= _RISES
