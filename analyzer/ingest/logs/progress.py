"""Progress lines → scalars: Keras bars, `verbose=2`, Estimator, tqdm, and custom training loops.

A value is *global* if TensorFlow has reduced it over all replicas (everything that `fit` prints), *local* if
its name says so, and *unknown* for all other values of custom loops.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from analyzer.ingest.logs.metrics import (
    NUMBER,
    Metric,
    Span,
    has_known,
    has_outcome,
    has_pair,
    has_spaced,
    metrics,
    step_rate,
)
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.schema import LARGEST_INT

_EPOCH = lazy_regex(
    r"\s*(?:(?:start(?:ing)?|begin(?:ning)?|training) )?epoch (\d+)\s?(?:/|of)\s?(\d+)[\s.:]*$", re.IGNORECASE
)
_BAR = lazy_regex(r"\s*(\d+)/(\d+|Unknown) ?(?:\[[=>.]*\]|[━ ]{2,}|(?= ?-? ?\d+m?s))(?=.*?(?:- |\ds|ETA))")
_END_OF_EPOCH = lazy_regex(r"\s?- \d+s(?= - [a-z])")
"""Regex for the end of an epoch in Keras before TensorFlow 2.0 with `verbose=2`: ` - 21s - loss: 0.4`."""
_METRIC = lazy_regex(rf" - ([A-Za-z_][\w./]*): ({NUMBER})\b", re.IGNORECASE)
_KEY = r"[\"']?\s*[:=#]?\s*[\"'\[(]?\s*"
_STEP_WORDS = (
    r"paso|passo|étape|etapa|schritt|krok|stap|steg|ad[ıi]m|шаг|스텝|단계|ステップ|步骤|步|第(?=\s*\d+\s*步)"
)
"""Words for a step in other languages; Chinese counts between two signs, `第 40 步`."""
_EPOCH_WORDS = (
    r"epoch[ea]?|[ée]poque|[ée]poca|эпоха|에폭|에포크|エポック|轮次"
    r"|第(?=\s*\d+\s*(?:/\s*\d+\s*)?(?:[轮輪]|エポック))"
)
_COUNT = r"\d{1,3}(?:,\d{3}){1,4}(?!\d|[.,]\d)|\d+"
"""Regex for a count, with commas between thousands or without."""
_OF = r"(?:/|of|von|sur|van|из)"
"""Regex for what stands between a count and its total."""
_STEP = lazy_regex(
    rf"(?<![a-z_-])(?:(?:global|train|training)[_ ]?)?(?:(?:step|iteration|iter|batch|it)s?|{_STEP_WORDS})"
    rf"(?:[_ ]?(?:no|num|number|idx))?{_KEY}({_COUNT})(?:\s*{_OF}\s*({_COUNT}))?",
    re.IGNORECASE,
)
_LEADING_STEP = lazy_regex(
    r"\W{0,3}(?:[\w.-]{1,24}\W{1,3}){0,3}?(?:(?:global|train|training)[_ ]?)?"
    rf"(?:(?:step|iteration|iter)(?=[\s:=#])|(?:{_STEP_WORDS})(?=[\s:=#\d]))"
    r"[\s:=#]{0,10}\d+\b(?!\s*(?:=|seconds|s\b|ms\b))",
    re.IGNORECASE,
)
_CUSTOM_EPOCH = lazy_regex(
    rf"(?<![a-z])(?:{_EPOCH_WORDS})(?:[_ ]?(?:no|num|number|idx))?{_KEY}(\d+)(?:\s*{_OF}\s*(\d+))?",
    re.IGNORECASE,
)
_STEP_OF_EPOCH = lazy_regex(
    rf"(?:{_EPOCH_WORDS})[\s:=#]{{0,3}}\[\s?\d+(?:/\d+)?\]\s?\[\s{{0,6}}(\d+)/(\d+)\]", re.IGNORECASE
)
"""Regex for the epoch and its step as PyTorch's examples print them: `Epoch: [3][ 20/100]`."""
_TQDM = lazy_regex(r"[^|]{0,60}?\d{1,3}%\|[^|]*\|\s*(\d+)/(\d+) \[")
_FRACTION = lazy_regex(
    r"(?:(?!\b(?:val|valid|validation|eval|evaluation|test|epoch)\b).){0,80}?(?<![\d/.:])[\[(]?(\d+)\s?/\s?(\d+)(?![\d/.:%])\]?",
    re.IGNORECASE,
)
"""Regex for `[12/90]` or `12/90` among the first words of a line, of which the rest holds metrics."""
_LEADING_EPOCH = lazy_regex(
    r"\W{0,3}(?:[\w.-]{1,24}\W{1,3}){0,3}?"
    rf"(?:(?:{_EPOCH_WORDS})[\s:=#]{{1,3}}\d+\b|第\s*\d+\s*(?:/\s*\d+\s*)?(?:[轮輪]|エポック))",
    re.IGNORECASE,
)
_EPOCH_OF_TOTAL = lazy_regex(
    rf"\W{{0,3}}(?:[\w.-]{{1,24}}\W{{1,3}}){{0,3}}?(?:{_EPOCH_WORDS})[\s:=#]{{1,3}}\d+\s*{_OF}\s*\d+\b",
    re.IGNORECASE,
)
"""Regex for an epoch and the planned number of epochs at the start of a line."""
_EPOCH_AND_STEP = lazy_regex(
    r"\W{0,3}(?:\[(\d+), ?(\d+)\](?=\s)"
    r"|[Ee](?:p|poch)?_?(\d+)[ ,:/|]{1,3}(?:[SsBbIi]|it|step|batch)_?(\d+)(?=[ ,:/|]))"
)
"""Regex for `[3, 200]` or `e3 b200` at the start of a line: the epoch, and the step in it."""
_AFTER_STEPS = lazy_regex(
    rf"(?<![\w-])after ({_COUNT})(?: {_OF} ({_COUNT}))?(?: training)? "
    r"(?:steps|iterations|iters|batches|updates)\b",
    re.IGNORECASE,
)
_CHECKPOINT = lazy_regex(r"Saving checkpoints for (\d+) into\b")
_EVALUATION = lazy_regex(r"Saving dict for global step (\d+): ")
_HINT = lazy_regex(
    rf"\d+/(?:\d+|Unknown)|step|iter|batch|epoch|loss|\bits?[\s:=#]|{_STEP_WORDS}|{_EPOCH_WORDS}",
    re.IGNORECASE,
)
_NOT_PROGRESS = lazy_regex(
    r"steps?_per_(?!sec)|batch_size|per_replica_batch|Traceback|Error\b|\bFile \"|for final step|Namespace\("
    r"|\b(?:Executor|Shuffle files) lost\b"
    r"|\bsrun: |\bslurmstepd: |\bStep \d+/\d+ : (?-i:ARG|CMD|COPY|ENV|FROM|LABEL|RUN|USER|WORKDIR)\b"
    r"|\b(?:args|cfg|conf|config|flags|hparams|options|params|settings)\.\w+="
    r"|\b(?:arg\w*|cfg|conf|config\w*|flags|hparams|hyper-?param\w*|options|param\w*|settings)[\"']?\s*[:=]\s*[\"']?[{(\[]",
    re.IGNORECASE,
)
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
_BENCHMARK_ROW = lazy_regex(
    rf"\s*(\d+)\s+(images/sec: \S+) \+/- [^\n]{{1,40}}? \(jitter = \S+\)\s+({NUMBER})(?=\s|$)", re.IGNORECASE
)
"""Regex for a row of TensorFlow's benchmarks, whose heading names the columns step, rate and loss."""
_RISES, _MAX_COUNTERS = 2, 50
"""How often a counter must have grown before its lines are progress, and how many counters are watched."""
_MAX_DIGITS, _MAX_LINE_CHARS = 25, 2_000
"""Longer step counts are not converted, longer lines not searched for a custom loop's progress."""
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


