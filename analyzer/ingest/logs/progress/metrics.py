"""Metrics in a progress line: `loss 0.5`, `psnr=28.1`, `host_s: 0.02`, `350ms/step`.

Durations become seconds: a tag that states seconds stays as it is (`host_s`), others end with `_seconds`; the
duration of a whole step is `step_seconds`.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from analyzer.model.lazy_regex import lazy_regex
from analyzer.tables.metric_names import LOSS_WORDS, PART_OF_LOSS

NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf|infinity)"
_ZEROS = r"(?:0+(?=nan|inf))?"
"""Regex for what a format such as `07.5f` puts before NaN."""
_KNOWN = lazy_regex(
    r"(?<![\w.])[\"']?(?P<name>(?:[A-Za-z_][\w.]*[_./-])?(?:\w*loss|"
    rf"\w*loss{PART_OF_LOSS}(?:_[ab])?|{LOSS_WORDS}|nll|perplexity|ppl|cost|accuracy|acc|auc|f1"
    r"|mae|mse|rmse|bleu|iou|lr|learning_rate|grad_norm|gradient_norm|step_time|it_time|sec/step|examples/sec))"
    rf"[\"']?\s*(?:[:=]|\bis\b|\s)\s*[\"'\[(]?\s*{_ZEROS}(?P<number>{NUMBER})(?P<unit>ms|us|s)?\b",
    re.IGNORECASE,
)
_PAIR = lazy_regex(
    r"(?<![\w./-])[\"']?(?P<name>[A-Za-z_][\w./-]*)[\"']?\s{0,2}[:=]\s{0,2}[\"']?"
    rf"{_ZEROS}(?P<number>{NUMBER})(?: ?(?P<unit>ms|us|s|secs?|seconds))?(?![\w:/])(?!\.\d)",
    re.IGNORECASE,
)
_SPACED = lazy_regex(
    r"(?<![\w./=:-])(?!(?:after|and|are|at|by|for|from|in|is|of|on|or|than|to|took|v|was|with)\b)"
    r"(?P<name>[A-Za-z_][\w./-]*) {1,12}(?P<number>[-+]?(?:\d+\.\d+(?:e[-+]?\d+)?|nan|inf))"
    r"(?P<unit>ms|us|s)?(?![\w:/%]|\.\d)",
    re.IGNORECASE,
)
"""Regex for a name and its value with nothing but spaces between them: `G 0.693  D nan`."""
_SPACED_DURATION = lazy_regex(
    r"(?<![\w./=:-])(?!(?:after|and|are|at|by|every|for|from|in|is|last|of|on|or|than|to|took|was|with)\b)"
    r"(?P<name>[A-Za-z_]\w*) {1,12}(?P<number>\d+(?:\.\d+)?) ?(?P<unit>ms|us|s|secs?|seconds)"
    r"(?![\w:/%]|\.\d)",
    re.IGNORECASE,
)
"""Regex for a name and a duration with nothing but spaces between them: `compute 812 ms`."""
_AT_POSITION = lazy_regex(
    r"(?<![\w.])(?P<name>(?:(?:val|valid|validation|eval|evaluation|test|dev|best)[ _])?"
    rf"(?:\w*loss|cost|{LOSS_WORDS}))(?: \([^()]{{1,40}}\))?"
    r" (?:after|at|for|in|of|over) (?:step|iteration|iter|batch|epoch)s?\s?#?\d+(?:\s?/\s?\d+)?"
    rf"\s*(?:[:=]|is\b|was\b)\s*(?P<number>{NUMBER})(?P<unit>)\b",
    re.IGNORECASE,
)
"""Regex for a loss that stands behind its step or epoch: `Training loss (for one batch) at step 40: 0.31`."""
_SUMMARIZED = lazy_regex(
    r"(?<![\w.])(?P<name>(?:[A-Za-z_]\w*[_/])?loss)\b[:=]?"
    rf"(?:[ (,]{{1,3}}(?:first|last|start|end|min|max|std|median)\b[ =:)]{{1,3}}{NUMBER}(?![\w.])){{0,4}}"
    rf"[ (,]{{1,3}}(?:mean|avg|average)\b[ =:)]{{1,3}}(?P<number>{NUMBER})(?P<unit>)(?![\w.]*\w)",
    re.IGNORECASE,
)
"""Regex for a loss of several steps at once, of which the mean counts: `loss min 0.2 max 0.9 mean 0.5`."""
_RATE = lazy_regex(r"(?<![\w.])(?P<number>\d+(?:\.\d+)?) ?(?P<unit>ms|us|s)/(?P<name>step|it|iter|batch)\b")
_METER = lazy_regex(r"(?<![\w.])(?P<name>Time|Data):? {1,6}(?P<number>\d+\.\d+) \( ?\d+\.\d+\)")
"""Regex for one of the two meters of a step in PyTorch's examples, in seconds: `Data  0.441 (0.446)`."""
_METERS = {"Time": "step_seconds", "Data": "data_seconds"}
_NO_METRICS = frozenset({
    "attempt", "batch", "date", "elapsed", "epoch", "epochs", "eta", "global_step", "host", "id", "index",
    "it", "iter", "iteration", "iterations", "iters", "job", "line", "lineno", "localhost", "node",
    "num_workers", "pid", "port", "process", "rank", "replica", "seed", "shard", "step", "steps", "task",
    "thread", "time", "timestamp", "total", "train_step", "version", "worker", "workers", "world_size",
})  # fmt: skip
"""Names of positions, times, counts and settings, which are no metrics."""
_UNITS = {
    "s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "time": 1.0, "ms": 1e-3, "us": 1e-6,
}  # fmt: skip
_SETTING = lazy_regex(r"(?:^|[_./-])(?:lr|learning_rate)$", re.IGNORECASE)
_A_STEP = r"(?:step|it|iter|iteration|batch)"
_UNIT = r"(?:s|secs?|seconds|ms|us|time)"
_STEP_DURATION = lazy_regex(
    rf"(?:\w+[_/.])??(?:(?P<per>{_UNIT})(?:/|_per_){_A_STEP}|{_A_STEP}_(?P<unit>{_UNIT}))$", re.IGNORECASE
)
_DURATION = lazy_regex(rf"(?P<stem>\w+?)_(?P<unit>{_UNIT})$", re.IGNORECASE)
_LOCAL = lazy_regex(
    r"local|per[_ -]?replica|per[_ -]?worker|this[_ -]?(?:rank|replica|worker)"
    r"|(?<![a-z][_ -])replica[_ -]loss",
    re.IGNORECASE,
)
_OF_EACH = lazy_regex(
    r"(?:\d\s*[a-z][\w/]{0,20}|\b(?:batch|batch[ _-]?size|rate|speed|throughput))"
    r"[ _-]per[ _-]?(?:replica|worker|rank)\b",
    re.IGNORECASE,
)
"""Regex for a rate or a size that is each worker's: `823.1 img/sec per worker`."""
_GLOBAL = lazy_regex(
    r"global[_ -]?(?:loss|acc|mean|avg)|reduced|all[_ -]?reduce|aggregat|across", re.IGNORECASE
)

