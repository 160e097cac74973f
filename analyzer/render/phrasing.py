"""What the renderers say in the same words: confidence, times, workers, and the decision."""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from types import MappingProxyType
from typing import Any, NamedTuple

VERDICTS: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "failed": ("✕", "Failed"),
        "degraded": ("▲", "Degraded"),
        "healthy": ("✓", "Healthy"),
        "inconclusive": ("?", "Inconclusive"),
    }
)
OWNERS: Mapping[str, str] = MappingProxyType(
    {
        "user_code": "The training code",
        "data": "The data and the input pipeline",
        "config": "The job's configuration",
        "platform": "The platform: scheduler, network, storage",
        "hardware": "The hardware",
        "unknown": "Cannot be told yet",
    }
)
_RETRY: Mapping[str, tuple[str, str]] = MappingProxyType(
    {
        "as_is": ("Yes", "start it again as it is"),
        "after_fix": ("No", "mend the cause first; it would fail again"),
        "exclude_host": ("No", "leave the machine out first"),
        "unknown": ("Cannot be told yet", "what was handed over does not say"),
    }
)
_RETRY_DEGRADED: Mapping[str, tuple[str, str]] = {
    **_RETRY,
    "after_fix": ("No", "mend the cause first; it would come out the same"),
    "exclude_host": ("Yes", "it did not fail; a machine need not be left out yet"),
}
_OF_EACH = frozenset({"host", "claims", "server_address"})
"""Facts of which every worker has a value of its own where all is well."""
_MOST_CLOCKS = 2
"""Clocks of which each has a sentence of its own."""
_EXCLUDE, _RESUME = "Exclude a machine?", "From which checkpoint?"
_TRAINS = ("worker", "chief")


class Answer(NamedTuple):
    """One question of the decision, its answer in a few words, and what qualifies it."""

    question: str
    answer: str
    detail: str


def confidence(value: float) -> str:
    """Say a confidence in a word."""
    if value >= 0.85:
        return "certain" if value >= 0.97 else "very likely"
    return "likely" if value >= 0.6 else "possible"


def percent(value: float) -> str:
    """Say a confidence as a percentage."""
    return f"{value:.0%}".replace("%", " %")


def instant(value: float | None, *, date: bool = True) -> str:
    """Say a time as `2026-11-21 01:40:37.754 UTC`; without `date`, as `01:40:37.754`."""
    try:
        at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=value) if value is not None else None
    except (OverflowError, ValueError):
        at = None
    if at is None:
        return "time unknown"
    clock = f"{at:%H:%M:%S}.{at.microsecond // 1000:03d}"
    return f"{at.date().isoformat()} {clock} UTC" if date else clock