class _Layout(NamedTuple):
    """Spans of the numbers in a progress line; `position` is epoch, epochs, step, steps."""

    origin: str
    position: tuple[Span | None, Span | None, Span | None, Span | None]
    metrics: tuple[Metric, ...] = ()


def is_progress(text: str) -> bool:
    """Return True if a line reports training progress."""
    return len(text) <= _MAX_LINE_CHARS and _layout_of(_zero_digits(_with_names(text))) is not None


def _with_names(text: str) -> str:
    """Return a row of TensorFlow's benchmarks with its columns named; any other line as it is."""
    row = _BENCHMARK_ROW.match(text) if "images/sec: " in text else None
    return f"step {row[1]} {row[2]} loss {row[3]}" if row else text


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
        return _Layout("fit", (None, None, match.span(1), steps), (*_bar_metrics(shape), *step_rate(shape)))
    if _END_OF_EPOCH.match(shape):
        return _Layout("end of epoch", (None, None, None, None), (*_bar_metrics(shape),))
    if match := _CHECKPOINT.match(shape):
        return _Layout("checkpoint", (None, None, match.span(1), None))
    if match := _EVALUATION.match(shape):
        return _Layout("evaluation", (None, None, match.span(1), None), tuple(metrics(shape)))
    if len(shape) > _MAX_LINE_CHARS or not _HINT.search(shape) or not _is_custom_loop(shape):
        return None
    if (match := _EPOCH_AND_STEP.match(shape)) and has_known(shape):
        of = 1 if match[1] else 3
        return _Layout("loop", (match.span(of), None, match.span(of + 1), None), tuple(metrics(shape)))
    step = _STEP_OF_EPOCH.search(shape) or _TQDM.match(shape) or _STEP.search(shape)
    epoch = _CUSTOM_EPOCH.search(shape)
    step = step or (None if epoch else _FRACTION.match(shape) or _AFTER_STEPS.search(shape))
    origin = "estimator" if shape.startswith("loss = ") else "loop"
    return _Layout(origin, (*_spans(epoch), *_spans(step)), tuple(metrics(shape)))