Span = tuple[int, int]
"""Start and end of a substring."""


class Metric(NamedTuple):
    """The position of a metric in a line: spans of its name, number and unit."""

    name: Span
    number: Span
    unit: Span | None
    scope: str
    tag: str | None = None
    """The tag, if it does not follow from name and unit."""

    def read(self, text: str) -> tuple[str, float]:
        """Return tag and value."""
        if self.tag is not None:
            return self.tag, float(text[slice(*self.number)])
        unit = text[slice(*self.unit)].lower() if self.unit else ""
        tag, factor = tag_of(text[slice(*self.name)], unit)
        return tag, float(text[slice(*self.number)]) * factor


@lru_cache(maxsize=1024)
def tag_of(name: str, unit: str = "") -> tuple[str, float]:
    """Return the tag for a metric's name, and the factor that turns its values into the tag's unit."""
    if duration := _STEP_DURATION.match(name):
        return "step_seconds", _UNITS[unit or (duration["per"] or duration["unit"]).lower()]
    if duration := _DURATION.match(name):
        factor = _UNITS[unit or duration["unit"].lower()]
        return (name if factor == 1.0 else f"{duration['stem']}_seconds"), factor
    if unit:
        return ("step" if name in {"it", "iter", "batch"} else name) + "_seconds", _UNITS[unit]
    return name, 1.0


