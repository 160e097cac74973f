"""Computes the tables of workers, facts and files, with differing values apart from equal ones."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from analyzer.render.decision import wording
from analyzer.render.formatting import as_text, worker_key
from analyzer.render.phrasing import differs_by_nature

Json = Mapping[str, Any]
MAX_ROWS = 16
"""Number of workers up to which a table shows all of them."""


def facts(diagnosis: Json) -> dict[str, Any]:
    """Split the facts of a diagnosis into differing, equal and per-worker ones.

    The differing facts are the `columns` of two tables: `outliers` has the rows with an odd value (in small
    clusters all rows), `typical` the others. `equal` has (label, value, number of workers), and `own` the
    facts that are expected to differ per worker, such as the host.
    """
    found = [
        {**f, "values": {w: as_text(value) for w, value in f["values"].items()}} for f in diagnosis["facts"]
    ]
    own = [f for f in found if not f["equal"] and differs_by_nature(f)]
    columns = [f for f in found if not f["equal"] and f not in own]
    usual = [_usual(list(f["values"].values())) for f in columns]
    rows = [_row(w, columns, usual) for w in _workers(columns)]
    shown = [len(rows) <= MAX_ROWS or any(cell["odd"] for cell in row["cells"]) for row in rows]
    return {
        "columns": columns,
        "outliers": [row for row, is_shown in zip(rows, shown, strict=True) if is_shown],
        "typical": [row for row, is_shown in zip(rows, shown, strict=True) if not is_shown],
        "equal": [
            (f["label"], next(iter(f["values"].values()), ""), len(f["values"])) for f in found if f["equal"]
        ],
        "own": own,
        "own_workers": _workers(own),
    }


def _workers(stated: Sequence[Json]) -> list[str]:
    return sorted({w for f in stated for w in f["values"]}, key=worker_key)


def _row(worker: str, columns: Sequence[Json], usual: Sequence[str | None]) -> dict[str, Any]:
    """Return a worker's value of each fact; a value is `odd` if it differs from the usual one.

    For the fact `claims`, the task that a worker says it is, the usual value is the worker's own name.
    """
    values = [
        (f["values"].get(worker), worker if f["key"] == "claims" else common)
        for f, common in zip(columns, usual, strict=True)
    ]
    cells = [
        {"value": value, "odd": value != common and None not in (value, common)} for value, common in values
    ]
    return {"worker": worker, "cells": cells}


def endings(diagnosis: Json) -> dict[str, list[Json]]:
    """Split the workers into `outliers` (blamed, unseen or ended unlike most; all if few) and `typical`."""
    workers = sorted(diagnosis["workers"], key=lambda w: worker_key(w["id"]))
    usual = _usual([w["ended"]["says"] for w in workers])
    typical = [
        w
        for w in workers
        if len(workers) > MAX_ROWS
        and w["seen"]
        and w["part"] not in {"culprit", "suspect"}
        and w["ended"]["says"] == usual
    ]
    return {"outliers": [w for w in workers if w not in typical], "typical": typical}


def _usual(values: Sequence[str]) -> str | None:
    """Return the most frequent value, or None if it occurs once or is tied."""
    (value, count), (_, other), *_ = [*Counter(values).most_common(2), ("", 0), ("", 0)]
    return value if count > max(other, 1) else None


def coverage(diagnosis: Json) -> dict[str, Any]:
    """Return how many files were read, by worker and kind; a known exit code counts as a file.

    `kinds` has the columns, `rows` has (worker, counts), `absent` the kinds without any file, and `even` is
    True if every worker left files of all kinds in the columns.
    """
    kinds = wording()["source_kinds"]
    read = [s for s in diagnosis["sources"] if s["read"] != "skipped"]
    workers = sorted(diagnosis["workers"], key=lambda w: worker_key(w["id"]))
    codes = {(w["id"], "exit_codes"): int(w["ended"]["exit_code"] is not None) for w in workers}
    files = {**Counter((s["worker"], s["kind"]) for s in read), **codes}
    counts = {w["id"]: {kind: files.get((w["id"], kind), 0) for kind in kinds} for w in workers}
    used = [kind for kind in kinds if any(row[kind] for row in counts.values())]
    known = {*used, *(s["kind"] for s in read)}
    rows = [(worker, [row[kind] for kind in used]) for worker, row in counts.items()]
    return {
        "kinds": [kinds[kind] for kind in used],
        "rows": rows,
        "absent": [name for kind, name in kinds.items() if kind not in known],
        "even": all(all(row) for _, row in rows),
    }
