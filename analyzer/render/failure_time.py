"""Tells when a failure happened, from the timeline and the evidence of a diagnosis."""

import math
from collections.abc import Collection, Mapping
from typing import Any

from analyzer.render.formatting import instant

_FAILS_AT = {"hang": ("last_step", "joined", "server_up"), "numeric": ("nonfinite",)}
"""Cause family → kinds of events that date the failure; the first kind that occurs counts."""
_SHOWN_BY_EVIDENCE = frozenset({"hardware", "nccl", "network"})
"""Cause families that the kernel or a library reports by its own line, at once; the worker ends later."""


def failing_event(
    diagnosis: Mapping[str, Any], blamed: Collection[str], *, first_attempts: bool
) -> Mapping[str, Any] | None:
    """Return the event that dates the failure: the blamed workers' first non-finite value, last error or end.

    Without blamed workers, it is the first error of any worker, else the end of the job or of its only
    worker; with several suspects, it is their first event; with several culprits, the earliest of their last
    errors. A hang is dated after the last step of the blamed workers or, if there was no step, after they
    last joined or started a server. Of faults of machines and networks, evidence on a blamed worker counts if
    it is dated, and the event after it is not.
    `first_attempts` is True if no worker was started twice.
    """
    family = str(diagnosis["cause"]).partition(".")[0]
    kinds = _FAILS_AT.get(family, ("error", "end", "silence", "last_seen"))
    for kind in kinds if blamed else kinds[:1]:
        dated = [e for e in diagnosis["timeline"] if e["kind"] == kind and _not_before(e) > -math.inf]
        events = [e for e in dated if not blamed or e["worker"] in blamed]
        if events:
            of_first_attempts = kind == "error" and first_attempts
            if of_first_attempts and diagnosis["culprits"]:
                events = [*{e["worker"]: e for e in sorted(events, key=_not_before)}.values()]
            first = not blamed or kind == "nonfinite" or of_first_attempts
            found: Mapping[str, Any] = (min if first else max)(events, key=_not_before)
            if family == "hang":  # it begins after the step, however long a log goes on then
                return {"after": found["time"], **found, "before": None}
            return _shown_before(found, diagnosis, blamed) if family in _SHOWN_BY_EVIDENCE else found
    return None if blamed or family in _FAILS_AT else _end_of_job(diagnosis)


def _shown_before(
    event: Mapping[str, Any], diagnosis: Mapping[str, Any], blamed: Collection[str]
) -> Mapping[str, Any]:
    """Return an undated event at the time of the first evidence on a blamed worker, if that is earlier."""
    started = diagnosis["run"]["started"] or -math.inf
    evidence = [
        e for finding in diagnosis["findings"][:1] for e in finding["evidence"] if e["worker"] in blamed
    ]
    times = [e["time"] for e in evidence if e["time"] is not None and started <= e["time"]]
    if "after" not in event or not times or min(times) > event["after"]:
        return event
    return {
        **{key: value for key, value in event.items() if key not in {"after", "before"}},
        "time": min(times),
    }


def _end_of_job(diagnosis: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return the event that ended the whole job or its only worker; None if nothing dates it."""
    ends = [e for e in diagnosis["timeline"] if e["kind"] == "end" and _not_before(e) > -math.inf]
    of_job = [e for e in ends if e["worker"] is None or len(diagnosis["workers"]) == 1]
    return max(of_job, key=_not_before, default=None)


def _not_before(event: Mapping[str, Any]) -> float:
    """Return the earliest time (s since 1970) at which an event can have happened; -inf if it is unknown."""
    earliest = event.get("after", event["time"])
    return -math.inf if earliest is None else float(earliest)


def moment_of(event: Mapping[str, Any], zone: str) -> str:
    """Return when an event happened, in the given time zone: at a time, after one, or between two."""
    if "after" not in event:
        return instant(event["time"], zone=zone)
    after = instant(event["after"], zone=zone)
    before = event.get("before")
    return f"after {after}" if before is None else f"between {after} and {instant(before, zone=zone)}"
