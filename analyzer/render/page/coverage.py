"""How many files of each kind each worker left, which shows what the verdict had to do without."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from analyzer.render.formatting import worker_key

Json = Mapping[str, Any]
_KINDS = (
    ("log", "Log"),
    ("tf_config", "Cluster configuration"),
    ("exit_codes", "Exit code"),
    ("event_file", "Event files"),
    ("trace", "Trace"),
    ("pods", "Pods"),
)


class Row(NamedTuple):
    """One worker with its number of files of each kind."""

    worker: str
    counts: tuple[int, ...]


class Coverage(NamedTuple):
    """File counts by worker and kind; `absent` are the kinds of which nobody left a file."""

    kinds: tuple[str, ...]
    rows: tuple[Row, ...]
    absent: tuple[str, ...]

    @property
    def even(self) -> bool:
        """Return True if every worker left every kind of file."""
        return all(all(row.counts) for row in self.rows)


def coverage(diagnosis: Json) -> Coverage:
    """Count the files that were read, by worker and kind; a known exit code counts as a file."""
    read = [s for s in diagnosis["sources"] if s["read"] != "skipped"]
    workers = sorted(diagnosis["workers"], key=lambda w: worker_key(w["id"]))
    counts = {w["id"]: [_count(w, kind, read) for kind, _ in _KINDS] for w in workers}
    used = [k for k in range(len(_KINDS)) if any(row[k] for row in counts.values())]
    general = {s["kind"] for s in read}
    return Coverage(
        tuple(_KINDS[k][1] for k in used),
        tuple(Row(worker, tuple(row[k] for k in used)) for worker, row in counts.items()),
        tuple(name for k, (kind, name) in enumerate(_KINDS) if k not in used and kind not in general),
    )


def _count(worker: Json, kind: str, read: list[Json]) -> int:
    if kind == "exit_codes":
        return int(worker["ended"]["exit_code"] is not None)
    return sum(s["worker"] == worker["id"] and s["kind"] == kind for s in read)
