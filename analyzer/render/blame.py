"""Names the workers that a diagnosis blames, and the logs that are theirs."""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from analyzer.model.placeholders import short_ids
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import split_task, worker_of
from analyzer.render.formatting import names, worker_key
from analyzer.render.sanitize import one_line

_MAX_LOGS = 3
_OTHER_NUMBERS = "its name has another number: TensorFlow counts tasks from 0"


def blamed(diagnosis: Mapping[str, Any]) -> tuple[str, str]:
    """Return title and names of the blamed workers: `("culprit", "worker:2")`; empty strings if none."""
    alone = len(diagnosis["workers"]) == 1  # an only worker is named, not accused
    if culprits := diagnosis["culprits"]:
        title = "culprits" if len(culprits) > 1 else "only worker:" if alone else "culprit"
        return (title, names(culprits) + _guess(diagnosis, culprits))
    if suspects := diagnosis["suspects"]:
        title = "one of" if len(suspects) > 1 else "only worker seen:" if alone else "suspect"
        title = title if diagnosis["verdict"] != "inconclusive" else "not ruled out:"
        return (title, names(suspects) + _guess(diagnosis, suspects))
    return ("", "")


def blamed_workers(diagnosis: Mapping[str, Any]) -> set[str]:
    """Return the culprits, or without any, the suspects."""
    return {*(diagnosis["culprits"] or diagnosis["suspects"])}


def leading_workers(workers: Sequence[Mapping[str, Any]], most: int) -> list[Mapping[str, Any]]:
    """Return at most `most` workers, ordered by name; culprits are kept first, then suspects."""
    rank = {"culprit": 0, "suspect": 1}
    kept = sorted(workers, key=lambda worker: rank.get(worker["part"], 2))[:most]
    return sorted(kept, key=lambda worker: worker_key(worker["id"]))


def _guess(diagnosis: Mapping[str, Any], blamed: Sequence[str]) -> str:
    """Return, in parentheses, that the index of a blamed worker was guessed, or an only worker's file."""
    if not (guessed := _guessed(diagnosis, blamed)):
        return ""
    return " (index guessed)" if len(diagnosis["workers"]) > 1 else f" ({main_file(diagnosis, guessed[0])})"


def _guessed(diagnosis: Mapping[str, Any], blamed: Collection[str]) -> list[Mapping[str, Any]]:
    return [each for each in diagnosis["workers"] if each["id"] in blamed and each.get("guessed")]


def main_file(diagnosis: Mapping[str, Any], worker: Mapping[str, Any]) -> str:
    """Return the name of the worker's first log, else of its first file; a stream in a file comes last."""
    logs = {each["name"] for each in diagnosis["sources"] if each["kind"] == "log"}
    return one_line(short_ids(min(worker["sources"], key=lambda name: (name not in logs, "#" in name))), 60)


def logs_of_blamed(diagnosis: Mapping[str, Any]) -> tuple[str, str]:
    """Return the blamed workers with their logs, `worker:1: worker-2.log`, and why they are told.

    They are if their indices were guessed, or if the files are named after other numbers: who reads of
    `worker:1` would open `worker-1.log`. Else both texts are empty.
    """
    blamed = [each for each in diagnosis["workers"] if each["id"] in blamed_workers(diagnosis)]
    guessed = _guessed(diagnosis, blamed_workers(diagnosis)) if len(diagnosis["workers"]) > 1 else []
    files = {each["id"]: main_file(diagnosis, each) for each in guessed or blamed if each["sources"]}
    if guessed:
        return _listed(files), f"index guessed {guessed[0]['guessed']}"
    others = {worker: file for worker, file in files.items() if _is_of_another_number(file, worker)}
    return (_listed(others), _OTHER_NUMBERS) if others else ("", "")


def _listed(files: Mapping[str, str]) -> str:
    named = "; ".join(f"{worker}: {file}" for worker, file in [*files.items()][:_MAX_LOGS])
    return f"{named}{'; …' if len(files) > _MAX_LOGS else ''}"


def _is_of_another_number(source: str, worker: str) -> bool:
    """Return True if a file, or a stream in one, is named after a task that this worker is not.

    A number without a role may be any, as that of a job; it counts if it is one above the index.
    """
    name = source.rpartition("#")[2]
    role, index = split_task(worker)
    return worker_of(name, Kind.OTHER) not in {None, worker} or worker_of(name) == f"{role}:{index + 1}"
