"""Computes the geometry of the curves of training and of resources: one plot per tag with all workers."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from analyzer.render.blame import blamed_workers
from analyzer.render.formatting import instant, time_zone, worker_key

Json = Mapping[str, Any]
WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 1080.0, 300.0, 64.0, 940.0, 26.0, 262.0
_FRAME = {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM}
STEP_TIME = "seconds per step"
_RESOURCES = {
    "rss_bytes": ("Resident memory, GiB", 2.0**30),
    "memory_used_bytes": ("Memory of the cgroup or host, GiB", 2.0**30),
    "cpu_percent": ("CPU use, percent of one core", 1.0),
    "gpu/utilization_percent": ("Use of the busiest GPU, percent", 1.0),
    "gpu/memory_used_bytes": ("Memory of the fullest GPU, GiB", 2.0**30),
    "open_files_count": ("Open files and sockets", 1.0),
}
"""Tag → heading of its plot, and the divisor of its values."""
_MAX_PLOTS, _MAX_LABELS, _MAX_ODD, _LABEL_PITCH = 6, 10, 20, 14.0


class Series(NamedTuple):
    """One worker's curve of one tag: points (step, finite value or None, text) and drawn shapes."""

    worker: str
    part: str
    scope: str
    points: tuple[tuple[int, float | None, str], ...]
    kept: int
    total: int
    lines: tuple[str, ...] = ()
    dots: tuple[tuple[float, float], ...] = ()
    odd: tuple[tuple[float, str, int], ...] = ()
    look: int = 0
    label_y: float | None = None
    label: str = ""
    exploded: int | None = None

    @property
    def finite(self) -> list[float]:
        """Return the finite values."""
        return [value for _, value, _ in self.points if value is not None]


class Scale(NamedTuple):
    """Maps values to coordinates; halves values first, since differences of huge ones can overflow."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, value: float) -> float:
        """Return the coordinate of a value."""
        return self.places([value])[0]

    def places(self, values: Sequence[float]) -> list[float]:
        """Return the coordinates of several values."""
        low, high = self.low, self.high
        if self.log:
            low, high, values = math.log10(low), math.log10(high), [math.log10(value) for value in values]
        lowest, span, start, length = low / 2, high / 2 - low / 2, self.start, self.end - self.start
        if not span:
            return [round(start + length * 0.5, 1)] * len(values)
        return [round(start + length * ((value / 2 - lowest) / span), 1) for value in values]


def plots(diagnosis: Json) -> list[dict[str, Any]]:
    """Return at most six plots for the template: tags that the reasons name, loss, step time, the rest."""
    tags: dict[str, list[Series]] = {}
    for worker in sorted(diagnosis["workers"], key=lambda w: worker_key(w["id"])):
        for curve in worker["curves"]:
            if curve["points"]:
                tags.setdefault(curve["tag"], []).append(_series(worker, curve))
    drawn = _in_order(tags, diagnosis)[:_MAX_PLOTS]
    epochs = _tags_by_epoch(diagnosis)
    moments = _moments(diagnosis)
    made = {tag: drawn_plot(tag, tags[tag], {} if tag in epochs else moments) for tag in drawn}
    return [plot | {"axis": "epoch"} if tag in epochs else plot for tag, plot in made.items()]


def resource_plots(diagnosis: Json) -> list[dict[str, Any]]:
    """Return the template's variables of one plot per kind of reading, in the order of their headings."""
    workers = sorted(diagnosis["workers"], key=lambda worker: worker_key(worker["id"]))
    readings = [(worker, each) for worker in workers for each in worker.get("readings", ()) if each["points"]]
    if not readings:
        return []
    begin = min(point[0] for _, each in readings for point in each["points"])
    made = [
        (title, [_readings(worker, each, begin, by) for worker, each in readings if each["tag"] == tag])
        for tag, (title, by) in _RESOURCES.items()
    ]
    suffix = " UTC" if time_zone(diagnosis) == "UTC" else ""
    axis = f"seconds since {instant(begin, date=False)}{suffix}"
    return [drawn_plot(title, series, {}) | {"axis": axis} for title, series in made if series]


def _readings(worker: Json, reading: Json, begin: float, by: float) -> Series:
    points = tuple(
        (round(time - begin), value / by, f"{value / by:.4g}") for time, value in reading["points"]
    )
    return Series(worker["id"], worker["part"], "unknown", points, reading["kept"], reading["total"])


def undrawn(diagnosis: Json) -> list[str]:
    """Return the tags of the curves that are not drawn, beyond the first six."""
    tags = {curve["tag"] for worker in diagnosis["workers"] for curve in worker["curves"] if curve["points"]}
    return _in_order(tags, diagnosis)[_MAX_PLOTS:]


def _tags_by_epoch(diagnosis: Json) -> set[str]:
    """Return the tags whose curves all have one value per epoch and no steps."""
    curves = [curve for worker in diagnosis["workers"] for curve in worker["curves"] if curve["points"]]
    by_step = {curve["tag"] for curve in curves if curve.get("axis") != "epoch"}
    return {curve["tag"] for curve in curves} - by_step


def _in_order(tags: Iterable[str], diagnosis: Json) -> list[str]:
    """Return the tags in the order of their plots: those that the reasons name come first."""
    named = {word for reason in diagnosis["why"] for word in reason.split() if not word.isalpha()}
    return sorted(tags, key=lambda tag: (tag not in named, *_rank(tag)))


def _rank(tag: str) -> tuple[int, str]:
    """Return a sort key of tags: loss first, then step time, other losses, the rest."""
    low = tag.lower()
    return (0 if low in {"loss", "epoch_loss"} else 1 if low == STEP_TIME else 2 if "loss" in low else 3, tag)


