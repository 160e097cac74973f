"""Finds the place and the metrics in a progress line of Keras, Estimator, tqdm or a custom training loop."""

import re
from collections.abc import Iterator
from functools import lru_cache

from analyzer.ingest.logs.progress.metrics import (
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
from analyzer.ingest.logs.progress.points import MAX_LINE_CHARS, Layout, zero_digits
from analyzer.model.lazy_regex import lazy_regex

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
NOT_PROGRESS = lazy_regex(
    r"steps?_per_(?!sec)|batch_size|per_replica_batch|Traceback|Error\b|\bFile \"|for final step|Namespace\("
    r"|\b(?:Executor|Shuffle files) lost\b"
    r"|\bsrun: |\bslurmstepd: |\bStep \d+/\d+ : (?-i:ARG|CMD|COPY|ENV|FROM|LABEL|RUN|USER|WORKDIR)\b"
    r"|\b(?:args|cfg|conf|config|flags|hparams|options|params|settings)\.\w+="
    r"|\b(?:arg\w*|cfg|conf|config\w*|flags|hparams|hyper-?param\w*|options|param\w*|settings)[\"']?\s*[:=]\s*[\"']?[{(\[]",
    re.IGNORECASE,
)
_BENCHMARK_ROW = lazy_regex(
    rf"\s*(\d+)\s+(images/sec: \S+) \+/- [^\n]{{1,40}}? \(jitter = \S+\)\s+({NUMBER})(?=\s|$)", re.IGNORECASE
)
"""Regex for a row of TensorFlow's benchmarks, whose heading names the columns step, rate and loss."""


def is_progress(text: str) -> bool:
    """Return True if a line reports training progress."""
    return len(text) <= MAX_LINE_CHARS and layout_of(zero_digits(with_names(text))) is not None


def with_names(text: str) -> str:
    """Return a row of TensorFlow's benchmarks with its columns named; any other line as it is."""
    row = _BENCHMARK_ROW.match(text) if "images/sec: " in text else None
    return f"step {row[1]} {row[2]} loss {row[3]}" if row else text


@lru_cache(maxsize=4096)
def layout_of(shape: str) -> Layout | None:
    """Parse a line whose digits are all zeros; None if it reports no progress.

    A loop prints the same line with other numbers again and again, so layouts are cached. No regex in this
    module distinguishes between digits, so a layout holds for every line with the same zeroed form.
    """
    if match := _EPOCH.match(shape):
        return Layout("epoch", (match.span(1), match.span(2), None, None))
    if match := _BAR.match(shape):
        steps = None if match[2] == "Unknown" else match.span(2)
        return Layout("fit", (None, None, match.span(1), steps), (*_bar_metrics(shape), *step_rate(shape)))
    if _END_OF_EPOCH.match(shape):
        return Layout("end of epoch", (None, None, None, None), (*_bar_metrics(shape),))
    if match := _CHECKPOINT.match(shape):
        return Layout("checkpoint", (None, None, match.span(1), None))
    if match := _EVALUATION.match(shape):
        return Layout("evaluation", (None, None, match.span(1), None), tuple(metrics(shape)))
    if len(shape) > MAX_LINE_CHARS or not _HINT.search(shape) or not _is_custom_loop(shape):
        return None
    if (match := _EPOCH_AND_STEP.match(shape)) and has_known(shape):
        of = 1 if match[1] else 3
        return Layout("loop", (match.span(of), None, match.span(of + 1), None), tuple(metrics(shape)))
    step = _STEP_OF_EPOCH.search(shape) or _TQDM.match(shape) or _STEP.search(shape)
    epoch = _CUSTOM_EPOCH.search(shape)
    step = step or (None if epoch else _FRACTION.match(shape) or _AFTER_STEPS.search(shape))
    origin = "estimator" if shape.startswith("loss = ") else "loop"
    return Layout(origin, (*_spans(epoch), *_spans(step)), tuple(metrics(shape)))


def _bar_metrics(shape: str) -> Iterator[Metric]:
    for metric in _METRIC.finditer(shape):
        if metric[1] != "ETA" and not shape[metric.end() : metric.end() + 1].isalpha():
            yield Metric(metric.span(1), metric.span(2), None, "global")


def _spans(match: re.Match[str] | None) -> tuple[Span | None, Span | None]:
    """Return the spans of a count and of its total."""
    return (match.span(1), match.span(2) if match[2] else None) if match else (None, None)


def _is_custom_loop(text: str) -> bool:
    """Return True if a line has a step or an epoch with a metric, or starts with its step."""
    if NOT_PROGRESS.search(text):
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
