"""Progress lines → scalars: Keras bars, `verbose=2` lines, Estimator lines, and loops of people's own.

A value is *global* where TensorFlow itself has reduced it over all replicas (everything that `fit` prints),
*local* where its name says so, and *unknown* in a loop of the user's own that does not say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from analyzer.schema import LARGEST_INT

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
_NAMES_STEP = re.compile(
    r"\W{0,3}(?:[\w.-]{1,24}\W{1,3}){0,3}?(?:(?:global|train|training)[_ ]?)?(?:step|iteration|iter)"
    r"[\s:=#]{1,3}\d+\b(?!\s*(?:=|seconds|s\b|ms\b))",
    re.IGNORECASE,
)
_LOOP_EPOCH = re.compile(rf"(?<![a-z])epoch{_KEY}(\d+)(?:\s*(?:/|of)\s*(\d+))?", re.IGNORECASE)
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
_ENDLESS = 25
"""Digits that no count has."""


class Mark(NamedTuple):
    """One value at one place of the training; `step` is within the epoch under `fit`."""

    tag: str
    epoch: int | None
    epochs: int | None
    step: int | None
    steps: int | None
    value: float
    scope: str
    origin: str


def is_progress(text: str) -> bool:
    """Whether a line tells how far training has come."""
    if len(text) > 2_000 or not _HINT.search(text):
        return False
    return bool(_EPOCH.match(text) or _BAR.match(text) or _is_loop(text))


def _is_loop(text: str) -> bool:
    """Whether a user's own loop speaks: a step with a value, or a line that begins by naming its step."""
    if _NOT_PROGRESS.search(text):
        return False
    if _NAMES_STEP.match(text) or (_TQDM.match(text) and _VALUE.search(text)):
        return True
    return bool((_STEP.search(text) or _LOOP_EPOCH.search(text)) and _VALUE.search(text))


@dataclass(slots=True)
class Progress:
    """Reads the progress lines of one source in order; it remembers the epoch that a bar belongs to."""

    epoch: int | None = None
    epochs: int | None = None

    def marks(self, text: str) -> Iterator[Mark]:
        """The values of one progress line; none of any other line."""
        if match := _EPOCH.match(text):
            self.epoch, self.epochs = _count(match[1]), _count(match[2])
            yield Mark("epoch", self.epoch, self.epochs, 0, None, float(self.epoch), "global", "fit")
        elif match := _BAR.match(text):
            yield from self._bar(match, text)
        elif is_progress(text):
            yield from self._loop(text)

    def _bar(self, match: re.Match[str], text: str) -> Iterator[Mark]:
        step, steps = _count(match[1]), None if match[2] == "Unknown" else _count(match[2])
        place = (self.epoch, self.epochs, step, steps)
        yield Mark("step", *place, float(step), "global", "fit")
        for metric in _METRIC.finditer(text):
            if metric[1] != "ETA" and not text[metric.end() : metric.end() + 1].isalpha():
                yield Mark(metric[1], *place, float(metric[2]), "global", "fit")

    def _loop(self, text: str) -> Iterator[Mark]:
        step, epoch = _TQDM.match(text) or _STEP.search(text), _LOOP_EPOCH.search(text)
        origin = "estimator" if text.startswith("loss = ") else "loop"
        place = (
            _count(epoch[1]) if epoch else None,
            _count(epoch[2]) if epoch and epoch[2] else None,
            _count(step[1]) if step else None,
            _count(step[2]) if step and step[2] else None,
        )
        yield Mark("step", *place, float(place[2] or 0), "unknown", origin)
        around = _VALUE.sub("", text)
        for value in _VALUE.finditer(text):
            yield Mark(value[1], *place, float(value[2]), scope_of(value[1], around), origin)


def _count(digits: str) -> int:
    """A number of steps or epochs; one of endless digits, which Python refuses to read, is beyond all."""
    return int(digits) if len(digits) < _ENDLESS else LARGEST_INT + 1


def scope_of(tag: str, text: str = "") -> str:
    """Whether a value of a user's own loop is local or global, as far as its name, or else its line, says."""
    for words in (tag, text):
        if _LOCAL.search(words):
            return "local"
        if _GLOBAL.search(words):
            return "global"
    return "unknown"
