"""Assigns a worker and an attempt to every row, once all sources are read.

A source may describe other workers (a scheduler's line names one of many), so no reader can decide alone. A
row keeps what it states itself; everything else belongs to the worker of its source.
"""

from collections.abc import Mapping, Sequence
from math import inf

import polars as pl

from analyzer.identify.attempts import Attempts, attempts, counts_from_zero, event_file_attempts
from analyzer.identify.facts.exit_codes import with_named_exit_codes
from analyzer.identify.facts.launcher_numbers import with_tasks_of_launchers
from analyzer.identify.facts.nodes import (
    with_hosts_of_directories,
    with_tasks_of_steps,
    with_workers_on_nodes,
)
from analyzer.identify.facts.releases import with_releases
from analyzer.identify.names_against_logs import stated_against_names
from analyzer.identify.recorded_attempts import (
    Recording,
    claims_of_further,
    further_recordings,
    is_among,
    with_attempts,
)
from analyzer.identify.statements import NamedSource, Statements, named_sources, statements
from analyzer.identify.workers import Owners, owners
from analyzer.model.messages import Messages
from analyzer.model.run import Tables
from analyzer.tables.builders import frame, joined


def identify(read: Tables, messages: Messages) -> Tables:
    """Return the ingested tables with worker and attempt filled in on every row."""
    further = further_recordings(read["sources"])
    sources, stated = with_attempts(named_sources(read["sources"]), further), statements(read["facts"])
    own_words = stated_against_names(sources, stated, read, messages)
    sources, read = own_words.of(sources), own_words.in_rows(read)
    found = _owners(sources, stated, read, messages, further)
    found = found._replace(claims={**own_words.claims, **found.claims})
    shift = int(counts_from_zero(sources, read["facts"]))
    own = [_identified(source, found, shift) for source in sources]
    named = {source.name: source.worker for source in sources}
    tables = _renumbered(read, found.renumbered, shift, named)
    ends = with_tasks_of_launchers(with_named_exit_codes(tables["facts"], own), own, stated)
    tables = {**tables, "facts": ends}
    when = attempts(own, stated, {**tables, "sources": read["sources"]})
    begun = _attempt_starts(tables, own, when)
    when.named.update(event_file_attempts(own, begun))
    identity = _identity(own, when)
    stating = {name: rows for name, rows in tables.items() if "worker" in rows.columns}
    placed = {name: _with_identity(rows, identity, when) for name, rows in stating.items()}
    facts = _counted_on(tables["facts"], placed["facts"], identity, when)
    last = _last_attempts(tables["facts"], facts, own, when, begun)
    facts = with_tasks_of_steps(facts.with_columns(last), stated)
    facts = joined("facts", [facts, _identity_facts(own, found, when)])
    unparted = [{"source": source, "what": what} for source, what in when.unparted.items()]
    return {
        **read,
        **placed,
        "sources": _sources(read["sources"], own, when),
        "facts": with_workers_on_nodes(with_hosts_of_directories(with_releases(facts, own), own), stated),
        "damage": joined("damage", [read["damage"], frame("damage", unparted)]),
    }


def _owners(
    sources: Sequence[NamedSource],
    stated: Statements,
    read: Tables,
    messages: Messages,
    further: Mapping[str, Recording],
) -> Owners:
    """Return the workers of the sources; later recordings of a task (`further`) get that of its first one."""
    found = owners([each for each in sources if not is_among(each, further)], stated, read, messages)
    return found._replace(claims={**found.claims, **claims_of_further(sources, found.claims, further)})


def _identified(source: NamedSource, found: Owners, shift: int) -> NamedSource:
    """Return the source with its worker; adds `shift` to an attempt number taken from its name."""
    claim = found.claims.get(source.name)
    named = None if source.name in found.unnumbered else source.worker
    counted = shift if source.numbered else 0
    return source._replace(worker=claim.worker if claim else named, attempt=source.attempt + counted)


