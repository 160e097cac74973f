"""Renders rules as Markdown pages and as a catalogue, from the templates in this directory."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from itertools import groupby
from pathlib import Path

from jinja2 import Environment, FileSystemLoader

from analyzer.engine.expressions import Expression
from analyzer.engine.placeholder_texts import numbered, substituted
from analyzer.engine.rule_types import Rule, RulePack, Signal
from analyzer.model.findings import level
from analyzer.model.run import Pattern
from analyzer.storage.disk_cache import cached_yaml

_HERE = Path(__file__).parent


def rule_page(rule: Rule, causes: Mapping[str, str]) -> str:
    """Return a rule's documentation as a Markdown page; `causes` maps causes to what they mean."""
    return _environment().get_template("page.md.j2").render(rule=rule, causes=causes)


def catalogue(pack: RulePack) -> str:
    """Return the Markdown catalogue of all rules, grouped by family."""
    rules = sorted(pack.rules, key=lambda rule: rule.file)
    families = groupby(rules, key=lambda rule: rule.file.split("/")[1])
    return _environment().get_template("catalogue.md.j2").render(rules=rules, families=families)


@cache
def _words() -> Mapping[str, Mapping[str, str]]:
    words: Mapping[str, Mapping[str, str]] = cached_yaml(_HERE / "wording.yaml")
    return words


@cache
def _environment() -> Environment:
    made = Environment(  # noqa: S701 - Markdown
        loader=FileSystemLoader(_HERE), trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    made.globals |= {
        "described": _signal,
        "either": _either,
        "kind": _kind,
        "level": level,
        "plain": _without_placeholders,
        "spelled": _spelled,
        "words": _words(),
    }
    return made


def _kind(rule: Rule) -> str:
    cause = f" of `{rule.cause}`" if rule.cause else ""
    return f"*{rule.role.value}*{cause}; {rule.status}; makes the job {rule.verdict.value}; rule `{rule.id}`."


def _signal(signal: Signal) -> str:
    what = _record(signal.pattern) if signal.pattern else f"a row of `{signal.table}`"
    implied = {"pattern", "after_end", "foreign"} if signal.pattern else set()
    tests = [_condition(*each) for each in signal.where.items() if each[0] not in implied]
    where = f" where {' and '.join(tests)}" if tests else ""
    whose = "" if signal.table == "job" else f" {_words()['whose'][signal.of]}"
    whose += "" if signal.who == "worker" else f" as its {signal.who}"
    many = f", at least {signal.at_least} times" if signal.at_least > 1 else ""
    basis = f" Why these numbers: {signal.basis}" if signal.basis else ""
    return f"{what}{whose}{where}{many}{_order(signal)}.{basis}"


def _order(signal: Signal) -> str:
    """Return in words the order and distance to another signal that a signal requires; empty without any."""
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
    return f"{column} {_words()['operators'][operator]} {_value(operand)}"


def _value(value: object) -> str:
    if isinstance(value, list):
        return _either([str(each) for each in value])
    return ("true" if value else "false") if isinstance(value, bool) else _code(str(value))


def _either(values: Sequence[str]) -> str:
    return " or ".join(_code(each) for each in values)


def _code(text: str) -> str:
    """Return the text as a Markdown code span; the text may contain backticks."""
    text = " ".join(text.split()) if "\n" in text else text
    return f"`` {text} ``" if "`" in text else f"`{text}`"


def _spelled(expression: Expression, *, outermost: bool = True) -> str:
    """Return a `when` as Markdown; all but the outermost `and` or `or` are in parentheses."""
    if expression.operator == "signal":
        return f"**{expression.name}**"
    if expression.operator == "not":
        return f"not {_spelled(expression.parts[0], outermost=False)}"
    text = f" {expression.operator} ".join(_spelled(part, outermost=False) for part in expression.parts)
    return text if outermost else f"({text})"


def _without_placeholders(text: str) -> str:
    """Return the text with each placeholder replaced by words that describe it."""
    return substituted(numbered(text), lambda names: _stand_in(*names[0].partition(".")[::2]))


def _stand_in(name: str, column: str) -> str:
    words = {
        "subject": "the worker",
        "everywhere": "the worker",
        "others": "the other workers",
        "unfinished": "the others",
        "victims": "the others",
    }
    return f"‹{(column or words.get(name, name)).replace('_', ' ')}›"


def table(rows: Iterable[Sequence[str]]) -> str:
    """Return rows as aligned columns; the last column is not padded."""
    rows = list(rows)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join("  ".join(map(str.ljust, row, widths)).rstrip() for row in rows)
