"""Renders the runs and the groups of a night as JSON."""

import json
from collections.abc import Iterable
from typing import Any

from analyzer.triage.night_summary import Group, NightSummary, Run
from analyzer.triage.publish.context import NO_CONTEXT, PageContext
from analyzer.triage.publish.links import absolute


def lines(runs: Iterable[Run], summary: NightSummary, context: PageContext = NO_CONTEXT) -> str:
    """Return one JSON object per line and run, with team, job and owner, and the state of the run's group."""
    made = []
    for run in runs:
        about = context.job(run)._asdict() | {"state": summary.states.get(run.fingerprint or "")}
        made.append(json.dumps(run._asdict() | about, ensure_ascii=False, allow_nan=False) + "\n")
    return "".join(made)


def groups_json(summary: NightSummary, context: PageContext) -> str:
    """Return the groups of a night as one JSON object; see docs/triage.md for its fields."""
    groups = [_group(each, context) for each in summary.groups]
    return json.dumps({"night": summary.date, "groups": groups}, ensure_ascii=False, indent=1) + "\n"


def _group(group: Group, context: PageContext) -> dict[str, Any]:
    details, acknowledgement = context.details[group.fingerprint], context.acknowledged.get(group.fingerprint)
    return {
        "group": group.fingerprint,
        "state": group.status.state,
        "cause": group.cause,
        "rule": group.rule,
        "verdict": group.verdict,
        "runs": group.status.runs,
        "runs_tonight": group.status.tonight,
        "first_night": group.status.first,
        "last_night": group.status.last,
        "run": _run(group.run, context),
        "first_run": _run(details.first, context),
        "hosts": [host._asdict() for host in details.hosts],
        "host_count": details.host_count,
        "acknowledgement": acknowledgement._asdict() if acknowledgement else None,
    }


def _run(run: Run, context: PageContext) -> dict[str, Any]:
    about = {"name": run.name, "path": run.place, "night": run.night, "summary": run.summary}
    return {**about, **context.job(run)._asdict(), "report": run.report, "link": absolute(run)}
