"""Progress lines → scalars: Keras bars, `verbose=2`, Estimator, tqdm, and custom training loops.

A value is *global* if TensorFlow has reduced it over all replicas (everything that `fit` prints), *local* if
its name says so, and *unknown* in a custom loop that does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from analyzer.model.schema import LARGEST_INT

_NUMBER = r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+|nan|inf|infinity)\b"
_EPOCH = re.compile(r"\s*Epoch (\d+)/(\d+)\s*$")
_BAR = re.compile(r"\s*(\d+)/(\d+|Unknown) ?(?:\[[=>.]*\]|[━ ]{2,}|(?= ?-? ?\d+m?s))(?=.*?(?:- |\ds|ETA))")
_METRIC = re.compile(rf" - ([A-Za-z_][\w./]*): ({_NUMBER})", re.IGNORECASE)
_KEY = r"[\"']?\s*[:=#]?\s*[\"'\[(]?\s*"
_STEP = re.compile(
    rf"(?<![a-z_-])(?:(?:global|train|training)[_ ]?)?(?:step|iteration|iter|batch|it)s?"
    rf"(?:[_ ]?(?:no|num|number|idx))?{_KEY}(\d+)(?:\s*(?:/|of)\s*(\d+))?",
    re.IGNORECASE,
)
_LEADING_STEP = re.compile(
    r"\W{0,3}(?:[\w.-]{1,24}\W{1,3}){0,3}?(?:(?:global|train|training)[_ ]?)?(?:step|iteration|iter)"
    r"[\s:=#]{1,3}\d+\b(?!\s*(?:=|seconds|s\b|ms\b))",
    re.IGNORECASE,
)
_CUSTOM_EPOCH = re.compile(rf"(?<![a-z])epoch{_KEY}(\d+)(?:\s*(?:/|of)\s*(\d+))?", re.IGNORECASE)
_TQDM = re.compile(r"[^|]{0,60}?\d{1,3}%\|[^|]*\|\s*(\d+)/(\d+) \[")
_VALUE = re.compile(
    rf"(?<![\w.])[\"']?((?:[A-Za-z_][\w.]*[_./-])?(?:loss|nll|perplexity|cost|accuracy|acc|mae|mse"
    rf"|lr|learning_rate|grad_norm|gradient_norm|step_time|it_time|sec/step|it/s|examples/sec))[\"']?"
    rf"\s*(?:[:=]|\bis\b|\s)\s*[\"'\[(]?\s*({_NUMBER})",
    re.IGNORECASE,
)
_HINT = re.compile(r"\d+/(?:\d+|Unknown)|step|iter|batch|epoch|loss", re.IGNORECASE)
_LOCAL = re.compile(
    r"local|per[_ -]?replica|per[_ -]?worker|this[_ -]?(?:rank|replica|worker)", re.IGNORECASE
)
_GLOBAL = re.compile(
    r"global[_ -]?(?:loss|acc|mean|avg)|reduced|all[_ -]?reduce|aggregat|across", re.IGNORECASE
)
_NOT_PROGRESS = re.compile(
    r"steps?_per|batch_size|per_replica_batch|Traceback|Error\b|\bFile \"", re.IGNORECASE
)
_MAX_DIGITS = 25
"""Longer digit strings are no step count."""
_MAX_LINE_CHARS = 2_000
"""Longer lines are not searched for a custom loop's progress."""
_ZERO_DIGITS = bytes.maketrans(b"123456789", b"000000000")


class ProgressPoint(NamedTuple):
    """One value at one point of the training; under `fit`, `step` counts within the epoch."""

    tag: str
    epoch: int | None
    epochs: int | None
    step: int | None
    steps: int | None
    value: float
    scope: str
    origin: str


Span = tuple[int, int]
"""Start and end of a substring."""


class _Layout(NamedTuple):
    """Spans of the numbers in a progress line; `position` is epoch, epochs, step, steps."""

    origin: str
    position: tuple[Span | None, Span | None, Span | None, Span | None]
    values: tuple[tuple[Span, Span, str], ...] = ()
    """(tag, value, scope) of each metric."""


