"""Loads `recipes.yaml`: what each kind of source shows, and the commands that collect it."""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.model.contract import CollectRecipe
from analyzer.model.findings import Finding
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.storage.disk_cache import cached_yaml

PLATFORMS = ("Kubernetes", "Slurm", "Docker compose", "Bare hosts")
"""Platforms from which `mwms-collect` collects a job after its end."""
ON_WORKER = "On each worker"
IN_SCRIPT = "In the script"
WORKER = (
    "WORKER=$(python -c 'import json, os; "
    'print("{type}-{index}".format(**json.loads(os.environ["TF_CONFIG"])["task"]))\')'
)
"""Shell command that sets the name of a worker, such as `worker-1`, from its TF_CONFIG."""


class File(NamedTuple):
    """A file that a command produces: its name in the run, its kind, what it shows."""

    name: str
    read_as: str
    tells: str


class Command(NamedTuple):
    """A shell command to run, or Python code to add to the training script."""

    where: str
    text: str
    files: tuple[File, ...] = ()

    @property
    def language(self) -> str:
        """Return the language of the command, for syntax highlighting."""
        return "python" if self.where == IN_SCRIPT else "sh"


class Recipe(NamedTuple):
    """How to collect one kind of source; `what` completes "how to collect …", `how` is one sentence."""

    what: str
    tells: str
    how: str
    commands: tuple[Command, ...]

    @property
    def title(self) -> str:
        """Return the heading of the recipe's section in `docs/collect.md`."""
        return self.what[0].upper() + self.what[1:]

    @property
    def docs(self) -> str:
        """Return the link to that section."""
        return "docs/collect.md#" + re.sub(r"[^\w-]", "", self.title.lower().replace(" ", "-"))


@cache
def recipes() -> Mapping[str, Recipe]:
    """Return kind of source → recipe, for every kind that a rule of the package requires."""
    written = cached_yaml(Path(__file__).with_name("recipes.yaml"))
    return {
        kind: Recipe(**body | {"commands": tuple(_commands(body["commands"]))})
        for kind, body in written.items()
    }


def _commands(written: list[dict[str, Any]]) -> Iterator[Command]:
    for each in written:
        files = tuple(File(*file) for file in each.get("files", ()))
        named = f"{WORKER}\n" if "$WORKER" in each["text"] else ""
        yield Command(each["where"], named + each["text"], files)


def recipes_for(findings: Iterable[Finding], unsure: bool, tables: Tables) -> list[CollectRecipe]:
    """Return recipes for collecting the files that rules require and the run lacks.

    A recording must be started with the job, so it is suggested only for an `unsure` diagnosis; traces, only
    if a worker got past the start-up.
    """
    lacking = dict.fromkeys(finding.lacks for finding in findings if finding.lacks)
    started = tables["lifetimes"]["phase"].is_in(["joined", "training", "finished"]).any()
    useful = {Kind.RECORDING.value: unsure, Kind.TRACE.value: started}
    return [
        {
            "kind": kind,
            "what": recipe.what,
            "tells": recipe.tells,
            "how": recipe.how,
            "commands": [{"where": each.where, "command": each.text} for each in recipe.commands],
            "docs": recipe.docs,
        }
        for kind in lacking
        if useful.get(kind, True) and (recipe := recipes().get(kind))
    ]
