"""Decides which reports of lost peers are evidence of a loss, and which are of a normal end."""

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import Any

import polars as pl

from analyzer.derive.endings.last_errors import TENSORFLOW_LOGGERS
from analyzer.derive.endings.peers.complaints import Complaint
from analyzer.model.log_template import template_of

_TENSORS = re.compile(r"\d+: \[(?P<names>[^\]\n]*)\]?$")
"""Regex of the tensors that Horovod has not got from a rank; of many, it shows the first ones and `...`."""
_TROUBLE = re.compile(
    r"(?i)err|fail|abort|exce|lost|unavail|cancel|crash|retry|restart|gone|dead|down|stop|exit|kill|term|sig|wait"
)
"""Regex of words in a line of a script that may tell of a lost peer."""
_MIN_SURVIVAL_SECONDS = 5.0
"""Minimum time for which a coordinator logs after a loss, to count as having survived it."""
Row = Mapping[str, Any]


def discount_each_other(missing: Sequence[dict[str, Any]], trainers: AbstractSet[str]) -> None:
    """Count no rank as missing in place where each waits for another: they submitted different tensors.

    That is so where two complete lists have no tensor in common, or each rank misses some.
    """
    lists = {row["worker"]: found["names"].split(", ") for row in missing if (found := _tensors(row))}
    complete = [{*names} for names in lists.values() if "..." not in names[-1]]
    differ = len({*map(tuple, lists.values())}) > 1
    if (differ and trainers <= lists.keys()) or any(a.isdisjoint(b) for a, b in combinations(complete, 2)):
        for row in missing:
            row["counts"] = False


def _tensors(row: Row) -> re.Match[str] | None:
    return _TENSORS.match(row["says"].strip())


def last_words(records: pl.DataFrame) -> dict[str, Row]:
    """Return worker → the last record that its script printed; `ends_log` if no other is below it.

    `troubled` is the line of its last record that may tell of a lost peer.
    """
    by_log = ("worker", "source")
    named = records.filter(pl.col("worker").is_not_null())
    of_script = pl.col("kind").is_in(["plain", "python"])
    telling = (of_script | (pl.col("kind") == "traceback")) & pl.col("text").str.contains(_TROUBLE.pattern)
    own = named.with_columns(
        ends_log=pl.col("line") == pl.col("line").max().over(*by_log),
        troubled=pl.col("line").filter(telling).max().over(*by_log),
    ).filter(of_script)
    last = own.unique("worker", keep="last", maintain_order=True)
    return {row["worker"]: row for row in last.iter_rows(named=True)}


def is_evidence(
    record: Mapping[str, Any],
    found: Complaint,
    ends: Mapping[str, Mapping[str, Any]],
    said: Mapping[str, Row],
) -> bool:
    """Return True if a complaint is evidence of a loss.

    Reports printed after the accuser finished do not count, because peers then leave normally; nor do
    earlier reports of an accuser that finished, unless the accused has a log that shows no completion.
    A report from before the last restart of both does not count either.
    """
    accused, accuser = ends.get(found.worker), ends.get(record["worker"])
    if accuser and accused and record["attempt"] < accuser["attempts"] <= accused["attempts"]:
        return False
    logged = found.kind == "transport" and record["kind"] != "traceback"
    if accuser and logged and _was_harmless(record, accuser, said.get(record["worker"])):
        return False
    if record["printed_after_end"] or (found.kind == "leader" and _may_have_left(accused, accuser, said)):
        return False
    if not accuser or not accused or accuser["ended"] != "finished":
        return True
    return bool(accused["logged"] and accused["ended"] != "finished")


def _was_harmless(record: Row, accuser: Row, last: Row | None) -> bool:
    """Return True if the accuser raised nothing, and its script spoke after the report, and of no trouble.

    A chief of asynchronous training closes its session with workers that have left before.
    """
    raised = (
        accuser["ended"] in {"exception", "aborted_by_peer"} or accuser["exit_code"] or accuser["last_error"]
    )
    if raised or not accuser["no_exception"] or last is None or last["source"] != record["source"]:
        return False
    own = last["ends_log"] and last["origin"] not in TENSORFLOW_LOGGERS
    return bool(own and last["line"] > record["line"] >= (last["troubled"] or 0))


def _may_have_left(leader: Row | None, accuser: Row | None, said: Mapping[str, Row]) -> bool:
    """Return True if a leader may have ended normally: it came as far as its accuser, and neither raised.

    A worker that loses its leader in training raises. One that lingers after the last step only logs that
    the leader no longer answers its heartbeats. Where neither shows a step, how far they came is told by
    the last lines of their scripts (`said`: worker → its record).
    """
    if not leader or not accuser or leader["sure"]:
        return False
    made = [(end["epoch"], end["step"]) for end in (leader, accuser)]
    raised = {"exception", "aborted_by_peer"}
    words = [template_of(said[end["worker"]]["text"]) for end in (leader, accuser) if end["worker"] in said]
    alike = made[0] == made[1] and (made[0] != (None, None) or (len(words) == 2 and words[0] == words[1]))
    return alike and raised.isdisjoint({leader["ended"], accuser["ended"]})


def is_replaced(found: Complaint, accuser: Mapping[str, Any] | None, went_on: float | None) -> bool:
    """Return True if the coordinator of a job with parameter servers went on without a worker.

    The coordinator gives the steps of a lost worker to another; a parameter server cannot be replaced.
    """
    lives = accuser is not None and accuser["ended"] in {"finished", "unknown", "running"}
    return lives and found.worker.startswith("worker:") and (went_on or 0.0) >= _MIN_SURVIVAL_SECONDS
