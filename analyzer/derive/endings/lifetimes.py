"""Summarizes how far each worker came and how it ended: one row per worker."""

from collections.abc import Mapping, Sequence
from signal import Signals
from typing import Any

import polars as pl

from analyzer.derive.endings.ends import ends
from analyzer.derive.endings.last_errors import ended_by_it, last_error
from analyzer.derive.endings.life import Life, comparable_places, last_lives
from analyzer.derive.endings.resumed_workers import with_resumed_workers
from analyzer.derive.training.clocks import SAME
from analyzer.derive.training.leave_one_out import range_of_others
from analyzer.derive.training.ordering import Row, dated, is_later, last_progress, last_telling
from analyzer.derive.training.progress import Place, StartUp, completion_lines, with_short_plans
from analyzer.model import task_names
from analyzer.model.messages import Messages
from analyzer.tables.builders import frame
from analyzer.tables.clock_alignment import CommonClock

_STARTED = ("server_address", "awaits", "agent_connected", "replicas", "tensorflow")
"""Facts that a worker prints while it starts up."""


def lifetimes(
    tables: Mapping[str, pl.DataFrame],
    workers: pl.DataFrame,
    exceptions: pl.DataFrame,
    clock: CommonClock,
    messages: Messages,
) -> pl.DataFrame:
    """Return one row per worker, about its last attempt."""
    steps = last_progress(tables["scalars"])
    done = completion_lines(dated(tables["records"]), steps, messages)
    lives = last_lives(tables, workers, exceptions, clock, done)
    leaves, lingers = messages.wording("leaves"), messages.wording("lingers")
    for life in lives:
        life.lingers = lingers
        place = life.place._asdict() if life.place else None
        life.last_error = last_error(life.records, life.tail, place, leaves)
    starting_up = StartUp(frozenset(messages.literals("startup_origin")), messages.literals("startup_words"))
    ended = ends(lives, tables["facts"], messages)
    rows = [_row(life, *ended[life.worker], starting_up) for life in lives]
    _compare_times(rows)
    _compare_with_exceptions(rows, lives, clock)
    _compare_places(rows, lives)
    table = with_short_plans(frame("lifetimes", rows), tables["scalars"], tables["facts"])
    return with_resumed_workers(table, tables["records"], steps, clock)


def signal_name(code: int | None) -> str | None:
    """Return the name of the signal that a negative exit code stands for: `SIGSEGV`."""
    if code is None or code >= 0:
        return None
    return Signals(-code).name if -code in {*Signals} else f"signal {-code}"


def _phase(life: Life, how: str, starting_up: StartUp) -> str:
    if not life.row["seen"]:
        return "absent"
    if how == "finished":
        return "finished"
    if life.stepped:
        return "training"
    if life.place is not None or life.fact("replicas") not in {None, "1"}:
        return "joined"
    server, accepted = life.facts["server_address"] or life.facts["awaits"], life.facts["agent_connected"]
    milestone, assembled = accepted or server, accepted and life.facts["assembled"]
    if assembled or (milestone and _went_on(life, milestone, starting_up)):
        return "joined"
    return "server_up" if server else "starting"


def _went_on(life: Life, milestone: Sequence[Mapping[str, Any]], starting_up: StartUp) -> bool:
    """Return True if the script logged a line after a milestone, i.e. the call that logged it returned.

    False if the last line says that the worker waits, whatever the strategy logged before it.
    """
    later = [row for row in life.records if is_later(row, milestone[-1])]
    if later and starting_up.waits(later[-1]):
        return False
    quiet = [row for row in later if starting_up.covers(row) or row["kind"] == "traceback"]
    return len(later) > len(quiet) and life.fact("replicas") != "1"


def _saw_all_connect(life: Life, starting_up: StartUp) -> bool:
    """Return True if its log shows that all had connected: replicas counted, or a script that went on."""
    counted = life.facts["server_address"] and int(life.fact("replicas") or 0) > 1
    joined = (accepted := life.facts["agent_connected"]) and _went_on(life, accepted, starting_up)
    return bool(life.facts["assembled"] or counted or joined)


def _shows_start(life: Life) -> bool:
    """Return True if the log shows the worker's start, so that it would show an error after it."""
    return any(life.facts[key] for key in (*_STARTED, "process_banner"))


def _shows_progress(life: Life, starting_up: StartUp) -> bool:
    """Return True if the files of a worker show a position or a part of its start-up."""
    started = any(life.facts[key] for key in _STARTED)
    return life.place is not None or started or any(map(starting_up.covers, life.records))