def _renumbered(
    read: Tables, renumbered: Mapping[str, str], shift: int, named: Mapping[str, str | None]
) -> Tables:
    """Return the tables with new worker numbers (old → new), and `shift` added to the attempts of facts.

    `named` is source → worker in its name.
    """
    tables = {name: rows for name, rows in read.items() if name not in {"sources", "damage"}}
    changed = {old: new for old, new in renumbered.items() if old != new}
    speaking = _sources_naming(tables, changed, named) if changed else []
    if speaking:
        new = pl.when(pl.col("source").is_in(speaking)).then(pl.col("worker").replace(changed))
        tables = {name: rows.with_columns(worker=new.otherwise("worker")) for name, rows in tables.items()}
    return {**tables, "facts": tables["facts"].with_columns(pl.col("attempt") + shift)} if shift else tables


def _sources_naming(tables: Tables, changed: Mapping[str, str], named: Mapping[str, str | None]) -> list[str]:
    """Return the sources whose rows state only workers with old numbers; `changed` is old → new.

    Numbers that are old and new tell nothing, except in a source that states no worker but that in its name.
    """
    stating = [rows.filter(pl.col("worker").is_not_null()) for rows in tables.values()]
    spoken: dict[str, set[str]] = {}
    for rows in stating:
        for source, worker in rows.select("source", "worker").unique().iter_rows():
            spoken.setdefault(source, set()).add(worker)
    new = {*changed.values()}
    return [
        source
        for source, workers in spoken.items()
        if workers <= changed.keys() and (not workers <= new or workers == {named.get(source)})
    ]


