"""Mutated inputs through the readers: no crash, no hang, no silence."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from time import monotonic, perf_counter
from types import FrameType

from analyzer.model.errors import UserError
from analyzer.model.run import Tables
from analyzer.pipeline import analyze
from analyzer.render import render
from tests.fuzz.target import Case, Target, pack, read

LONGEST = 10.0
"""Seconds that one input may take."""

TOGETHER = 25
"""Inputs that are read as one run."""

WHOLE_PIPELINE = 100
"""Every so many inputs go through all stages, up to the written report."""

NEIGHBOUR = "step 1 loss 0.5\nstep 2 loss 0.4\n"


class Hang(BaseException):
    """The time is up. No reader can catch it by mistake, for it is no Exception."""


@dataclass(slots=True)
class Tally:
    """What became of the inputs of one target; `failures` are what is wrong, by the file that shows it.

    `slowest` is the longest time, in seconds, that an input took, or all that were read together with it.
    """

    target: str
    inputs: int = 0
    damaged: int = 0
    skipped: int = 0
    reported: int = 0
    slowest: float = 0.0
    failures: dict[str, list[str]] = field(default_factory=dict)


def fuzz(target: Target, numbers: Iterable[int], seed: int, scratch: Path) -> Tally:
    """Run the inputs of these numbers; those that show a mistake stay in `scratch`.

    Should the process itself die, its last inputs are in `scratch/TARGET-now`.
    """
    tally, left = Tally(target.name), iter(numbers)
    now = scratch / f"{target.name}-now"
    while some := list(islice(left, TOGETHER)):
        cases = [target.case(number, seed, _emptied(now / str(number))) for number in some]
        for number, case, faults in zip(some, cases, _together(target, cases, tally), strict=True):
            if number % WHOLE_PIPELINE == 0:
                faults += _reported(case)
                tally.reported += 1
            if faults:
                kept = scratch / f"{target.name}-{seed}-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                case.folder.rename(kept)
                tally.failures[str(kept)] = faults
        _emptied(now).rmdir()
    return tally


def _together(target: Target, cases: Sequence[Case], tally: Tally) -> list[list[str]]:
    """What is wrong with each of some inputs. They are read as one run, which costs little more than one.

    Where that shows a mistake, each is read again by itself, and what it shows then is what counts.
    """
    paths, before = [target.lay(case) for case in cases], (tally.damaged, tally.skipped)
    found = _tried(target, cases, paths, tally)
    if any(found) and len(cases) > 1:
        tally.damaged, tally.skipped = before
        found = [_tried(target, [case], [path], tally)[0] for case, path in zip(cases, paths, strict=True)]
    tally.inputs += len(cases)
    return found


def _tried(target: Target, cases: Sequence[Case], paths: Sequence[Path], tally: Tally) -> list[list[str]]:
    """What is wrong with the reading of each input."""
    began = perf_counter()
    try:
        with at_most(LONGEST):
            tables = read(paths)
    except Hang:
        return [[f"hangs: longer than {LONGEST} s"] for _ in cases]
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        return [[f"crashes: {type(error).__name__}: {error}"[:400]] for _ in cases]
    finally:
        tally.slowest = max(tally.slowest, perf_counter() - began)
    return [_judged(target, case, each, tally) for case, each in zip(cases, tables, strict=True)]


def _judged(target: Target, case: Case, tables: Tables, tally: Tally) -> list[str]:
    if not tables["sources"].height:  # discover said that there is nothing in it
        return []
    faults = [*_wrong(tables), *target.wrong(case, tables)]
    tally.damaged += tables["damage"].height > 0
    tally.skipped += "skipped" in tables["sources"]["read"]
    return faults


def _reported(case: Case) -> list[str]:
    """What is wrong with the report on a run that holds this input and a sound log."""
    try:
        with at_most(LONGEST):
            (case.folder / "sound-0.log").write_text(NEIGHBOUR, encoding="utf-8")
            document = analyze([case.folder], pack=pack()).document
            for form in ("json", "text", "html"):
                render(document, form).encode()
    except Hang:
        return [f"the report hangs: longer than {LONGEST} s"]
    except UserError:
        return []
    except Exception as error:  # noqa: BLE001 - as above
        return [f"the report crashes: {type(error).__name__}: {error}"[:400]]
    unsaid = {row["source"] for row in document["damage"]} - {row["name"] for row in document["sources"]}
    return [f"damage of a source that is not there: {name}" for name in sorted(unsaid)]


def _wrong(tables: Tables) -> Iterator[str]:
    """What is wrong with tables, whatever was read."""
    damage = tables["damage"].rows(named=True)
    damaged = {row["source"] for row in damage if "its regex took too long" not in row["what"]}
    for row in tables["sources"].iter_rows(named=True):
        if row["reason"].startswith("reader failed"):
            yield f"crashes: {row['reason']}"
        if (row["read"] == "complete") != (not row["reason"]):
            yield f"{row['source']} is {row['read']}, and the reason is {row['reason']!r}"
        if row["read"] == "complete" and row["source"] in damaged:
            yield f"{row['source']} is damaged and called complete"
        if row["read"] == "partial" and row["source"] not in damaged:
            yield f"{row['source']} is partial and nothing of it is damaged"
    for row in damage:
        if (row["offset"] or 0) < 0 or (row["length"] or 0) < 0 or row["line"] == 0:
            yield f"damage at a place that cannot be: {row}"


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """Stop after some time, and leave alone whoever else waits for the alarm.

    Raises:
        Hang: the time is up.
    """

    def stop(_number: int, _frame: FrameType | None) -> None:
        raise Hang

    began, before = monotonic(), signal.signal(signal.SIGALRM, stop)
    left, _ = signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, max(0.001, left - (monotonic() - began)) if left else 0)
        signal.signal(signal.SIGALRM, before)


def _emptied(folder: Path) -> Path:
    """An empty directory, whatever stood there."""
    if folder.exists():
        for path, _, _ in os.walk(folder):
            Path(path).chmod(0o700)
        shutil.rmtree(folder)
    folder.mkdir(parents=True)
    return folder
