"""ProgressReader lines → scalars: Keras bars, `verbose=2` lines, Estimator lines, and loops of people's own.

A value is *global* where TensorFlow itself has reduced it over all replicas (everything that `fit` prints),
*local* where its name says so, and *unknown* in a loop of the user's own that does not say.
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
"""Digits that no count has."""
_MAX_LINE_CHARS = 2_000
"""Characters of a line in which somebody's own loop is looked for."""
_ZERO_DIGITS = bytes.maketrans(b"123456789", b"000000000")


class ProgressPoint(NamedTuple):
    """One value match one position of the training; `step` is within the epoch under `fit`."""

    tag: str
    epoch: int | None
    epochs: int | None
    step: int | None
    steps: int | None
    value: float
    scope: str
    origin: str


Span = tuple[int, int]
"""Where something stands in a line."""


class _Layout(NamedTuple):
    """Where the numbers of a progress line stand; those of its position are epoch, epochs, step and steps."""

    origin: str
    position: tuple[Span | None, Span | None, Span | None, Span | None]
    values: tuple[tuple[Span, Span, str], ...] = ()
    """Tag, value and scope of each."""


def is_progress(text: str) -> bool:
    """Whether a line tells how far training has come."""
    return len(text) <= _MAX_LINE_CHARS and _layout_of(_zero_digits(text)) is not None


def _zero_digits(text: str) -> str:
    """A line with zeros for all of its digits; bytes are translated ten times as fast as signs."""
    return text.encode("utf-8", "surrogatepass").translate(_ZERO_DIGITS).decode("utf-8", "surrogatepass")


@lru_cache(maxsize=4096)
def _layout_of(shape: str) -> _Layout | None:
    """What a line is made of whose digits are all zeros; None of a line that tells no progress.

    A loop prints the same line with other numbers again and again. No expression of this module cares which
    digit stands somewhere, so what holds of the shape holds of every line that has it.
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
    """Where a count stands, and where that of how many there are."""
    return (match.span(1), match.span(2) if match[2] else None) if match else (None, None)


def _is_custom_loop(text: str) -> bool:
    """Whether a user's own loop speaks: a step with a value, or a line that begins by naming its step."""
    if _NOT_PROGRESS.search(text):
        return False
    if _LEADING_STEP.match(text) or (_TQDM.match(text) and _VALUE.search(text)):
        return True
    return bool((_STEP.search(text) or _CUSTOM_EPOCH.search(text)) and _VALUE.search(text))


class ProgressReader:
    """Reads the progress lines of one source in order; it remembers the epoch that a bar belongs to."""

    def __init__(self) -> None:
        """No epoch has begun yet."""
        self.epoch: int | None = None
        self.epochs: int | None = None

    def points(self, text: str) -> list[ProgressPoint]:
        """The values of one progress line; none of any other line."""
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
    """A number of steps or epochs; one of endless digits, which Python refuses to read, is beyond all."""
    return int(digits) if len(digits) < _MAX_DIGITS else LARGEST_INT + 1


def scope_of(tag: str, text: str = "") -> str:
    """Whether a value of a user's own loop is local or global, as far as its name, or else its line, says."""
    for words in (tag, text):
        if _LOCAL.search(words):
            return "local"
        if _GLOBAL.search(words):
            return "global"
    return "unknown"
