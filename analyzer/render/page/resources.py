"""Computes the geometry of the resource curves: one plot per kind of reading, all workers over time."""

from collections.abc import Mapping
from typing import Any

from analyzer.render.formatting import instant, worker_key
from analyzer.render.page.plot import Series, drawn_plot

Json = Mapping[str, Any]
_TITLES = {
    "rss_bytes": ("Resident memory, GiB", 2.0**30),
    "memory_used_bytes": ("Memory of the control group or host, GiB", 2.0**30),
    "cpu_percent": ("Processor use, percent of one core", 1.0),
    "gpu/utilization_percent": ("GPU use, percent of the busiest", 1.0),
    "gpu/memory_used_bytes": ("GPU memory, GiB of the fullest", 2.0**30),
    "open_files_count": ("Open files and sockets", 1.0),
}
"""Tag → heading of its plot, and the divisor of its values."""


def resource_plots(diagnosis: Json) -> list[dict[str, Any]]:
    """Return the template's variables of one plot per kind of reading, in the order of their headings."""
    workers = sorted(diagnosis["workers"], key=lambda worker: worker_key(worker["id"]))
    readings = [(worker, each) for worker in workers for each in worker.get("readings", ()) if each["points"]]
    if not readings:
        return []
    begin = min(point[0] for _, each in readings for point in each["points"])
    made = [
        (title, [_series(worker, each, begin, by) for worker, each in readings if each["tag"] == tag])
        for tag, (title, by) in _TITLES.items()
    ]
    axis = f"seconds since {instant(begin, date=False)} UTC"
    return [drawn_plot(title, series, {}) | {"axis": axis} for title, series in made if series]


def _series(worker: Json, reading: Json, begin: float, by: float) -> Series:
    points = tuple(
        (round(time - begin), value / by, f"{value / by:.4g}") for time, value in reading["points"]
    )
    return Series(worker["id"], worker["part"], "unknown", points, reading["kept"], reading["total"])
