"""Runs the cases of rules (small runs with an expected result) and lists causes and rules without any."""

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from analyzer.engine.evaluate import match
from analyzer.engine.rule_types import Case, Rule, RulePack
from analyzer.model.errors import UserError
from analyzer.model.findings import Finding, Outcome
from analyzer.model.run import Tables
from analyzer.storage.yaml_document import read

Read = Callable[[Path, RulePack], Tables]
"""Function that returns the tables of a run directory, searched for a pack's patterns."""

_VERDICTS = frozenset({"healthy", "unknown"})
"""Entries of causes.yaml that are verdicts; no rule can name them."""

_RECORDED = re.compile(r"\brecorded run\b")


class Trial(NamedTuple):
    """Result of one case: `fault` states how it failed, `missing` which recorded run was not found."""

    rule: Rule
    case: Case
    fault: str = ""
    missing: str = ""


def run_case(pack: RulePack, rule: Rule, case: Case, home: Path, scratch: Path, read: Read) -> Trial:
    """Run a case and return its result; `home` has the recorded runs, `scratch` is an empty directory."""
    run = run_directory(case, home, scratch)
    if not run.exists():
        return Trial(rule, case, missing=_missing(case.run, home))
    try:
        return Trial(rule, case, fault=difference(case, finding(pack, rule, run, read)))
    except UserError as error:
        return Trial(rule, case, fault=str(error))


def _missing(run: object, home: Path) -> str:
    return f"no run {run} in {home}: `run` is relative to that directory"


def faults_of_recordings(file: Path, name: str, home: Path) -> list[str]:
    """Return a fault, as `name:line: what`, for each `run` of a rule file's cases that is not in `home`."""
    document = read(file, name)
    for path in document.lines:
        if len(path) > 2 and (path[-3], path[-1]) == ("cases", "run"):
            part: Any = document.data
            for key in path:
                part = part[key]
            if not (home / part).exists():
                document.fault(path, _missing(part, home))
    return document.faults


def run_directory(case: Case, home: Path, scratch: Path) -> Path:
    """Return the directory of a case's run: that of its recording, or `scratch` with the inline files."""
    if case.run:
        recording = home / case.run
        return recording / "run" if (recording / "run").is_dir() else recording
    write(case.given, scratch)
    return scratch


def write(files: Mapping[str, str], folder: Path) -> None:
    """Write files, given as name → text, below a folder."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def finding(pack: RulePack, rule: Rule, run: Path, read: Read) -> Finding:
    """Return the finding of a single rule on a run."""
    alone = pack._replace(rules=(rule,))
    return match(alone, read(run, alone))[0]


def difference(case: Case, found: Finding) -> str:
    """Return how a finding differs from what its case expects; empty if it does not differ."""
    if found.outcome is Outcome.ERROR:
        return f"cannot be followed: {found.reason}"
    if case.fires and found.outcome is not Outcome.FIRED:
        return f"should fire, but is {found.outcome.value} ({found.reason})"
    if not case.fires:
        return f"should stay quiet, but fires: {found.summary}" if found.outcome is Outcome.FIRED else ""
    want, got = _blamed(case), _blamed(found)
    return "" if want == got else f"should blame {want}, but blames {got}"


def _blamed(of: Case | Finding) -> str:
    """Return who is blamed, and as what: `worker:1 as culprit`."""
    parts = [(of.culprits, "culprit"), (of.suspects, "suspect")]
    return " and ".join(f"{', '.join(workers)} as {part}" for workers, part in parts if workers) or "nobody"


def causes_without_rule(pack: RulePack) -> list[str]:
    """Return the causes in causes.yaml that no rule names."""
    named = {rule.cause for rule in pack.rules}
    return [cause for cause in pack.causes if cause not in named | _VERDICTS]


def rules_without_recording(pack: RulePack) -> list[str]:
    """Return the rules without a firing case from a recorded run."""
    return [rule.id for rule in pack.rules if not any(is_recorded(case) for case in rule.cases if case.fires)]


def is_recorded(case: Case) -> bool:
    """Return True if a case names its recorded run, as `run` or in its origin."""
    return bool(case.run or _RECORDED.search(case.origin))
