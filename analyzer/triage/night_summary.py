"""Computes the summary of a night from the history."""

import json
import shlex
from collections import Counter, defaultdict
from collections.abc import Container, Iterable, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple, Self

from sqlalchemy import Select, and_, case, func, select

from analyzer.engine import RulePack
from analyzer.pipeline import load_rules
from analyzer.storage.object_store import is_url
from analyzer.triage.database.history import History
from analyzer.triage.database.host_shares import host_shares
from analyzer.triage.database.schema import NIGHTS, RUNS
from analyzer.triage.groups import GroupStatus, recent, status, up_to
from analyzer.triage.hosts import HostRate, rank_hosts
from analyzer.triage.restarts import RESTART_WINDOW_SECONDS, Restart, restart

BAD = ("failed", "degraded")
WEEK_NIGHTS = 7
TREND_NIGHTS = 60
"""Number of nights over which trends and accused machines are computed."""
CALENDAR_DAYS = 182
"""Number of days in the calendar: half a year fits on a screen."""
MAX_RUNS, MAX_GROUPS, MAX_HOSTS = 400, 60, 20
_MAX_RESTARTS, _MAX_NAMED_RUNS = 20, 5


class Run(NamedTuple):
    """A run in the history.

    `report` is the path of its report below an output directory, which is served at the URL `address`.
    """

    place: str
    root: str | None
    name: str
    night: str
    verdict: str | None
    cause: str | None
    confidence: float | None
    summary: str
    fingerprint: str | None
    culprits: tuple[str, ...]
    problem: str
    report: str | None
    address: str | None

    @property
    def title(self) -> str:
        """Return the name; one without a letter, as a date or a job's number, behind that of its parent."""
        if any(map(str.isalpha, self.name)):
            return self.name
        above = self.place.rstrip("/").rpartition(f"/{self.name}")[0].rpartition("/")[2]
        return f"{above}/{self.name}" if above else self.name


class Group(NamedTuple):
    """A group of equal failures with its state, its latest run and the outcome of restarts."""

    fingerprint: str
    verdict: str
    cause: str
    rule: str | None
    status: GroupStatus
    run: Run
    restart: Restart | None

    @property
    def command(self) -> str:
        """Return the shell command that drafts a rule from the group's latest run (downloaded if remote)."""
        place, name = self.run.place, self.run.place.rstrip("/").rpartition("/")[2] or "run"
        if not is_url(place):
            return shlex.join(["mwms-rules", "new", "--from", place])
        copy = ["gcloud", "storage", "cp", "--recursive"] if place.startswith("g") else ["aws", "s3", "sync"]
        target = name if copy[0] == "aws" else "."
        return f"{shlex.join([*copy, place, target])} && {shlex.join(['mwms-rules', 'new', '--from', name])}"


class Cause(NamedTuple):
    """Numbers of runs with one cause: total, last 7 nights, the 7 before, and by night."""

    cause: str
    runs: int
    week: int
    before: int
    first: str
    last: str
    by_night: tuple[int, ...]


class NightCounts(NamedTuple):
    """One night of the calendar: numbers of runs by verdict, and of new groups."""

    date: str
    healthy: int = 0
    degraded: int = 0
    failed: int = 0
    inconclusive: int = 0
    broken: int = 0
    new: int = 0

    @property
    def runs(self) -> int:
        """Return the number of examined runs."""
        return self.healthy + self.bad + self.inconclusive + self.broken

    @property
    def bad(self) -> int:
        """Return the number of failed and degraded runs."""
        return self.degraded + self.failed


class AccusedHost(NamedTuple):
    """An accused machine and the latest runs in which it is the culprit."""

    suspect: HostRate
    runs: tuple[Run, ...]


class NightSummary(NamedTuple):
    """Everything that the outputs show of a night."""

    date: str
    began: float
    found: int
    waiting: int
    unlisted: tuple[tuple[str, str], ...]
    tonight: NightCounts
    groups: tuple[Group, ...]
    """Groups with a run tonight or newly resolved, in the order new, regressed, known, gone."""
    states: Mapping[str, str]
    """State by fingerprint of all groups with a run tonight or newly resolved."""
    unknown: tuple[Group, ...]
    """Groups of unknown cause, the largest first."""
    suspects: tuple[AccusedHost, ...]
    hosts: tuple[HostRate, ...]
    """The machines with the highest failure rates, the accused first."""
    causes: tuple[Cause, ...]
    nights: tuple[NightCounts, ...]
    runs: tuple[Run, ...]
    """The latest runs, the most severe of each night first."""
    all_runs: int
    first: str

    def in_state(self, state: str) -> tuple[Group, ...]:
        """Return the groups in a state."""
        return tuple(group for group in self.groups if group.status.state == state)

    def only(self, fingerprints: Container[str]) -> Self:
        """Return the summary with the given groups only."""
        return self._replace(
            groups=tuple(each for each in self.groups if each.fingerprint in fingerprints),
            states={each: state for each, state in self.states.items() if each in fingerprints},
        )

    def count(self, state: str) -> int:
        """Return the number of groups in a state, including those beyond the limit of `groups`."""
        return sum(each == state for each in self.states.values())


