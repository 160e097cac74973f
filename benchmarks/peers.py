"""What is measured in a process of its own: reading alone, behind the imports; ours, and that of others."""

from __future__ import annotations

import subprocess

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
    imports="from analyzer.ingest.tensorboard.event_files import read_scalars\n"
    "from analyzer.model.budget import Budget",
    read="assert read_scalars(Path(path), Budget()).values",
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
    imports="from analyzer.ingest.profiler.xplane import read_trace\n"
    "from analyzer.model.budget import Budget",
    read="assert read_trace(Path(path), Budget()).events",
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
    imports="""
from analyzer.engine import load_cached
from analyzer.pipeline import analyze
from analyzer.render import render
""",
    read='assert render(analyze([Path(path)], load_cached([Path(sys.argv[2])])).document, "html")',
)


MODULES = {
    "EventAccumulator": "tensorboard",
    "tbparse": "tbparse",
    "RustBoard": "tensorboard_data_server",
    "ProfileData": "xprof",
}
"""What each peer is a part of."""


def is_there(name: str, python: str) -> bool:
    """Whether a Python has what a peer is a part of; where it lacks it, that is said."""
    if name not in MODULES:
        return True
    command = [python, "-c", f"import {MODULES[name]}"]
    found = subprocess.run(command, capture_output=True, check=False).returncode == 0  # noqa: S603
    if not found:
        print(f"{name} is not installed, and left out")  # noqa: T201
    return found
