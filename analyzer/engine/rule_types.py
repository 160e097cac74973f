"""Data types of the rule language; `docs/rules.md` explains it to authors."""

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from analyzer.engine.expressions import Expression
from analyzer.model.findings import Action, Role, Step, Verdict
from analyzer.model.messages import NONE, Messages
from analyzer.model.run import Pattern
from analyzer.storage.package_files import resource

Condition = Mapping[str, object]


class Within(NamedTuple):
    """Maximum distance between two rows, in steps and in seconds; None is unlimited."""

    steps: int | None = None
    seconds: float | None = None


class Signal(NamedTuple):
    """A named condition: at least `at_least` rows of the workers in scope `of` satisfy `where` in a table."""

    name: str
    table: str
    where: Condition
    of: str = "anyone"
    who: str = "worker"
    """The column with the worker of a row, e.g. `accuser` instead of `worker` for accusations."""
    at_least: int = 1
    after: str = ""
    """Name of another signal; only rows after one of that signal's rows count."""
    before: str = ""
    """Name of another signal; only rows before one of that signal's rows count."""
    within: Within = Within()
    unless: tuple[Condition, ...] = ()
    """Conditions that exclude rows; set by overlays."""
    says: str = ""
    kind: str = "line"
    pattern: Pattern | None = None
    example: str = ""
    basis: str = ""
    """The reason for the signal's thresholds."""


class Confidence(NamedTuple):
    """Confidence levels of a rule: `base`, a higher level per signal that holds, a cap per missing signal."""

    base: str
    raised: Mapping[str, str]
    cap_without: Mapping[str, str]


class Case(NamedTuple):
    """A small run that tests the rule: the logs of each worker, and the expected result."""

    name: str
    origin: str
    given: Mapping[str, str]
    fires: bool
    culprits: tuple[str, ...] = ()
    suspects: tuple[str, ...] = ()
    run: str | None = None
    """A recorded run of the repository instead of `given`, for files that are not text."""


class Rule(NamedTuple):
    """The contents of one rule file."""

    id: str
    file: str
    title: str
    role: Role
    signals: Mapping[str, Signal]
    when: Expression
    summary: str
    confidence: Confidence
    cause: str | None = None
    verdict: Verdict = Verdict.FAILED
    status: str = "experimental"
    requires: tuple[str, ...] = ()
    blame: str = "none"
    explains: tuple[str, ...] = ()
    contradicts: tuple[str, ...] = ()
    refuted_by: tuple[str, ...] = ()
    """Signals any of which refutes the rule."""
    despite_finish: bool = False
    why: tuple[str, ...] = ()
    next: tuple[Step, ...] = ()
    collect: tuple[str, ...] = ()
    action: Action = Action()
    references: tuple[str, ...] = ()
    cases: tuple[Case, ...] = ()

    def holds(self, truth: Mapping[str, bool]) -> bool:
        """Return True if `when` holds and no signal of `refuted_by` does; `truth` is signal → value."""
        return self.when.holds(truth) and not any(truth[name] for name in self.refuted_by)

    @property
    def binds(self) -> bool:
        """Return True if a signal is about one particular worker (`of: subject`)."""
        return any(signal.of == "subject" for signal in self.signals.values())


class Pack(NamedTuple):
    """A directory of rules: its name, its version if stated, and a digest of its files."""

    name: str
    version: str | None
    digest: str


class RulePack(NamedTuple):
    """All loaded rules in the order of their ids, and the digest of their files."""

    rules: tuple[Rule, ...]
    causes: Mapping[str, str]
    """Cause id → meaning."""
    digest: str
    overlay: str = ""
    """Names of the overlay files that were applied."""
    packs: tuple[Pack, ...] = ()
    """The directories of the rules."""
    messages: Messages = NONE
    """Wordings of messages of TensorFlow and other programs, from the same directories."""
    machine_causes: tuple[str, ...] = ()
    """Causes that a faulty machine can produce."""
    renamed: Mapping[str, str] = MappingProxyType({})
    """Former id of a cause or rule → its present id."""
    installed: tuple[str, ...] = ()
    """Names of the directories that belong to installed packages."""

    @property
    def patterns(self) -> tuple[Pattern, ...]:
        """Return the patterns that the rules search for in logs."""
        signals = (signal for rule in self.rules for signal in rule.signals.values())
        return tuple(signal.pattern for signal in signals if signal.pattern)

    def rule_digest(self, rule: str | None) -> str | None:
        """Return 16 hexadecimal digits that change with what a rule does; None if there is no such rule."""
        found = next((each for each in self.rules if each.id == rule), None)
        return found and hashlib.sha256(repr(found._replace(cases=())).encode()).hexdigest()[:16]

    @property
    def directories(self) -> list[str]:
        """Return the sorted names of the directories given by the user, of rules and overlays."""
        files = [*(rule.file for rule in self.rules), *filter(None, self.overlay.split(", "))]
        return sorted({file.partition("/")[0] for file in files} - {resource("rules").name, *self.installed})

    @property
    def described(self) -> Mapping[str, object]:
        """Return count, digest and directories of the rules, for the section `made_with`."""
        return {
            "rules": len(self.rules),
            "rules_digest": self.digest,
            "packs": [pack._asdict() for pack in self.packs],
            "options": {"overlay": self.overlay} if self.overlay else {},
        }
