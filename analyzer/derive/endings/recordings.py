"""Tells from the files of mwms-recorder which workers still ran when the files were collected."""

import polars as pl

from analyzer.model.source_kinds import Kind

_TOGETHER_SECONDS = 30.0
"""Recordings that end within this time of the latest one were all still written: six samples."""

_CLEARLY_SECONDS = 2.0
"""Minimum lead of the first end: more than synchronized clocks differ, or a process needs to end."""
_CLEARLY_BY_ONE_CLOCK = 0.5
"""Minimum lead of the first end if all processes ran on one host."""

_OF_THE_SYSTEM = r"^/(?:etc|run|bin|sbin|lib\w*|usr/(?:bin|sbin|lib\w*|share))/|\.(?:cnf|conf)$"
"""Files of the operating system, and settings such as OpenSSL's, wherever it is installed."""


def with_recorded_facts(facts: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Return the facts, plus those found by comparing the workers' recordings, if there are any."""
    if Kind.RECORDING not in sources["kind"]:
        return facts
    facts = with_tasks_run_twice(with_running_workers(facts, sources), sources)
    return with_own_disk(with_own_files(with_first_end(facts)))


def with_running_workers(facts: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Return the facts, and `exit_code: running` for each worker whose recording goes on.

    A recording goes on if it states no end, and no other worker's recording lasts longer. Only times in the
    recordings count, so the answer does not depend on today's date. A host that lost power at the very end
    cannot be told from one that runs.
    """
    last = last_events(sources)
    ended = facts.filter(pl.col("key").is_in(["recorded_end", "exit_code"])).select("worker", "attempt")
    latest = last.filter(pl.col("last_time") >= pl.col("last_time").max() - _TOGETHER_SECONDS)
    going_on = latest.join(ended, on=["worker", "attempt"], how="anti", maintain_order="left")
    stated = {"key": pl.lit("exit_code"), "value": pl.lit("running")}
    running = going_on.select("worker", "attempt", "source", time="last_time", **stated)
    return pl.concat([facts, running], how="diagonal")


def with_first_end(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the facts, and `ended_first` for the worker whose recorded end precedes all others' clearly.

    Its value is the seconds up to the next end, or to the last event of a recording that goes on. If a worker
    has recordings of several attempts, the last end counts.
    """
    ended = pl.col("key") == "recorded_end"
    recorded = facts.filter(ended | (pl.col("key") == "recorded_command"))["worker"].n_unique()
    goes_on = (pl.col("key") == "exit_code") & (pl.col("value") == "running") & pl.col("time").is_not_null()
    ends = facts.filter(ended | goes_on).sort("time").unique("worker", keep="last").sort("time")
    first, second = (ends.slice(place, 1) for place in (0, 1))
    if second.is_empty() or ends.height < recorded or first["key"][0] != "recorded_end":
        return facts
    lead = second["time"][0] - first["time"][0]
    seconds = f"{lead:.0f}" if lead >= _CLEARLY_SECONDS else f"{lead:.1f}"
    ahead = first.select("worker", "attempt", key=pl.lit("ended_first"), value=pl.lit(seconds))
    least = _CLEARLY_BY_ONE_CLOCK if _on_one_host(facts, ends["worker"]) else _CLEARLY_SECONDS
    return pl.concat([facts, ahead], how="diagonal") if lead >= least else facts


def _on_one_host(facts: pl.DataFrame, workers: pl.Series) -> bool:
    """Return True if all the workers state the same host."""
    hosts = facts.filter(pl.col("worker").is_in(workers.implode()), key="host")
    return hosts["worker"].n_unique() == workers.n_unique() and hosts["value"].n_unique() == 1


def with_tasks_run_twice(facts: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Return the facts, plus one for each worker with two recordings that overlap in time.

    Its key is `recorded_twice`, or `recorded_in_two_clusters` if the two state different clusters; its value
    is the overlap in seconds. The recordings of a restarted worker do not overlap.
    """
    life = ["worker", "attempt"]
    recorded = sources.filter(kind="recording").drop_nulls("worker").group_by(life, maintain_order=True)
    spans = recorded.agg(pl.col("first_time").min(), pl.col("last_time").max()).sort("worker", "first_time")
    specs = facts.filter(key="cluster_spec").unique(life, maintain_order=True).select(*life, spec="value")
    spans = spans.join(specs, on=life, how="left", maintain_order="left")
    earlier = pl.col("last_time", "spec").shift(1).over("worker").name.prefix("earlier_")
    before = spans.with_columns(earlier).drop_nulls("earlier_last_time")
    ended = pl.min_horizontal("last_time", "earlier_last_time")
    shared = before.with_columns(shared=ended - pl.col("first_time"))
    twice = shared.filter(pl.col("shared") >= _CLEARLY_SECONDS).unique("worker", maintain_order=True)
    seconds = pl.col("shared").round(0).cast(pl.Int64).cast(pl.String)
    differ = pl.col("spec") != pl.col("earlier_spec")
    key = pl.when(differ).then(pl.lit("recorded_in_two_clusters")).otherwise(pl.lit("recorded_twice"))
    rows = twice.select("worker", "attempt", key=key, value=seconds)
    return pl.concat([facts, rows], how="diagonal")


def with_own_files(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the facts, and `own_files` for each worker with input files whose names no other worker opened.

    Its value is the names of up to three of them. The fact needs the files of all recorded workers: one whose
    files are unknown may have opened the same names. Files of the system and settings of libraries do not
    count: all workers read them, but only for a moment, so that by chance a sample of one worker shows them.
    """
    opened = facts.filter(pl.col("key") == "reads_file", ~pl.col("value").str.contains(_OF_THE_SYSTEM))
    if opened.is_empty():
        return facts
    opened = opened.with_columns(name=pl.col("value").str.extract(r"([^/]+)$"))
    recorded = facts.filter(pl.col("key") == "recorded_command")["worker"].n_unique()
    if opened["worker"].n_unique() < max(2, recorded):
        return facts
    alone = opened.filter(pl.col("worker").n_unique().over("name") == 1)
    names = pl.col("name").unique(maintain_order=True).head(3).str.join(", ")
    own = alone.group_by("worker", maintain_order=True).agg(pl.col("attempt").max(), value=names)
    return pl.concat([facts, own.with_columns(key=pl.lit("own_files"))], how="diagonal")


def with_own_disk(facts: pl.DataFrame) -> pl.DataFrame:
    """Return the facts, and `own_full_disk` for each worker whose full disk no other recorded worker has."""
    full, disks = (facts.filter(pl.col("key") == key) for key in ("full_disk", "disk"))
    recorded = facts.filter(pl.col("key") == "recorded_command")["worker"].n_unique()
    if full.is_empty() or disks["worker"].n_unique() < max(2, recorded):
        return facts
    users = disks.group_by("value").agg(users=pl.col("worker").n_unique())
    own = full.join(users, on="value", how="left", maintain_order="left").filter(pl.col("users") == 1)
    own = own.unique("worker", keep="last", maintain_order=True).drop("users")
    return pl.concat([facts, own.with_columns(key=pl.lit("own_full_disk"))], how="diagonal")


def with_whole_stalls(stalls: pl.DataFrame, sources: pl.DataFrame) -> pl.DataFrame:
    """Return the stalls; one that did not end lasts up to the worker's last sample."""
    if stalls.is_empty():
        return stalls
    until = last_events(sources).select("worker", until="last_time")
    read = sources.select("source", read_until="last_time")
    joined = stalls.join(until, on="worker", how="left", maintain_order="left")
    joined = joined.join(read, on="source", how="left", maintain_order="left")
    later = (pl.col("until") - pl.col("read_until")).clip(0).fill_null(0)
    seconds = pl.when("resumed").then("seconds").otherwise(pl.col("seconds") + later)
    return joined.with_columns(seconds=seconds.round(1)).select(stalls.columns)


def in_progress(facts: pl.DataFrame, sources: pl.DataFrame, stalls: pl.DataFrame) -> bool:
    """Return True if a recording goes on and none notes a stall: the job trains, or is about to."""
    recorded = sources.filter(pl.col("kind") == "recording")["source"].to_list()
    going_on = (pl.col("key") == "exit_code") & (pl.col("value") == "running")
    runs = facts.filter(going_on & pl.col("source").is_in(recorded)).height > 0
    return runs and stalls.filter(~pl.col("resumed")).is_empty()


def last_events(sources: pl.DataFrame) -> pl.DataFrame:
    """Return the last event of each recorded worker's last attempt: worker, attempt, source, last_time."""
    recorded = (pl.col("kind") == "recording") & pl.col("worker").is_not_null()
    dated = sources.filter(recorded & pl.col("last_time").is_not_null())
    if dated.height > 1:
        dated = dated.sort("attempt", "last_time").unique("worker", keep="last", maintain_order=True)
    return dated.select("worker", "attempt", "source", "last_time")