@lru_cache(maxsize=4096)
def _counter_layout(shape: str) -> tuple[str, _Layout] | None:
    """Return (key, layout) of a line with a counter of any name, such as `round 12`; None without one.

    The key identifies the counter in other lines: its usual name, or the text before it.
    """
    shape = trial[0] if (trial := _TRIAL.match(shape)) else shape
    if len(shape) > _MAX_LINE_CHARS or _NOT_PROGRESS.search(shape):
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
    return key, _Layout("loop", (None, None, span, total), values)


def _bar_metrics(shape: str) -> Iterator[Metric]:
    for metric in _METRIC.finditer(shape):
        if metric[1] != "ETA" and not shape[metric.end() : metric.end() + 1].isalpha():
            yield Metric(metric.span(1), metric.span(2), None, "global")


def _spans(match: re.Match[str] | None) -> tuple[Span | None, Span | None]:
    """Return the spans of a count and of its total."""
    return (match.span(1), match.span(2) if match[2] else None) if match else (None, None)


def _is_custom_loop(text: str) -> bool:
    """Return True if a line has a step or an epoch with a metric, or starts with its step."""
    if _NOT_PROGRESS.search(text):
        return False
    if _LEADING_STEP.match(text):
        return True
    if has_known(text):
        step = _STEP.search(text)
        if step and "batch" in step[0].lower() and not step[2] and not has_outcome(text):
            return False
        shown = (_TQDM.match(text), step, _CUSTOM_EPOCH.search(text), _FRACTION.match(text))
        return any(shown) or bool(_EPOCH_AND_STEP.match(text) or _AFTER_STEPS.search(text))
    if _EPOCH_OF_TOTAL.match(text) and has_spaced(text):
        return True
    return bool(_TQDM.match(text) or _LEADING_EPOCH.match(text)) and has_pair(text)


