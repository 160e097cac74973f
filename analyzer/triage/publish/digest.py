"""Renders a night as Markdown for a chat post; text from runs is escaped."""

from collections.abc import Iterator

from analyzer.render.formatting import plural
from analyzer.render.markdown import code, prose
from analyzer.triage.night_summary import NightSummary
from analyzer.triage.publish.phrasing import STATES, guilt, headline, when

_MAX_ITEMS = 10


def digest(summary: NightSummary) -> str:
    """Return the digest: new, recurring and resolved failures, accused machines, and unexplained runs."""
    parts = [f"### Runs of {summary.date}", prose(headline(summary)) + "." + _last_night(summary)]
    parts += [
        _section(f"{sign} {name.capitalize()}", _groups(summary, each))
        for each, (sign, name) in STATES.items()
    ]
    accused = (f"- {code(each.suspect.host)}: {prose(guilt(each))}" for each in summary.suspects[:_MAX_ITEMS])
    parts.append(_section("Machines", accused))
    parts.append(_section("No rule explains these", _unknown(summary)))
    broken = [run for run in summary.runs if run.problem and run.night == summary.date]
    parts.append(_section("Not examined", _broken([(run.name, run.problem) for run in broken])))
    parts.append(_section("Not listed", _broken(summary.unlisted)))
    if summary.waiting:
        parts.append(f"{plural(summary.waiting, 'run')} still being written, left for the next night.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _last_night(summary: NightSummary) -> str:
    """Return a sentence on the last night with runs if this one has none."""
    last = summary.nights[-1] if summary.nights else None
    if summary.tonight.runs or last is None:
        return ""
    failed = f"{last.bad} of {plural(last.runs, 'run')} failed or degraded"
    return f" The last night with runs was {last.date}: {failed}."


def _groups(summary: NightSummary, state: str) -> Iterator[str]:
    groups = summary.in_state(state)
    for group in groups[:_MAX_ITEMS]:
        runs = plural(group.status.tonight or group.status.runs, "run")
        known = f" A restart {prose(group.restart.says)}." if group.restart else ""
        what = f"**{prose(group.cause)}**, {runs}, {when(group)}: {prose(group.run.summary)}"
        yield f"- {what} ({code(group.run.name)}).{known}"
    yield from _omitted_count(summary.count(state) - len(groups[:_MAX_ITEMS]))


def _unknown(summary: NightSummary) -> Iterator[str]:
    for group in summary.unknown[:_MAX_ITEMS]:
        runs = plural(group.status.runs, "run")
        yield f"- {runs} of fingerprint {code(group.fingerprint)}: {code(group.command)}"
    yield from _omitted_count(len(summary.unknown[_MAX_ITEMS:]))


def _broken(said: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, problem in said[:_MAX_ITEMS]:
        yield f"- {code(name)}: {prose(problem)}"
    yield from _omitted_count(len(said[_MAX_ITEMS:]))


def _omitted_count(count: int) -> Iterator[str]:
    if count > 0:
        yield f"- and {count:,} more"


def _section(title: str, lines: Iterator[str]) -> str:
    body = "\n".join(lines)
    return f"**{title}**\n\n{body}" if body else ""
