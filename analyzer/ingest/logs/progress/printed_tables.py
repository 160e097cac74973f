"""Tables of metrics in a log: a heading that names the columns, and below it a row a step or epoch.

`csv,rank,step,loss,lr`, `| epoch | train mse | sec |`, the same in boxes of rich, and columns of skorch or
fastai with spaces between. Loggers of reinforcement learning (Stable Baselines, Spinning Up) print a box at
each step instead, with a name and its value in a row.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from analyzer.ingest.logs.progress.metrics import NUMBER, is_metric, scope_of, tag_of
from analyzer.ingest.logs.progress.points import ProgressPoint
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.schema import LARGEST_INT
from analyzer.tables.metric_names import LOSS_WORDS

_SEPARATORS = (",", ";", "\t", "|")
_BOX_LINES = str.maketrans("│┃║", "|||")
"""Vertical lines of a drawn table, as those of `rich.table`; its heading has heavier ones than its rows."""
_SPACES = lazy_regex(r"\s{2,}")
_MIN_COLUMNS, _MAX_COLUMNS = 3, 40
_MAX_LINE_CHARS = 1_000
_NAME = lazy_regex(r"[^\W\d][\w ./%()\[\]-]{0,30}")
_STEP_COLUMN = lazy_regex(
    r"(?:(?:global|train|training)[ _]?)?(?:step|iter|iteration|itr|batch|update|upd|round)s?", re.IGNORECASE
)
_EPOCH_COLUMN = lazy_regex(r"ep|epochs?|epoche|[ée]poque|[ée]poca|эпоха", re.IGNORECASE)
_METRIC_COLUMN = lazy_regex(
    rf"(?:^|[ _/.-])(?:\w*loss|{LOSS_WORDS}|nll|cost|perplexity|ppl|mae|mse|rmse|bce|elbo)(?:$|[ _/.-])",
    re.IGNORECASE,
)
"""Regex for what tells the heading of a training table from that of any other table with a step or epoch."""
_LOSSES = (
    "loss", "nll", "cost", "perplexity", "ppl", "mae", "mse", "bce", "elbo", "perd", "pérd", "pert", "verl",
    "förlust", "kayıp", "kayip", "потер", "손실", "损失", "損失",
)  # fmt: skip
_PLACES = ("step", "iter", "itr", "batch", "upd", "round", "ep", "época", "époque", "эпоха")
"""Parts of words of which a heading has one of either kind: found a hundred times faster than by a regex."""
_WRITER_COLUMN = lazy_regex(
    r"(?:(?:global|local|worker)[ _]?)?(?:rank|worker|replica|task|node|host|gpu)", re.IGNORECASE
)
_NO_METRIC = lazy_regex(r"dur|duration|s|secs?|seconds|lap|wall|took|cp|best", re.IGNORECASE)
_COUNT = lazy_regex(r"(\d{1,12})(?:\s?/\s?(\d{1,12}))?")
_VALUE = lazy_regex(rf"({NUMBER})\s?(ms|us|s)?", re.IGNORECASE)
_RULE = lazy_regex(r"\W{0,2}-{10,200}\W{0,2}$")
"""A line of dashes, which opens and closes a box of names and values."""
_PAIR_ROW = lazy_regex(rf"\|\s+([A-Za-z][\w/ .-]{{0,39}}?)\s*\|\s+({NUMBER})\s*\|$", re.IGNORECASE)
_STEPS_OF_BOX = (
    "total_timesteps", "timesteps_total", "totalenvinteracts", "timesteps", "total_steps", "steps", "step",
    "n_updates", "updates", "nupdates", "iterations", "iteration", "epoch", "episodes",
)  # fmt: skip
"""Names by which boxes count, the one that loggers count by first."""
_MIN_PAIRS = 3


class _Columns(NamedTuple):
    """Which cell of a row holds what."""

    separator: str | None
    names: tuple[str, ...]
    epoch: int | None
    step: int | None
    writer: int | None


class TableReader:
    """Reads the tables of one log in order; a table ends where another heading begins."""

    def __init__(self) -> None:
        """Create for a log of which no line has been read."""
        self.has_rows = False
        self._columns: _Columns | None = None
        self._writer: str | None = None
        """The worker that the first row names: rows of others are no part of this log's own curve."""
        self._box: dict[str, float] = {}
        """Names and values since the line of dashes that opened a box."""

    def points(self, text: str) -> list[ProgressPoint]:
        """Return the values in a row of a table; empty for any other line."""
        if len(text) > _MAX_LINE_CHARS or not text.strip():
            return []
        text = text if text.isascii() else text.translate(_BOX_LINES)
        if pair := _PAIR_ROW.match(text):
            self._box[re.sub(r"[^\w./]+", "_", pair[1])] = float(pair[2])
            return []
        if _RULE.match(text):
            box, self._box = self._box, {}
            return self._boxed(box)
        if heading := _columns(text):
            self._columns, self._writer = heading, None
            return []
        return self._row(self._columns, text) if self._columns else []

    def _boxed(self, box: Mapping[str, float]) -> list[ProgressPoint]:
        """Return the values of a box that was closed; empty if nothing in it counts steps."""
        names = {name.lower(): name for name in box}
        counter = next((names[name] for name in _STEPS_OF_BOX if name in names), None)
        if counter is None or len(box) < _MIN_PAIRS or not 0 <= box[counter] <= LARGEST_INT:
            return []
        self.has_rows = True
        step = int(box[counter])
        base = ProgressPoint("step", None, None, step, None, float(step), "unknown", "loop")
        others = (name for name in box if name.lower() not in _STEPS_OF_BOX and is_metric(name))
        return [base, *(base._replace(tag=name, value=box[name], scope=scope_of(name)) for name in others)]

    def _row(self, columns: _Columns, text: str) -> list[ProgressPoint]:
        cells = _cells(text, columns.separator)
        if len(cells) != len(columns.names):
            return []
        epoch, step = (_counted(cells, at) for at in (columns.epoch, columns.step))
        if not epoch and not step:
            return []
        if columns.writer is not None:
            self._writer = self._writer or cells[columns.writer]
            if cells[columns.writer] != self._writer:
                return []
        (at_epoch, epochs), (at_step, steps) = epoch or (None, None), step or (None, None)
        count = float((at_epoch if at_step is None else at_step) or 0)
        base = ProgressPoint("step", at_epoch, epochs, at_step, steps, count, "unknown", "loop")
        values = []
        for at, (name, cell) in enumerate(zip(columns.names, cells, strict=True)):
            value = _VALUE.fullmatch(cell)
            if value is None or at in columns[2:] or not is_metric(name) or _NO_METRIC.fullmatch(name):
                continue
            tag, factor = tag_of(name, (value[2] or "").lower())
            scope = "local" if tag.endswith("_seconds") else scope_of(name)
            values.append(base._replace(tag=tag, value=float(value[1]) * factor, scope=scope))
        self.has_rows |= bool(values)
        return [base, *values] if values else []


