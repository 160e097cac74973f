"""Compares what the workers state about themselves and the cluster."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from analyzer.derive.cluster.addresses import is_local, split_address
from analyzer.derive.cluster.workers import Spec, cluster_specs, distinct, of_each_spec
from analyzer.model.task_names import split_task
from analyzer.tables.builders import frame
from analyzer.tables.grouping import grouped

COMPARED = (
    "tensorflow", "python", "replicas", "num_workers", "communication", "steps_per_epoch",
    "trainable_parameters", "strategy", "host", "claims", "gpu", "server_address", "gpu_driver", "cuda",
    "gpu_model", "server_source", "seed:tf.random.set_seed", "seed:keras.utils.set_random_seed",
)  # fmt: skip
_LISTED = (
    r"^package:(?:tensorflow|tf-|keras|numpy$|protobuf$|grpcio$|nvidia-|cuda|cudnn|nccl|h5py$|ml-dtypes$|horovod$)"
    r"|^env:(?:(?:GRPC|KERAS|NCCL|OMP|TF|XLA)_\w+|LD_LIBRARY_PATH|LD_PRELOAD|\w+_(?:proxy|PROXY))$"
)
"""Packages and environment variables that are compared between workers: those that can affect training."""

Places = Mapping[tuple[str, str], tuple[str, int, str]]
_OF_CLUSTER = dict.fromkeys(("cluster_size", "loopback", "evaluator_listed", "tf_config"), ("cluster_spec",))
_STATED_BY: Mapping[str, tuple[str, ...]] = {
    **_OF_CLUSTER,
    "claims": ("task",),
    "server_listed": ("server_address",),
    "tensorflow_release": ("tensorflow",),
    "start_up": ("tensorflow",),
    "gpu_place": ("gpu_bus",),
    "batch_size": ("batch_size", "global_batch_size", "batch_of"),
}
"""Compared value → keys of the facts that state it, if they differ from its name."""

QUESTIONS = frozenset({"loopback", "evaluator_listed", "tf_config", "server_listed"})
"""Keys whose values are `yes` or `no`."""
_ENOUGH_BATCHES = 3
"""Minimum number of batches of a worker's largest size for that size to count as its batch size."""


def cluster(facts: pl.DataFrame, workers: pl.DataFrame) -> pl.DataFrame:
    """Return the stated values that are compared between workers, one row per key and worker."""
    stated = dict(_compared_values(facts, workers))
    places = _places(facts)
    rows = (row for key, values in stated.items() for row in _rows(key, values))
    return frame("cluster", (row | _place(row, places) for row in rows))


def _places(facts: pl.DataFrame) -> Places:
    """Return (key, worker) → source, line and excerpt of the last fact."""
    rows = facts.select("key", "worker", "source", "line", "excerpt").iter_rows()
    return {(key, worker): (source, line, excerpt or "") for key, worker, source, line, excerpt in rows}


def _place(row: Mapping[str, Any], places: Places) -> dict[str, Any]:
    """Return where the value of a row of the table is stated; empty if no fact states it."""
    keys = _STATED_BY.get(row["key"], (row["key"],))
    found = next((place for key in keys if (place := places.get((key, row["worker"])))), None)
    return dict(zip(("source", "line", "excerpt"), found, strict=True)) if found else {}


def _compared_values(facts: pl.DataFrame, workers: pl.DataFrame) -> Iterator[tuple[str, dict[str, str]]]:
    last = _last_values(facts, [*COMPARED, "task", "batch_size", "global_batch_size"])
    for key in COMPARED:
        yield key, last["task" if key == "claims" else key]
    yield from _differing(facts)
    sizes = (last["batch_size"], last["global_batch_size"], _full_batches(facts))
    yield "batch_size", max(sizes, key=len)  # per worker, global or observed, whichever most workers have
    releases = {worker: ".".join(version.split(".")[:2]) for worker, version in last["tensorflow"].items()}
    yield "tensorflow_release", releases
    yield "start_up", {worker: _start_up(release) for worker, release in releases.items()}
    yield "gpu_place", _gpu_places(facts, workers)
    specs = _comparable(cluster_specs(facts))
    yield "cluster_spec", of_each_spec(specs, lambda spec: json.dumps(spec, sort_keys=True))
    yield "cluster_size", of_each_spec(specs, lambda spec: str(sum(map(len, spec.values()))))
    yield "loopback", of_each_spec(specs, lambda spec: _yes_or_no(_all_loopback(spec)))
    yield "evaluator_listed", of_each_spec(specs, lambda spec: _yes_or_no("evaluator" in spec))
    seen = workers.filter(pl.col("seen") & pl.col("trains"))["worker"].to_list()
    configured = set(specs)
    yield "tf_config", {worker: _yes_or_no(worker in configured) for worker in seen}
    yield "server_listed", _listed_servers(facts)


def _listed_servers(facts: pl.DataFrame) -> dict[str, str]:
    """Return worker → `yes` if each cluster that it states lists its server's only port, else `no`."""
    own = facts.filter(pl.col("worker").is_not_null()).select("worker", "value", "key").unique()
    servers: dict[str, list[str]] = grouped(_of_key(own, "server_address"))
    clusters: dict[str, list[str]] = grouped(_of_key(own, "cluster_spec"))
    found = {}
    for worker in sorted(servers.keys() & clusters.keys()):
        ports = {split_address(address)[1] for address in servers[worker]}
        listed = [each for text in clusters[worker] if (each := _ports(text, split_task(worker)[0]))]
        if len(ports) == 1 and listed:
            found[worker] = _yes_or_no(all(ports <= each for each in listed))
    return found


