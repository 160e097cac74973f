"""What the flight recorder costs: `python -m benchmarks.recorder PYTHON …`, each with TensorFlow.

Prints what the hook adds to a step (`recorder_job.py`), and what start, memory, processor and bytes the
processes beside the command need. All but the start is processor time, so it can be had on a busy machine.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
JOB = ROOT / "benchmarks" / "recorder_job.py"
ROUNDS = 10
JOBS = {
    ("loop", 1): (200, 100, 1000),
    ("loop", 30): (900, 10, 40),
    ("fit", 1): (160, 100, 1000),
    ("fit", 30): (900, 10, 40),
}
"""Kind and milliseconds of a step, roughly → size of its matrices, steps of a block, pairs of blocks."""


def recorded(out: str, command: list[str]) -> list[str]:
    """Return the command under the recorder."""
    return [command[0], "-m", "mwms_recorder", "run", "-o", out, "--", *command]


def output(command: list[str]) -> str:
    """Return what a command prints last."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "recorder"), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment, text=True)  # noqa: S603
    return done.stdout.strip().rpartition("\n")[2]


def step_cost(python: str, kind: str, *job: int) -> str:
    """Return what the hook adds to a step, in percent of the step's wall time."""
    with tempfile.TemporaryDirectory() as out:
        found = json.loads(output(recorded(out, [python, str(JOB), kind, *map(str, job)])))
    shares = [(hooked - plain) / found["wall"] * 100 for hooked, plain in found["pairs"]]
    return f"step {found['wall'] * 1e3:.2f} ms: {interval(shares)} % of processor time"


def interval(values: list[float]) -> str:
    """Return the median of differences with its interval of 95 % by the sign test."""
    ordered = sorted(values)
    below = int(len(ordered) / 2 - 0.98 * len(ordered) ** 0.5)
    return f"{statistics.median(ordered):+.2f} ({ordered[below]:+.2f} ... {ordered[-1 - below]:+.2f})"


def start_cost(python: str) -> str:
    """Return how much later a command begins, in milliseconds: the fastest of the rounds."""
    program = [python, "-c", "import time; print(time.time())"]
    delays: dict[bool, list[float]] = {False: [], True: []}
    for number in range(2 * ROUNDS):
        with tempfile.TemporaryDirectory() as out:
            begin = time.time()
            said = output(recorded(out, program) if number % 2 else program)
            delays[bool(number % 2)].append(float(said) - begin)
    return f"begins {(min(delays[True]) - min(delays[False])) * 1e3:.0f} ms later"


def beside(python: str) -> str:
    """Return memory, processor share and bytes a day of the recorder's processes beside an idle job."""
    with tempfile.TemporaryDirectory() as out:
        command = recorded(out, [python, "-c", "import time; time.sleep(62)"])
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT / "recorder")})  # noqa: S603
        time.sleep(10)
        start = next(Path(out).rglob("recording.jsonl")).read_text().partition("\n")[0]
        pids = [json.loads(start)[key] for key in ("recorder_pid", "observer_pid")]
        before = sum(map(processor_seconds, pids))
        time.sleep(50)
        used = sum(map(processor_seconds, pids)) - before
        memory = sum(map(proportional_bytes, pids))
        process.wait()
        lines = next(Path(out).rglob("samples.jsonl")).read_text().splitlines()
    day = statistics.mean(map(len, lines)) * 86_400 / 5
    share = f"{used / 50 * 100:.2f} % of one core"
    return f"{memory / 1e6:.1f} MB of memory, {share}, {day / 1e6:.1f} MB of samples a day"


def processor_seconds(pid: int) -> float:
    """Return the user and system time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def proportional_bytes(pid: int) -> int:
    """Return a process's memory, pages that it shares counted in parts."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:"))


def main() -> None:
    """Print the figures of each interpreter."""
    for python in sys.argv[1:] or [sys.executable]:
        sys.stdout.write(f"{python}: {start_cost(python)}; {beside(python)}\n")
        for (kind, _), job in JOBS.items():
            sys.stdout.write(f"  {kind}: {step_cost(python, kind, *job)}\n")


if __name__ == "__main__":
    main()
