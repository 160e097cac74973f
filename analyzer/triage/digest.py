"""The night as Markdown that fits a post; names and messages of runs cannot become markup."""

from __future__ import annotations

from collections.abc import Iterator

from analyzer.render.markdown import code, prose
from analyzer.render.phrasing import plural
from analyzer.triage.night_summary import NightSummary
from analyzer.triage.phrasing import STATES, guilt, headline, when

_MOST = 10


def digest(told: NightSummary) -> str:
    """What is new, what came back, who is suspected, what is gone, and what nobody explains yet."""
    parts = [f"### Runs of {told.date}", prose(headline(told)) + "."]
    parts += [
        _section(f"{sign} {name.capitalize()}", _groups(told, each)) for each, (sign, name) in STATES.items()
    ]
    accused = (f"- {code(each.suspect.host)}: {prose(guilt(each))}" for each in told.suspects[:_MOST])
    parts.append(_section("Machines", accused))
    parts.append(_section("No rule explains these", _unknown(told)))
    broken = [run for run in told.runs if run.problem and run.night == told.date]
    parts.append(_section("Not examined", _broken([(run.name, run.problem) for run in broken])))
    parts.append(_section("Not listed", _broken(told.unlisted)))
    if told.waiting:
        parts.append(f"{plural(told.waiting, 'run')} still being written, left for the next night.")
    return "\n\n".join(part for part in parts if part) + "\n"


def _groups(told: NightSummary, state: str) -> Iterator[str]:
    groups = told.of(state)
    for group in groups[:_MOST]:
        runs = plural(group.course.tonight or group.course.runs, "run")
        known = f" A restart {prose(group.restart.says)}." if group.restart else ""
        what = f"**{prose(group.cause)}**, {runs}, {when(group)}: {prose(group.run.summary)}"
        yield f"- {what} ({code(group.run.name)}).{known}"
    yield from _more(told.count(state) - len(groups[:_MOST]))


def _unknown(told: NightSummary) -> Iterator[str]:
    for group in told.unknown[:_MOST]:
        runs = plural(group.course.runs, "run")
        yield f"- {runs} of fingerprint {code(group.fingerprint)}: {code(group.command)}"
    yield from _more(len(told.unknown[_MOST:]))


def _broken(said: list[tuple[str, str]] | tuple[tuple[str, str], ...]) -> Iterator[str]:
    for name, problem in said[:_MOST]:
        yield f"- {code(name)}: {prose(problem)}"
    yield from _more(len(said[_MOST:]))


def _more(count: int) -> Iterator[str]:
    if count > 0:
        yield f"- and {count:,} more"


def _section(title: str, lines: Iterator[str]) -> str:
    body = "\n".join(lines)
    return f"**{title}**\n\n{body}" if body else ""