def _columns(text: str) -> _Columns | None:
    """Return the columns that a heading names; None for a line that is not one."""
    words = text.lower()
    if not any(map(words.__contains__, _LOSSES)) or not any(map(words.__contains__, _PLACES)):
        return None
    for separator in (*_SEPARATORS, None):
        cells = _cells(text, separator)
        if not _MIN_COLUMNS <= len(cells) <= _MAX_COLUMNS or not all(map(_NAME.fullmatch, cells)):
            continue
        epoch, step, writer = (
            _place(cells, names) for names in (_EPOCH_COLUMN, _STEP_COLUMN, _WRITER_COLUMN)
        )
        if (epoch, step) == (None, None) or not any(map(_METRIC_COLUMN.search, cells)):
            return None
        names = tuple(re.sub(r"[^\w./]+", "_", cell).strip("_") for cell in cells)
        return _Columns(separator, names, epoch, step, writer) if len({*names}) == len(names) else None
    return None


def _cells(text: str, separator: str | None) -> list[str]:
    """Return the cells of a line; without a separator, two spaces or more stand between them."""
    if separator is None:
        return _SPACES.split(text.strip())
    cells = [cell.strip() for cell in text.strip().split(separator)]
    if separator == "|":
        return cells[not cells[0] : len(cells) - (not cells[-1])]
    return cells


def _place(cells: Sequence[str], words: re.Pattern[str]) -> int | None:
    return next((at for at, cell in enumerate(cells) if words.fullmatch(cell)), None)


def _counted(cells: Sequence[str], at: int | None) -> tuple[int, int | None] | None:
    """Return a count and its total, as of `3` or `3/10`; None if the cell holds no count."""
    match = _COUNT.fullmatch(cells[at]) if at is not None else None
    return (int(match[1]), int(match[2]) if match[2] else None) if match else None
