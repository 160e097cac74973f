"""Makes the events of a night: plain data that every sender and feed formats in its own way."""

from collections.abc import Iterator
from typing import Any

from analyzer.render.formatting import plural
from analyzer.render.sanitize import one_line
from analyzer.triage.night_summary import Group, NightSummary, Run
from analyzer.triage.publish.context import PageContext
from analyzer.triage.publish.links import absolute

_KINDS = {"new": "New failure", "regressed": "Recurring failure"}
_MAX_TEXT = 300


def events(summary: NightSummary, context: PageContext) -> Iterator[dict[str, Any]]:
    """Yield an event for each new or recurring group, and for each first failure of a job in 30 nights.

    Groups that are acknowledged yield none. A new group has one `id` for ever; other events one per night.
    """
    for group in summary.groups:
        if group.status.state in _KINDS and not context.is_acknowledged(group.fingerprint):
            yield _group_event(summary.date, group, context)
    for run in context.first_failures:
        if not context.is_acknowledged(run.fingerprint or ""):
            yield _job_event(summary.date, run, context)


def _group_event(date: str, group: Group, context: PageContext) -> dict[str, Any]:
    details, state = context.details[group.fingerprint], group.status.state
    about = _about_run(date, group.run, context)
    of_job = f" in {one_line(about['job'], 80)}" if about["job"] else ""
    return {
        "id": f"new-{group.fingerprint}" if state == "new" else f"recurring-{group.fingerprint}-{date}",
        "kind": "new" if state == "new" else "recurring",
        "title": f"{_KINDS[state]}: {one_line(group.cause, 80)}{of_job}",
        "group": group.fingerprint,
        "runs": group.status.tonight,
        "hosts": [host.name for host in details.hosts],
        "first_run": details.first.place,
        **about,
    }


def _job_event(date: str, run: Run, context: PageContext) -> dict[str, Any]:
    about = _about_run(date, run, context)
    name = one_line(about["job"] or run.name, 80)
    return {
        "id": f"job-{run.fingerprint}-{date}",
        "kind": "first_failure",
        "title": f"First failure of {name} in 30 nights: {one_line(run.cause or 'unknown', 80)}",
        "group": run.fingerprint,
        "runs": 1,
        "hosts": [],
        "first_run": run.place,
        **about,
    }


def _about_run(date: str, run: Run, context: PageContext) -> dict[str, Any]:
    return {
        "night": date,
        "verdict": run.verdict,
        "cause": run.cause,
        "summary": one_line(run.summary, _MAX_TEXT),
        "run": run.name,
        "path": run.place,
        **context.layout.of(run.place, run.root)._asdict(),
        "link": absolute(run),
    }


def text_lines(event: dict[str, Any]) -> list[str]:
    """Return an event as lines of plain text."""
    whose = ", ".join(f"{name} {event[name]}" for name in ("team", "job", "owner") if event[name])
    lines = [
        event["summary"],
        f"{plural(event['runs'], 'run')} on {event['night']}" + (f"; {whose}" if whose else ""),
        f"Run: {event['path']}",
        f"Hosts: {', '.join(event['hosts'])}" if event["hosts"] else "",
        f"Group: {event['group']} (mwms-triage ack {event['group'][:8]} acknowledges it)",
        f"Report: {event['link']}" if event["link"] else "",
    ]
    return [one_line(line, _MAX_TEXT) for line in lines if line]
