"""Finds which worker reports which peer as lost, in the wording of every TensorFlow version.

A survivor's error names the peer that it lost. A status that passed through several workers names
several peers; the innermost one, next to the root message, is the origin. Coordination heartbeats name the
silent task; failed calls to the coordination service name the leader, which hosts it.
The wording is in `rules/messages/`: messages that state `peer`, `remote_target`, `wraps_status` or `reason`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations
from typing import Any, NamedTuple

import polars as pl

from analyzer.derive.cluster.workers import cluster_specs, distinct
from analyzer.derive.endings.last_errors import TENSORFLOW_LOGGERS
from analyzer.derive.training.ordering import line_at, printed_after_end
from analyzer.model.log_template import template_of
from analyzer.model.messages import STATES, Messages, Wording
from analyzer.model.task_names import DEVICE, device_of, in_order, listed_workers, task_of, tasks_in
from analyzer.tables.builders import frame
from analyzer.tables.grouping import only_values

_MAX_DETAIL = 1_200
"""Number of characters after a remote target that are searched for gRPC's reason."""
_OF_ITSELF = ("missing", "restarted")
"""Kinds of reports that a task prints about itself, too: Horovod's coordinator, rank 0, may miss its own."""
_PASSED_BACK = re.compile(r"Error received from peer.*grpc_message\W{1,5}Collective ops is aborted by: ")
"""Regex of an answer: the peer was reached, and told in which status its own operation had ended."""
_TENSORS = re.compile(r"\d+: \[(?P<names>[^\]\n]*)\]?$")
"""Regex of the tensors that Horovod has not got from a rank; of many, it shows the first ones and `...`."""
_TROUBLE = re.compile(
    r"(?i)err|fail|abort|exce|lost|unavail|cancel|crash|retry|restart|gone|dead|down|stop|exit|kill|term|sig|wait"
)
"""Regex of words in a line of a script that may tell of a lost peer."""
_MIN_SURVIVAL_SECONDS = 5.0
"""Minimum time for which a coordinator logs after a loss, to count as having survived it."""

Row = Mapping[str, Any]


class Complaint(NamedTuple):
    """A report that a peer is lost: which peer, what kind of report, and its offset in the text."""

    worker: str
    kind: str
    method: str | None
    at: int
    told_by: str | None = None
    """The task whose status the record passes on; None if the accuser found out by itself."""


class _Wording(NamedTuple):
    """The messages that name peers."""

    peers: Mapping[str, Wording]
    targets: Wording
    wrappers: Wording
    reasons: Mapping[str, Wording]
    gone: Wording
    silent: Wording


def accusations(
    records: pl.DataFrame, facts: pl.DataFrame, lifetimes: pl.DataFrame, messages: Messages
) -> pl.DataFrame:
    """Return one row per accuser, peer and kind: the first record that reports it."""
    ends = {row["worker"]: row for row in lifetimes.iter_rows(named=True)}
    first: dict[tuple[str | None, str, str], dict[str, Any]] = {}
    lost: dict[tuple[str | None, str], float | None] = {}
    leader = next((row["worker"] for row in ends.values() if row["leader"]), "worker:0")
    words = pl.lit([*messages.literals("peer"), *messages.literals("remote_target")], pl.List(pl.String))
    naming = records.filter(
        pl.col("level").is_in(["W", "E", "F"]) | (pl.col("level").is_null() & (pl.col("kind") == "plain")),
        pl.col("text").str.contains_any(words),
    )
    if naming.is_empty():
        return frame("accusations", _awaited(facts, ends))
    tasks, wording = tasks_by_address(facts), _wording(messages)
    cut = facts.filter(key="ends_within_line")["worker"].drop_nulls()
    said = _last_words(records.filter(~pl.col("worker").is_in(cut.implode())))
    last = dict(records.group_by("worker").agg(pl.col("time").max()).iter_rows())
    may_be_replaced = any(task.startswith("ps:") for task in ends)
    for record in naming.with_columns(printed_after_end(naming, lifetimes)).iter_rows(named=True):
        for found in _complaints(record["text"], leader, tasks, wording):
            accuser = record["worker"]
            if found.worker != accuser or found.kind in _OF_ITSELF:
                since = lost.setdefault((accuser, found.worker), record["time"] or record["near"])
                survived = _seconds_between(since, last.get(accuser))
                replaced = may_be_replaced and _replaced(found, ends.get(accuser), survived)
                row = _row(record, found) | {"counts": _counts(record, found, ends, said) and not replaced}
                row["unanswered"] = _unanswered(record["text"], wording)
                row |= {"went_on": _seconds_between(row["time"], last.get(accuser)), "told_by": found.told_by}
                key = (accuser, found.worker, found.kind)
                if key not in first or (row["counts"] and not first[key]["counts"]):
                    first[key] = row
    trainers = {worker for worker, end in ends.items() if end["trains"]}
    _discount_each_other([row for row in first.values() if row["kind"] == "missing"], trainers)
    for row in first.values():
        told_by = row.pop("told_by")
        if told_by not in {None, row["accuser"]} and (told_by, row["worker"], row["kind"]) in first:
            row["counts"] = False
    return frame("accusations", [*first.values(), *_awaited(facts, ends)])


