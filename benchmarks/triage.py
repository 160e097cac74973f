"""Nights of many runs, per run over a lone `mwms-analyze`, and a long history.

    python benchmarks/triage.py nights [RUNS]     copies of the sample runs, 2,000 unless told otherwise
    python benchmarks/triage.py history [RUNS]    a history made by code, 100,000 runs unless told otherwise

The first prints a night's time per run, over that of a lone call on some of the same runs (median; measured
before and after, for a machine has other things to do), the time of a second night with 20 new runs over the
first, and the memory of all processes along the night. The second prints the size of the database and of the
page, the time to make the page, and to show it in Chromium.
"""

from __future__ import annotations

import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import psutil

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = sorted((ROOT / "sample_runs").glob("*/run"))
LONE = 10
NEW = 20


def seconds(command: list[str]) -> float:
    """Wall time of one command."""
    start = time.perf_counter()
    subprocess.run(command, capture_output=True, check=False, cwd=ROOT)  # noqa: S603 - our own commands
    return time.perf_counter() - start


class Memory:
    """The resident memory of a process and its children, in bytes, looked at every half second."""

    def __init__(self) -> None:
        self.seen: list[int] = []
        self._finished = threading.Event()

    def watch(self, process: int) -> None:
        """Look until it is stopped."""
        while not self._finished.wait(0.5):
            try:
                whole = [psutil.Process(process), *psutil.Process(process).children(recursive=True)]
                self.seen.append(sum(each.memory_info().rss for each in whole))
            except psutil.NoSuchProcess:
                continue

    def stop(self) -> None:
        """Look no more."""
        self._finished.set()


def night(runs: Path, out: Path) -> tuple[float, list[int]]:
    """Wall time and memory of one call."""
    command = [sys.executable, "-m", "analyzer.cli.triage", str(runs), "-o", str(out), "--settle", "0"]
    memory, start = Memory(), time.perf_counter()
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) as call:  # noqa: S603 - our own
        looking = threading.Thread(target=memory.watch, args=[call.pid])
        looking.start()
        call.wait()
        memory.stop()
        looking.join()
    return time.perf_counter() - start, memory.seen


def copied(runs: Path, first: int, count: int) -> None:
    """So many more runs, copies of the recorded ones in turn."""
    for number in range(first, first + count):
        shutil.copytree(SAMPLES[number % len(SAMPLES)], runs / f"job-{number:05d}")


def lone(runs: Path, out: Path) -> list[float]:
    """Wall times of lone calls on some of the runs."""
    every = sorted(runs.iterdir())
    chosen = every[:: max(len(every) // LONE, 1)][:LONE]
    return [
        seconds([sys.executable, "-m", "analyzer", str(run), "-o", str(out / "r.html")]) for run in chosen
    ]


def nights(count: int) -> None:
    """Measure two nights and print."""
    with tempfile.TemporaryDirectory() as folder:
        runs, out = Path(folder, "runs"), Path(folder, "out")
        runs.mkdir()
        copied(runs, 0, count)
        alone = lone(runs, Path(folder))
        first, memory = night(runs, out)
        alone += lone(runs, Path(folder))
        copied(runs, count, NEW)
        second, _ = night(runs, out)
    single = statistics.median(alone)
    quarters = [max(memory[k * len(memory) // 4 : (k + 1) * len(memory) // 4]) for k in range(4)]
    say(f"a lone run         {single:8.2f} s  ({min(alone):.2f} to {max(alone):.2f})")
    each = first / count
    say(f"{count:,} runs        {first:8.2f} s  {each:.3f} s a run, {each / single:.3f} of a lone one")
    say(f"{NEW} more            {second:8.2f} s  {second / first:.3f} of the first night")
    say(f"memory by quarters {', '.join(f'{each / 1e6:.0f} MB' for each in quarters)}")


def history(count: int) -> None:
    """Measure a long history and print."""
    sys.path.insert(0, str(ROOT))
    from analyzer.triage.database.history import default_history_url, open_history
    from analyzer.triage.night_summary import summarize_night
    from analyzer.triage.publish.page import page
    from tests.triage.planted import many, plant

    with tempfile.TemporaryDirectory() as folder:
        with open_history(default_history_url(Path(folder))) as opened:
            start = time.perf_counter()
            date = plant(opened, many(count, 365, seed=1))
            planted = time.perf_counter() - start
            start = time.perf_counter()
            made = page(summarize_night(opened, date, count, 0, []))
            took = time.perf_counter() - start
        database = Path(folder, "history.sqlite").stat().st_size
        Path(folder, "index.html").write_text(made, encoding="utf-8")
        shown = in_chromium(Path(folder, "index.html"))
    say(f"{count:,} runs recorded in {planted:.1f} s, database {database / 1e6:.1f} MB")
    say(f"page {len(made.encode()) / 1e3:.0f} kB, made in {took:.2f} s, shown in Chromium in {shown:.2f} s")


def in_chromium(file: Path) -> float:
    """Seconds from asking for a page to its load event."""
    from playwright.sync_api import sync_playwright

    from tests.render.browsing import ARGS, CHROMIUM

    with sync_playwright() as tool:
        browser = tool.chromium.launch(executable_path=str(CHROMIUM), args=ARGS)
        tab = browser.new_page()
        start = time.perf_counter()
        tab.goto(file.as_uri())
        took = time.perf_counter() - start
        browser.close()
    return took


def say(line: str) -> None:
    """Print."""
    print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    what, *more = sys.argv[1:] or ["nights"]
    number = int(more[0]) if more else {"nights": 2_000, "history": 100_000}[what]
    {"nights": nights, "history": history}[what](number)