def summarize_night(
    history: History,
    date: str,
    found: int | None,
    waiting: int,
    unlisted: Iterable[tuple[str, str]],
    pack: RulePack | None = None,
) -> NightSummary:
    """Return the summary of one night; the other arguments tell what the history does not hold.

    `found` is None except for the night of the call: the history has the number for the others.
    """
    stored = history.rows(select(NIGHTS.c.began, NIGHTS.c.found).where(NIGHTS.c.date == date))[0]
    pack = pack or load_rules()
    failures = history.rows(_by_group(date))
    counted = [{**row, "cause": pack.renamed.get(row["cause"], row["cause"])} for row in failures]
    calendar = _calendar(history, date, counted)
    dates = up_to([each.date for each in calendar if each.runs] or [date], date)
    dates = dates if dates and dates[-1] == date else [*dates, date]
    histories = _group_histories(counted, dates)
    ours = [each for each in histories if each.status.tonight or each.status.state == "gone"]
    hosts = _hosts(history, dates, pack)
    return NightSummary(
        date=date,
        began=stored["began"],
        found=stored["found"] if found is None else found,
        waiting=waiting,
        unlisted=tuple(unlisted),
        tonight=next((each for each in calendar if each.date == date), NightCounts(date)),
        groups=_groups(history, ours),
        states={each.fingerprint: each.status.state for each in ours},
        unknown=_unknown(history, histories, dates[-TREND_NIGHTS:][0]),
        suspects=tuple(_accused_host(history, each) for each in hosts if each.accused),
        hosts=tuple(each for each in hosts if each.guilty)[:MAX_HOSTS],
        causes=_causes(counted, dates),
        nights=tuple(calendar[-CALENDAR_DAYS:]),
        runs=tuple(map(run_from_row, history.rows(_latest_runs(date)))),
        all_runs=sum(each.runs for each in calendar),
        first=calendar[0].date if calendar else date,
    )


def runs_of_night(history: History, date: str) -> list[Run]:
    """Return all runs of a night, ordered by path or URL."""
    wanted = select(RUNS).where(RUNS.c.latest, RUNS.c.night == date).order_by(RUNS.c.place)
    return [run_from_row(row) for row in history.rows(wanted)]


def run_from_row(row: Mapping[str, Any]) -> Run:
    """Convert a row of the history to a run."""
    same = {name: row[name] for name in Run._fields}
    culprits = tuple(json.loads(row["culprits"] or "[]"))
    return Run(**same | {"summary": row["summary"] or "", "culprits": culprits})


def _by_group(date: str) -> Select[Any]:
    """Return the query for the number of failed runs by group and night."""
    of = (RUNS.c.fingerprint, RUNS.c.cause, RUNS.c.rule, RUNS.c.verdict, RUNS.c.night)
    failed = and_(RUNS.c.latest, RUNS.c.verdict.in_(BAD), RUNS.c.night <= date)
    return select(*of, func.count().label("runs")).where(failed).group_by(*of).order_by(*of)


def _calendar(history: History, date: str, counted: Sequence[Mapping[str, Any]]) -> list[NightCounts]:
    what = case((RUNS.c.verdict.is_(None), "broken"), else_=RUNS.c.verdict).label("what")
    until = and_(RUNS.c.latest, RUNS.c.night <= date)
    of = (RUNS.c.night, what)
    rows = history.rows(select(*of, func.count().label("runs")).where(until).group_by(*of))
    nights: dict[str, dict[str, int]] = defaultdict(dict)
    for row in rows:
        nights[row["night"]][row["what"]] = row["runs"]
    first: dict[str, str] = {}
    for each in counted:
        first[each["fingerprint"]] = min(first.get(each["fingerprint"], each["night"]), each["night"])
    new = Counter(first.values())
    return [NightCounts(night, **nights[night], new=new[night]) for night in sorted(nights)]


class _GroupHistory(NamedTuple):
    fingerprint: str
    verdict: str
    cause: str
    rule: str | None
    status: GroupStatus


