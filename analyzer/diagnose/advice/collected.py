"""Leaves out advice to look up what was collected or is gone, and finds the path that evidence names."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import polars as pl

from analyzer.diagnose.advice.job_commands import gone_pods, parts_of
from analyzer.diagnose.wording import wording
from analyzer.model.findings import Evidence, Step
from analyzer.model.run import Tables
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import is_kernel_log

_PATH = re.compile(
    r"(?:(?P<quote>['\"])|(?<![\w/.:'\"-]))(?P<path>/(?:[\w.@%+=,-]+/)*[\w.@%+=,-]*[\w@%+=-])"
    r"(?(quote)(?P=quote)|(?![\w@%+=-]|:\w))"
)
"""Regex for an absolute path of which a shell takes every character as it is."""
_OF_CODE = re.compile(r"\.(?:py|so|cc|h|pyc)(?:\.\d+)*$|/site-packages/|/(?:job|replica|task|device):")
_ASKS_FOR_POD = re.compile(r"kubectl (?:-n \S+ )?(?:logs|exec|(?:describe|get) pods?) (?P<pod>[\w.-]+)")
_USED = re.compile(r"MaxRSS|ReqMem|AveRSS")
"""Columns of Slurm's accounting that the readers do not ask for."""


def path_in(evidence: Iterable[Evidence]) -> Mapping[str, str]:
    """Return the only path of data that pieces of evidence quote or, if none is in quotes, name, as `PATH`.

    Empty if there is none, or several: nothing says then which one is meant.
    """
    found = [match for each in evidence for match in _PATH.finditer(each.excerpt or "")]
    of_data = [match for match in found if not _OF_CODE.search(match["path"])]
    paths = {match["path"] for match in of_data if match["quote"]} or {match["path"] for match in of_data}
    return {"PATH": paths.pop()} if len(paths) == 1 else {}


def without_collected(steps: Sequence[Step], tables: Tables, blamed: Collection[str]) -> list[Step]:
    """Return the steps without commands that print what was read: kernel logs of the blamed, the accounting.

    A step that would have no command left is left out, but never the only one.
    """
    sources = tables["sources"].filter(pl.col("read") != "skipped")
    of_kernel = {w for name, w in sources.select("source", "worker").iter_rows() if w and is_kernel_log(name)}
    read = ["dmesg "] * (bool(blamed) and of_kernel.issuperset(blamed))
    read += ["sacct "] * (sources["kind"] == Kind.SACCT.value).any()
    kept = [_without(step, tuple(read)) for step in steps]
    left = [each for each in kept if each]
    return left or list(steps)


def without_gone_pods(steps: Sequence[Step], tables: Tables) -> list[Step]:
    """Return the steps without commands that ask Kubernetes for a pod that no longer exists.

    Such a step says instead that the pod is gone, and where its log may still be.
    """
    gone = gone_pods(tables)
    return [_without_pods(step, gone) for step in steps] if gone else list(steps)


def _without_pods(step: Step, gone: Sequence[str]) -> Step:
    asked = {each: found for each in parts_of(step) if (found := _ASKS_FOR_POD.match(each))}
    lost = {each: found["pod"] for each, found in asked.items() if found["pod"] in gone}
    if not lost:
        return step
    told = wording()["pod_is_gone"].format(pod=", ".join(dict.fromkeys(lost.values())))
    left = [each for each in parts_of(step) if each not in lost]
    return Step(f"{step.text} {told}", "; ".join(left) or None)


def _without(step: Step, read: tuple[str, ...]) -> Step | None:
    """Return the step without the commands of which the output was read; None if that leaves none."""
    commands = parts_of(step)
    left = (
        [each for each in commands if not each.startswith(read) or _USED.search(each)] if read else commands
    )
    if len(left) == len(commands):
        return step
    return step._replace(command="; ".join(left)) if left else None
