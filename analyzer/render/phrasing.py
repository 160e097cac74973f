"""Builds the sentences that renderers share: open questions, differences, notes, missing files."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from analyzer.render.formatting import as_text, duration, names, number, percent, plural
from analyzer.render.sanitize import one_line
from analyzer.tables.grouping import grouped

_OF_EACH = frozenset({"host", "claims", "server_address"})
"""Keys of facts that have another value on each worker of a healthy job."""
_SAME_PACE = 0.05
_MAX_CLOCKS = 2
"""Number of shifted clocks up to which each gets its own sentence; more share one."""


def open_questions(diagnosis: Mapping[str, Any]) -> list[str]:
    """Return sentences on symptoms that the verdict leaves unexplained, and on missing information."""
    sentences = [
        f"{f['title']} ({names(f['workers']) or 'the whole run'}): seen, but not explained by the verdict."
        for f in diagnosis["findings"]
        if f["outcome"] == "fired" and f["role"] == "symptom" and not f["explained_by"]
    ]
    unsure: dict[str, list[str]] = {}
    for w in diagnosis["workers"]:
        if w["seen"] and not w["ended"]["sure"]:
            known = "unknown" if w["ended"]["how"] == "unknown" else "inferred"
            unsure.setdefault(known, []).append(w["id"])
    sentences += [
        f"How {names(workers)} ended is {known}; no exit code or exception shows it."
        for known, workers in unsure.items()
    ]
    absent = [w["id"] for w in diagnosis["workers"] if w["expected"] and not w["seen"]]
    if absent:
        sentences.append(
            f"{names(absent)} left no file, so nothing is known from {'it' if len(absent) == 1 else 'them'}."
        )
    partly = [s["name"] for s in diagnosis["sources"] if s["read"] == "partial"]
    if partly:
        others = " and others" if len(partly) > 3 else ""
        sentences.append(f"Read only in part: {', '.join(partly[:3])}{others}.")
    return sentences


def differs_by_nature(fact: Mapping[str, Any]) -> bool:
    """Return True if a fact should differ per worker (such as the host), and all its values differ."""
    values = [*fact["values"].values()]
    return fact["key"] in _OF_EACH and len(set(values)) == len(values)


def differences(diagnosis: Mapping[str, Any]) -> list[str]:
    """Return facts that differ between workers: `TensorFlow: 2.15.1 (worker:0–1), 2.21.0 (worker:2)`."""
    sentences = []
    for fact in diagnosis["facts"]:
        if not fact["equal"] and not differs_by_nature(fact):
            holders = grouped((as_text(value), worker) for worker, value in fact["values"].items())
            told = ", ".join(f"{value} ({names(workers)})" for value, workers in holders.items())
            sentences.append(f"{fact['label']}: {told}")
    return sentences


_WENT = {
    "healthy": "which went well",
    "failed": "which failed itself",
    "degraded": "which was degraded itself",
    "inconclusive": "of which the files do not show how it ended",
}


def how_it_went(good: Mapping[str, Any]) -> str:
    """Return, as a clause, how the good run itself ended: `which failed itself (user.exception)`."""
    verdict = good.get("verdict", "healthy")
    cause = f" ({one_line(good['cause'], 80)})" if verdict != "healthy" and good.get("cause") else ""
    return _WENT.get(verdict, _WENT["inconclusive"]) + cause


def against(good: Mapping[str, Any]) -> list[str]:
    """Return the differences from a good run, except lines: `Python: 3.11.2, there 3.10.4`."""
    sentences = [
        f"{f['label']}: {', '.join(f['here'])}, there {', '.join(f['there'])}" for f in good["facts"]
    ]
    if sentence := pace(good["step_time"]):
        sentences.append(sentence)
    for curve in good["curves"]:
        step = f"step {curve['step']:,}" if curve["step"] is not None else "the last common place"
        epoch = f"epoch {curve['epoch']}, " if curve["epoch"] is not None else ""
        values = f"{number(curve['here'])}, there {number(curve['there'])}"
        sentences.append(f"{curve['tag']} at {epoch}{step}: {values}")
    return sentences


def pace(step_time: Mapping[str, Any]) -> str:
    """Return a sentence on the step time here and in a good run; empty if either is unknown."""
    here, there = step_time["here"], step_time["there"]
    if not (here and there):
        return ""
    if abs(here / there - 1) < _SAME_PACE:
        return f"A step took {duration(here)}, about as long as in the good run"
    return (
        f"A step took {duration(here)}, in the good run {duration(there)} ({here / there:.1f} times as long)"
    )


def why_heading(diagnosis: Mapping[str, Any]) -> str:
    """Return the heading of `why`, depending on whether a cause is known."""
    return "What is known" if diagnosis["cause"] in (None, "unknown") else "Why"


def uncollected(diagnosis: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each missing kind of file: how many rules need it, and how to collect it.

    Files that the next steps or the deciding file ask for are left out.
    """
    sentences = []
    asked = " ".join(step["text"] for step in diagnosis["next"]).lower()
    deciding = diagnosis.get("deciding_file") or {"kind": None}
    for recipe, rules in useful_recipes(diagnosis):
        if recipe["kind"] != deciding["kind"] and recipe["what"].removesuffix("s") not in asked:
            what = _missing_codes(diagnosis) if recipe["kind"] == "exit_codes" else recipe["what"]
            sentences.append(
                f"{plural(rules, 'rule')} could not be evaluated without {what}. "
                f"Next time, {recipe['how']} ({recipe['docs']})."
            )
    return sentences


