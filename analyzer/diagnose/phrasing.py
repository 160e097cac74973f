"""Writes the summary, the reasons and the next steps, also for verdicts without a rule."""

from collections.abc import Iterator, Mapping, Sequence
from signal import SIGTERM, Signals
from typing import Any

import polars as pl

from analyzer.diagnose.advice.collected import path_in, without_collected, without_gone_pods
from analyzer.diagnose.advice.job_commands import concerns, for_job, job_of, without_repeats
from analyzer.diagnose.advice.listed_as_running import listed_as_running
from analyzer.diagnose.decide import (
    Decision,
    beyond_budget,
    finished_without,
    overtaken,
    stated_failure,
    stopped_short,
)
from analyzer.diagnose.log_lines.lines import last_words, odd_exit
from analyzer.diagnose.log_lines.telling_lines import without_start
from analyzer.diagnose.wording import how_it_ended, wording
from analyzer.model.findings import Step, Verdict
from analyzer.model.placeholders import shorten
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import in_order, listed, tasks_in
from analyzer.tables.collection_time import IN_A_ZONE

_STEPPED = ("training", "finished")
_UNCLEAR_ENDS = ("vanished", "stopped", "unknown")
_QUOTED_CHARACTERS = 240
_MAX_ENDINGS = 8
"""Sentences on how workers ended."""
_WENT_ON_SECONDS = 5.0
"""Seconds of a job after which a lost worker did not just end with it."""

_OF_ANY_TEXT = ("attributed", "ends_within_line")
"""Keys of facts that any text leads to."""

_ONLY_EVALUATION = "The training itself reached its planned end; only the evaluation by {} is incomplete."
_FINISHED_WITHOUT = "The training itself reached its planned end, but {} took no part in it."


def summary(decision: Decision, tables: Tables) -> str:
    """Return the one-sentence summary."""
    job = tables["job"].row(0, named=True)
    if decision.chosen:
        return decision.chosen.summary
    if decision.verdict is Verdict.HEALTHY:
        return _healthy(decision, tables)
    if decision.verdict is Verdict.FAILED:
        return "The job failed, and no rule explains it."
    if job["in_progress"]:
        return _in_progress(tables)
    if listed_so := listed_as_running(tables):
        return f"No end is recorded: {listed_so}."
    if _shows_no_job(tables):
        return "Nothing in the files shows a training job: they may be no logs of one."
    or_not = "; it may still be running" if _may_still_run(tables) else _some_run(tables)
    return f"The collected files do not show how the job ended{or_not}."


def _shows_no_job(tables: Tables) -> bool:
    """Return True if all that was read are plain lines without a time, of which nothing is known."""
    told = (pl.col("kind") != "plain") | pl.col("time").is_not_null() | pl.col("level").is_not_null()
    known = tables["facts"].filter(~pl.col("key").is_in(_OF_ANY_TEXT))
    if tables["records"].is_empty() or any(
        tables[name].height for name in ("scalars", "matches", "exceptions")
    ):
        return False
    return known.is_empty() and tables["records"].filter(told).is_empty()


def _in_progress(tables: Tables) -> str:
    """Return that the job ran when its files were collected, and what is known of its last minutes."""
    lives, doubt = tables["lifetimes"].filter("trains"), tables["job"]["collection_doubt"].item()
    if not _all_run(lives):
        return (
            "The files show neither an end nor a stall: the job was still running, or was killed as a whole."
        )
    if line := tables["job"]["evaluates"].item():
        ran = "The job was still running when its files were collected, and may be in an evaluation"
        return f"{ran}: “{shorten(line, _QUOTED_CHARACTERS)}”."
    if doubt == IN_A_ZONE:
        return (
            "The job was still running when its files were collected; "
            "it hung, or its logs are in another time zone."
        )
    return (
        "The job was still running when its files were collected, and its workers had just completed steps."
    )


def _all_run(lives: pl.DataFrame) -> bool:
    """Return True if a file states of each of the workers that it was running."""
    return bool(((lives["ended"] == "running") & lives["sure"]).all())


