"""Recognizes the logs of a run of GitHub Actions: a file of each job, and one of each of its steps."""

import re
from collections.abc import Iterator, Sequence

from analyzer.model.run import Source
from analyzer.model.task_names import worker_of

_FIRST_STEP = re.compile(r"(?P<folder>(?:.*/)?)(?P<job>[^/]+)/1_Set up job\.txt$")
_NUMBERED = re.compile(r"(?P<folder>(?:.*/)?)\d+_(?P<name>[^/]+)\.txt$")


def as_jobs(sources: Sequence[Source]) -> Iterator[Source]:
    """Yield the sources; logs of GitHub Actions get the worker in their job's name, its number left out.

    The number counts jobs. A step's file is skipped if its job has a file, which holds the same lines.
    """
    firsts = (_FIRST_STEP.match(source.name) for source in sources)
    jobs = {first["folder"] + first["job"] for first in firsts if first}
    if not jobs:
        yield from sources
        return
    numbered = {source.name: _NUMBERED.match(source.name) for source in sources}
    whole = {found["folder"] + found["name"]: name for name, found in numbered.items() if found}
    for source in sources:
        found = numbered[source.name]
        step_of = found["folder"].rstrip("/") if found else ""
        if found and step_of in jobs and step_of in whole:
            yield source._replace(worker=None, skip=f"its lines are read from {whole[step_of]}")
        elif found and (step_of in jobs or found["folder"] + found["name"] in jobs):
            yield source._replace(worker=worker_of(step_of.rpartition("/")[2] or found["name"], source.kind))
        else:
            yield source
