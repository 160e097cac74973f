"""Recognizes the hidden files that Nextflow keeps of each task, and its trace, which names the tasks."""

import re
from collections import ChainMap
from collections.abc import Iterator, Mapping, Sequence

from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of

OF_TASK = frozenset({".command.out", ".command.err", ".exitcode"})
"""Names of a task's output and exit code; `.command.log` has the same lines again."""
_FOLDER = re.compile(r"(?:^|/)(?P<hash>[0-9a-f]{2}/[0-9a-f]{6})[0-9a-f]*/[^/]+$")
_TRACE = re.compile(r"task_id\t(?:\w+\t)*hash\t")
_MAX_BYTES = 4 << 20


def as_tasks(sources: Sequence[Source]) -> Iterator[Source]:
    """Yield the sources; the files of a task get the worker that the trace names, and the trace is no log."""
    if not any(source.name.rpartition("/")[2] in OF_TASK for source in sources):
        yield from sources
        return
    tables = {
        source.name: _traced(source)
        for source in sources
        if not source.skip and source.name.lower().endswith((".txt", ".tsv"))
    }
    workers = dict(ChainMap(*map(dict, tables.values())))
    for source in sources:
        if tables.get(source.name):
            yield source._replace(kind=Kind.OTHER, worker=None)
        elif folder := _FOLDER.search(source.name):
            yield source._replace(worker=source.worker or workers.get(folder["hash"]))
        else:
            yield source


def _traced(source: Source) -> Mapping[str, str]:
    """Return the hash of a task → its worker, from Nextflow's trace; nothing of any other file."""
    if source.path.stat().st_size > _MAX_BYTES:
        return {}
    header, *rows = source.path.read_text("utf-8", "replace").splitlines() or [""]
    if not _TRACE.match(header):
        return {}
    names = header.split("\t")
    cells = (dict(zip(names, row.split("\t"), strict=False)) for row in rows)
    named = ((row.get("hash", ""), worker_of(row.get("name", "").lower(), Kind.OTHER)) for row in cells)
    return {task: worker for task, worker in named if worker}