def _discount_each_other(missing: Sequence[dict[str, Any]], trainers: AbstractSet[str]) -> None:
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


def _wording(messages: Messages) -> _Wording:
    return _Wording(
        {how: messages.wording("peer", how) for how in STATES["peer"].words},
        messages.wording("remote_target"),
        messages.wording("wraps_status"),
        {how: messages.wording("reason", how) for how in STATES["reason"].words},
        messages.wording("peer_gone"),
        messages.wording("peer_silent"),
    )


def tasks_by_address(facts: pl.DataFrame) -> dict[str, str]:
    """Return address → task, and host → task, for those that map to the same task in every stated cluster."""
    stated = [
        (address, f"{role}:{index}")
        for spec in distinct(cluster_specs(facts).values())
        for role, addresses in spec.items()
        for index, address in enumerate(addresses)
    ]
    own = pl.col("key").is_in(["server_address", "nccl_address"])
    serving = facts.filter(own & pl.col("worker").is_not_null())
    known = (*stated, *serving.select("value", "worker").iter_rows())
    return only_values((name, task) for address, task in known for name in {address, _host(address)})


def _host(address: str) -> str:
    """Return the host of an address: its IP address, or its name without a domain."""
    host = re.sub(r":\d+$", "", address)
    return host if host[:1].isdigit() else host.partition(".")[0]


def _complaints(text: str, leader: str, tasks: Mapping[str, str], wording: _Wording) -> Iterator[Complaint]:
    for how, words in wording.peers.items():
        for match in words.matches(text):
            for task in _tasks_named(match, text, leader, tasks, wording):
                told_by = _told_by(text, task, wording) if how == "down" else None
                yield Complaint(task, how, match.groupdict().get("method"), match.start(), told_by)
    yield from _remote(text, leader, wording)


def _told_by(text: str, lost: str, wording: _Wording) -> str | None:
    """Return the task that answered with the status of a lost one; None if the status is not from a peer."""
    answered = (task_of(match) for match in wording.targets.matches(text))
    return next((task for task in answered if task != lost), None)


def _tasks_named(
    match: re.Match[str], text: str, leader: str, tasks: Mapping[str, str], wording: _Wording
) -> list[str]:
    """Return the tasks that a message names: directly, in a list, by rank, by address, or as the leader."""
    groups = match.groupdict()
    if "tasks" in groups:
        return tasks_in(match["tasks"])
    if "ranks" in groups:
        return listed_workers("tasks " + match["ranks"].replace(" ", ""))
    if "address" in groups:
        named = tasks.get(match["address"]) or tasks.get(_host(match["address"]))
        return [named] if named else []
    if "role" in groups:
        return [task_of(match)] if match["role"] else []
    failed = (wording.reasons["deadline"], wording.reasons["transport"])
    return [leader] if any(reason.is_in(text) for reason in failed) else []


