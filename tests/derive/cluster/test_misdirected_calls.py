"""Calls to a port at which the called task has no server."""

from __future__ import annotations

import polars as pl
import pytest

from tests.derive.logs import Line, derived, says

NEW = (
    "E0000 ring_alg.cc:291] Aborting RingReduce with UNAVAILABLE: failed to connect to all addresses; "
    "last error: UNKNOWN: ipv4:10.0.0.2:{port}: Failed to connect to remote host: Connection refused\n"
    "Additional GRPC error information from remote target /job:worker/replica:0/task:1:\n"
)
OLD = (
    "Aborting RingReduce with UNAVAILABLE: failed to connect to all addresses\n"
    "Additional GRPC error information from remote target /job:worker/replica:0/task:1:\n"
    ':{{"description":"Failed to connect to remote host: Connection refused",'
    '"target_address":"ipv4:10.0.0.2:{port}"}}\n'
)
PASSED_ON = "Additional GRPC error information from remote target /job:worker/replica:0/task:2:\n"


def server(index: int, port: int = 2222) -> Line:
    """What a worker prints when its server is up."""
    return says(
        f"Started server with target: grpc://w{index}:{port}", facts={"server_address": f"w{index}:{port}"}
    )


def misdirected(*logs: list[Line]) -> list[tuple[str | None, ...]]:
    """Who is wrong, who called whom."""
    frame: pl.DataFrame = derived({f"worker-{index}.log": log for index, log in enumerate(logs)})[
        "misdirected_calls"
    ]
    return frame.select("worker", "caller", "task").rows()


@pytest.mark.parametrize("wording", [NEW, OLD], ids=["2.17 and later", "before"])
def test_a_call_to_a_port_that_no_server_has_is_the_caller_s_fault(wording: str) -> None:
    """All servers agree on a port; a call to that one is nobody's fault."""
    for port, found in ((2322, [("worker:2", "worker:2", "worker:1")]), (2222, [])):
        failed = says(wording.format(port=port), level="E", kind="cpp")
        assert misdirected([server(0)], [server(1)], [server(2), failed]) == found


def test_a_status_that_was_passed_on_names_its_caller() -> None:
    """The worker that prints it called nobody at a wrong port."""
    failed = says(NEW.format(port=2322) + PASSED_ON, level="E", kind="cpp")
    assert misdirected([server(0), failed], [server(1)], [server(2)]) == [
        ("worker:2", "worker:2", "worker:1")
    ]


def test_a_server_at_another_port_than_all_others_is_its_own_fault() -> None:
    """Of two workers, either can be wrong."""
    failed = says(NEW.format(port=2222), level="E", kind="cpp")
    assert misdirected([server(0)], [server(1, 2322)], [server(2), failed]) == [
        ("worker:1", "worker:2", "worker:1")
    ]
    assert misdirected([server(0), failed], [server(1, 2322)]) == [(None, "worker:0", "worker:1")]


def test_a_server_that_moved_between_two_starts_tells_nothing() -> None:
    """It was called where it had listened before its restart."""
    failed = says(NEW.format(port=2222), level="E", kind="cpp")
    assert misdirected([server(0)], [server(1), server(1, 2322)], [server(2), failed]) == []
