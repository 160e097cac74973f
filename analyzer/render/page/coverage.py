"""What each worker left behind, by kind of file: what is missing is what the verdict had to do without."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from analyzer.render.phrasing import worker_key

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
    """One worker, and how many files of each kind it left."""

    worker: str
    counts: tuple[int, ...]


class Coverage(NamedTuple):
    """The table of who left what; `absent` are the kinds that nobody left."""

    kinds: tuple[str, ...]
    rows: tuple[Row, ...]
    absent: tuple[str, ...]

    @property
    def even(self) -> bool:
        """Say whether no worker lacks what another one left."""
        return all(all(row.counts) for row in self.rows)


def coverage(diagnosis: Json) -> Coverage:
    """Count the files that were read, for each worker and kind; an exit code counts where it is known."""
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
