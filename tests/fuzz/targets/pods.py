"""What Kubernetes says of the pods, in the forms in which people keep it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import yaml

from analyzer.model.run import Tables
from tests.fuzz.oracles import WIDE, damaged, unsaid
from tests.fuzz.target import Case, Seed
from tests.ingest.platform.kubernetes.test_pods import DESCRIBED, PODS


def seeds() -> Iterable[Seed]:
    """JSON, YAML, a description and a table."""
    yield Seed("pods.json", json.dumps(PODS, indent=4).encode())
    yield Seed("kubectl-get-pods.yaml", yaml.safe_dump(PODS).encode())
    yield Seed("describe-pods.txt", DESCRIBED.encode())
    yield Seed(
        "get-pods.txt", b"NAME READY STATUS RESTARTS AGE\nmnist-worker-0   0/1     OOMKilled   0  11m\n"
    )


def wrong(case: Case, tables: Tables) -> Iterator[str]:
    """JSON that breaks off is damage; the other forms are lines, and a line more or less can be meant."""
    yield from unsaid(case, tables)
    if case.seed.name.endswith(".json") and not damaged(tables) and _is_broken(case.data):
        yield "is not JSON, and is called whole"


def _is_broken(data: bytes) -> bool:
    text = data.decode("utf-16" if data.startswith(WIDE) else "utf-8-sig", "replace")
    decoder, rest = json.JSONDecoder(), text.strip()
    try:
        while rest:
            _, end = decoder.raw_decode(rest)
            rest = rest[end:].strip()
    except (ValueError, RecursionError):
        return True
    return False