def has_known(text: str) -> bool:
    """Return whether a line has a metric with a well-known name."""
    return any(words.search(text) for words in (_KNOWN, _AT_POSITION, _SUMMARIZED))


def has_outcome(text: str) -> bool:
    """Return whether a line has a well-known metric other than the learning rate, which is a setting."""
    named = (not _SETTING.search(match["name"]) for match in _KNOWN.finditer(text))
    return any(named) or any(words.search(text) for words in (_AT_POSITION, _SUMMARIZED))


def has_pair(text: str) -> bool:
    """Return whether a line has a metric of any name, `name: number` or `name=number`."""
    return any(is_metric(match["name"]) for match in _PAIR.finditer(text))


def has_spaced(text: str) -> bool:
    """Return whether a line has a metric with nothing but spaces before its value: `G 0.693`."""
    return any(is_metric(match["name"]) for match in _SPACED.finditer(text))


def metrics(text: str) -> Iterator[Metric]:
    """Yield the metrics of a line in order."""
    around = _KNOWN.sub("", text)
    meters = {match.start("number"): _METERS[match["name"]] for match in _METER.finditer(text)}
    meters = meters if {*_METERS.values()} <= {*meters.values()} else {}
    known = [*_KNOWN.finditer(text), *_AT_POSITION.finditer(text), *_SUMMARIZED.finditer(text)]
    found = {match.start("number"): match for match in (*_RATE.finditer(text), *known)}
    if meters:
        found |= {match.start("number"): match for match in _METER.finditer(text)}
    spaced = (*_SPACED_DURATION.finditer(text), *_SPACED.finditer(text))
    for match in (*_PAIR.finditer(text), *spaced):
        if is_metric(match["name"]):
            found.setdefault(match.start("number"), match)
    for match in sorted(found.values(), key=lambda match: match.start("number")):
        if tag := meters.get(match.start("number")):
            yield Metric(match.span("name"), match.span("number"), None, "local", tag)
            continue
        unit = match.span("unit") if match["unit"] else None
        timed = unit or _STEP_DURATION.match(match["name"]) or _DURATION.match(match["name"])
        scope = "local" if timed else scope_of(match["name"], around)
        yield Metric(match.span("name"), match.span("number"), unit, scope)


def is_metric(name: str) -> bool:
    """Return False for the name of a position, and for a file with its line: `train.py:42`."""
    return name.lower() not in _NO_METRICS and name.count(".") < 2 and not name.endswith(".py")


def step_rate(text: str) -> Iterator[Metric]:
    """Yield the time per step that Keras prints after its bars: `350ms/step`."""
    for match in _RATE.finditer(text):
        yield Metric(match.span("name"), match.span("number"), match.span("unit"), "local")


def scope_of(tag: str, text: str = "") -> str:
    """Return `local`, `global` or `unknown` from a metric's name, or else from its line.

    A rate that the line gives per worker says nothing of its loss.
    """
    for words in (tag, _OF_EACH.sub("", text)):
        if _LOCAL.search(words):
            return "local"
        if _GLOBAL.search(words):
            return "global"
    return "unknown"
