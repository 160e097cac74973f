"""Computes the geometry of the trace section: shares of time per worker, last worker per collective."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.render import formatting
from analyzer.render.blame import blamed_workers
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
BAR = 240.0
_MAX_ROWS = 16
"""Number of workers up to which each gets a row, even if it was never last."""
_CHART_WIDTH, _LEFT, _TOP, _PITCH, _COLUMN, _SMALLEST = 1080.0, 118.0, 16.0, 22.0, 40.0, 1.5
_NOTABLE_SHARE, _VISIBLE_SHARE = 0.1, 0.01


def trace(diagnosis: Json) -> dict[str, Any] | None:
    """Return the template's variables for the bars of traced workers; None if no trace was read.

    In large clusters, `typical` has the workers that nobody waits for; `rows` has the others.
    """
    traced = sorted(diagnosis.get("trace", []), key=lambda t: formatting.worker_key(t["worker"]))
    if not traced:
        return None
    blamed = blamed_workers(diagnosis)
    bars = [_row(t, t["worker"] in blamed) for t in traced]
    shown = [len(bars) <= _MAX_ROWS or row["blamed"] or _delays(row["item"]) for row in bars]
    rows = [row for row, is_shown in zip(bars, shown, strict=True) if is_shown]
    typical = [row for row, is_shown in zip(bars, shown, strict=True) if not is_shown]
    before = "Before the job hung: " if str(diagnosis["cause"]).startswith("hang.") else ""
    return {"rows": rows, "typical": typical, "summary": before + _summary(traced), "width": BAR}


def _delays(traced: Json) -> bool:
    return bool(traced["last"] or (traced["delay_share"] or 0.0) >= _NOTABLE_SHARE)


def latecomers(diagnosis: Json) -> dict[str, Any] | None:
    """Return a chart of the last worker in each collective; None without matching collectives.

    The chart has a row for each worker and a column for each collective; a call is a dot in the row of its
    last worker.
    """
    called = diagnosis.get("collectives", [])
    if not called:
        return None
    blamed = blamed_workers(diagnosis)
    traced = {t["worker"] for t in diagnosis["trace"]}
    late = {c["last"] for c in called}
    workers = sorted(traced | late if len(traced) <= _MAX_ROWS else late, key=formatting.worker_key)
    rows = {worker: _TOP + _PITCH * n for n, worker in enumerate(workers)}
    longest = max(c["waited"] for c in called) or 1.0
    pitch = min(_COLUMN, (_CHART_WIDTH - _LEFT) / len(called))
    largest = min(pitch, _PITCH) / 2 - _SMALLEST
    return {
        "names": [(worker, y, worker in blamed) for worker, y in rows.items()],
        "calls": [
            {
                "x": round(_LEFT + pitch * (n + 0.5), 1),
                "y": rows[c["last"]],
                "radius": round(_SMALLEST + largest * math.sqrt(c["waited"] / longest), 1),
                "blamed": c["last"] in blamed,
                "item": c,
                "title": f"{_call_label(c)}: {c['last']} last, waited for {formatting.duration(c['waited'])}",
            }
            for n, c in enumerate(called)
        ],
        "left_out": diagnosis.get("collectives_left_out", 0),
        "longest": longest,
        "width": _CHART_WIDTH,
        "height": _TOP + _PITCH * (len(workers) - 1) + _TOP,
        "left": _LEFT,
    }


def _call_label(call: Json) -> str:
    step = "" if call["step"] is None else f", step {call['step']:,}"
    return f"{one_line(call['name'], 80)}{step}, call {call['nth']:,}"


def _row(item: Json, blamed: bool) -> dict[str, Any]:
    """Return one worker's bar, divided by shares of the time, and its figures."""
    collective = item["collective_share"]
    if collective is None:
        return {"item": item, "parts": [], "rest": None, "blamed": blamed}
    collective = min(collective, 1.0)
    waiting = min(item["input_share"] or 0.0, 1.0 - collective)
    waiting = waiting if waiting >= _VISIBLE_SHARE else 0.0
    rest = 1.0 - collective - waiting
    ends = [0.0, rest, rest + waiting, 1.0]
    parts = [
        {"kind": kind, "x": round(BAR * start, 1), "width": round(BAR * (end - start), 1)}
        for kind, start, end in zip(("own", "input", "collective"), ends, ends[1:], strict=False)
    ]
    return {"item": item, "parts": [p for p in parts if p["width"]], "rest": rest, "blamed": blamed}


def _summary(traced: Sequence[Json]) -> str:
    last = [t for t in traced if t["last"]]
    if len(traced) == 1:
        return "Only one worker was traced, so there is no comparison."
    if last:
        share = formatting.percent(last[0]["delay_share"] or 0)
        took = formatting.duration(last[0]["delay_seconds"] or 0)
        return (
            f"{last[0]['worker']} enters the collectives last; "
            f"the others wait for it {share} of the time ({took})."
        )
    most = max(traced, key=lambda t: t["delay_share"] or 0.0)
    if (most["delay_share"] or 0.0) < _NOTABLE_SHARE:
        return "No worker is last; all wait about equally long."
    return (
        f"No single worker is last; {most['worker']} keeps the others waiting the longest, "
        f"{formatting.percent(most['delay_share'])} of the time."
    )
