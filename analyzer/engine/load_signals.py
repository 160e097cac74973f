"""The part `signals` of a rule file → signals, and the patterns that they look for in log records."""

from __future__ import annotations

from collections.abc import Mapping

import regex

from analyzer.engine import conditions
from analyzer.engine.document import Document
from analyzer.engine.language import KINDS, LEVELS, SCOPES, SHORTEST_LITERAL, Signal, Within
from analyzer.engine.rule_schema import keys
from analyzer.model.run import Pattern
from analyzer.model.schema import TABLES

_SIGNAL_KEYS, _LOG_KEYS = keys("signal"), keys("log")
_TAKEN = frozenset({"count", *(column.name for column in TABLES["matches"])})
"""What a text can say of a match already; a group of that name would hide it."""


def signals(document: Document) -> dict[str, Signal]:
    """The signals of a rule, each fault of them noted."""
    data = document.data["signals"]
    if not isinstance(data, dict) or not data:
        document.fault(("signals",), "`signals` names at least one signal")
        return {}
    return {
        name: _signal(document, name, body)
        for name, body in data.items()
        if document.is_map(("signals", name), body)
    }


def _signal(document: Document, name: str, body: Mapping[str, object]) -> Signal:
    path = ("signals", name)
    document.only(path, body, _SIGNAL_KEYS)
    log = body.get("log")
    table = "matches" if log is not None else str(body.get("table", ""))
    if table not in TABLES:
        document.fault(
            path,
            f"`{table}` is no table; there are {', '.join(TABLES)}"
            if table
            else "names neither `table` nor `log`",
        )
        table = "job"
    where = dict(document.map_at((*path, "where"), body.get("where")))
    _check_where(document, path, table, where)
    pattern, example = _pattern(document, name, document.map_at((*path, "log"), log)) if log else (None, "")
    if pattern:
        where |= {"pattern": pattern.id} | ({} if "after_end" in where else {"after_end": False})
    return Signal(
        name=name,
        table=table,
        where=where,
        of=document.one_of((*path, "of"), body.get("of", "anyone"), SCOPES),
        who=_who(document, path, table, str(body.get("who", "worker"))),
        at_least=document.whole((*path, "at_least"), body.get("at_least", 1)),
        after=_earlier(document, name, body, "after"),
        before=_earlier(document, name, body, "before"),
        within=_near(document, name, body),
        says=str(body.get("says", "")),
        pattern=pattern,
        example=example,
        kind=document.one_of((*path, "kind"), body.get("kind", "line"), KINDS),
    )


def _earlier(document: Document, name: str, body: Mapping[str, object], side: str) -> str:
    """The signal that this one lies behind or before; it stands above, so that none waits for itself."""
    other = body.get(side)
    if other is None:
        return ""
    path = ("signals", name, side)
    above = list(document.data["signals"])
    if other not in above[: above.index(name)]:
        document.fault(path, f"`{other}` is no signal above this one")
        return ""
    if side == "before" and body.get("after") is not None:
        document.fault(path, "a signal lies behind another one or before it, not both")
    return str(other)


def _near(document: Document, name: str, body: Mapping[str, object]) -> Within:
    path = ("signals", name, "within")
    data = document.map_at(path, body.get("within"))
    document.only(path, data, keys("within"))
    if data and not (body.get("after") or body.get("before")):
        document.fault(path, "`within` goes with `after` or `before`")
    limits: dict[str, float] = {}
    for key, value in data.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
            document.fault((*path, key), f"`{key}` is a number, not `{value}`")
        else:
            limits[key] = value
    steps = limits.get("steps")
    return Within(None if steps is None else int(steps), limits.get("seconds"))


def _who(document: Document, path: tuple[str, ...], table: str, who: str) -> str:
    columns = {column.name for column in TABLES[table]}
    if who not in columns and table != "job":
        document.fault((*path, "who"), f"`{who}` is no column of {table}")
    return who


def _check_where(document: Document, path: tuple[str, ...], table: str, where: Mapping[str, object]) -> None:
    columns = {column.name: column for column in TABLES[table]}
    for name, condition in where.items():
        if found := conditions.fault(columns.get(name), condition):
            document.fault((*path, "where", name), f"`{name}` of {table} {found}")


def _pattern(document: Document, name: str, log: Mapping[str, object]) -> tuple[Pattern | None, str]:
    path = ("signals", name, "log")
    document.only(path, log, _LOG_KEYS)
    literals = log.get("any_of")
    literals = [literals] if isinstance(literals, str) else literals
    if not isinstance(literals, list) or not all(
        isinstance(each, str) and len(each) >= SHORTEST_LITERAL for each in literals or [0]
    ):
        document.fault((*path, "any_of"), "`any_of` lists literal texts of four characters or more")
        return None, ""
    expression = None if log.get("regex") is None else str(log["regex"])
    pattern = Pattern(
        f"{document.data['id']}/{name}", tuple(literals), expression, _levels(document, path, log)
    )
    example = str(log.get("example", ""))
    if found := _pattern_fault(pattern, example):
        document.fault((*path, "example" if "example" in log else "any_of"), found)
        return None, ""
    return pattern, example


def _levels(document: Document, path: tuple[str, ...], log: Mapping[str, object]) -> frozenset[str]:
    levels = log.get("levels") or []
    if isinstance(levels, list) and all(level in LEVELS for level in levels):
        return frozenset(levels)
    document.fault((*path, "levels"), f"`levels` lists some of {', '.join(LEVELS)}")
    return frozenset()


def _pattern_fault(pattern: Pattern, example: str) -> str | None:
    if not example:
        return "an `example` line is missing that the pattern matches"
    if not any(literal in example for literal in pattern.literals):
        return "the example holds none of `any_of`"
    if pattern.regex is None:
        return None
    try:
        found = regex.search(pattern.regex, example, regex.DOTALL, timeout=1.0)
    except regex.error as error:
        return f"`regex` is none: {error}"
    except TimeoutError:
        return "`regex` takes more than a second on its own example"
    if not found:
        return "the example is not matched by `regex`"
    taken = sorted(_TAKEN & found.groupdict().keys())
    return f"`regex` has a group `{taken[0]}`, which is the name of a column of matches" if taken else None
