"""Renders a night as Markdown for a chat post; text from runs is escaped."""

from collections.abc import Container, Iterator, Sequence

from analyzer.render.formatting import plural
from analyzer.render.markdown import code, prose
from analyzer.triage.night_summary import Group, NightSummary
from analyzer.triage.publish.context import NO_CONTEXT, PageContext
from analyzer.triage.publish.links import absolute
from analyzer.triage.publish.phrasing import STATES, acknowledged, counts, filed, guilt, headline, when

_MAX_ITEMS = 10


def digest(summary: NightSummary, context: PageContext = NO_CONTEXT) -> str:
    """Return a night's failures as Markdown: new, recurring, resolved; suspect hosts; unexplained runs.

    Muted groups are counted, not listed.
    """
    parts = [
        f"### {_title(summary, context)}",
        prose(headline(*context.unmuted(summary))) + "." + _earlier_nights(summary, context),
    ]
    parts += _groups_by_state(summary, context)
    first = [
        f"{code(context.job(run).job or run.name)}: {code(run.cause or 'unknown')} ({code(run.place)})"
        for run in context.first_failures
    ]
    unknown = [
        f"{plural(group.status.runs, 'run')} of fingerprint {code(group.fingerprint)}: {code(group.command)}"
        for group in summary.unknown
    ]
    broken = [(run.name, run.problem) for run in summary.runs if run.problem and run.night == summary.date]
    accused = (f"- {code(each.suspect.host)}: {prose(guilt(each))}" for each in summary.suspects[:_MAX_ITEMS])
    parts.append(_section("First failure of the job in 30 nights", _first(first)))
    parts.append(_section("Machines", accused))
    parts.append(_section("No rule explains these", _first(unknown)))
    parts.append(
        _section("Could not be diagnosed", _first([f"{code(n)}: {prose(why)}" for n, why in broken]))
    )
    parts.append(_section("Not listed", _first([f"{code(n)}: {prose(why)}" for n, why in summary.unlisted])))
    if summary.waiting:
        parts.append(f"{plural(summary.waiting, 'run')} still being written, left for the next night.")
    return "\n\n".join(part for part in parts if part) + "\n"


def digest_for(whose: str, summary: NightSummary, context: PageContext, fingerprints: Container[str]) -> str:
    """Return the digest of one owner, team or job: the given groups of the night only."""
    parts = [f"### {_title(summary, context)} for {prose(whose)}"]
    parts += _groups_by_state(summary.only(fingerprints), context)
    return "\n\n".join(part for part in parts if part) + "\n"


def _title(summary: NightSummary, context: PageContext) -> str:
    """Return the title, linked to the page of the night if that is served."""
    title, page = f"Runs of {summary.date}", context.links.page(summary.date)
    return f"[{title}]({context.address}/{page})" if page and context.address else title


def _earlier_nights(summary: NightSummary, context: PageContext) -> str:
    """Return a sentence on the runs filed under earlier nights; if there was no run, on the last night."""
    if sentence := filed(summary, context.filed, context.undated):
        return f" {sentence}{_their_pages(summary, context)}"
    if summary.tonight.runs or not summary.nights:
        return ""
    return f" The last night with runs was {counts(summary.nights[-1])}."


def _their_pages(summary: NightSummary, context: PageContext) -> str:
    """Return the pages of the earlier nights, the latest first: as links if the outputs are served."""
    dates = sorted((night.date for night in summary.nights if night.date in context.filed), reverse=True)
    pages = {date: page for date in dates if (page := context.links.page(date))}
    shown = [
        f"[{date}]({context.address}/{page})" if context.address else code(page)
        for date, page in [*pages.items()][:_MAX_ITEMS]
    ]
    return f" What failed: {', '.join(shown)}." if shown else ""


def _groups_by_state(summary: NightSummary, context: PageContext) -> Iterator[str]:
    """Yield a section for each state of groups: new, recurring, known, resolved."""
    for state, (sign, name) in STATES.items():
        yield _section(f"{sign} {name.capitalize()}", _groups(summary, state, context))


def _groups(summary: NightSummary, state: str, context: PageContext) -> Iterator[str]:
    found = [*summary.in_state(state)]
    groups = [each for each in found if not context.is_muted(each.fingerprint)]
    for group in groups[:_MAX_ITEMS]:
        runs = plural(group.status.tonight or group.status.runs, "run")
        known = f" A restart {prose(group.restart.says)}." if group.restart else ""
        what = f"{code(group.cause)}, {runs}, {when(group)}: {prose(group.run.summary.rstrip('.'))}"
        yield f"- {what} ({code(group.run.place)}).{known}{_about(group, context)}"
    yield from _omitted_count(summary.count(state) - len(found) + len(groups[_MAX_ITEMS:]))
    if len(found) > len(groups):
        yield f"- and {len(found) - len(groups):,} muted"


def _about(group: Group, context: PageContext) -> str:
    """Return sentences on owner, hosts, first run, fingerprint, report and acknowledgement of a group."""
    sentences = []
    if whose := context.whose(group.run):
        sentences.append(f"{prose(_capital(whose))}.")
    if details := context.details.get(group.fingerprint):
        hosts = ", ".join(code(host.name) for host in details.hosts)
        others = details.host_count - len(details.hosts)
        more = f" and {others} more" if others > 0 else ""
        sentences += [f"Hosts: {hosts}{more}."] if hosts else []
        if details.first.place != group.run.place:
            sentences.append(f"First run: {code(details.first.place)} on {details.first.night}.")
    sentences.append(f"Group {code(group.fingerprint)}.")
    if link := absolute(group.run):
        sentences.append(f"[Report]({link}).")
    if acknowledgement := context.acknowledged.get(group.fingerprint):
        sentences.append(f"{prose(_capital(acknowledged(acknowledgement, context.today)))}.")
    return "".join(f" {each}" for each in sentences)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _first(items: Sequence[str]) -> Iterator[str]:
    """Yield the first items of a list, then how many are left out."""
    yield from (f"- {item}" for item in items[:_MAX_ITEMS])
    yield from _omitted_count(len(items[_MAX_ITEMS:]))


def _omitted_count(count: int) -> Iterator[str]:
    if count > 0:
        yield f"- and {count:,} more"


def _section(title: str, lines: Iterator[str]) -> str:
    body = "\n".join(lines)
    return f"**{title}**\n\n{body}" if body else ""
