"""The diagnosis as JUnit XML, for a CI server: the job is a test case, and so is each worker."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any, NamedTuple

from analyzer.render import phrasing, text
from analyzer.render.sanitize import one_line, visible

Json = Mapping[str, Any]
_MOST_NAME, _MOST_MESSAGE, _MOST_WORKERS = 120, 500, 1000
_OUTCOMES = ("failure", "error", "skipped")


class Case(NamedTuple):
    """A test case; `outcome` is `failure`, `error`, `skipped`, or empty where it passed."""

    name: str
    outcome: str = ""
    kind: str = ""
    message: str = ""
    body: str = ""


def render(diagnosis: Json) -> str:
    """Render one suite; no character that XML forbids is in it."""
    d = diagnosis
    cases = [_job(d), *map(_worker, _workers(d))]
    counts = {f"{o}s" if o != "skipped" else o: sum(c.outcome == o for c in cases) for o in _OUTCOMES}
    took = _took(d["run"])
    totals = _attributes(name="mwms-analyze", tests=len(cases), **counts, time=took)
    suite = _attributes(
        name=one_line(d["run"]["name"], _MOST_NAME),
        tests=len(cases),
        **counts,
        time=took,
        timestamp=_began(d["run"]),
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', f"<testsuites{totals}>", f"<testsuite{suite}>"]
    lines += [line for case in cases for line in _written(case, d["run"]["name"])]
    return "\n".join([*lines, "</testsuite>", "</testsuites>"]) + "\n"


def _job(d: Json) -> Case:
    """Return the verdict; one that cannot be told is an error of the check, not a failure of the job."""
    outcome = {"healthy": "", "inconclusive": "error"}.get(d["verdict"], "failure")
    title, workers = phrasing.blamed(d)
    said = ", ".join(part for part in (f"{title} {workers}".strip(), phrasing.surely(d)) if part)
    message = f"{phrasing.VERDICTS[d['verdict']][1]}{f' ({said})' if said else ''}: {d['summary']}"
    return Case("job", outcome, d["cause"] or d["verdict"], message, text.render(d) if outcome else "")


def _workers(d: Json) -> list[Json]:
    rank = {"culprit": 0, "suspect": 1}
    kept = sorted(d["workers"], key=lambda w: rank.get(w["part"], 2))[:_MOST_WORKERS]
    return sorted(kept, key=lambda w: phrasing.worker_key(w["id"]))


def _worker(worker: Json) -> Case:
    """Return a worker: the blamed failed, of those that only lost a peer or left nothing nothing is said."""
    part, ended = worker["part"], worker["ended"]
    if part in {"culprit", "suspect"}:
        return Case(worker["id"], "failure", part, ended["says"])
    passed = worker["seen"] and part != "witness"
    return Case(worker["id"], "" if passed else "skipped", part, ended["says"])


def _written(case: Case, suite: str) -> Iterator[str]:
    opened = f"<testcase{_attributes(name=case.name, classname=one_line(suite, _MOST_NAME), time='0')}"
    if not case.outcome:
        yield f"{opened}/>"
        return
    message = one_line(case.message, _MOST_MESSAGE)
    kind = one_line(case.kind, _MOST_NAME) if case.outcome != "skipped" else None
    said = _attributes(message=message, type=kind)
    yield f"{opened}>"
    yield f"<{case.outcome}{said}>{escape(visible(case.body))}</{case.outcome}>"
    yield "</testcase>"


def _attributes(**values: object) -> str:
    return "".join(f' {name}="{escape(visible(str(v)))}"' for name, v in values.items() if v is not None)


def _took(run: Json) -> str:
    known = run["started"] is not None and run["ended"] is not None
    return f"{max(run['ended'] - run['started'], 0.0):.3f}" if known else "0"


def _began(run: Json) -> str | None:
    if run["started"] is None:
        return None
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=run["started"])
    except OverflowError:
        return None
    return f"{at:%Y-%m-%dT%H:%M:%S}"
