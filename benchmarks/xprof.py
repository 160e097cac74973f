"""Compare step times and input shares of every recorded trace with those of xprof's own tools.

xprof may live in another environment, since it brings much along: give its interpreter as the argument.
Prints a line for each trace with numbered steps, and the largest differences.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import polars as pl

from analyzer.discover import discover
from analyzer.pipeline import load_rules, load_tables

ROOT = Path(__file__).resolve().parent.parent
MUCH = 0.02
"""Below this share of a step, two programs that count its microseconds otherwise may differ by any factor."""

PEER = """
import json, sys
from xprof.convert.raw_to_tool_data import xspace_to_tool_data
data, _ = xspace_to_tool_data([sys.argv[1]], "overview_page", {"use_saved_result": False})
(table,) = (t for t in json.loads(data) if [c["id"] for c in t.get("cols") or []][:1] == ["stepnum"])
names = [column["id"] for column in table["cols"]]
for row in table["rows"]:
    cells = dict(zip(names, (cell["v"] for cell in row["c"])))
    print(json.dumps([cells["stepnum"].split()[-1], cells["stepTimeMs"], cells["infeedTimeMs"]]))
"""


class StepComparison(NamedTuple):
    """One step: its seconds and the share of input in it, as measured by us and by xprof."""

    seconds: float
    share: float
    peer_seconds: float
    peer_share: float

    @property
    def apart(self) -> float:
        """The relative difference of the shares."""
        return abs(self.share - self.peer_share) / self.peer_share


def main() -> None:
    """Compare and print."""
    python, pack, told = sys.argv[1], load_rules(), list[StepComparison]()
    for home in sorted((ROOT / "sample_runs").glob("*/run")):
        if not any(home.rglob("*.xplane.pb")):
            continue
        steps = load_tables(discover([home]), pack)["steps"].filter(pl.col("step").is_not_null())
        for (source,), own in steps.group_by("source", maintain_order=True):
            found = list(beside(own, home / str(source), python))
            told += found
            line(f"{home.parent.name} {Path(str(source)).parts[1]}", found)
    line("all", told)


def beside(own: pl.DataFrame, trace: Path, python: str) -> Iterator[StepComparison]:
    """The steps of one trace that both tell."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder, "plugins", "profile", "copy", "host.xplane.pb")
        copy.parent.mkdir(parents=True)
        copy.write_bytes(trace.read_bytes())
        command = [python, "-c", PEER, str(copy)]
        ran = subprocess.run(command, capture_output=True, text=True, check=True)  # noqa: S603
    peers = {
        int(step): (ms / 1000, infeed / ms) for step, ms, infeed in map(json.loads, ran.stdout.splitlines())
    }
    for row in own.iter_rows(named=True):
        if row["step"] in peers:
            share = (row["input"] + row["copy"]) / row["seconds"]
            yield StepComparison(row["seconds"], share, *peers[row["step"]])


def line(name: str, found: list[StepComparison]) -> None:
    """The largest differences of these steps."""
    if not found:
        print(f"{name:45} no numbered step")  # noqa: T201
        return
    seconds = max(abs(one.seconds / one.peer_seconds - 1) for one in found)
    points = max(abs(one.share - one.peer_share) for one in found)
    much = [one.apart for one in found if one.peer_share >= MUCH]
    relative = f"{max(much):.2%} of {len(much)} above {MUCH:.0%}" if much else "none above 2 %"
    print(  # noqa: T201
        f"{name:45} {len(found):4} steps; time {seconds:.4%}; input {100 * points:.2f} points, {relative}"
    )


if __name__ == "__main__":
    main()
