"""A journal marks where its machine was started anew; what follows is not of the process above."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]

_BOOT = "-- Boot 5d1f0c2f6a0b4f0e9b1c2d3e4f506172 --\n"
_OF_PROCESS = "Nov 24 09:00:06 n2 python3[31]: 2026-11-24 09:00:06,353 INFO train: step 10 loss 2.0\n"
_OF_MACHINE = (
    "Nov 24 09:06:13 n2 kernel: Linux version 5.15\nNov 24 09:06:15 n2 systemd[1]: Started a.service.\n"
)
_RESTARTED = "Nov 24 09:07:06 n2 python3[19]: 2026-11-24 09:07:06,353 INFO train: step 1 loss 2.0\n"


@pytest.mark.parametrize("mark", [_BOOT, "-- Reboot --\n"], ids=["newer", "older"])
def test_lines_of_the_next_boot_are_not_of_the_process(mark: str, tables_of: TablesOf) -> None:
    """Neither its last line nor its last time is below the mark."""
    tables = tables_of({"worker-0.log": _OF_PROCESS + mark + _OF_MACHINE})
    assert tables["records"]["line"].to_list() == [1]
    assert tables["sources"]["last_time"].item() == pytest.approx(tables["records"]["time"].item())
    assert tables["facts"].filter(key="machine_booted")["line"].to_list() == [2]


@pytest.mark.parametrize(
    "log",
    [
        _BOOT + _OF_MACHINE + _OF_PROCESS,
        _OF_PROCESS + _BOOT + _OF_MACHINE + _RESTARTED,
        _OF_PROCESS + _BOOT + _OF_MACHINE.replace("09:06", "21:06"),
        _OF_PROCESS + "-- Boot of the second stage --\n" + _OF_MACHINE,
        "Nov 24 09:00:06 n2 systemd[1]: Stopped b.service.\n" + _BOOT + _OF_MACHINE,
    ],
    ids=["first line", "started again", "half a day later", "other words", "nothing of a process above"],
)
def test_a_boot_that_ended_no_process(log: str, tables_of: TablesOf) -> None:
    """It is no fact."""
    assert tables_of({"worker-0.log": log})["facts"].filter(key="machine_booted").is_empty()


def test_lines_of_a_process_started_again_count(tables_of: TablesOf) -> None:
    """They are the last ones, and the machine's start-up is left out."""
    tables = tables_of({"worker-0.log": _OF_PROCESS + _BOOT + _OF_MACHINE + _RESTARTED})
    assert tables["records"]["line"].to_list() == [1, 5]