def is_progress(text: str) -> bool:
    """True if a line reports training progress."""
    return len(text) <= _MAX_LINE_CHARS and _layout_of(_zero_digits(text)) is not None


def _zero_digits(text: str) -> str:
    """Return the line with every digit replaced by 0 (10x faster on bytes than on text)."""
    return text.encode("utf-8", "surrogatepass").translate(_ZERO_DIGITS).decode("utf-8", "surrogatepass")


@lru_cache(maxsize=4096)
def _layout_of(shape: str) -> _Layout | None:
    """Parse a line whose digits are all zeros; None if it reports no progress.

    A loop prints the same line with other numbers again and again, so layouts are cached. No regex in this
    module distinguishes between digits, so a layout holds for every line with the same zeroed form.
    """
    if match := _EPOCH.match(shape):
        return _Layout("epoch", (match.span(1), match.span(2), None, None))
    if match := _BAR.match(shape):
        steps = None if match[2] == "Unknown" else match.span(2)
        return _Layout("fit", (None, None, match.span(1), steps), tuple(_metrics(shape)))
    if len(shape) > _MAX_LINE_CHARS or not _HINT.search(shape) or not _is_custom_loop(shape):
        return None
    step, epoch = _TQDM.match(shape) or _STEP.search(shape), _CUSTOM_EPOCH.search(shape)
    around = _VALUE.sub("", shape)
    return _Layout(
        "estimator" if shape.startswith("loss = ") else "loop",
        (*_spans(epoch), *_spans(step)),
        tuple((match.span(1), match.span(2), scope_of(match[1], around)) for match in _VALUE.finditer(shape)),
    )


def _metrics(shape: str) -> Iterator[tuple[Span, Span, str]]:
    for metric in _METRIC.finditer(shape):
        if metric[1] != "ETA" and not shape[metric.end() : metric.end() + 1].isalpha():
            yield metric.span(1), metric.span(2), "global"


def _spans(match: re.Match[str] | None) -> tuple[Span | None, Span | None]:
    """Return the spans of a count and of its total."""
    return (match.span(1), match.span(2) if match[2] else None) if match else (None, None)


def _is_custom_loop(text: str) -> bool:
    """True if a line has a step with a value, or starts by naming its step."""
    if _NOT_PROGRESS.search(text):
        return False
    if _LEADING_STEP.match(text) or (_TQDM.match(text) and _VALUE.search(text)):
        return True
    return bool((_STEP.search(text) or _CUSTOM_EPOCH.search(text)) and _VALUE.search(text))


class ProgressReader:
    """Reads the progress lines of one source in order, keeping the epoch that a bar belongs to."""

    def __init__(self) -> None:
        """Start before the first epoch."""
        self.epoch: int | None = None
        self.epochs: int | None = None

    def points(self, text: str) -> list[ProgressPoint]:
        """Return the values of one progress line; empty for any other line."""
        layout = _layout_of(_zero_digits(text))
        if layout is None:
            return []
        origin = layout.origin
        epoch, epochs, step, steps = (
            None if match is None else _count(text[slice(*match)]) for match in layout.position
        )
        if origin == "epoch":
            self.epoch, self.epochs = epoch, epochs
            return [ProgressPoint("epoch", epoch, epochs, 0, None, float(epoch or 0), "global", "fit")]
        if origin == "fit":
            epoch, epochs = self.epoch, self.epochs
        scope = "global" if origin == "fit" else "unknown"
        return [
            ProgressPoint("step", epoch, epochs, step, steps, float(step or 0), scope, origin),
            *(
                ProgressPoint(text[start:end], epoch, epochs, step, steps, float(text[low:high]), of, origin)
                for (start, end), (low, high), of in layout.values
            ),
        ]


def _count(digits: str) -> int:
    """Convert a step or epoch count; digit strings that Python refuses become a too large number."""
    return int(digits) if len(digits) < _MAX_DIGITS else LARGEST_INT + 1


def scope_of(tag: str, text: str = "") -> str:
    """Return `local`, `global` or `unknown` from a metric's name, or else from its line."""
    for words in (tag, text):
        if _LOCAL.search(words):
            return "local"
        if _GLOBAL.search(words):
            return "global"
    return "unknown"