def _row(life: Life, how: str, sure: bool, starting_up: StartUp) -> dict[str, Any]:
    place, code, caught = life.place, life.exit_code, life.facts["sigterm"]
    epoch, step = (place.epoch, place.step) if place else (None, None)
    end = life.closing or {}
    if place and how == "finished" and (place.is_planned_end or not end):
        end = {"source": place.source, "line": place.line, "until": place.time}
    return {
        "worker": life.worker,
        "trains": life.row["trains"],
        "leader": life.row["leader"],
        "attempts": life.attempts,
        "seen": life.row["seen"],
        "logged": life.row["logged"],
        "start_shown": _shows_start(life),
        "run_shown": life.row["logged"] and (life.place is not None or _shows_start(life)),
        "started": life.row["seen"] or life.seen_by_peers or life.fact("exit_code") is not None or None,
        "phase": _phase(life, how, starting_up),
        "ended": how,
        "sure": sure,
        "exit_code": code,
        "signal": -code if code is not None and code < 0 else None,
        "signal_name": signal_name(code),
        "sigterm": bool(caught),
        "went_on": life.trained_after_sigterm,
        "first_seen": life.times[0],
        "served": life.served,
        "joined": life.joined,
        "assembled": _saw_all_connect(life, starting_up),
        "last_seen": life.times[1],
        "epoch": epoch,
        "step": step,
        "place": task_names.position(epoch, step) if _shows_progress(life, starting_up) else None,
        "own_exception": life.own_exception,
        "no_exception": life.exception is None and not _raises_at_its_end(life.records),
        "cut_off": bool(life.facts["ends_within_line"]) and not sure,
        "last_error": life.last_error.message if life.last_error else None,
        "replicas": int(life.fact("replicas") or 0) or None,
        "restarted": life.attempts > 1,
        "listed": bool(life.facts["pod_running"]),
        "plan_known": bool(place and place.states_plan),
        "planned_end": bool(place and place.is_planned_end),
        "left_short": how == "finished" and code == 0 and not life.closing and _is_far(place),
        "end_source": end.get("source"),
        "end_line": end.get("line"),
        "end_time": end.get("until"),
        **_cited_line(life, how, end),
    }


def _is_far(place: Place | None) -> bool:
    return place is not None and place.is_far_from_plan


def _raises_at_its_end(records: Sequence[Row]) -> bool:
    """Return True if the log ends within a traceback, before the line that names the exception."""
    last = last_telling(records)
    if last is None or last["kind"] != "traceback":
        return False
    end: str = last["text"].rpartition("\n")[2]
    return end[:1].isspace() or end.startswith("Traceback (")


def _cited_line(life: Life, how: str, end: Mapping[str, Any]) -> dict[str, Any]:
    """Return source, line and time of the line that states a worker's end, else of its last step or line."""
    place = life.place._asdict() if life.place else {}
    error = life.last_error
    closed = life.closing is not None and not ended_by_it(error, life.closing)
    done = closed or (life.place is not None and life.place.is_planned_end)
    if error and how in {"exited", "finished", "vanished", "unknown"} and not done:
        shown = error.record
    elif how == "finished":
        shown = end
    elif how in {"exception", "aborted_by_peer"}:
        shown = life.exception_message
    elif how in {"signal", "exited"} and life.facts["exit_code"]:
        shown = life.facts["exit_code"][-1]
    elif how in {"running", "stopped"} and life.stepped:
        shown = place
    else:
        shown = last_telling(life.records) or place
    return {key: shown.get(key) for key in ("source", "line", "time")}


def _compare_times(rows: Sequence[dict[str, Any]]) -> None:
    trainers = [row["last_seen"] for row in rows if row["trains"] and row["last_seen"] is not None]
    for row in rows:
        if not row["trains"] and trainers and row["last_seen"] is not None:
            row["outlived"] = row["last_seen"] < min(trainers)


def _compare_with_exceptions(
    rows: Sequence[dict[str, Any]], lives: Sequence[Life], clock: CommonClock
) -> None:
    """Set who lived on after another had raised an exception of its own, by clocks that agree."""
    raised = {
        life.worker: clock.time(life.worker, life.exception["source"], life.exception["until"])
        for life in lives
        if life.own_exception and life.exception and clock.knows(life.worker)
    }
    for row in rows:
        seen = row["last_seen"] if clock.knows(row["worker"]) else None
        earlier = [time for worker, time in raised.items() if worker != row["worker"] and time is not None]
        if seen is not None and earlier:
            row["outlived_exception"] = seen > min(earlier) + SAME


def _compare_places(rows: Sequence[dict[str, Any]], lives: Sequence[Life]) -> None:
    places = comparable_places([life for life in lives if life.row["trains"]])
    others = range_of_others(places)
    for row in rows:
        mine = places.get(row["worker"])
        if mine is None or row["worker"] not in others:
            continue
        rearmost, foremost = others[row["worker"]]
        row["behind_all"] = mine < rearmost
        row["ahead_of_all"] = mine > foremost
        if mine[0] == foremost[0]:
            row["behind"] = max(0, foremost[1] - mine[1])
