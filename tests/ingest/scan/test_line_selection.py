"""Of a large log only what may matter is taken apart, and nothing of that is missed."""

from __future__ import annotations

import gzip
import io
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from itertools import islice, pairwise
from pathlib import Path
from typing import Any

import pytest

from analyzer.discover import discover
from analyzer.ingest.scan.blocks import NewlineCounter, last_epoch_header
from analyzer.ingest.scan.line_selection import (
    MAX_WHOLE_BYTES,
    Sampling,
    Selection,
    no_progress,
    sampling_for,
    select_from_stream,
)
from analyzer.ingest.scan.prefilter import Prefilter
from analyzer.model.run import Tables
from analyzer.pipeline import analyze, load_tables
from tests.recordings import ROOT
from tests.rules import our_rules

RUNS = ("worker-killed", "worker-exception", "nan-loss", "healthy-fit", "collective-stalled")
PEAK = """
import re, sys
from pathlib import Path
from analyzer.pipeline import analyze
analyze([Path(sys.argv[1])])
print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text())[1])
"""
"""Its own peak; that of `getrusage` is the parent's where that was higher."""
LITERALS = ["Socket closed", 'say "when"', "Größe"]
CHATTER = "2026-11-21 03:00:{:02d}.{:06d} data: fetched shard {} of the bucket, {} rows\n"


def chatter(count: int, seed: int) -> Iterator[str]:
    """Lines that no rule asks for."""
    chance = random.Random(seed)
    for n in range(count):
        yield CHATTER.format(n % 60, chance.randrange(10**6), n, chance.randrange(10**9))


@cache
def chatter_of_some(seed: int) -> tuple[str, ...]:
    """30,000 such lines."""
    return tuple(line.rstrip() for line in chatter(30_000, seed))


def parts(data: bytes, size: int) -> Iterator[bytes]:
    """Bytes as a file gives them."""
    stream = io.BytesIO(data)
    while part := stream.read(size):
        yield part


def chosen(data: bytes, literals: list[str] | None = None, size: int = 100_000) -> Selection:
    """What is read of some bytes."""
    prefilter = Prefilter(LITERALS if literals is None else literals)
    return select_from_stream(parts(data, size), lambda: prefilter, len(data), no_progress, Sampling())


def numbered(selection: Selection) -> dict[int, str]:
    """The lines that are read, by number."""
    return {
        number: line
        for piece in selection.slices
        for number, line in enumerate(piece.data.decode().removesuffix("\n").split("\n"), piece.line)
    }


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("seed", range(8))
def test_every_place_is_read_under_its_own_number(seed: int, end: str) -> None:
    """Wherever it stands, at the edges of blocks too, as plain text and as JSON writes it."""
    lines = list(chatter_of_some(seed))
    chance = random.Random(seed)
    wanted = {chance.randrange(len(lines)) for _ in range(100)}
    for number in wanted:
        literal = chance.choice([*LITERALS, json.dumps(LITERALS[1]), json.dumps(LITERALS[2]), "loss: nan"])
        lines[number] += f" {literal} here"
    data = (end.join(lines) + end).encode()
    selection = chosen(data, size=chance.randrange(1_000, 600_000))
    assert selection.bytes == len(data)
    assert selection.lines == len(lines)
    found = numbered(selection)
    assert {number: lines[number] for number in wanted} == {
        number: found[number + 1].removesuffix("\r") for number in wanted
    }
    assert all(lines[number - 1] == text.removesuffix("\r") for number, text in found.items() if text)


def test_head_and_tail_and_an_even_sample_are_read() -> None:
    """The curves need them; the sample says of itself how even it is."""
    data = "".join(f"step {n} loss {1 / (n + 1):.9f}\n" for n in range(200_000)).encode()
    selection = chosen(data)
    steps = sorted(numbered(selection))
    first, last = data[: Sampling().edge].count(b"\n"), data[-Sampling().edge :].count(b"\n") - 1
    assert min(first, last) > 1_000
    assert steps[:first] == list(range(1, first + 1))
    assert steps[-last:] == list(range(200_001 - last, 200_001))
    distance = len(data) // Sampling().samples
    assert max(after - before for before, after in pairwise(steps)) < 2 * distance / len(
        "step 100000 loss 0.0\n"
    )
    assert sum(len(piece.data) for piece in selection.slices) < len(data) / 5
    assert f"one line in each {distance:,} bytes" in selection.thinned