def _series(worker: Json, curve: Json) -> Series:
    in_order = sorted(curve["points"], key=lambda p: p[0])
    points = tuple((step, _finite(value), str(value)) for step, value, _ in in_order)
    exploded = curve.get("exploded_at")
    return Series(
        worker["id"], worker["part"], curve["scope"], points, curve["kept"], curve["total"], exploded=exploded
    )


def _finite(value: float | str) -> float | None:
    return None if isinstance(value, str) or not math.isfinite(value) else float(value)


def _moments(diagnosis: Json) -> dict[str, str]:
    """Return the last step of each blamed worker, by worker, as `epoch 2, step 14`."""
    blamed = blamed_workers(diagnosis)
    return {
        w["id"]: ("" if w["last_step"]["epoch"] is None else f"epoch {w['last_step']['epoch']}, ")
        + f"step {w['last_step']['step']:,}"
        for w in diagnosis["workers"]
        if w["id"] in blamed and w["last_step"]["step"] is not None
    }


def _moment(made: Sequence[Series], moments: Mapping[str, str]) -> tuple[int, str] | None:
    """Return the earliest step at which a blamed worker's curve ends, with its text; None if none."""
    ends = [(one.points[-1][0], moments[one.worker]) for one in made if one.worker in moments]
    return min(ends, default=None)


def drawn_plot(tag: str, made: Sequence[Series], moments: Mapping[str, str]) -> dict[str, Any]:
    """Return the template's variables for one plot; the last of the `layers` is drawn on top."""
    steps = [s for one in made for s, _, _ in one.points]
    values = [value for one in made for value in one.finite] or [0.0, 1.0]
    log = min(values) > 0 and max(values) / min(values) >= 1000
    x = Scale(min(steps), max(steps), LEFT + 10, RIGHT - 10)
    y = Scale(min(values), max(values), BOTTOM - 8, TOP + 16, log)
    drawn = _labelled([_drawn(one, x, y, look) for look, one in enumerate(made)])
    moment = _moment(made, moments)
    y_values = _decades(y.low, y.high) if log else _ticks(y.low, y.high, 6)
    return {
        **_FRAME,
        "tag": tag,
        "axis": "step",
        "series": drawn,
        "layers": sorted(drawn, key=lambda s: s.part in {"culprit", "suspect"}),
        "log": log,
        "first_odd": min((odd for s in drawn for odd in s.odd[:1]), key=lambda odd: odd[2], default=None),
        "steps": (min(steps), max(steps)),
        "x_ticks": [(x(v), f"{v:,.0f}") for v in _ticks(x.low, x.high, 6) if v == int(v)],
        "y_ticks": [(y(v), f"{v:.4g}") for v in y_values],
        "moment": (x(moment[0]), moment[1]) if moment else None,
    }


def _drawn(one: Series, x: Scale, y: Scale, look: int) -> Series:
    runs: list[list[tuple[float, float]]] = [[]]
    odd = [] if one.exploded is None else [(x(one.exploded), "exploded", one.exploded)]
    across, up = x.places([step for step, _, _ in one.points]), iter(y.places(one.finite))
    for place, (step, value, text) in zip(across, one.points, strict=True):
        if value is None:
            odd.append((place, text, step))
            runs.append([])
        else:
            runs[-1].append((place, next(up)))
    lines = tuple(" ".join(f"{a:g},{b:g}" for a, b in run) for run in runs if len(run) > 1)
    few = len(one.points) <= 40
    dots = tuple(p for run in runs if len(run) == 1 or few for p in run)
    end = next((run[-1][1] for run in reversed(runs) if run), None)
    few_odd = tuple(odd[:: len(odd) // _MAX_ODD + 1])
    return one._replace(lines=lines, dots=dots, odd=few_odd, look=look % 5, label_y=end)


def _labelled(made: Sequence[Series]) -> list[Series]:
    """Add labels that do not overlap at curve ends; if many, only for blamed workers and one other."""
    ends = [s for s in made if s.label_y is not None]
    rank = {"culprit": 0, "suspect": 1}
    wanted = sorted(ends, key=lambda s: rank.get(s.part, 2))
    names = {s.worker: f"{s.worker} (global)" if s.scope == "global" else s.worker for s in wanted}
    if len(wanted) > _MAX_LABELS:
        blamed = [s for s in wanted if s.part in rank][: _MAX_LABELS - 1]
        rest = [s for s in wanted if s not in blamed]
        middle = sorted(rest, key=lambda s: s.label_y or 0.0)[len(rest) // 2]
        wanted, names[middle.worker] = [*blamed, middle], f"{len(rest)} others"
    places: dict[str, float] = {}
    at = TOP
    for one in sorted(wanted, key=lambda s: s.label_y or 0.0):
        at = max(at + _LABEL_PITCH, (one.label_y or 0.0) + 4)
        places[one.worker] = at
    over = max(at - BOTTOM - 4, 0.0)
    return [
        s._replace(label_y=round(places[s.worker] - over, 1), label=names[s.worker])
        if s.worker in places
        else s._replace(label_y=None)
        for s in made
    ]


def _ticks(low: float, high: float, wanted: int) -> list[float]:
    span = high - low
    if not math.isfinite(span) or span <= 0:
        return sorted({low, high})
    unit = 10.0 ** math.floor(math.log10(span / wanted)) or span
    step = next((unit * m for m in (1, 2, 5, 10) if span / (unit * m) <= wanted), span)
    first = math.ceil(low / step)
    return [k * step for k in range(first, first + wanted + 1) if k * step <= high]


def _decades(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    every = max((last - first) // 6, 1)
    return [10.0**k for k in range(first, last + 1, every)]
