"""A target: real files of one kind, and what must be true of a reading whatever became of them.

Every reader that a kind of file names in `analyzer.model.source_kinds` is a target without being named here:
its files are those of the sample runs that `discover` takes for its kind. A module of its name in `targets/` says more, and one of
another name is a further target. Whatever stands in it may be left out:

    seeds() -> Iterable[Seed]               other files than those of the sample runs
    MUTATORS: Mapping[str, Mutator]         further ways in which such a file goes wrong
    lay(case) -> Path                       what is handed over, where it is not the one file
    wrong(case, tables) -> Iterable[str]    what this reading ought to have said or kept, and did not
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

from analyzer.discover import discover
from analyzer.engine import RulePack
from analyzer.ingest import ingest
from analyzer.model.budget import Budget
from analyzer.model.errors import UserError
from analyzer.model.run import RunDir, Tables
from analyzer.model.source_kinds import Kind
from analyzer.pipeline import load_rules
from tests.fuzz.mutators import MUTATORS, Mutator, mutated
from tests.recordings import SAMPLE_RUNS

MODULES = Path(__file__).parent / "targets"
LARGEST_SEED = 120_000
MOST_SEEDS = 32


class Seed(NamedTuple):
    """A real file: its name, by which `discover` knows its kind, and its contents."""

    name: str
    data: bytes


class Case(NamedTuple):
    """What became of a real file, and an empty directory to put it in."""

    seed: Seed
    data: bytes
    folder: Path

    @property
    def is_cut(self) -> bool:
        """Whether only its end is missing."""
        return self.seed.data.startswith(self.data)


class Target(NamedTuple):
    """Files of one kind, how they go wrong, and how a reading of them is judged."""

    name: str
    seeds: Sequence[Seed]
    mutators: Mapping[str, Mutator]
    lay: Callable[[Case], Path]
    wrong: Callable[[Case, Tables], Iterable[str]]

    def case(self, number: int, seed: int, folder: Path) -> Case:
        """The input of that number; the same for the same seed, on every machine."""
        random = Random(f"{self.name}/{seed}/{number}")
        whole, other = random.choice(self.seeds), random.choice(self.seeds)
        return Case(whole, mutated(whole.data, other.data, random, self.mutators), folder)


def readers() -> set[str]:
    """The modules that read files of some kind."""
    return {_name(kind) for kind in Kind if kind.reader}


def _name(kind: Kind) -> str:
    """Name of the module that reads a kind of file, without its package."""
    return (kind.reader or "").rpartition(".")[2]


def names() -> list[str]:
    """All targets: the readers, and what has a module of its own."""
    return sorted({*readers(), *(path.stem for path in MODULES.glob("[a-z]*.py"))})


@cache
def target(name: str) -> Target:
    """The target of that name.

    Raises:
        LookupError: there is no real file to begin with.
    """
    own = vars(import_module(f"tests.fuzz.targets.{name}")) if _has_module(name) else {}
    kinds = [kind for kind in Kind if _name(kind) == name]
    seeds = list(own["seeds"]()) if "seeds" in own else real(*kinds)
    if not seeds:
        raise LookupError(f"no sample run holds a file for {name}; give some as seeds() in targets/{name}.py")
    return Target(
        name, seeds, {**MUTATORS, **own.get("MUTATORS", {})}, own.get("lay", _lay), own.get("wrong", _nothing)
    )


def real(*kinds: Kind, most: int = MOST_SEEDS, largest: int = LARGEST_SEED) -> list[Seed]:
    """Files of the sample runs, of all sizes, no two alike."""
    found = {seed.data: seed for kind in kinds for seed in _recorded()[kind] if len(seed.data) <= largest}
    in_order = sorted(found.values(), key=lambda seed: (len(seed.data), seed.data))
    return in_order[:: max(1, len(in_order) // most)][:most]


@cache
def pack() -> RulePack:
    """The rules, for what they look for is what readers keep."""
    return load_rules()


def read(paths: Sequence[Path]) -> list[Tables]:
    """What is read of each file or directory; nothing is derived from it.

    They are read as if they were one run, and fall apart again by the names of their sources.
    """
    runs = [_discovered(path) for path in paths]
    sources = (
        source._replace(name=f"{number}/{source.name}")
        for number, run in enumerate(runs)
        for source in run.sources
    )
    tables = ingest(RunDir("fuzz", tuple(sources), Budget()), pack().patterns, pack().messages)
    apart = {name: _apart(frame) for name, frame in tables.items()}
    return [
        {name: parts.get(str(n), tables[name].clear()) for name, parts in apart.items()}
        for n in range(len(runs))
    ]


def _discovered(path: Path) -> RunDir:
    """The sources of one input; none where discover says that there are none."""
    try:
        return discover([path])
    except UserError:
        return RunDir(path.name, (), Budget())


def _apart(frame: pl.DataFrame) -> dict[str, pl.DataFrame]:
    """The rows of each input."""
    number, name = (frame["source"].str.extract(part, 1) for part in (r"^(\d+)/", r"(?s)^\d+/(.*)$"))
    parts = frame.with_columns(source=name, input=number).partition_by(
        "input", as_dict=True, include_key=False
    )
    return {str(key): part for (key,), part in parts.items()}


@cache
def sound(seed: Seed) -> Tables:
    """What is read of a file to which nothing has happened."""
    with TemporaryDirectory(prefix="mwms-fuzz-") as folder:
        path = Path(folder, seed.name)
        path.write_bytes(seed.data)
        (tables,) = read([path])
    return tables


@cache
def _recorded() -> Mapping[Kind, list[Seed]]:
    found: dict[Kind, list[Seed]] = {kind: [] for kind in Kind}
    for sample in SAMPLE_RUNS:
        for source in discover([sample / "run"]).sources:
            if not source.skip and source.path.stat().st_size <= LARGEST_SEED:
                found[source.kind].append(Seed(source.path.name, source.path.read_bytes()))
    return found


def _has_module(name: str) -> bool:
    return find_spec(f"tests.fuzz.targets.{name}") is not None


def _lay(case: Case) -> Path:
    path = case.folder / case.seed.name
    path.write_bytes(case.data)
    return path


def _nothing(case: Case, tables: Tables) -> Iterable[str]:
    return ()