def _missing_codes(diagnosis: Mapping[str, Any]) -> str:
    """Return whose exit codes no file has; Slurm's accounting may have one for all tasks of a step."""
    trainers = [w for w in diagnosis["workers"] if w["id"].partition(":")[0] in {"worker", "chief"}]
    ended = [w for w in trainers if w["ended"]["how"] != "running"]
    lacking = [w["id"] for w in ended if w["ended"]["exit_code"] is None]
    accounted = any(source["kind"] == "sacct" for source in diagnosis["sources"])
    if not lacking or not (accounted or len(lacking) < len(trainers)):
        return "exit codes"
    step = " (sacct has only that of the whole step)" if accounted else ""
    return f"the exit code of {names(lacking)}{step}"


def useful_recipes(diagnosis: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], int]]:
    """Return (recipe, number of rules that need it) for each missing kind of file, most rules first.

    If the cause of a failure is known, only rules on causes of the same family count.
    """
    wanting = Counter(
        f["lacks"]
        for f in diagnosis["findings"]
        if f["lacks"] and f["cause"] and _may_matter(f["cause"], diagnosis)
    )
    useful = [(each, wanting[each["kind"]]) for each in diagnosis["collect"] if wanting[each["kind"]]]
    return sorted(useful, key=lambda each: -each[1])


def _may_matter(cause: str, diagnosis: Mapping[str, Any]) -> bool:
    if diagnosis["verdict"] != "failed" or diagnosis["cause"] in (None, "unknown"):
        return True
    return cause.partition(".")[0] == str(diagnosis["cause"]).partition(".")[0]


def notes(diagnosis: Mapping[str, Any]) -> list[str]:
    """Return a sentence for each context finding that `why` does not state yet, then on shifted clocks."""
    found = [
        note
        for f in diagnosis["findings"]
        if f["outcome"] == "fired" and f["role"] == "context" and (note := f["summary"] or f["title"])
        if not any(reason.endswith(note) for reason in diagnosis["why"])
    ]
    found += [
        f"Entries of {one_line(name, 80)} are numbered from the oldest: line numbers do not identify them."
        for name in exports(diagnosis)
    ]
    shifted = [each for each in diagnosis.get("clocks", ()) if each["shift"]]
    return found + ([_clock(each) for each in shifted] if len(shifted) <= _MAX_CLOCKS else [_clocks(shifted)])


def exports(diagnosis: Mapping[str, Any]) -> list[str]:
    """Return the exports of log services of which the findings quote entries by their numbers."""
    cited = (place for finding in diagnosis["findings"] for place in finding["evidence"])
    return sorted({place["source"].partition("#")[0] for place in cited if place.get("counts") == "entries"})


def _clock(clock: Mapping[str, Any]) -> str:
    files = "logs" if clock["kind"] == "log" else "event files"
    amount, side = duration(abs(clock["offset"])), "ahead of" if clock["offset"] > 0 else "behind"
    if clock["basis"] == "zone":
        return (
            f"Times in the {files} of {clock['worker']} are {amount} {side} those of its peers, as if in "
            "another time zone: its whole start is shifted. The order of events is corrected for this."
        )
    return (
        f"Times in the {files} of {clock['worker']} are {amount} {side} those of its peers: "
        f"all finished {clock['steps']} steps together. The order of events is corrected for this."
    )


def _clocks(clocks: Sequence[Mapping[str, Any]]) -> str:
    """Return one sentence for many shifted clocks."""
    whose = names([each["worker"] for each in clocks])
    most = duration(max(abs(each["offset"]) for each in clocks))
    return (
        f"The clocks of {whose} differ from those of their peers by up to {most}, as shown by "
        "steps or start-up events that all reached together. The order of events is corrected for this."
    )


def consequences(diagnosis: Mapping[str, Any]) -> list[str]:
    """Return title and workers of each fired cause that another finding explains.

    The verdict's own cause, found by another rule, is no news unless it names further workers.
    """
    blamed = {*diagnosis["culprits"], *diagnosis["suspects"]}
    return [
        f"{f['title']} ({names(f['workers'])})" if f["workers"] else f["title"]
        for f in diagnosis["findings"]
        if f["outcome"] == "fired" and f["role"] == "cause" and f["explained_by"]
        if f["cause"] != diagnosis["cause"] or not blamed.issuperset(f["workers"])
    ]


def xprof_report(diagnosis: Mapping[str, Any]) -> list[str]:
    """Return XProf's report on each trace as lines, or the reason why there is none."""
    return [
        f"{quote['worker'] or quote['source']}: {text}"
        for quote in diagnosis.get("xprof", ())
        for text in ([quote["problem"]] if quote["problem"] else quote["says"])
    ]


def telling_lines(diagnosis: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return the log lines that hint at a cause as evidence; `says` has meaning and possible causes."""
    return [
        {**line["line"], "says": " ".join(filter(None, (_meaning(line), *_possible(line["possible"]))))}
        for line in diagnosis.get("telling_lines", ())
    ]


def _meaning(line: Mapping[str, Any]) -> str:
    return str(line["means"] or f"{line['line']['says']}.".capitalize())


def _possible(causes: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    if causes:
        named = (f"{each.get('means', each['cause'])} ({percent(each['confidence'])})" for each in causes)
        yield f"Possible: {'; '.join(named)}."


def deciding_file(diagnosis: Mapping[str, Any]) -> list[str]:
    """Return a sentence on how to collect the file that would decide the cause; empty if none."""
    file = diagnosis.get("deciding_file")
    return [f"Collect {file['what']}: {file['how']}."] if file else []