def _of_key(facts: pl.DataFrame, key: str) -> Iterator[tuple[str, str]]:
    return facts.filter(pl.col("key") == key).select("worker", "value").iter_rows()


def _ports(cluster: str, role: str) -> set[str]:
    """Return the ports of the tasks of a role in a cluster as a fact states it; empty without the role."""
    stated = json.loads(cluster).get(role, ())
    addresses = stated.values() if isinstance(stated, dict) else stated
    return {port for address in addresses if (port := split_address(str(address))[1])}


def _last_values(facts: pl.DataFrame, keys: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return key → worker → last stated value, in one pass over the table."""
    found: dict[str, dict[str, str]] = {key: {} for key in keys}
    rows = facts.filter(pl.col("key").is_in(keys) & pl.col("worker").is_not_null())
    for key, worker, value in rows.select("key", "worker", "value").iter_rows():
        found[key][worker] = value
    return found


def _differing(facts: pl.DataFrame) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield (key, worker → value) of differing packages and variables; a missing entry counts as a value."""
    listed = facts.filter(pl.col("worker").is_not_null() & pl.col("key").str.contains("^(?:package|env):"))
    if not listed.height:
        return
    kinds = listed.select("worker", kind=pl.col("key").str.extract("^([^:]+:)")).unique(maintain_order=True)
    listing: dict[str, list[str]] = grouped(kinds.select("kind", "worker").iter_rows())
    keys = listed["key"].filter(listed["key"].str.contains(_LISTED)).unique().sort().to_list()
    for key, values in _last_values(listed, keys).items():
        lacking = "not set" if key.startswith("env:") else "not in its list"
        everyone = {worker: values.get(worker, lacking) for worker in listing[key[: key.index(":") + 1]]}
        if len(set(everyone.values())) > 1:
            yield key, everyone


def _full_batches(facts: pl.DataFrame) -> dict[str, str]:
    """Return worker → size of its full batches (the last batch of an epoch is smaller).

    Omits workers whose largest size is rare: fewer than 3 batches, or under half of them.
    """
    rows = facts.filter((pl.col("key") == "batch_of") & pl.col("worker").is_not_null())
    full: dict[str, str] = {}
    for (worker,), own in rows.partition_by("worker", as_dict=True).items():
        sizes = Counter(map(int, own["value"]))
        largest = max(sizes)
        if sizes[largest] >= _ENOUGH_BATCHES and 2 * sizes[largest] >= own.height:
            full[str(worker)] = str(largest)
    return full


def _gpu_places(facts: pl.DataFrame, workers: pl.DataFrame) -> dict[str, str]:
    """Return worker → host and bus IDs of its GPUs.

    The host is that of its address or, if that is local and so equal on every machine, the one that the
    worker states.
    """
    rows = facts.filter((pl.col("key") == "gpu_bus") & pl.col("worker").is_not_null())
    rows = rows.select("worker", "value").unique().sort("worker", "value")
    buses: dict[str, list[str]] = grouped(rows.iter_rows())
    hosts = {}
    for worker, address, stated in (
        workers.select("worker", "address", "host").drop_nulls("address").iter_rows()
    ):
        host = split_address(address)[0]
        hosts[worker] = stated if stated and is_local(host) else host
    return {worker: " ".join([hosts[worker], *own]) for worker, own in buses.items() if worker in hosts}


def _start_up(release: str) -> str:
    """Return how a release assembles its cluster: `coordination service` (2.9 or later) or `health check`."""
    major, _, minor = release.partition(".")
    return "coordination service" if (int(major), int(minor or 0)) >= (2, 9) else "health check"


def _rows(key: str, values: Mapping[str, str]) -> Iterator[dict[str, Any]]:
    votes = Counter(values.values())
    top = votes.most_common(2)
    tied = len(top) == 2 and top[0][1] == top[1][1]
    majority = top[0][0] if top and not tied else None
    for worker, value in values.items():
        yield {
            "key": key, "worker": worker, "value": value, "majority": majority,
            "holds": value == "yes" if key in QUESTIONS else None,
            "odd": len(values) > 2 and len(votes) == 2 and votes[value] == 1,
            "equal": len(votes) == 1, "same": votes[value], "stating": len(values),
        }  # fmt: skip


def _comparable(specs: Mapping[str, Spec]) -> dict[str, Spec]:
    """Return specs in which local addresses (`localhost`, `0.0.0.0`) have the host name that a peer lists."""
    named: dict[tuple[str, int, str], str] = {}
    for spec in distinct(specs.values()):
        for role, index, address in _entries(spec):
            host, port = split_address(address)
            if not is_local(host):
                named.setdefault((role, index, port), host)

    def with_names(spec: Spec) -> Spec:
        found: dict[str, list[str]] = {role: [] for role in spec}
        for role, index, address in _entries(spec):
            host, port = split_address(address)
            name = f"{named.get((role, index, port), host)}:{port}"
            found[role].append(name if port and is_local(host) else address)
        return found

    return of_each_spec(specs, with_names)


def _entries(spec: Spec) -> Iterator[tuple[str, int, str]]:
    for role, addresses in spec.items():
        yield from ((role, index, address) for index, address in enumerate(addresses))


def _all_loopback(spec: Spec) -> bool:
    hosts = [split_address(address)[0] for addresses in spec.values() for address in addresses]
    return bool(hosts) and all(is_local(host) for host in hosts)


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
