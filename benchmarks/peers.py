"""What is measured in a process of its own: reading alone, behind the imports; ours, and that of others."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence

_MEASURED = """
import json, os, re, sys, time
from pathlib import Path
path = sys.argv[1]
{imports}
began, spent = time.perf_counter(), sum(os.times()[:4])
{read}
seconds, cpu = time.perf_counter() - began, sum(os.times()[:4]) - spent
status = Path("/proc/self/status").read_text()
peak = int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1024
print(json.dumps({{"seconds": seconds, "cpu": cpu, "megabytes": peak}}))
"""

EVENTS = _MEASURED.format(
    imports="from analyzer.ingest.event_files import read_scalars",
    read="assert read_scalars(Path(path)).scalars",
)
ACCUMULATOR = _MEASURED.format(
    imports="from tensorboard.backend.event_processing.event_accumulator import EventAccumulator",
    read="""
reader = EventAccumulator(path, {"scalars": 0, "tensors": 0})
reader.Reload()
assert reader.Tags()["tensors"]
""",
)
TBPARSE = _MEASURED.format(
    imports="from tbparse import SummaryReader", read="assert len(SummaryReader(path, pivot=False).tensors)"
)
RUSTBOARD = _MEASURED.format(
    imports="""
import subprocess, tensorboard_data_server
server = [tensorboard_data_server.server_binary(), "--logdir", str(Path(path).parent), "--reload", "once",
    "--port", "0", "-vv"]
""",
    read="""
with subprocess.Popen(server, stderr=subprocess.PIPE, text=True) as process:
    for line in process.stderr:
        if "Finished load cycle" in line:
            break
    process.kill()
""",
)
"""The load cycle from the start of the server, which is a few milliseconds."""
TRACE = _MEASURED.format(
    imports="from analyzer.ingest.traces import read_trace",
    read="assert sum(plane.events for plane in read_trace(Path(path)).planes)",
)
PROFILE_DATA = _MEASURED.format(
    imports="from xprof.profile_data import ProfileData",
    read="""
with ProfileData.from_file(path) as data:
    for plane in data.planes:
        for line in plane.lines:
            for event in line.events:
                event.name, event.duration_ns
""",
)
WITH_RULES = _MEASURED.format(
    imports="from analyzer.engine import load_kept\nfrom analyzer.pipeline import analyze\nfrom analyzer.render import render",
    read='assert render(analyze([Path(path)], load_kept([Path(sys.argv[2])])).document, "html")',
)


def installed(name: str, module: str, command: Sequence[str]) -> dict[str, Sequence[str]]:
    """The command of a peer, if its Python has the module; else nothing, and that is said."""
    looked = subprocess.run([command[0], "-c", f"import {module}"], capture_output=True, check=False)  # noqa: S603
    if looked.returncode:
        print(f"{name} is not installed, and left out")  # noqa: T201
        return {}
    return {name: command}