def _remote(text: str, leader: str, wording: _Wording) -> Iterator[Complaint]:
    """Yield the peer whose RPC failed; of a nested status, the one next to the root message."""
    root = max((match.end() for match in wording.wrappers.matches(text)), default=0)
    targets = sorted(wording.targets.matches(text), key=lambda match: match.start())
    match = next((each for each in targets if each.start() >= root), targets[0] if targets else None)
    if not match:
        return
    before = text[root if root < match.start() else 0 : match.start()]
    rest = text[match.end() : match.end() + _MAX_DETAIL].partition("Additional GRPC")[0]
    kind = _reason(before, wording)
    if kind is None and not _PASSED_BACK.search(rest.partition("\n")[0]):
        kind = _reason(rest.partition("\n")[0], wording)
    task, method = task_of(match), match.groupdict().get("method")
    if wording.reasons["leader"].is_in(before):
        kind = "leader"
    elif method and method.startswith("CoordinationService"):
        # The leader calls the other workers only to report that the job failed.
        kind = "leader" if task == leader and kind in {"transport", "deadline"} else None
    if kind:
        yield Complaint(task, kind, method, match.start())


def _unanswered(text: str, wording: _Wording) -> bool:
    """Return True if a report says that nothing answered (in time), and not that a process ended."""
    deadline, transport = (wording.reasons[how].is_in(text) for how in ("deadline", "transport"))
    silent = wording.silent.is_in(text) or (deadline and not transport)
    return silent and not wording.gone.is_in(text)


def _reason(before: str, wording: _Wording) -> str | None:
    ways = ((how, words) for how, words in wording.reasons.items() if how != "leader")
    return next((how for how, words in ways if words.is_in(before)), None)


def _seconds_between(start: float | None, end: float | None) -> float | None:
    return None if start is None or end is None else max(0.0, end - start)


def _row(record: Mapping[str, Any], found: Complaint) -> dict[str, Any]:
    text = record["text"]
    says = text[text.rfind("\n", 0, found.at) + 1 :].partition("\n")[0]
    start, end = _named_at(says, found.worker)
    return {
        "accuser": record["worker"],
        "worker": found.worker,
        "source": record["source"],
        "line": line_at(record, found.at),
        "time": record["near"],
        "kind": found.kind,
        "method": found.method,
        "says": says,
        "start": start,
        "end": end,
    }


def _named_at(says: str, worker: str) -> tuple[int, int] | tuple[None, None]:
    """Return (start, end) of a worker's device string in a line; (None, None) if it has none."""
    named = (match.span() for match in re.finditer(DEVICE, says) if task_of(match) == worker)
    return next(named, (None, None))


def _last_words(records: pl.DataFrame) -> dict[str, Row]:
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


def _counts(
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


def _replaced(found: Complaint, accuser: Mapping[str, Any] | None, went_on: float | None) -> bool:
    """Return True if the coordinator of a job with parameter servers went on without a worker.

    The coordinator gives the steps of a lost worker to another; a parameter server cannot be replaced.
    """
    lives = accuser is not None and accuser["ended"] in {"finished", "unknown", "running"}
    return lives and found.worker.startswith("worker:") and (went_on or 0.0) >= _MIN_SURVIVAL_SECONDS


def _awaited(facts: pl.DataFrame, ends: Mapping[str, Mapping[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield a complaint for each task that the leader was still waiting for at the end of its log."""
    assembled = set(facts.filter(pl.col("key").is_in(["assembled"]))["worker"].to_list())
    connected = set(facts.filter(pl.col("key") == "connected")["value"].to_list())
    waits = facts.filter((pl.col("key") == "awaits") & ~pl.col("value").is_in(sorted(connected)))
    first = {row["value"]: row for row in waits.reverse().iter_rows(named=True)}
    for task in in_order(first):
        row = first[task]
        if row["worker"] not in assembled:
            yield {
                "accuser": row["worker"],
                "worker": task,
                "source": row["source"],
                "line": row["line"],
                "time": row["time"],
                "kind": "absent",
                "says": device_of(task),
                "counts": ends.get(task, {}).get("phase") not in {"joined", "training", "finished"},
            }
