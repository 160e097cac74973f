"""What the flight recorder costs: `python -m benchmarks.recorder PYTHON …`, each with TensorFlow.

Runs the same job with and without the recorder, in turn. Prints the median of the pairs' differences with
its interval (the second smallest and second largest of ten: 97.9 % by the sign test); then start, memory and
bytes of a recording. Take the processor's time when other work runs on the machine.
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
PAIRS = 10
JOBS = {
    ("loop", 1): (160, 6_000),
    ("loop", 50): (900, 200),
    ("fit", 1): (160, 3_000),
    ("fit", 50): (900, 200),
}
"""Kind and milliseconds of a step, roughly → size of its matrices and number of steps."""


def recorded(out: str, command: list[str]) -> list[str]:
    """Return the command under the recorder."""
    return [command[0], "-m", "mwms_recorder", "run", "-o", out, "--", *command]


def output(command: list[str]) -> str:
    """Return what a command prints last."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "recorder"), "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(command, capture_output=True, check=True, env=environment, text=True)  # noqa: S603
    return done.stdout.strip().rpartition("\n")[2]


def step_cost(python: str, kind: str, size: int, steps: int) -> str:
    """Return the recorder's share of a step in percent, of processor and wall time."""
    command = [python, str(JOB), kind, str(size), str(steps)]
    pairs = []
    for number in range(PAIRS):
        with tempfile.TemporaryDirectory() as out:
            runs = [command, recorded(out, command)]
            texts = [output(run) for run in (runs if number % 2 else runs[::-1])]
        plain, other = texts if number % 2 else texts[::-1]
        pairs.append(
            [(float(b) / float(a) - 1) * 100 for a, b in zip(plain.split(), other.split(), strict=True)]
        )
    milliseconds = float(plain.split()[1]) * 1e3
    return f"step {milliseconds:.2f} ms: " + ", ".join(
        map(interval, ("processor", "wall"), zip(*pairs, strict=True))
    )


def interval(name: str, values: tuple[float, ...]) -> str:
    """Return the median and its interval."""
    ordered = sorted(values)
    return f"{name} {statistics.median(ordered):+.2f} % ({ordered[1]:+.2f} … {ordered[-2]:+.2f})"


def start_cost(python: str) -> str:
    """Return how much later a command begins, in milliseconds: the fastest of the rounds."""
    program = [python, "-c", "import time; print(time.time())"]
    delays: dict[bool, list[float]] = {False: [], True: []}
    for number in range(2 * PAIRS):
        with tempfile.TemporaryDirectory() as out:
            begin = time.time()
            said = output(recorded(out, program) if number % 2 else program)
            delays[bool(number % 2)].append(float(said) - begin)
    return f"begins {(min(delays[True]) - min(delays[False])) * 1e3:.0f} ms later"


def sizes(python: str) -> str:
    """Return the memory of the recorder and the bytes of a day, from 20 s of a job that sleeps."""
    with tempfile.TemporaryDirectory() as out:
        command = recorded(out, [python, "-c", "import time; time.sleep(22)"])
        process = subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT / "recorder")})  # noqa: S603
        time.sleep(20)
        start = next(Path(out).rglob("recording.jsonl")).read_text().partition("\n")[0]
        pids = [json.loads(start)[key] for key in ("recorder_pid", "observer_pid")]
        memory = sum(proportional_bytes(pid) for pid in pids)
        process.wait()
        lines = next(Path(out).rglob("samples.jsonl")).read_text().splitlines()
    day = statistics.mean(map(len, lines)) * 86_400 / 5
    return f"{memory / 1e6:.1f} MB of memory, {day / 1e6:.1f} MB of samples a day"


def proportional_bytes(pid: int) -> int:
    """Return a process's memory, pages that it shares counted in parts."""
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(row.split()[1]) * 1024 for row in rows if row.startswith("Pss:"))


def main() -> None:
    """Print the figures of each interpreter."""
    for python in sys.argv[1:] or [sys.executable]:
        sys.stdout.write(f"{python}: {start_cost(python)}; {sizes(python)}\n")
        for (kind, _), (size, steps) in JOBS.items():
            sys.stdout.write(f"  {kind}: {step_cost(python, kind, size, steps)}\n")


if __name__ == "__main__":
    main()