def _group_histories(counted: Sequence[Mapping[str, Any]], dates: Sequence[str]) -> list[_GroupHistory]:
    """Return every group with its state, and with verdict, cause and rule of its latest run."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    last: dict[str, Mapping[str, Any]] = {}
    for row in sorted(counted, key=itemgetter("night")):
        counts[row["fingerprint"]][row["night"]] += row["runs"]
        last[row["fingerprint"]] = row
    found = []
    for group, row in last.items():
        what = (row["verdict"], row["cause"] or "unknown", row["rule"])
        found.append(_GroupHistory(group, *what, status(counts[group], dates)))
    return found


_LATEST_FIRST = (RUNS.c.night.desc(), func.coalesce(RUNS.c.ended, 0.0).desc(), RUNS.c.place)
"""The order of runs in which the latest is the first; runs without a time are the last of their night."""
_ORDER = ("new", "regressed", "known", "gone")


def _groups(history: History, ours: Sequence[_GroupHistory]) -> tuple[Group, ...]:
    ordered = sorted(
        ours, key=lambda each: (_ORDER.index(each.status.state), -each.status.tonight, each.fingerprint)
    )
    return tuple(_group(history, each) for each in ordered[:MAX_GROUPS])


def _unknown(history: History, histories: Sequence[_GroupHistory], since: str) -> tuple[Group, ...]:
    """Return the groups of unknown cause that occurred since a night, the largest first."""
    found = [each for each in histories if each.cause == "unknown" and each.status.last >= since]
    found.sort(key=lambda each: (-each.status.runs, each.fingerprint))
    return tuple(_group(history, each) for each in found[:MAX_GROUPS])


def _group(history: History, group: _GroupHistory) -> Group:
    """Return a group with its latest run, and with the outcome of restarts of its latest runs."""
    ours = and_(RUNS.c.latest, RUNS.c.fingerprint == group.fingerprint, RUNS.c.night <= group.status.last)
    wanted = select(RUNS).where(ours).order_by(*_LATEST_FIRST).limit(_MAX_RESTARTS)
    rows = history.rows(wanted)
    run = run_from_row(rows[0])
    rows.sort(key=lambda row: (row["ended"] or 0.0, row["place"]))
    after = [each for row in rows if (each := _next_run(history, row))]
    helped = restart([(each["verdict"], each["fingerprint"]) for each in after], group.fingerprint)
    return Group(*group, run, helped)


def _next_run(history: History, row: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the next run of the same job if it started within a day after this one ended, else None."""
    if not row["job"] or row["ended"] is None:
        return None
    soon = RUNS.c.started.between(row["ended"], row["ended"] + RESTART_WINDOW_SECONDS)
    other = and_(RUNS.c.job == row["job"], RUNS.c.place != row["place"])
    wanted = select(RUNS).where(RUNS.c.latest, RUNS.c.verdict.is_not(None), other, soon)
    return next(iter(history.rows(wanted.order_by(RUNS.c.started, RUNS.c.place).limit(1))), None)


def _hosts(history: History, dates: Sequence[str], pack: RulePack) -> list[HostRate]:
    former = (past for past, present in pack.renamed.items() if present in pack.machine_causes)
    shares = host_shares(history, dates[-TREND_NIGHTS:][0], dates[-1], [*pack.machine_causes, *former])
    return rank_hosts(shares)


def _accused_host(history: History, suspect: HostRate) -> AccusedHost:
    latest = select(RUNS).where(RUNS.c.id.in_(suspect.ids)).order_by(*_LATEST_FIRST)
    return AccusedHost(suspect, tuple(map(run_from_row, history.rows(latest.limit(_MAX_NAMED_RUNS)))))


def _causes(counted: Sequence[Mapping[str, Any]], dates: Sequence[str]) -> tuple[Cause, ...]:
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for row in counted:
        counts[row["cause"] or "unknown"][row["night"]] += row["runs"]
    made = []
    for cause, each in counts.items():
        by_night = tuple(each[night] for night in dates[-TREND_NIGHTS:])
        week, before = recent(each, dates, WEEK_NIGHTS)
        made.append(Cause(cause, each.total(), week, before, min(each), max(each), by_night))
    return tuple(sorted(made, key=lambda each: (-each.week, -each.runs, each.cause)))


def _latest_runs(date: str) -> Select[Any]:
    rank = {"failed": 0, "degraded": 1, "inconclusive": 3, "healthy": 4}
    worst = case(rank, value=RUNS.c.verdict, else_=2)
    until = select(RUNS).where(RUNS.c.latest, RUNS.c.night <= date)
    return until.order_by(RUNS.c.night.desc(), worst, RUNS.c.place).limit(MAX_RUNS)
