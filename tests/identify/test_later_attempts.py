"""Attempts that directories number, and those that their logs hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from analyzer.discover import discover
from analyzer.pipeline import load_tables
from tests.rules import our_rules

LINE = "step 1 loss 0.5\n"
SERVER = "I0000 00:00:1795224703.563885 6 x.cc:1] Started server with target: grpc://a:2222\n"


def test_attempts_are_counted_after_all_that_earlier_files_hold(
    make_run: Callable[[Mapping[str, str]], Path],
) -> None:
    """A launcher may restart a worker within one attempt of the scheduler; exit codes are of its last life."""
    once = SERVER + LINE
    run = make_run(
        {
            "attempt-1/worker-0.log": once * 3,
            "attempt-2/worker-0.log": once + "training finished\n",
            "attempt-1/exit_codes.txt": "worker-0 1\n",
            "attempt-2/exit_codes.txt": "worker-0 0\n",
        }
    )
    tables = load_tables(discover([run]), our_rules())
    assert tables["lifetimes"].select("attempts", "ended").rows() == [(4, "finished")]
    assert tables["scalars"].filter(tables["scalars"]["tag"] == "loss")["attempt"].to_list() == [1, 2, 3, 4]
    codes = tables["facts"].filter(tables["facts"]["key"] == "exit_code")
    assert codes.select("attempt", "value").rows() == [(3, "1"), (4, "0")]