def duration(seconds: float) -> str:
    """Say a length of time: `4.2 ms`, `0.21 s`, `51.9 s`, `3 h 26 min`."""
    if 0 < seconds < 0.1:
        return f"{1000 * seconds:.2g} ms" if seconds < 0.01 else f"{1000 * seconds:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    if minutes < 60:
        return f"{minutes} min {rest} s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours < 48 else f"{hours // 24} d {hours % 24} h"


def size(count: int) -> str:
    """Say a number of bytes: `512 B`, `14.6 kB`, `880 MB`."""
    if count < 1000:
        return f"{count} B"
    value = float(count)
    for unit in ("kB", "MB", "GB"):
        value /= 1000
        if value < 999.5:
            return f"{value:.3g} {unit}"
    return f"{value / 1000:,.3g} TB"


def plural(count: int, one: str, many: str | None = None) -> str:
    """Say how many: `1 step`, `4 steps`."""
    return f"{count:,} {one if count == 1 else many or one + 's'}"


def worker_key(worker: str) -> tuple[str, int]:
    """Order workers as people do: `worker:2` before `worker:10`."""
    role, _, index = worker.partition(":")
    return (role, int(index)) if index.isascii() and index.isdigit() else (worker, 0)


def names(workers: Sequence[str]) -> str:
    """Name workers in few words: `worker:0, worker:2`, or `worker:0–63` for three and more in a row."""
    ordered = sorted(set(workers), key=worker_key)
    rows = [[w for _, w in run] for _, run in groupby(enumerate(ordered), _row)]
    said = [[f"{row[0]}–{row[-1].partition(':')[2]}"] if len(row) > 2 else row for row in rows]
    return ", ".join(name for part in said for name in part)


def _row(place: tuple[int, str]) -> tuple[str, int]:
    role, index = worker_key(place[1])
    return role, index - place[0]


def blamed(diagnosis: Mapping[str, Any]) -> tuple[str, str]:
    """Return what the blamed workers are called, and their names: `("culprit", "worker:2")`."""
    if diagnosis["culprits"]:
        several = len(diagnosis["culprits"]) > 1
        return ("culprits" if several else "culprit", names(diagnosis["culprits"]))
    if suspects := diagnosis["suspects"]:
        title = "one of" if len(suspects) > 1 else "suspect"
        return (title if diagnosis["verdict"] != "inconclusive" else "not cleared", names(suspects))
    return ("", "")


def decision(diagnosis: Mapping[str, Any]) -> list[Answer]:
    """Answer what whoever is on call must decide now."""
    if diagnosis["verdict"] == "healthy":
        return _calm(diagnosis)
    action, degraded = diagnosis["action"], diagnosis["verdict"] == "degraded"
    retry, why = (_RETRY_DEGRADED if degraded else _RETRY)[action["retry"]]
    owner = OWNERS[action["owner"]]
    return [
        Answer("Restart as is?", retry, why),
        _later_exclusion(action) if degraded else _exclusion(action),
        _checkpoint(diagnosis),
        Answer("Who should fix it?", owner, ""),
    ]


def _calm(diagnosis: Mapping[str, Any]) -> list[Answer]:
    run = diagnosis["run"]
    steps = [w["last_step"]["step"] for w in diagnosis["workers"] if w["last_step"]["step"] is not None]
    took = run["ended"] - run["started"] if None not in (run["started"], run["ended"]) else None
    answers = [Answer("Workers", workers_seen(run), "left their files")]
    if steps:
        answers.append(Answer("Last step", f"{max(steps):,}", ""))
    if took is not None:
        answers.append(Answer("Took", duration(took), f"ended {instant(run['ended'])}"))
    return answers


def workers_seen(run: Mapping[str, Any]) -> str:
    """Say how many of the expected workers left a source: `3 of 4`."""
    seen, expected = run["workers_seen"], run["workers_expected"]
    return f"{seen:,}" if expected is None else f"{seen:,} of {expected:,}"


def _later_exclusion(action: Mapping[str, Any]) -> Answer:
    """Answer for a job that did not fail: one slow run does not condemn a machine."""
    if action["retry"] != "exclude_host":
        return _exclusion(action)
    hosts = ", ".join(action["exclude"]) or "the files do not name the machine"
    return Answer(_EXCLUDE, "Not yet", f"only if it happens again: {hosts}")


def _exclusion(action: Mapping[str, Any]) -> Answer:
    question = _EXCLUDE
    if action["exclude"]:
        return Answer(question, "Yes: " + ", ".join(action["exclude"]), "start again without it")
    if action["retry"] == "exclude_host":
        return Answer(question, "Yes", "the files do not name the machine")
    if action["retry"] == "unknown":
        return Answer(question, "Cannot be told yet", "nothing points at a machine so far")
    return Answer(question, "No", "nothing points at a machine")


def _checkpoint(diagnosis: Mapping[str, Any]) -> Answer:
    action, workers = diagnosis["action"], diagnosis["workers"]
    trainers = [w for w in workers if w["id"].partition(":")[0] in _TRAINS]
    if diagnosis["verdict"] == "degraded" and all(w["ended"]["how"] == "finished" for w in trainers):
        return Answer(_RESUME, "Not needed", "the job reached its end")
    lost = action["steps_lost"]
    if action["resume_from"]:
        detail = "how many steps are lost is not known" if lost is None else f"{plural(lost, 'step')} lost"
        return Answer(_RESUME, action["resume_from"], detail)
    if diagnosis["verdict"] == "failed" and not any(map(_stepped, workers)):
        return Answer(_RESUME, "Not needed", "the files show no step")
    return Answer(_RESUME, "The files name none", "look in your checkpoint directory")


def _stepped(worker: Mapping[str, Any]) -> bool:
    last = worker["last_step"]
    return bool(worker["curves"]) or (last["step"] or 0) > 0 or (last["epoch"] or 1) > 1


def open_questions(diagnosis: Mapping[str, Any]) -> list[str]:
    """Say what speaks against the verdict, or was not explained by it."""
    said = [
        f"{f['title']} ({names(f['workers']) or 'the whole run'}): seen, and not explained by the verdict."
        for f in diagnosis["findings"]
        if f["outcome"] == "fired" and f["role"] == "symptom" and not f["explained_by"]
    ]
    inferred = [w["id"] for w in diagnosis["workers"] if w["seen"] and not w["ended"]["sure"]]
    if inferred:
        said.append(f"How {names(inferred)} ended is inferred; no file writes it down.")
    absent = [w["id"] for w in diagnosis["workers"] if w["expected"] and not w["seen"]]
    if absent:
        said.append(
            f"{names(absent)} left no file, so nothing is known from {'it' if len(absent) == 1 else 'them'}."
        )
    partly = [s["name"] for s in diagnosis["sources"] if s["read"] == "partial"]
    if partly:
        said.append(f"Read only in part: {', '.join(partly[:3])}{' and others' if len(partly) > 3 else ''}.")
    return said


def of_each(fact: Mapping[str, Any]) -> bool:
    """Say whether a fact differs between all workers because it must: each has a host of its own."""
    values = [*fact["values"].values()]
    return fact["key"] in _OF_EACH and len(set(values)) == len(values)


def differences(diagnosis: Mapping[str, Any]) -> list[str]:
    """Say which facts differ between the workers: `TensorFlow: 2.15.1 (worker:0–1), 2.21.0 (worker:2)`."""
    said = []
    for fact in diagnosis["facts"]:
        if not fact["equal"] and not of_each(fact):
            holders: dict[str, list[str]] = {}
            for worker, value in fact["values"].items():
                holders.setdefault(value, []).append(worker)
            said.append(fact["label"] + ": " + ", ".join(f"{v} ({names(w)})" for v, w in holders.items()))
    return said


def against(good: Mapping[str, Any]) -> list[str]:
    """Say what differs from a good run: `Python: 3.11.2, there 3.10.4`; its lines are quoted elsewhere."""
    said = [f"{f['label']}: {', '.join(f['here'])}, there {', '.join(f['there'])}" for f in good["facts"]]
    if told := pace(good["step_time"]):
        said.append(told)
    for curve in good["curves"]:
        step = f"step {curve['step']:,}" if curve["step"] is not None else "the last common place"
        epoch = f"epoch {curve['epoch']}, " if curve["epoch"] is not None else ""
        said.append(
            f"{curve['tag']} at {epoch}{step}: {number(curve['here'])}, there {number(curve['there'])}"
        )
    return said


def pace(step_time: Mapping[str, Any]) -> str:
    """Say how long a step took, and how long in a good run; nothing where either is not known."""
    here, there = step_time["here"], step_time["there"]
    if not (here and there):
        return ""
    return f"A step took {duration(here)}, there {duration(there)} ({here / there:.1f} times as long)"


def number(value: float | str) -> str:
    """Say a value of a curve; one that is not finite comes as text."""
    return value if isinstance(value, str) else f"{value:.4g}"


def headings(diagnosis: Mapping[str, Any]) -> tuple[str, str]:
    """Return the headings of `why` and `next`, which read differently when nothing was found out."""
    if diagnosis["cause"] is None:
        return ("What is known", "What to collect")
    return ("What is known", "What to do") if diagnosis["cause"] == "unknown" else ("Why", "Next")


def uncollected(diagnosis: Mapping[str, Any]) -> list[str]:
    """Say what was not collected, which causes could not be looked for without it, and how to collect it."""
    said = []
    for recipe in diagnosis["collect"]:
        wanting = [each for each in diagnosis["findings"] if each["lacks"] == recipe["kind"]]
        if not (rules := sum(each["role"] == "cause" for each in wanting)):
            continue
        said.append(
            f"{plural(rules, 'rule')} could not be tried without {recipe['what']}. "
            f"How to collect {recipe['what']}: {recipe['how']} ({recipe['docs']})."
        )
    return said


def surely(diagnosis: Mapping[str, Any]) -> str:
    """Say how sure the verdict is: `likely (75 %)`; nothing where no cause is known."""
    if diagnosis["cause"] in (None, "unknown"):
        return ""
    return f"{confidence(diagnosis['confidence'])} ({percent(diagnosis['confidence'])})"


def notes(diagnosis: Mapping[str, Any]) -> list[str]:
    """Say what else is worth knowing of this run, whatever its verdict."""
    found = [
        f["summary"] or f["title"]
        for f in diagnosis["findings"]
        if f["outcome"] == "fired" and f["role"] == "context"
    ]
    shifted = [each for each in diagnosis.get("clocks", ()) if each["shift"]]
    return found + (
        [_clock(each) for each in shifted] if len(shifted) <= _MOST_CLOCKS else [_clocks(shifted)]
    )


def _clock(clock: Mapping[str, Any]) -> str:
    files = "logs" if clock["kind"] == "log" else "event files"
    amount, side = duration(abs(clock["offset"])), "ahead of" if clock["offset"] > 0 else "behind"
    return (
        f"In the {files} of {clock['worker']}, times are {amount} {side} those of its peers, as "
        f"{clock['steps']} steps show that all finished together; the order of events allows for that."
    )


def _clocks(clocks: Sequence[Mapping[str, Any]]) -> str:
    """Say in one sentence that many clocks differ."""
    whose = names([each["worker"] for each in clocks])
    most = duration(max(abs(each["offset"]) for each in clocks))
    return (
        f"The clocks of {whose} differ from those of their peers by up to {most}, as steps show that all "
        "finished together; the order of events allows for that."
    )


def listed(texts: Sequence[str]) -> str:
    """Put texts in a row, as people do: `a, b and c`."""
    *most, last = texts or [""]
    return f"{', '.join(most)} and {last}" if most else last


def consequences(diagnosis: Mapping[str, Any]) -> list[str]:
    """Name the causes that another finding explains, and the workers that they speak of."""
    found = [
        (f["title"], names(f["workers"]))
        for f in diagnosis["findings"]
        if f["outcome"] == "fired" and f["role"] == "cause" and f["explained_by"]
    ]
    return [f"{title} ({workers})" if workers else title for title, workers in found]


def of_xprof(diagnosis: Mapping[str, Any]) -> list[str]:
    """What XProf says of each trace, or why it says nothing."""
    said = []
    for quote in diagnosis.get("xprof", ()):
        whose = quote["worker"] or quote["source"]
        if quote["problem"]:
            said.append(f"{whose}: {quote['problem']}")
        else:
            said += [f"{whose}: {text}" for text in quote["says"]]
    return said
