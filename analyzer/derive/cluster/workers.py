"""Lists the tasks of the job: those in the cluster specification and those that left files."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from functools import cache, partial
from typing import Any, TypeVar

import polars as pl

from analyzer.derive.cluster.addresses import host_name, is_local, is_service, split_address
from analyzer.derive.cluster.membership import FILES, members
from analyzer.derive.cluster.misfiled_logs import SEVERAL, misfiled
from analyzer.derive.cluster.several_jobs import in_several_places
from analyzer.model.task_names import GUESSES, is_task, order, split_task
from analyzer.tables.builders import frame
from analyzer.tables.grouping import grouped, only_values

Spec = Mapping[str, list[str]]
"""Role → addresses of a cluster."""
Value = TypeVar("Value")
_IDENTITY = ("task", "own_device", "cluster_spec", "server_address")
"""Keys of facts that state who a worker is."""
_TELLING = ("log", "event_file", "trace", "recording")
"""Kinds of source that prove that a worker ran."""


def workers(
    sources: pl.DataFrame, facts: pl.DataFrame, records: pl.DataFrame, stepped: AbstractSet[str]
) -> pl.DataFrame:
    """Return one row per task; conflicting cluster statements are settled by majority.

    In a job with parameter servers and a chief, a worker trains only if it is in `stepped`, the tasks with
    steps of their own: under a ClusterCoordinator, workers only serve.
    """
    stated, specs = _first_facts(facts), cluster_specs(facts)
    claimed = Counter(claim for task, own in stated.items() if task and (claim := _claim(own)))
    seen, logged = _workers_with(sources, _TELLING), _workers_with(sources, ["log"])
    spec = _majority(specs)
    listed = tasks_of(spec)
    known = members(facts, records, seen, listed)
    everyone = sorted(known.keys() | seen | _reported_by_platforms(facts), key=order)
    roles = {split_task(task)[0] for task in everyone}
    leader = "chief:0" if "chief" in roles else "worker:0"
    places = _places(sources, facts, listed)
    rows = [
        _row(task, spec, stated[task], known, seen, leader)
        | {"logged": task in logged, "trains": _trains(task, roles, stepped)}
        | _claims(stated[task], specs.get(task, {}), claimed)
        for task in everyone
    ]
    doubles = _second_servers(stated, {task for task, why in known.items() if why != FILES} - _unmet(facts))
    rows = [row | {"same_server": doubles.get(row["worker"])} for row in rows]
    devices = {task: name for task, own in stated.items() if (name := own.get("own_device") or _claim(own))}
    sizes = {
        task: size for task, own in stated.items() if (size := own.get("num_workers") or own.get("replicas"))
    }
    several = in_several_places(sources, facts)
    doubts = {task: {"doubted": SEVERAL, "doubt": why} for task, why in several.items()}
    content = partial(_content, facts, records)
    took_part = stepped | _assembled(facts)
    doubts |= misfiled(sources, rows, devices, _met(facts), took_part, sizes, content)
    return frame(
        "workers",
        [row | _cited(places.get(row["worker"], {}), row) | doubts.get(row["worker"], {}) for row in rows],
    )


def _content(facts: pl.DataFrame, records: pl.DataFrame, source: str) -> Hashable:
    """Return the lines and facts that were read of a source."""
    lines = records.filter(source=source).select("line", "text")
    stated = facts.filter(pl.col("line").is_not_null(), source=source).select("line", "key", "value")
    return tuple(lines.iter_rows()), tuple(stated.iter_rows())


def _claims(stated: Mapping[str, str], own: Spec, claimed: Mapping[str, int]) -> dict[str, bool]:
    """Return whether the task that a worker claims is also claimed by a peer, or missing from its cluster."""
    claim = _claim(stated)
    role, index = split_task(claim or "")
    return {
        "shares_claim": claim is not None and claimed[claim] > 1,
        "outside": claim is not None and bool(own) and index >= len(own.get(role, ())),
        "configured": sum(map(len, own.values())) > 1,
        "serves": "server_address" in stated,
    }


def _second_servers(stated: Mapping[str, Mapping[str, str]], met: AbstractSet[str]) -> dict[str, str]:
    """Return worker that is not among the `met` → the only one of them whose server has the same address."""
    at: dict[str, list[str]] = defaultdict(list)
    for task, own in stated.items():
        host, port = split_address(own.get("server_address", ""))
        if task and port and not is_local(host):
            at[own["server_address"]].append(task)
    pairs = (({*tasks} - met, sorted({*tasks} & met)) for tasks in at.values())
    return {task: peers[0] for strangers, peers in pairs if len(peers) == 1 for task in strangers}


def _trains(task: str, roles: AbstractSet[str], stepped: AbstractSet[str]) -> bool:
    role, _ = split_task(task)
    return role in {"chief", "master"} or (
        role == "worker" and (task in stepped or not {"ps", "chief"} <= roles)
    )


def _claim(stated: Mapping[str, str]) -> str | None:
    """Return the task that a worker states as its own; None if it states none."""
    return stated.get("task") or stated.get("own_device")


def _row(
    task: str,
    spec: Spec,
    stated: Mapping[str, str],
    known: Mapping[str, str],
    seen: set[str],
    leader: str,
) -> dict[str, Any]:
    role, index = split_task(task)
    addresses = spec.get(role, [])
    address = addresses[index] if index < len(addresses) else stated.get("server_address")
    claims = _claim(stated)
    return {
        "worker": task,
        "role": role,
        "index": index,
        "expected": task in known,
        "known_by": known.get(task),
        "seen": task in seen,
        "leader": task == leader,
        "host": stated.get("host") or _host_of(address),
        "address": address,
        "claims": claims,
        "guessed": basis if (basis := stated.get("attributed")) in GUESSES else None,
        "identity_conflict": claims is not None and claims != task,
        "tensorflow": stated.get("tensorflow"),
    }


def _majority(specs: Mapping[str, Spec]) -> Spec:
    """Return the cluster that most workers state, in a tie that of the first; empty if none states one."""
    stated = of_each_spec(specs, lambda spec: json.dumps(spec, sort_keys=True))
    votes = Counter(stated.values())
    return specs[max(sorted(specs, key=order), key=lambda worker: votes[stated[worker]])] if specs else {}


def cluster_specs(facts: pl.DataFrame) -> dict[str, Spec]:
    """Return worker → stated cluster, merging partial statements; equal clusters are one object."""
    stated = facts.filter((pl.col("key") == "cluster_spec") & (pl.col("worker") != ""))
    texts: dict[str, list[str]] = grouped(stated.select("worker", "value").iter_rows())
    merged = cache(_merged)
    return {worker: spec for worker, own in texts.items() if (spec := merged(tuple(dict.fromkeys(own))))}


def _merged(texts: Sequence[str]) -> Spec:
    """Return role → addresses, merged from clusters as JSON; the first one with a role counts."""
    spec: dict[str, list[str]] = {}
    for text in texts:
        for role, addresses in json.loads(text).items():
            if isinstance(addresses, dict):
                addresses = [addresses[key] for key in sorted(addresses, key=str)]
            if isinstance(addresses, list):
                spec.setdefault(role, [str(each) for each in addresses])
    return spec


def of_each_spec(specs: Mapping[str, Spec], of: Callable[[Spec], Value]) -> dict[str, Value]:
    """Return worker → the value of a function for its cluster, computed once for each cluster."""
    values = {id(spec): of(spec) for spec in distinct(specs.values())}
    return {worker: values[id(spec)] for worker, spec in specs.items()}


def distinct(specs: Iterable[Spec]) -> list[Spec]:
    """Return the clusters, without repeating those that several workers state."""
    return list({id(spec): spec for spec in specs}.values())


def _first_facts(facts: pl.DataFrame) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in facts.iter_rows(named=True):
        found[row["worker"]].setdefault(row["key"], row["value"])
    return found


def _assembled(facts: pl.DataFrame) -> set[str]:
    """Return the workers whose logs count the replicas of a cluster, which then all lived at once."""
    counted = facts.filter(pl.col("value").str.contains(r"^(?:[2-9]\d*|1\d+)$"), key="replicas")
    return {*counted["worker"].drop_nulls()}


def _unmet(facts: pl.DataFrame) -> set[str]:
    """Return the tasks for which the coordination service waited, and that it never saw connect."""
    awaited, connected = ({*facts.filter(pl.col("key") == key)["value"]} for key in ("awaits", "connected"))
    return awaited - connected if connected else set()


def _met(facts: pl.DataFrame) -> set[str]:
    """Return the tasks that the log of another one saw connect."""
    seen = facts.filter((pl.col("key") == "connected") & (pl.col("worker") != pl.col("value")))
    return {*seen["value"].drop_nulls()}


def _places(
    sources: pl.DataFrame, facts: pl.DataFrame, listed: AbstractSet[str]
) -> dict[str, dict[str, dict[str, Any]]]:
    """Return task → key of `_IDENTITY` → place of the line that states it; its log where no line does.

    A `listed` task without a file is cited where a peer states the cluster.
    """
    own = pl.col("worker").is_not_null()
    logs = sources.filter(own & (pl.col("kind") == "log")).select("worker", "source")
    lines = facts.filter(own & pl.col("key").is_in(_IDENTITY) & pl.col("line").is_not_null())
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for row in lines.select("worker", "key", "source", "line").reverse().iter_rows(named=True):
        found.setdefault(row.pop("worker"), {})[row.pop("key")] = row
    clusters = [places["cluster_spec"] for places in found.values() if "cluster_spec" in places]
    logged = {task: {"log": {"source": source}} for task, source in logs.reverse().iter_rows()}
    return {task: {"cluster_spec": clusters[-1]} for task in listed if clusters} | logged | found


def _cited(places: Mapping[str, dict[str, Any]], row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the place to cite for a task: of a claim in conflict, else of its server or cluster."""
    keys = _IDENTITY if row["shares_claim"] or row["outside"] else reversed(_IDENTITY)
    return next((places[key] for key in (*keys, "log") if key in places), {})


def _workers_with(sources: pl.DataFrame, kinds: Sequence[str]) -> set[str]:
    """Return the workers that left a file of one of the `kinds`, such as `log`, which could be read."""
    left = sources.filter(pl.col("kind").is_in(kinds) & (pl.col("read") != "skipped"))
    return {*left["worker"].drop_nulls()}


def _reported_by_platforms(facts: pl.DataFrame) -> set[str]:
    """Return the tasks whose end, or whose pod's events, a scheduler or launcher reports."""
    keys = ["exit_code", "pod_status", "pod_event"]
    reported = facts.filter(pl.col("key").is_in(keys) & pl.col("worker").is_not_null())
    return {task for task in reported["worker"].to_list() if is_task(task)}


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
    return only_values((name, task) for address, task in known for name in {address, host_name(address)})


def tasks_of(spec: Spec) -> set[str]:
    """Return the tasks that a cluster lists."""
    return {f"{role}:{index}" for role, addresses in spec.items() for index in range(len(addresses))}


def _host_of(address: str | None) -> str | None:
    host, port = split_address(address or "")
    return host if port and not is_local(host) and not is_service(host) else None
