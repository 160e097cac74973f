"""Renders rules as Markdown pages and as entries of the catalogue."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import MappingProxyType

from analyzer.engine.expressions import Expression
from analyzer.engine.language import Case, Rule, RulePack, Signal
from analyzer.engine.texts import numbered, substituted
from analyzer.model.confidence import level
from analyzer.model.run import Pattern

_WHOSE: Mapping[str, str] = MappingProxyType(
    {
        "subject": "of the worker in question",
        "others": "of some other worker",
        "every_other": "of each other training worker",
        "anyone": "of any worker",
        "everyone": "of every training worker",
        "leader": "of the worker that hosts the coordination service",
    }
)
_BLAMED: Mapping[str, str] = MappingProxyType(
    {
        "subject": "The worker in question is the culprit.",
        "suspects": "One of the workers in question is guilty; which one, the files cannot say.",
        "none": "Nobody.",
    }
)
_OPERATORS: Mapping[str, str] = MappingProxyType(
    {
        "at_least": "is at least",
        "at_most": "is at most",
        "above": "is above",
        "below": "is below",
        "contains": "contains",
        "matches": "matches",
        "before": "is before version",
        "not": "is not",
    }
)


def page(rule: Rule, causes: Mapping[str, str]) -> str:
    """Return the page of a rule."""
    sections = {
        "What it means": _meaning(rule, causes),
        "What it looks for": _sought(rule),
        "Whom it blames": [_BLAMED[rule.blame]],
        "Confidence": _confidence(rule),
        "What it explains": [", ".join(f"`{each}`" for each in rule.explains)],
        "What it contradicts": [", ".join(f"`{each}`" for each in rule.contradicts)],
        "What to do": [line for step in rule.next for line in _step(step.text, step.command)],
        "What to collect next time": [f"- {_without_placeholders(text)}" for text in rule.collect],
        "Cases": [_case(case) for case in rule.cases],
        "References": [f"- <{each}>" for each in rule.references],
    }
    parts = [f"# {rule.title}", _kind(rule)]
    for heading, lines in sections.items():
        parts += [f"## {heading}", "\n".join(line for line in lines if line) or "Nothing."]
    return "\n\n".join(parts) + "\n"


def catalogue(pack: RulePack) -> str:
    """Return all rules by family, a few lines each."""
    families = groupby(
        sorted(pack.rules, key=lambda rule: rule.file), key=lambda rule: rule.file.split("/")[1]
    )
    lines = [
        "# The rules",
        "",
        f"{len(pack.rules)} rules; `mwms-rules show ID` prints one in full, with its cases.",
        "Generated from the rule files by `python docs/generate.py`.",
    ]
    for family, rules in families:
        lines += ["", f"## {family}"]
        for rule in rules:
            lines += ["", *_entry(rule)]
    return "\n".join(lines) + "\n"


def _entry(rule: Rule) -> Iterator[str]:
    yield f"### [{rule.id}]({rule.file.partition('/')[2]})"
    yield ""
    yield f"{rule.title}."
    yield _kind(rule)
    yield ""
    yield f"- Says: {_without_placeholders(rule.summary)}"
    yield f"- Fires when: {_spelled(rule.when, outermost=True)}"
    yield f"- Blames: {_BLAMED[rule.blame]}"
    yield f"- To do: {_without_placeholders(rule.next[0].text) if rule.next else 'nothing.'}"


def _kind(rule: Rule) -> str:
    cause = f" of `{rule.cause}`" if rule.cause else ""
    return f"*{rule.role.value}*{cause}; {rule.status}; makes the job {rule.verdict.value}; rule `{rule.id}`."


def _meaning(rule: Rule, causes: Mapping[str, str]) -> Iterator[str]:
    yield _without_placeholders(rule.summary)
    if rule.cause:
        yield f"`{rule.cause}`: {causes.get(rule.cause, 'not in causes.yaml')}."
    if rule.why:
        yield ""
        yield from (f"- {_without_placeholders(text)}" for text in rule.why)


def _sought(rule: Rule) -> Iterator[str]:
    yield f"It fires when {_spelled(rule.when, outermost=True)}."
    if rule.refuted_by:
        yield f"It is refuted by {', '.join(f'**{name}**' for name in rule.refuted_by)}."
    if rule.requires:
        yield f"It needs sources of kind {_either(rule.requires)}; without them it is not applicable."
    if rule.despite_finish:
        yield "It stands even where every training worker reached the planned end."
    yield ""
    yield from (f"- **{name}**: {_signal(signal)}" for name, signal in rule.signals.items())


def _signal(signal: Signal) -> str:
    what = _record(signal.pattern) if signal.pattern else f"a row of `{signal.table}`"
    implied = {"pattern", "after_end"} if signal.pattern else set()
    tests = [_condition(*each) for each in signal.where.items() if each[0] not in implied]
    where = f" where {' and '.join(tests)}" if tests else ""
    whose = "" if signal.table == "job" else f" {_WHOSE[signal.of]}"
    whose += "" if signal.who == "worker" else f" as its {signal.who}"
    many = f", at least {signal.at_least} times" if signal.at_least > 1 else ""
    basis = f" Why these numbers: {signal.basis}" if signal.basis else ""
    return f"{what}{whose}{where}{many}{_order(signal)}.{basis}"


def _order(signal: Signal) -> str:
    """Describe the order and distance to another signal that a signal requires."""
    if not (signal.after or signal.before):
        return ""
    near = [f"{signal.within.steps} steps"] if signal.within.steps is not None else []
    near += [f"{signal.within.seconds:g} seconds"] if signal.within.seconds is not None else []
    within = f", within {' and '.join(near)}," if near else ""
    return f"{within} {'after' if signal.after else 'before'} **{signal.after or signal.before}**"


def _record(pattern: Pattern) -> str:
    matches = f" and matches {_code(pattern.regex)}" if pattern.regex else ""
    levels = f", of level {_either(sorted(pattern.levels))}," if pattern.levels else ""
    return f"a log record that contains {_either(pattern.literals)}{matches}{levels}"


def _condition(column: str, condition: object) -> str:
    if not isinstance(condition, Mapping):
        return f"{column} is {_value(condition)}"
    return " and ".join(_test(column, operator, operand) for operator, operand in condition.items())


def _test(column: str, operator: str, operand: object) -> str:
    if operator == "known":
        return f"{column} is {'known' if operand else 'unknown'}"
    if operator == "since":
        return f"{column} is version {_value(operand)} or later"
    return f"{column} {_OPERATORS[operator]} {_value(operand)}"


def _value(value: object) -> str:
    if isinstance(value, list):
        return _either([str(each) for each in value])
    return ("true" if value else "false") if isinstance(value, bool) else _code(str(value))


def _either(values: Sequence[str]) -> str:
    return " or ".join(_code(each) for each in values)


def _code(text: str) -> str:
    """Return a Markdown code span; the text may contain back-ticks."""
    text = " ".join(text.split()) if "\n" in text else text
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _spelled(expression: Expression, *, outermost: bool = False) -> str:
    if expression.operator == "signal":
        return f"**{expression.name}**"
    if expression.operator == "not":
        return f"not {_spelled(expression.parts[0])}"
    text = f" {expression.operator} ".join(_spelled(part) for part in expression.parts)
    return text if outermost else f"({text})"


def _confidence(rule: Rule) -> Iterator[str]:
    known = rule.confidence
    yield f"{level(known.base)} to begin with.".capitalize()
    yield from (f"- {level(to)} where **{name}** holds" for name, to in known.raised.items())
    yield from (f"- at most {level(cap)} without **{name}**" for name, cap in known.cap_without.items())
    if rule.status == "experimental":
        yield f"- at most {level('likely')} while it is experimental"


def _step(text: str, command: str | None) -> Iterator[str]:
    yield f"- {_without_placeholders(text)}"
    if command:
        yield from ("", "  ```sh", *(f"  {line}" for line in command.splitlines()), "  ```", "")


def _case(case: Case) -> str:
    blamed = ", ".join(case.culprits or case.suspects)
    outcome = ("fires" + (f", blames {blamed}" if blamed else "")) if case.fires else "stays quiet"
    return f"- {case.name}: {outcome}. Origin: {case.origin}."


def _without_placeholders(text: str) -> str:
    """Replace placeholders by words that describe them."""
    return substituted(numbered(text), lambda names: _stand_in(*names[0].partition(".")[::2]))


def _stand_in(name: str, column: str) -> str:
    words = {"subject": "the worker", "others": "the other workers"}
    return f"‹{(column or words.get(name, name)).replace('_', ' ')}›"


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as aligned columns; the last column is not padded."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
