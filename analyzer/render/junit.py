"""The diagnosis as JUnit XML: one test case for the job, and one for each worker."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any, NamedTuple

from analyzer.render import decision, formatting, text
from analyzer.render.sanitize import one_line, visible

Json = Mapping[str, Any]
_MAX_NAME, _MAX_MESSAGE, _MAX_WORKERS = 120, 500, 1000
_OUTCOMES = ("failure", "error", "skipped")


class Case(NamedTuple):
    """A test case; `outcome` is `failure`, `error`, `skipped`, or empty where it passed."""

    name: str
    outcome: str = ""
    kind: str = ""
    message: str = ""
    body: str = ""


def render(diagnosis: Json) -> str:
    """Return one test suite; characters that XML forbids are replaced by visible ones."""
    d = diagnosis
    cases = [_job_case(d), *map(_worker, _workers(d))]
    counts = {f"{o}s" if o != "skipped" else o: sum(c.outcome == o for c in cases) for o in _OUTCOMES}
    took = _duration(d["run"])
    totals = _attributes(name="mwms-analyze", tests=len(cases), **counts, time=took)
    suite = _attributes(
        name=one_line(d["run"]["name"], _MAX_NAME),
        tests=len(cases),
        **counts,
        time=took,
        timestamp=_timestamp(d["run"]),
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{totals}>", f"<testsuite{suite}>"]
    lines += [line for case in cases for line in _case_xml(case, d["run"]["name"])]
    return "\n".join([*lines, "</testsuite>", "</testsuites>"]) + "\n"


def _job_case(d: Json) -> Case:
    """Return the job's case: failed and degraded are failures; inconclusive is an error of the check."""
    outcome = {"healthy": "", "inconclusive": "error"}.get(d["verdict"], "failure")
    title, workers = decision.blamed(d)
    said = ", ".join(part for part in (f"{title} {workers}".strip(), decision.confidence_phrase(d)) if part)
    message = f"{decision.VERDICTS[d['verdict']][1]}{f' ({said})' if said else ''}: {d['summary']}"
    return Case("job", outcome, d["cause"] or d["verdict"], message, text.render(d) if outcome else "")


def _workers(d: Json) -> list[Json]:
    rank = {"culprit": 0, "suspect": 1}
    kept = sorted(d["workers"], key=lambda w: rank.get(w["part"], 2))[:_MAX_WORKERS]
    return sorted(kept, key=lambda w: formatting.worker_key(w["id"]))


def _worker(worker: Json) -> Case:
    """Return a worker's case: culprits and suspects fail; witnesses and workers without files are skipped."""
    part, ended = worker["part"], worker["ended"]
    if part in {"culprit", "suspect"}:
        return Case(worker["id"], "failure", part, ended["says"])
    passed = worker["seen"] and part != "witness"
    return Case(worker["id"], "" if passed else "skipped", part, ended["says"])


def _case_xml(case: Case, suite: str) -> Iterator[str]:
    opened = f"<testcase{_attributes(name=case.name, classname=one_line(suite, _MAX_NAME), time='0')}"
    if not case.outcome:
        yield f"{opened}/>"
        return
    message = one_line(case.message, _MAX_MESSAGE)
    kind = one_line(case.kind, _MAX_NAME) if case.outcome != "skipped" else None
    said = _attributes(message=message, type=kind)
    yield f"{opened}>"
    yield f"<{case.outcome}{said}>{escape(visible(case.body))}</{case.outcome}>"
    yield "</testcase>"


def _attributes(**values: object) -> str:
    return "".join(f' {name}="{escape(visible(str(v)))}"' for name, v in values.items() if v is not None)


def _duration(run: Json) -> str:
    known = run["started"] is not None and run["ended"] is not None
    return f"{max(run['ended'] - run['started'], 0.0):.3f}" if known else "0"


def _timestamp(run: Json) -> str | None:
    if run["started"] is None:
        return None
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=run["started"])
    except OverflowError:
        return None
    return f"{at:%Y-%m-%dT%H:%M:%S}"