class ProgressReader:
    """Reads the progress lines of one source in order, keeping the epoch that a bar belongs to."""

    def __init__(self) -> None:
        """Create for a source of which no line has been read."""
        self.epoch: int | None = None
        self.epochs: int | None = None
        self._heading: ProgressPoint | None = None
        """The step of a line without metrics, which may follow on the lines below."""
        self.has_steps = False
        """Whether a line has named its step or epoch."""
        self._counters: dict[str, tuple[int, int, int]] = {}
        """Words before a counter → its first and last value, and how often it has grown in a row."""
        self._counter = ""
        """Words before the first counter that has grown often enough; all others are then ignored."""

    def points(self, text: str) -> list[ProgressPoint]:
        """Return the values of one progress line; empty for any other line.

        A bar that still shows `ETA` at its last step does not end its epoch: validation may follow.
        """
        text = _with_names(text)
        layout = _layout_of(_zero_digits(text))
        if layout is None:
            return []
        origin, self.has_steps = layout.origin, True
        epoch, epochs, step, steps = (match and _count(text[slice(*match)]) for match in layout.position)
        if origin == "epoch":
            self.epoch, self.epochs = epoch, epochs
            return [ProgressPoint("epoch", epoch, epochs, 0, None, float(epoch or 0), "global", "fit")]
        if origin == "checkpoint":
            place = (None, None, step, None, float(step or 0))
            return [ProgressPoint("checkpoint_step", *place, "global", "estimator")] if step else []
        if origin == "end of epoch":
            base = ProgressPoint("epoch", self.epoch, self.epochs, None, None, 0.0, "global", "fit")
            return list(_values(text, layout, base)) if self.epoch else []
        if origin == "fit":
            epoch, epochs = self.epoch, self.epochs
            steps = None if step == steps and "ETA" in text else steps
        scope = "global" if origin == "fit" else "unknown"
        printer = "estimator" if origin == "evaluation" else origin
        base = ProgressPoint("step", epoch, epochs, step, steps, float(step or 0), scope, printer)
        values = list(_values(text, layout, base))
        self._heading = None if values else base
        return [base, *values]

    def points_counted(self, text: str) -> list[ProgressPoint]:
        """Return the values of a line like `round 12: bce 0.31`, once its counter has grown twice in a row.

        Empty if the log has steps or epochs by one of their usual names.
        """
        found = None if self.has_steps else _counter_layout(_zero_digits(text))
        if found is None or self._counter not in {"", found[0]}:
            return []
        key, layout = found
        step, steps = (match and _count(text[slice(*match)]) for match in layout.position[2:])
        if not self._grows(key, step or 0):
            return []
        self._counter = key
        base = ProgressPoint("step", None, None, step, steps, float(step or 0), "unknown", "loop")
        return [base, *_values(text, layout, base)]

    def _grows(self, key: str, count: int) -> bool:
        """Return whether a counter has grown often enough; it may begin again at 0, 1 or its first value."""
        if key not in self._counters and len(self._counters) >= _MAX_COUNTERS:
            return False
        first, last, rises = self._counters.get(key, (count, count, 0))
        rises = rises + (count > last) if count >= last or count in {0, 1, first} else 0
        self._counters[key] = (first, count, rises)
        return rises >= _RISES

    def points_below(self, text: str) -> list[ProgressPoint]:
        """Return the metrics in an indented line below one that only names its step."""
        if self._heading is None:
            return []
        if text and text[0] not in " \t":
            self._heading = None
            return []
        if not has_known(text) or _NOT_PROGRESS.search(text):
            return []
        found = ((*metric.read(text), metric.scope) for metric in metrics(text))
        return [self._heading._replace(tag=tag, value=value, scope=scope) for tag, value, scope in found]


def _values(text: str, layout: _Layout, base: ProgressPoint) -> Iterator[ProgressPoint]:
    """Yield the metrics of a line; durations of a Keras progress bar count only once it is complete."""
    for metric in layout.metrics:
        if layout.origin == "fit" and metric.unit and base.step != base.steps:
            continue
        tag, value = metric.read(text)
        tag = f"evaluation/{tag}" if layout.origin == "evaluation" else tag
        yield ProgressPoint(tag, *base[1:5], value, metric.scope, base.origin)


def _count(digits: str) -> int:
    """Convert the digits of a step or epoch; too many become `LARGEST_INT` + 1, which tables reject."""
    digits = digits.replace(",", "")
    return int(digits) if len(digits) < _MAX_DIGITS else LARGEST_INT + 1