def _identity(sources: Sequence[NamedSource], when: Attempts) -> pl.DataFrame:
    """Return one row per source with its worker and attempt."""
    rows = [(source.name, source.worker, when.named[source.name]) for source in sources]
    schema = {"source": pl.String, "own_worker": pl.String, "own_attempt": pl.Int64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _with_identity(rows: pl.DataFrame, identity: pl.DataFrame, when: Attempts) -> pl.DataFrame:
    """Return the rows, in order, with worker and attempt filled in from the source where they are null."""
    if not rows.height:
        return rows

    def own(column: str) -> pl.Expr:
        kind, of_source = identity.schema[column], (identity["source"], identity[column])
        return pl.col("source").replace_strict(*of_source, default=None, return_dtype=kind)

    place = {"worker": pl.coalesce("worker", own("own_worker"))}
    if "attempt" in rows.columns:
        begun = _attempts_begun(rows, when) if when.starts else 0
        place["attempt"] = pl.coalesce("attempt", own("own_attempt") + begun)
    return rows.with_columns(**place)


def _attempts_begun(rows: pl.DataFrame, when: Attempts) -> pl.Series:
    """Return, for each row, how many attempts after the first have begun in its source by its line."""
    counts = {
        (source, line): count for source, lines in when.starts.items() for count, line in enumerate(lines, 1)
    }
    starts = pl.DataFrame(
        [(*place, count) for place, count in counts.items()],
        schema={"source": pl.String, "line": pl.Int64, "begun": pl.Int64},
        orient="row",
    )
    places = rows.select("source", pl.col("line").fill_null(0)).with_row_index("place").sort("line")
    met = places.join_asof(starts.sort("line"), on="line", by="source", check_sortedness=False)
    return met.sort("place")["begun"].fill_null(0)


def _attempt_starts(
    tables: Tables, sources: Sequence[NamedSource], when: Attempts
) -> Mapping[str, Mapping[int, float]]:
    """Return worker → attempt → its first time in the logs, infinity if undated.

    Empty if all sources belong to first attempts.
    """
    if not when.starts and max(when.named.values(), default=1) == 1:
        return {}
    found: dict[str, dict[int, float]] = {}
    logs = [source for source in sources if source.is_log and source.worker]
    identity = _identity(logs, when)
    for name in ("records", "scalars"):
        logged = tables[name].filter(pl.col("source").is_in(identity["source"].to_list()))
        rows = _with_identity(logged, identity, when)
        for worker, attempt, time in rows.group_by("worker", "attempt").agg(pl.min("time")).iter_rows():
            own = found.setdefault(worker, {})
            own[attempt] = min(own.get(attempt, inf), time or inf)
    return found


def _last_attempts(
    original: pl.DataFrame,
    placed: pl.DataFrame,
    sources: Sequence[NamedSource],
    when: Attempts,
    begun: Mapping[str, Mapping[int, float]],
) -> pl.Series:
    """Return the attempt of each fact; an end or a running pod without one is of the worker's last attempt.

    Of those that had begun, if the line has a time. An exit code that mwms-recorder wrote belongs to the
    attempt that it recorded.
    """
    if not begun:
        return placed["attempt"]
    last = [
        _last_begun(begun.get(worker, {}), time) or attempt
        for worker, time, attempt in placed.select("worker", "time", "attempt").iter_rows()
    ]
    counted = [each.name for each in sources if each.name in when.starts or each.numbered]
    counted += original.filter(pl.col("key") == "recorded_end")["source"].to_list()
    unsaid = (
        pl.col("key").is_in(["exit_code", "pod_running"])
        & original["attempt"].is_null()
        & ~pl.col("source").is_in(counted)
    )
    of_last = pl.Series(last, dtype=pl.Int64)
    return placed.select(attempt=pl.when(unsaid).then(of_last).otherwise("attempt"))["attempt"]


def _last_begun(begun: Mapping[int, float], time: float | None) -> int | None:
    """Return the last attempt that had begun at that time; without a time, or if none had, the last one."""
    had = [attempt for attempt, start in begun.items() if time is not None and start <= time]
    return max(had or begun, default=None)


def _counted_on(
    original: pl.DataFrame, placed: pl.DataFrame, identity: pl.DataFrame, when: Attempts
) -> pl.DataFrame:
    """Return the facts with the attempts that a scheduler counts renumbered to those found in the logs.

    If the log of one of the scheduler's attempts holds several, the last of these counts.
    """
    if all(len(counts) < 2 for counts in when.held.values()):
        return placed
    general = identity.filter(pl.col("own_worker").is_null())["source"]
    of_others = original["attempt"].is_not_null() | original["source"].is_in(general.to_list())
    last = [when.last(*place) for place in placed.select("worker", "attempt").iter_rows()]
    counted = pl.when(of_others).then(pl.Series(last, dtype=pl.Int64)).otherwise("attempt")
    return placed.with_columns(attempt=counted)


def _identity_facts(sources: Sequence[NamedSource], found: Owners, when: Attempts) -> pl.DataFrame:
    """Return a fact for each source whose worker was inferred, not read from its name: on what basis."""
    rows = [
        {"source": source.name, "worker": source.worker, "attempt": when.named[source.name], **fact}
        for source in sources
        if (fact := _identity_fact(source.name, found))
    ]
    return frame("facts", rows)


def _identity_fact(source: str, found: Owners) -> Mapping[str, str]:
    """Return key and value of that fact; empty if the name of the source states its worker."""
    if source in found.mixed:
        return {"key": "several_workers"}
    claim = found.claims.get(source)
    return {"key": "attributed", "value": claim.basis.value} if claim else {}


def _sources(table: pl.DataFrame, sources: Sequence[NamedSource], when: Attempts) -> pl.DataFrame:
    """Return the sources with worker and attempt; `partial` where attempts cannot be told apart."""
    return table.with_columns(
        pl.Series("worker", [source.worker for source in sources], pl.String),
        pl.Series("attempt", [when.named[source.name] for source in sources], pl.Int64),
        *_partial_columns(when),
    )


def _partial_columns(when: Attempts) -> Sequence[pl.Expr]:
    if not when.unparted:
        return ()
    unparted = pl.col("source").is_in(list(when.unparted))
    why = pl.col("source").replace_strict(when.unparted, default=None, return_dtype=pl.String)
    return (
        pl.when(unparted).then(pl.lit("partial")).otherwise("read").alias("read"),
        pl.when(unparted & (pl.col("reason") == "")).then(why).otherwise("reason").alias("reason"),
    )
