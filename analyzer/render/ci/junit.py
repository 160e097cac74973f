"""Renders a diagnosis as JUnit XML: one test case for the job, and one for each worker."""

from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from analyzer.render import blame, decision, text
from analyzer.render.formatting import moment
from analyzer.render.page.template import fill
from analyzer.render.sanitize import one_line

Json = Mapping[str, Any]
_MAX_NAME, _MAX_WORKERS = 120, 1000


class Case(NamedTuple):
    """A test case; `outcome` is `failure`, `error`, `skipped`, or empty if passed."""

    name: str
    outcome: str
    kind: str
    message: str
    body: str = ""


def render(diagnosis: Json) -> str:
    """Return a diagnosis as JUnit XML: one test suite, with a case for the job and for each leading worker.

    Characters that XML forbids are replaced by visible ones.
    """
    run = diagnosis["run"]
    cases = [
        _job_case(diagnosis),
        *map(_worker, blame.leading_workers(diagnosis["workers"], _MAX_WORKERS)),
    ]
    counts = Counter(case.outcome for case in cases)
    known = run["started"] is not None and run["ended"] is not None
    totals = {
        "tests": len(cases),
        "failures": counts["failure"],
        "errors": counts["error"],
        "skipped": counts["skipped"],
        "time": f"{max(run['ended'] - run['started'], 0.0):.3f}" if known else "0",
    }
    name, began = one_line(run["name"], _MAX_NAME), moment(run["started"])
    timestamp = f"{began:%Y-%m-%dT%H:%M:%S}" if began else None
    view = {"name": name, "totals": totals, "timestamp": timestamp, "cases": cases}
    return fill("junit.xml.j2", view) + "\n"


def _job_case(d: Json) -> Case:
    """Return the test case of the job: a failure if failed or degraded, an error if inconclusive."""
    outcome = {"healthy": "", "inconclusive": "error"}.get(d["verdict"], "failure")
    title, workers = blame.blamed(d)
    details = ", ".join(filter(None, (f"{title} {workers}".strip(), decision.confidence_phrase(d))))
    verdict = decision.wording()["verdicts"][d["verdict"]][1]
    message = f"{verdict}{f' ({details})' if details else ''}: {d['summary']}"
    return Case("job", outcome, d["cause"] or d["verdict"], message, text.render(d) if outcome else "")


def _worker(worker: Json) -> Case:
    """Return a worker's test case: a failure if blamed, skipped for witnesses and missing workers."""
    passed = worker["seen"] and worker["part"] != "witness"
    blamed = worker["part"] in {"culprit", "suspect"}
    outcome = "failure" if blamed else "" if passed else "skipped"
    return Case(worker["id"], outcome, worker["part"], worker["ended"]["says"])