def _some_run(tables: Tables) -> str:
    """Return a clause that names the workers listed as running while others had ended; else an empty text."""
    lives = tables["lifetimes"].filter("trains")
    running = lives.filter("sure", ended="running")["worker"].to_list()
    if not running or len(running) == lives.height:
        return ""
    return f"; {listed(running)} {'was' if len(running) == 1 else 'were'} still running"


def _may_still_run(tables: Tables) -> bool:
    """Return whether the job trained, and no file shows an end of any worker."""
    endings = set(tables["lifetimes"].filter("trains")["ended"])
    return endings == {"unknown"} and tables["job"]["stepped"].item()


def _healthy(decision: Decision, tables: Tables) -> str:
    """Return that the training workers finished, and what had ended an earlier attempt if there was one."""
    lives = tables["lifetimes"].filter("trains")
    many = "both" if lives.height == 2 else f"all {lives.height}"
    whose = lives["worker"][0] if lives.height == 1 else f"{many} training workers"
    ended = f"{whose} reached the planned end."
    if stopped_short(lives):
        ended = f"{whose} exited with code 0, though much of the plan was left."
    if lives["attempts"].max() == 1 and (lost := _lost_on_the_way(tables)):
        was, them = ("was", "it") if len(lost) == 1 else ("were", "them")
        if set(lost) <= _came_back(tables):
            return f"{listed(lost)} {was} lost and came back: {ended}"
        return f"{listed(lost)} {was} lost, and the job continued without {them}: {ended}"
    if lives["attempts"].max() == 1:
        return f"Nothing failed: {ended}"
    failed = (each for each, _ in decision.rejected if not each.explained_by and overtaken(each, tables))
    if failure := next(failed, None):
        return f"An earlier attempt failed ({failure.summary}), and the last one ended well: {ended}"
    before = _earlier_failure(tables)
    return f"{before} After a restart, {ended}" if before else f"After a restart, {ended}"


def _earlier_failure(tables: Tables) -> str | None:
    """Return a sentence on what failed in an attempt before the last one of a worker; None if unknown.

    An exception of a worker's own says most, then a signal that no launcher sends to all, then a lost peer.
    """
    last = dict(tables["lifetimes"].select("worker", "attempts").iter_rows())
    raised = tables["exceptions"].filter(pl.col("own") & pl.col("final"))
    codes = tables["facts"].filter(key="exit_code")
    attempts = tables["sources"].select("source", "attempt")
    lost = tables["accusations"].filter(kind="transport").join(attempts, on="source")
    told = [
        *((row["attempt"], 3, row["worker"], f"raised {row['type']}") for row in raised.to_dicts()),
        *((row["attempt"], 2, row["worker"], _signalled(row["value"])) for row in codes.to_dicts()),
        *((row["attempt"], 1, row["worker"], f"was lost by {row['accuser']}") for row in lost.to_dicts()),
    ]
    earlier = [
        each for each in told if each[3] and each[0] is not None and each[0] < (last.get(each[2]) or 0)
    ]
    if not earlier:
        return None
    attempt, _, worker, how = max(earlier, key=lambda each: each[:2])
    return f"In attempt {attempt}, {worker} {how}."


def _signalled(code: str) -> str | None:
    """Return how an exit code says that a signal ended a process; None for SIGTERM, which launchers send."""
    number = int(code) if code.startswith("-") else 0
    if number == 0 or -number == SIGTERM or -number not in {*Signals}:
        return None
    return f"was ended by {Signals(-number).name}"


def _lost_on_the_way(tables: Tables) -> list[str]:
    """Return the workers that a coordinator lost long before it ended: others got their steps."""
    serving = tables["workers"].filter(~pl.col("trains") & (pl.col("role") == "worker"))
    lost = tables["accusations"].filter(
        pl.col("worker").is_in(serving["worker"].to_list()), pl.col("kind").is_in(["transport", "heartbeat"]),
        pl.col("went_on") >= _WENT_ON_SECONDS,
    )  # fmt: skip
    return in_order(lost["worker"])