@pytest.mark.parametrize("size", [300 << 10, MAX_WHOLE_BYTES])
@pytest.mark.parametrize("piece", [1 << 10, 200 << 10, 1 << 20])
def test_a_small_log_is_read_whole(size: int, piece: int) -> None:
    """In whatever pieces it comes, as of a compressed one, and where its last line has no end."""
    data = (b"step 1 loss 0.5\n" * (size // 16 + 1))[:size]
    selection = chosen(data, size=piece)
    assert [piece.data for piece in selection.slices] == [data]
    assert not selection.thinned


def test_of_many_logs_less_is_read_of_each() -> None:
    """Two large ones have as much room as one; of very many small ones, a few lines are read."""
    large = 1 << 30
    assert sampling_for([large]) == sampling_for([large] * 2) == Sampling()
    assert sampling_for([large] * 4) == Sampling(edge=16 << 10, samples=128)
    assert sampling_for([1000] * 16) == Sampling()
    assert sampling_for([large] * 64) == Sampling(128 << 10, 8 << 10, 64)
    assert sampling_for([large] * 512) == Sampling(16 << 10, 1 << 10, 8)
    assert sampling_for([3000] * 10_000) == Sampling(1 << 10, 256, 2)


@pytest.mark.slow
def test_an_error_is_found_in_each_of_many_small_logs(make_run: Callable[[Mapping[str, str]], Path]) -> None:
    """The worker that raised, in the middle of one of 200 logs of 60 kB, of which parts are read."""
    steps = [f"step {n} loss 0.5" for n in range(4_000)]
    raised = 'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nValueError: bad'
    logs = {f"worker-{n}.log": "\n".join(steps) + "\n" for n in range(200)}
    logs["worker-7.log"] = "\n".join([*steps[:2_000], raised, *["closing the data set"] * 2_000])
    document = analyze([make_run(logs)]).document
    assert document["culprits"] == ["worker:7"]
    assert document["sources"][7]["thinned"]


def test_a_sample_knows_its_epoch() -> None:
    """A bar does not say which epoch it belongs to; the line that does stands far above it."""
    bars = [f"\r{n}/9000 [===>...] - ETA: 1s - loss: 0.{n:04d}" for n in range(1, 9_000)]
    data = "".join(f"Epoch {epoch}/9\n{''.join(bars)}\n" for epoch in range(1, 10)).encode()
    epoch = 0
    seen = set()
    starts = [data.index(b"Epoch %d/9" % n) for n in range(1, 10)]
    for piece in chosen(data).slices:
        for at, line in enumerate(piece.data.decode().splitlines()):
            epoch = int(line[6]) if line.startswith("Epoch") else epoch
            if line.startswith("Epoch") or at:
                continue
            assert epoch == sum(start <= piece.offset for start in starts)
            seen.add(epoch)
    assert seen == set(range(1, 10))


def test_the_header_of_an_epoch_is_found_above_the_lines_of_its_callbacks() -> None:
    """They say `Epoch` too, one line each."""
    said = b"".join(b"\nEpoch 3: callback %d says so\n" % n for n in range(12))
    data = b"Epoch 2/9\nEpoch 3/9\n" + said
    found = last_epoch_header(data, len(data), 0, NewlineCounter(data))
    assert found is not None
    assert (found.line, found.data.strip()) == (1, b"Epoch 3/9")


def test_what_stands_everywhere_is_read_at_its_first_and_its_last_places() -> None:
    """And it is said."""
    lines = [f"{n} WARNING nothing new {'x' * 200}" for n in range(40_000)]
    lines[20_000] = "20000 Socket closed"
    selection = chosen(("\n".join(lines) + "\n").encode())
    assert sum(len(piece.data) for piece in selection.slices) < 1 << 20
    found = numbered(selection)
    assert found[20_001] == "20000 Socket closed"
    assert "of the most frequent texts, only some lines" in selection.thinned


def test_a_small_log_is_read_from_end_to_end() -> None:
    """And the prefilter is not even loaded."""
    data = "".join(chatter(100, 0)).encode()

    def none() -> Prefilter:
        raise AssertionError

    selection = select_from_stream([data], none, len(data), no_progress, Sampling())
    assert [piece.data for piece in selection.slices] == [data]
    assert selection.thinned == ""


def among_chatter(run: Path, target: Path) -> Path:
    """A run whose logs hold much between their lines that says nothing."""
    for path in run.rglob("*"):
        copy = target / path.relative_to(run)
        if path.is_dir():
            copy.mkdir()
        elif path.suffix != ".log":
            copy.write_bytes(path.read_bytes())
        else:
            lines = path.read_text().splitlines(keepends=True)
            gaps = [n for n, line in enumerate(lines) if line[:2].isdigit() or line[:4] == "step"]
            between = (3 * MAX_WHOLE_BYTES // 80) // len(gaps) + 1
            filler = chatter(between * len(gaps), 1)
            with copy.open("w") as file:
                for n, line in enumerate(lines):
                    file.writelines(islice(filler, between) if n in gaps else ())
                    file.write(line)
    return target


def told(document: Mapping[str, Any]) -> dict[str, Any]:
    """What a diagnosis says of who and why."""
    return {key: document[key] for key in ("verdict", "cause", "culprits", "suspects")}


def tables(folder: Path) -> Tables:
    """The tables of a directory."""
    return load_tables(discover([folder]), our_rules())


@pytest.mark.runs
@pytest.mark.parametrize("wrap", [bytes, gzip.compress], ids=["plain", "gz"])
def test_a_line_of_many_megabytes_is_cut_and_what_follows_it_is_read(
    wrap: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    """Its own number stands for all of it."""
    log = b"step 1 loss 0.5\n" + b"x" * (12 << 20) + b"\nstep 2 loss 0.4\nValueError: no\n"
    (tmp_path / ("worker-0.log" if wrap is bytes else "worker-0.log.gz")).write_bytes(wrap(log))
    found = tables(tmp_path)
    assert found["sources"]["lines"].to_list() == [4]
    assert found["scalars"].filter(found["scalars"]["tag"] == "loss")["line"].to_list() == [1, 3]
    assert found["records"]["text"].str.len_chars().max() < 40_000  # type: ignore[operator]


@pytest.mark.processes
def test_memory_does_not_grow_with_the_log(tmp_path: Path) -> None:
    """Neither with its lines nor with one line."""
    peaks = []
    for size in (4, 256):
        folder = tmp_path / str(size)
        folder.mkdir()
        with (folder / "worker-0.log").open("wb") as log:
            log.write(b"step 1 loss 0.5\n")
            log.writelines(b"no newline at all " * 29_127 for _ in range(size))
        with (folder / "worker-1.log").open("wb") as log:
            block = "".join(f"step {n} loss 0.5 lr 0.1\n" for n in range(20_000)).encode()
            log.writelines(block for _ in range(size))
        command = [sys.executable, "-c", PEAK, str(folder)]
        out = subprocess.run(command, capture_output=True, check=True, text=True, cwd=ROOT)
        peaks.append(int(out.stdout))
    assert peaks[1] < 400 << 10
    assert peaks[1] < 1.5 * peaks[0]


@pytest.mark.recordings
@pytest.mark.parametrize("name", RUNS)
def test_a_large_run_is_diagnosed_as_the_small_one(name: str, tmp_path: Path) -> None:
    """The same answer on the same evidence, each line under the number that it has in the large file."""
    run = ROOT / "sample_runs" / name / "run"
    small, large = (analyze([path]).document for path in (run, among_chatter(run, tmp_path)))
    assert told(large) == told(small)
    assert any(source["thinned"] for source in large["sources"])
    for finding in large["findings"]:
        for evidence in finding["evidence"]:
            if evidence["kind"] == "line" and evidence["source"].endswith(".log"):
                lines = (tmp_path / evidence["source"]).read_text().split("\n")
                assert evidence["excerpt"].split("\n")[0].strip()[:40] in lines[evidence["line"] - 1]
