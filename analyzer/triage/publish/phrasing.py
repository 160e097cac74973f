"""Builds the sentences that index page, digest and terminal share."""

import shlex
from collections.abc import Container

from analyzer.render.formatting import plural
from analyzer.render.sanitize import one_line
from analyzer.triage.database.acknowledgements import Acknowledgement
from analyzer.triage.hosts import HostRate
from analyzer.triage.night_summary import AccusedHost, Group, NightCounts, NightSummary

STATES = {
    "new": ("✚", "new"),
    "regressed": ("↺", "recurring"),
    "known": ("=", "known"),
    "gone": ("✓", "resolved"),
}
"""Symbol and displayed name of each state of a group."""
_MAX_NIGHTS = 10


def headline(summary: NightSummary, muted: int = 0) -> str:
    """Return a one-sentence summary of a night, without a full stop; `muted` groups are left out of it."""
    night = summary.tonight
    if not night.runs:
        return f"No runs on {summary.date}"
    runs, unclear = plural(night.runs, "run"), _unclear(night)
    sentence = f"{night.bad} of {runs} failed or degraded{unclear}"
    if not night.bad:
        sentence = f"{runs}, none failed{unclear}" if unclear else f"{runs}, and none of them failed"
    return sentence + "".join(f"; {part}" for part in (_news(summary, muted), _guilt(summary)) if part)


def filed(summary: NightSummary, nights: Container[str], undated: int = 0) -> str:
    """Return sentences on the earlier `nights` to which the call added runs; empty if there are none.

    `undated` of these runs state no time.
    """
    found = [each for each in reversed(summary.nights) if each.date in nights and summary.date not in nights]
    if not found:
        return ""
    shown = "; ".join(map(counts, found[:_MAX_NIGHTS]))
    more = f"; and {plural(len(found) - _MAX_NIGHTS, 'more night')}" if len(found) > _MAX_NIGHTS else ""
    sentence = f"Runs that came in now and ended earlier are filed under their dates: {shown}{more}."
    return f"{sentence} {without_time(undated)}".rstrip()


def without_time(undated: int) -> str:
    """Return a sentence on the date of runs that state no time; empty if there are none."""
    if undated == 1:
        return "1 of these runs states no date: it is filed by the last write to its files."
    many = f"{undated:,} of these runs state no date: they are filed by the last write to their files."
    return many if undated else ""


def counts(night: NightCounts) -> str:
    """Return a night and how many of its runs failed or degraded, as part of a sentence."""
    return (
        f"{night.date}, with {night.bad} of {plural(night.runs, 'run')} failed or degraded{_unclear(night)}"
    )


def _unclear(night: NightCounts) -> str:
    """Return how many runs are neither healthy nor failed, as the end of a clause; empty if none is."""
    named = {"inconclusive": night.inconclusive, "could not be diagnosed": night.broken}
    return "".join(f", {count} {what}" for what, count in named.items() if count)


def _news(summary: NightSummary, muted: int) -> str:
    new, back = summary.count("new"), summary.count("regressed")
    parts = [f"{plural(new, 'failure')} never seen before"] * (new > 0) + [f"{back} recurring"] * (back > 0)
    quiet = [f"{plural(muted, 'failure')} muted"] * (muted > 0)
    if parts or quiet:
        return ", ".join([" and ".join(parts)] * bool(parts) + quiet)
    return "all of them known" if summary.tonight.bad else ""


def _guilt(summary: NightSummary) -> str:
    names = [each.suspect.host for each in summary.suspects]
    if not names:
        return ""
    if len(names) == 1:
        return f"{names[0]} is a repeat offender"
    return f"{len(names)} machines are repeat offenders"


def guilt(guilty: AccusedHost) -> str:
    """Return the reason why a machine is accused, as a clause."""
    one = guilty.suspect
    return (
        f"the culprit in {one.guilty} of its {plural(one.runs, 'run')}, "
        f"with {one.contexts} combinations of job and partners; probability by chance {chance(one.p_value)}"
    )


def drain(host: str) -> tuple[str, str]:
    """Return the commands that keep Kubernetes and Slurm from giving a machine to further jobs."""
    name = shlex.quote(one_line(host, 120))
    return f"kubectl cordon {name}", f"scontrol update NodeName={name} State=DRAIN Reason=mwms-triage"


def chance(p_value: float) -> str:
    """Return a small probability as `1 in 1,000`, a large one as `35 %`."""
    if p_value > 0.1:
        return f"{p_value:.0%}".replace("%", " %")
    return f"1 in {1 / p_value:,.0f}" if p_value > 1e-9 else "below 1 in a billion"


def share(host: HostRate) -> str:
    """Return in what part of its runs a machine was the culprit: `83 %`."""
    return f"{100 * host.guilty / host.runs:.0f} %"


def rate(host: HostRate) -> str:
    """Return the shrunk failure rate of a machine with its interval: `31 % (18 to 45 %)`."""
    return f"{100 * host.rate:.0f} % ({100 * host.low:.0f} to {100 * host.high:.0f} %)"


def when(group: Group) -> str:
    """Return when a group occurred, as a clause: `since 2026-11-01, on 4 nights`."""
    seen = group.status
    if seen.state == "new":
        return "never before"
    if seen.state == "regressed":
        return f"last on {seen.before}, first on {seen.first}"
    if seen.state == "gone":
        return f"not since {seen.last}"
    return f"since {seen.first}, on {plural(seen.nights, 'night')}"


def acknowledged(given: Acknowledgement, date: str) -> str:
    """Return the acknowledgement of a group as a clause: `acknowledged until 2026-12-01: note`."""
    parts = []
    if given.created is not None:
        kind = ("muted" if given.muted else "acknowledged") if given.holds(date) else "acknowledgement ended"
        until = f" until {given.until}" if given.until else ""
        parts.append(f"{kind}{until}" + (f": {given.note}" if given.note else ""))
    if given.ticket:
        parts.append(f"ticket {given.ticket}")
    return "; ".join(parts)