def _came_back(tables: Tables) -> set[str]:
    """Return the workers of which a coordinator says last that they have been recovered."""
    stated = tables["facts"].filter(pl.col("key").is_in(["worker_failed", "worker_recovered"]))
    last = stated.sort("source", "line").group_by("source", "value").agg(pl.col("key").last())
    recovered = last.filter(key="worker_recovered")["value"]
    return {task for device in recovered for task in tasks_in(device)}


def why(decision: Decision, tables: Tables) -> list[str]:
    """Return the sentences that justify the summary, and what they rest on if the budget was spent."""
    return [*_reasons(decision, tables), *_beyond_budget(tables)]


def _beyond_budget(tables: Tables) -> Iterator[str]:
    """Yield a sentence on the files left unread for lack of time or bytes, and on how to read them."""
    unread = beyond_budget(tables)
    if unread.height:
        names, why = unread["source"].unique().sort(), unread["what"][0]
        which = f"{names[0]} and {len(names) - 1} more" if len(names) > 1 else names[0]
        yield (f"The verdict rests on part of the files: of {which}, {why}; --budget none reads everything.")


def _reasons(decision: Decision, tables: Tables) -> list[str]:
    if decision.chosen:
        shown = [evidence.says for evidence in decision.chosen.evidence if evidence.says]
        trained = decision.verdict is Verdict.DEGRADED and decision.chosen.verdict is Verdict.FAILED
        sentence = _FINISHED_WITHOUT if finished_without(decision.chosen, tables) else _ONLY_EVALUATION
        only = [sentence.format(listed(decision.chosen.about))] * trained
        return [*only, *(decision.chosen.why or shown[:3])]
    lives = [life for life in tables["lifetimes"].iter_rows(named=True) if life["trains"]]
    doubts = (f"To check: {doubt}" for doubt in decision.doubts)
    return [
        *_last_line_of_the_odd_one(tables),
        *filter(None, [stated_failure(tables["facts"])]),
        *_endings(lives),
        *_absent_or_silent(tables),
        *doubts,
        *filter(None, [decision.limit]),
    ]


def _last_line_of_the_odd_one(tables: Tables) -> Iterator[str]:
    """Yield the last words of the worker whose exit code stands out, of a job that failed."""
    odd = odd_exit(tables)
    words = last_words(tables) if odd else []
    if odd and words and words[0]["worker"] == odd[0] and not tables["job"]["all_finished"].item():
        quoted = shorten(words[0]["excerpt"].strip(), _QUOTED_CHARACTERS)
        what, place = words[0]["says"].replace("lines", "line"), f"{words[0]['source']}:{words[0]['line']}"
        yield f"{what}, the only one with exit code {odd[1]}, is “{quoted}” ({place})."


