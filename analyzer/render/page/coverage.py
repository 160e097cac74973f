"""Counts the files of each kind that each worker left, to show what was missing for the verdict."""

from collections import Counter
from collections.abc import Mapping
from typing import Any

from analyzer.render.decision import wording
from analyzer.render.formatting import worker_key

Json = Mapping[str, Any]


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
