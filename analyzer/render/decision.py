"""Derives the decision from a diagnosis: restart, excluded machine, checkpoint, owner."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.model.placeholders import short_ids
from analyzer.render.blame import blamed, blamed_workers, logs_of_blamed, main_file
from analyzer.render.failure_time import failing_event, moment_of
from analyzer.render.formatting import (
    confidence,
    duration,
    instant,
    names,
    percent,
    plural,
    time_zone,
)
from analyzer.render.sanitize import one_line
from analyzer.storage.disk_cache import cached_yaml

_EXCLUDE, _RESUME, _SEEN = "Exclude a machine?", "From which checkpoint?", "Seen before?"
_NOT_NEEDED = ("Not needed", "the job reached its end")
_NOT_RESTORED = ("checkpoint.corrupt", "checkpoint.incompatible", "checkpoint.missing")
_MAX_HOSTS = 3
_MAX_LOGS = 3
_TRAINS = ("worker", "chief")


@cache
def wording() -> Mapping[str, Any]:
    """Return the content of `wording.yaml`, the wording that all renderers share."""
    words: Mapping[str, Any] = cached_yaml(Path(__file__).with_name("wording.yaml"))
    return words


class Answer(NamedTuple):
    """One question of the decision, its short answer, and a detail, which may be empty."""

    question: str
    answer: str
    detail: str


def guess(diagnosis: Mapping[str, Any]) -> list[Answer]:
    """Return which files are those of the blamed workers, if their names or guesses leave that open."""
    named, why = logs_of_blamed(diagnosis)
    return [Answer("Which log is it?", named, why)] if why else []


def answers(diagnosis: Mapping[str, Any]) -> list[Answer]:
    """Return the answers for the person on call: restart, exclude a machine, checkpoint, owner."""
    if diagnosis["verdict"] == "healthy":
        return _healthy_answers(diagnosis)
    action, degraded = diagnosis["action"], diagnosis["verdict"] == "degraded"
    retry, why = wording()["retry_degraded" if degraded else "retry"][action["retry"]]
    if degraded and action["retry"] == "unknown" and _all_finished(diagnosis):
        retry, why = _NOT_NEEDED
    if action["retry"] == "as_is" and action.get("checkpoint") == "earlier":
        retry = "Yes, but from an earlier checkpoint"
    if condition := action.get("unless"):
        retry, why = f"{retry}, unless {condition}", "rule that out first"
    owner = wording()["owners"][action["owner"]]
    return [
        Answer("Restart as is?", retry, why),
        _later_exclusion(action) if degraded else _exclusion(action),
        _checkpoint(diagnosis),
        Answer("Who should fix it?", owner, "not enough data" if action["owner"] == "unknown" else ""),
    ]


def rows(diagnosis: Mapping[str, Any]) -> list[Answer]:
    """Return the answers, how to restart elsewhere, where it failed, guesses, the past, missing files."""
    more = (restart, failure, guess, seen_before, missing)
    return [*answers(diagnosis), *(row for find in more for row in find(diagnosis))]


def restart(diagnosis: Mapping[str, Any]) -> list[Answer]:
    """Return how to restart the job without the machine, for its scheduler; empty if unknown."""
    given = diagnosis["action"].get("restart")
    return [Answer("Restart with", given["text"], wording()["restart"][given["scheduler"]])] if given else []


def seen_before(diagnosis: Mapping[str, Any]) -> list[Answer]:
    """Return how often the failure was seen before; empty without a history."""
    history = diagnosis.get("history")
    if not history or diagnosis["verdict"] == "healthy":
        return []
    if reason := history.get("skipped"):
        return [Answer(_SEEN, "Unknown", f"the history could not be read: {reason}")]
    if not history["runs"]:
        return [Answer(_SEEN, "No", f"new among {plural(history['of'], 'failed run')} in the history")]
    first, last = history["first"], history["last"]
    since = f"the first ended on {first}, the last on {last}" if first != last else f"ended on {first}"
    same = f"; {plural(history['same_host'], 'time')} on the same host" if history["same_host"] else ""
    return [Answer(_SEEN, f"Yes, {plural(history['runs'], 'time')}", since + same)]


def missing(diagnosis: Mapping[str, Any]) -> list[Answer]:
    """Return damaged archives, expected workers without files and unreadable logs; empty if all is there."""
    skipped = [s for s in diagnosis["sources"] if s["read"] == "skipped"]
    damaged = [one_line(s["name"], 60) for s in skipped if s["reason"].startswith("damaged:")]
    closed = [s for s in skipped if s["kind"] == "log" and s["reason"].startswith("cannot be read")]
    unread = [one_line(short_ids(s["name"]), 60) for s in closed]
    absent = {w["id"] for w in diagnosis["workers"] if w["expected"] and not w["seen"]}
    absent -= {s["worker"] for s in closed}
    parts = [f"part of {', '.join(damaged[:_MAX_LOGS])}, which is damaged: copy it again"] * bool(damaged)
    read = [s for s in diagnosis["sources"] if s["read"] != "skipped"]
    described = any(s["kind"] == "pods" for s in read)
    unlogged = absent if described else absent & {s["worker"] for s in read}
    parts += [f"no log of {names(sorted(unlogged))}"] * bool(unlogged)
    parts += [f"no file of {names(sorted(absent - unlogged))}"] * bool(absent - unlogged)
    if unread:
        more = f" and {plural(len(unread) - _MAX_LOGS, 'more log')}" if len(unread) > _MAX_LOGS else ""
        parts.append(f"{', '.join(unread[:_MAX_LOGS])}{more} cannot be read")
    instead = _guessed_instead(diagnosis) if absent else ""
    return [Answer("What is missing?", "; ".join(parts), instead)] if parts else []


def _guessed_instead(diagnosis: Mapping[str, Any]) -> str:
    """Return that a log may be of a worker that is missing, if its index is a guess."""
    guessed = [w for w in diagnosis["workers"] if w.get("guessed") and w["sources"]]
    if len(guessed) != 1:
        return ""
    (worker,) = guessed
    return f"{main_file(diagnosis, worker)} is taken for {worker['id']}, guessed {worker['guessed']}"


def failure(diagnosis: Mapping[str, Any]) -> list[Answer]:
    """Return when, where and at which step the job failed; empty if neither time nor host is known.

    If a value became NaN or infinite, the step is the first that shows it, not the last that all reached.
    """
    if diagnosis["verdict"] != "failed":
        return []
    blamed, hosts, reached = blamed_workers(diagnosis), _hosts(diagnosis), _last_common_step(diagnosis)
    event = failing_event(diagnosis, blamed, first_attempts=not attempts(diagnosis))
    nonfinite = event is not None and event["kind"] == "nonfinite"
    moment = moment_of(event, time_zone(diagnosis)) if event else "Unknown time" if hosts else ""
    where = " on ".join(text for text in (moment, hosts) if text)
    trainers = _trainers(diagnosis)
    who = "all workers" if len(trainers) > 1 else names([w["id"] for w in trainers])
    place = one_line(event["text"], 80) if event and nonfinite else f"{who} reached {reached}"
    parts = (attempts(diagnosis, None if nonfinite else event), place if reached or nonfinite else "")
    return [Answer("When and where?", where, "; ".join(filter(None, parts)))] if where else []


def attempts(diagnosis: Mapping[str, Any], event: Mapping[str, Any] | None = None) -> str:
    """Return who started more than once, and of which attempt an `event` is; empty if nobody did."""
    made = {w["id"]: w["attempts"] for w in diagnosis["workers"] if w["attempts"] > 1}
    if not made:
        return ""
    who = "all workers" if len(made) == len(diagnosis["workers"]) else names([*made])
    most = max(made.values())
    number = (event or {}).get("attempt") or most
    this = f", this is {'the last' if number == most else f'attempt {number}'}" if event else ""
    return f"{who} made {'up to ' if min(made.values()) < most else ''}{most} attempts{this}"


def _hosts(diagnosis: Mapping[str, Any]) -> str:
    workers = diagnosis["workers"]
    failing = [w for w in workers if w["id"] in diagnosis["culprits"] or len(workers) == 1]
    hosts = list(dict.fromkeys(one_line(w["host"], 60) for w in failing if w["host"]))
    return ", ".join(hosts) if len(hosts) <= _MAX_HOSTS else plural(len(hosts), "host")


def _last_common_step(diagnosis: Mapping[str, Any]) -> str:
    """Return the last step that all training workers show: `epoch 2, step 14`; empty if one shows none.

    Step 0 is the beginning of an epoch, of which no step was printed.
    """
    trainers = _trainers(diagnosis)
    if not trainers or any(w["last_step"]["step"] is None for w in trainers):
        return ""
    return _position(*min((w["last_step"]["epoch"] or 0, w["last_step"]["step"]) for w in trainers))


def _trainers(diagnosis: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [w for w in diagnosis["workers"] if w["id"].partition(":")[0] in _TRAINS]


def _position(epoch: int, step: int) -> str:
    """Format a training position: `epoch 2, step 14`; epoch 0 means unknown and is left out."""
    places = (f"epoch {epoch}" * bool(epoch), f"step {step:,}" * bool(step or not epoch))
    return ", ".join(filter(None, places))


def _healthy_answers(diagnosis: Mapping[str, Any]) -> list[Answer]:
    run = diagnosis["run"]
    last = [w["last_step"] for w in diagnosis["workers"] if w["last_step"]["step"] is not None]
    took = run["ended"] - run["started"] if None not in (run["started"], run["ended"]) else 0
    answers = [Answer("Workers", workers_seen(run), f"left files; {attempts(diagnosis)}".removesuffix("; "))]
    if last:
        place = _position(*max((each["epoch"] or 0, each["step"]) for each in last))
        answers.append(Answer("Last step", place.removeprefix("step "), ""))
    if took:
        finished = {w["id"] for w in diagnosis["workers"] if w["ended"]["how"] == "finished"}
        ends = (event for event in diagnosis["timeline"] if event["kind"] == "end")
        undated = any("after" in event and event["worker"] in finished for event in ends)
        least, after = ("at least ", "after ") if undated else ("", "")
        ended = instant(run["ended"], zone=time_zone(diagnosis))
        answers.append(Answer("Took", least + duration(took), f"ended {after}{ended}"))
    return answers


def workers_seen(run: Mapping[str, Any]) -> str:
    """Return how many workers left files, of how many in the job: `3 of 4`; `3` if its size is not known."""
    seen, expected = run["workers_seen"], run["workers_expected"]
    return f"{seen:,} of {expected:,}" if expected else f"{seen:,}"


def _later_exclusion(action: Mapping[str, Any]) -> Answer:
    """Return whether to exclude a machine after a degraded job; one slow run is not enough."""
    if action["retry"] != "exclude_host":
        return _exclusion(action)
    hosts = ", ".join(action["exclude"]) or "the files do not name the machine"
    return Answer(_EXCLUDE, "Not yet", f"only if it happens again: {hosts}")


def _exclusion(action: Mapping[str, Any]) -> Answer:
    if action.get("host") == "watch":
        return Answer(_EXCLUDE, "Not yet", "only if it happens again on the same host")
    if action["exclude"]:
        return Answer(_EXCLUDE, "Yes: " + ", ".join(action["exclude"]), "restart without it")
    if action["retry"] == "exclude_host":
        return Answer(_EXCLUDE, "Yes", "the files do not name the machine")
    if action["retry"] == "unknown":
        return Answer(_EXCLUDE, "Unknown", "not enough data; no sign of a bad machine so far")
    return Answer(_EXCLUDE, "No", "no sign of a bad machine")


def _checkpoint(diagnosis: Mapping[str, Any]) -> Answer:
    action, workers = diagnosis["action"], diagnosis["workers"]
    if action.get("checkpoint") == "earlier":
        if action["resume_from"] is None:
            return Answer(
                _RESUME, "An earlier one, if any", "none found in the logs; the last may hold the damage"
            )
        return Answer(_RESUME, "An earlier one", f"{action['resume_from']} may hold the damage")
    if diagnosis["verdict"] == "degraded" and _all_finished(diagnosis):
        return Answer(_RESUME, *_NOT_NEEDED)
    lost = action["steps_lost"]
    if action["resume_from"]:
        detail = "number of lost steps unknown" if lost is None else f"{plural(lost, 'step')} lost"
        return Answer(_RESUME, action["resume_from"], detail)
    if diagnosis["verdict"] == "failed" and not any(map(_stepped, workers)):
        if diagnosis["cause"] in _NOT_RESTORED:
            return Answer(_RESUME, "Not the one it tried", "it could not be restored")
        started = any(w.get("startup_seen", True) for w in workers)
        unknown = ("Unknown", _why_no_step(diagnosis))
        return Answer(_RESUME, *(("Not needed", "no step found in the files") if started else unknown))
    return Answer(_RESUME, "No checkpoint found in the logs", "look in your checkpoint directory")


def _why_no_step(diagnosis: Mapping[str, Any]) -> str:
    """Return why no worker shows a step; the lines of a log of several workers are of none of them."""
    owners = {source["worker"] for source in diagnosis["sources"] if source["kind"] == "log"}
    if owners == {None}:
        return "the logs do not show which worker wrote which line"
    return "the files show neither a step nor the start-up"


def _all_finished(diagnosis: Mapping[str, Any]) -> bool:
    """Return True if all training workers reached their planned end."""
    return all(w["ended"]["how"] == "finished" for w in _trainers(diagnosis))


def _stepped(worker: Mapping[str, Any]) -> bool:
    """Return True if a worker shows a training step."""
    last = worker["last_step"]
    return bool(worker["curves"]) or (last["step"] or 0) > 0 or (last["epoch"] or 1) > 1


def confidence_phrase(diagnosis: Mapping[str, Any]) -> str:
    """Return the confidence of the verdict as `likely (75 %)`; empty if no cause is known."""
    if diagnosis["cause"] in (None, "unknown"):
        return ""
    return f"{confidence(diagnosis['confidence'])} ({percent(diagnosis['confidence'])})"


def verdict_parts(diagnosis: Mapping[str, Any]) -> tuple[str, list[str]]:
    """Return the verdict with its symbol, and what is known of workers, cause and confidence."""
    title, workers = blamed(diagnosis)
    known = diagnosis["cause"] if diagnosis["cause"] not in (None, "healthy") else ""
    parts = (f"{title} {workers}".strip(), one_line(known, 80), confidence_phrase(diagnosis))
    return " ".join(wording()["verdicts"][diagnosis["verdict"]]), [part for part in parts if part]