def _endings(lives: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield how the workers ended and where they were last seen; those that ended alike share a sentence."""
    alike: dict[str, list[str]] = {}
    for life in lives:
        has_step = life["place"] and life["phase"] in _STEPPED
        last = f"last seen at {life['place']}" if has_step else "no step seen"
        ended = f"{how_it_ended(life)}{f'; {last}' if life['seen'] else ''}."
        alike.setdefault(ended, []).append(life["worker"])
    for ended, workers in [*alike.items()][:_MAX_ENDINGS]:
        several = "Each training worker" if len(workers) == len(lives) else f"{listed(workers)} each"
        yield f"{several if len(workers) > 1 else workers[0]} {ended}"


def _absent_or_silent(tables: Tables) -> Iterator[str]:
    """Yield who was missing at barriers and who went silent before the others."""
    awaited = tables["barriers"].filter(~pl.col("arrived"))
    for (barrier, at), rows in awaited.group_by("barrier", "place", maintain_order=True):
        came = tables["barriers"].filter((pl.col("barrier") == barrier) & pl.col("arrived")).height
        where = {"startup": "start-up", "end": "the planned end"}.get(str(barrier), str(at))
        if came:
            yield f"At {where}, {came} had arrived; {', '.join(rows['worker'])} had not."
    silent = tables["silences"].filter(pl.col("first") & (pl.col("seconds") >= 1))
    for worker, seconds in silent.select("worker", "seconds").iter_rows():
        yield f"{worker} stopped logging first, {seconds:.0f} s before the last line of any worker."


def next_steps(decision: Decision, tables: Tables, deciding: str | None = None) -> list[Step]:
    """Return the next steps for the user, without those that ask for the `deciding` kind of file."""
    chosen = decision.chosen
    if chosen is None and decision.verdict is Verdict.HEALTHY:
        return []
    blamed = [*chosen.culprits, *chosen.suspects] if chosen else []
    job = job_of(tables, blamed, path_in(chosen.evidence) if chosen else {})
    if chosen is None:
        unexplained = (*_while_it_hangs(tables), *_to_collect(tables, deciding))
        return [for_job(Step(**step), job) for step in unexplained]
    later = [f"{text[:1].lower()}{text[1:]}" for text in chosen.collect]
    steps = without_repeats([for_job(step, job) for step in chosen.next if concerns(step, job)])
    steps = without_gone_pods(without_collected(steps, tables, blamed), tables)
    return [*steps, *(Step(f"Next time, collect {text}") for text in later)]


def _while_it_hangs(tables: Tables) -> Iterator[Mapping[str, str]]:
    """Yield the step that inspects the awaited workers of a job that still hangs, else all running ones."""
    running = tables["lifetimes"].filter("trains", ended="running")["worker"].to_list()
    late = tables["barriers"].filter(~pl.col("arrived") & (pl.col("barrier") != "end"))["worker"].to_list()
    first = tables["silences"].filter("first")["worker"].to_list()
    stalled = [worker for worker in running if worker in {*late, *first}] or running
    if tables["job"]["in_progress"].item() and _all_run(tables["lifetimes"].filter("trains")):
        yield wording()["steps"]["evaluated" if tables["job"]["evaluates"].item() else "again"]
    elif stalled:
        where = ", ".join(stalled[:4]) + (" and others" if len(stalled) > 4 else "")
        look = wording()["steps"]["look"]
        yield {**look, "text": look["text"].format(worker=where)}


def _to_collect(tables: Tables, deciding: str | None) -> Iterator[Mapping[str, str]]:
    """Yield what to collect (missing output, exit codes, unbuffered logs), then how to write a rule.

    If an archive is damaged, yield only that it is to be copied again: what it holds may explain the run.
    """
    steps = wording()["steps"]
    if damaged := _damaged_archives(tables):
        yield {"text": steps["damaged"]["text"].format(archives=listed(damaged))}
        return
    if listed_so := listed_as_running(tables):
        yield steps["slurm_ran" if "Slurm" in listed_so else "pods_ran"]
        return
    if tables["job"]["in_progress"].item() and _all_run(tables["lifetimes"].filter("trains")):
        return
    if _may_still_run(tables):
        yield steps["still_running"]
    lives = tables["lifetimes"].filter("trains")
    logs = tables["sources"].filter((pl.col("kind") == "log") & (pl.col("read") == "complete"))
    if deciding != Kind.LOG.value and not set(lives["worker"]) <= set(logs["worker"]):
        yield steps["output"]
    if without_start(tables):
        yield steps["whole_log"]
    elif deciding != Kind.EXIT_CODES.value and lives["exit_code"].null_count():
        yield steps["exit_codes"]
    if deciding != Kind.LOG.value and lives["ended"].is_in(list(_UNCLEAR_ENDS)).any():
        yield steps["unbuffered"]
    if not _may_still_run(tables):
        yield steps["new_rule"]


def _damaged_archives(tables: Tables) -> list[str]:
    """Return the archives that are damaged, so that files in them were not read."""
    damaged = (pl.col("read") == "skipped") & pl.col("reason").str.starts_with("damaged:")
    return tables["sources"].filter(damaged)["source"].to_list()
