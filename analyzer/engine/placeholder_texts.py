"""Fills the placeholders in the texts of rules.

{subject}          the bound worker, or several
{everywhere}       `every worker` if the rule holds for all of them, else like {subject}
{others}           the other training workers
{unfinished}       the other training workers that neither finished nor exited with 0
{victims}          the other training workers that failed because they lost a peer
{a.column|b.column} the first of several that is known
{signal.column}    a column of the first row that satisfied a signal, or a group of its regex
{life.column}      the subject's row of `lifetimes`
{job.column}       the one row of `job`
{was|were}         the first word if the subject is one worker, the second if several
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

LONGEST_VALUE = 160
_NAME = r"[a-z_][a-z0-9_]*"
_PLACEHOLDER = re.compile(rf"\{{(?P<names>{_NAME}(?:\.{_NAME})?(?:\|{_NAME}\.{_NAME})*)\}}")
_BY_NUMBER = re.compile(r"\{(?P<one>[a-z']*)\|(?P<many>[a-z']*)\}")
_CHOICE = re.compile(r"\{[\w'. ]+\|[\w'. |]*\}")
"""Regex of text in braces that is meant as one of these two."""
_METRIC = re.compile(r"\.(?:\w*value|printed|jump_from|jump_to)$")
"""Regex for columns with the value of a metric as a log or an event file states it."""
_AT_PLACE = re.compile(rf"(?<!seen),? at \{{(?P<names>{_NAME}\.place)\}}")
"""Regex of the epoch or step at which something happened; a text is true without it too."""
_LARGE, _HUGE = 999.5, 1e9
_INTERNAL = re.compile(
    r"\s*\[\[(?:(?:\{\{)?(?:function_)?node [^\]]*|[A-Za-z_][\w/.:-]*)\]\]"
    r"|\{\{(?:function_)?node [^{}]*\}\}\s*|\s*\[Op:\w+\](?: name:(?: \S+)?)?|^Graph execution error:\s*"
)
"""Regex of names of graph nodes and ops in TensorFlow's messages; removed in texts, kept in evidence."""
_LOG_HEAD = re.compile(
    r"\A\s*(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:\.\d+)?: [IWEF]|[IWEF]\d{4} \d\d:\d\d:[\d.]+ +\d+) +"
    r"[\w./-]+:\d+\]\s+(?=\S)"
)
"""Regex of time, level and source file before a line of TensorFlow's runtime; left out as `_INTERNAL` is."""

_HEADINGS = re.compile(
    r"^\s*(?:(?:Graph execution error:|From /job:\S+:|\d+ root error\(s\) found\.|\(0\)"
    r"|Detected at node [^\n]*|<stack traces unavailable>)\s*)+",
    re.MULTILINE,
)
"""Regex of what TensorFlow prints before the statement of an error."""
_CALL = "Additional GRPC error information"
"""Beginning of the line in which TensorFlow names the task and the method of a call."""
_NEXT_STATEMENT = re.compile(r"(?<=[.!?])\s+(?=[A-Z(])|\s+(?=\(1\) )")
_MAX_WORDS, _MIN_QUOTED_WORDS = 22, 8
"""Maximum words of a headline, and minimum that it may quote of an error; the evidence has all of it."""

Values = Mapping[str, Mapping[str, object] | str]


def fill(text: str, values: Values) -> str:
    """Return the text with its placeholders filled in; values that are not known become `unknown`.

    Where no epoch or step is known, `at {signal.place}` is left out.
    """
    text = _AT_PLACE.sub(lambda at: at[0] if _word([at["names"]], values) != "unknown" else "", text)
    subjects = values.get("subjects")
    several = isinstance(subjects, Mapping) and subjects["count"] != 1
    return substituted(numbered(text, several=several), lambda names: _word(names, values))


def headline(text: str, values: Values) -> str:
    """Return the text filled in like `fill`, with only the first statement of each quoted error.

    A clause after a semicolon is left out if it names victims and there are none.
    """
    most = max(_MAX_WORDS + 1 - len(text.split()), _MIN_QUOTED_WORDS)
    short = {
        name: _statements(value, most) if isinstance(value, Mapping) else value
        for name, value in values.items()
    }
    clauses = text.split("; ")
    known = [clause for clause in clauses if "{victims}" not in clause or values.get("victims")]
    ended = "." if len(known) < len(clauses) and not known[-1].endswith(".") else ""
    return fill("; ".join(known) + ended, short)


def _statements(row: Mapping[str, object], most: int) -> dict[str, object]:
    return {key: _statement(value, most) if isinstance(value, str) else value for key, value in row.items()}


def _statement(error: str, most: int) -> str:
    """Return the first statement of an error, without headings, cut after `most` words."""
    bare = _INTERNAL.sub("", _LOG_HEAD.sub("", error))
    lines = [line for line in _HEADINGS.sub("", bare).splitlines() if line.strip()]
    lines = [line for line in lines if not line.startswith(_CALL)] or lines
    words = _NEXT_STATEMENT.split(lines[0])[0].split() if lines else error.split()
    return " ".join(words[:most]) + ("…" if len(words) > most else "")


def is_known(text: str, values: Values) -> bool:
    """Return True if every placeholder of a text has a known value."""
    alternatives = (match["names"].split("|") for match in _PLACEHOLDER.finditer(text))
    return all(_first_known(names, values) not in {None, ""} for names in alternatives)


def _first_known(names: Sequence[str], values: Values) -> object:
    return next((value for name in names if (value := _value_of(name, values)) is not None), None)


def _word(names: Sequence[str], values: Values) -> str:
    """Return the text of the first known value of the placeholder's alternatives."""
    known = next((name for name in names if _value_of(name, values) is not None), names[0])
    value = _value_of(known, values)
    return _rounded(value, known) if isinstance(value, float) else _as_text(value)


def _rounded(value: float, name: str) -> str:
    """Return a number with three significant digits, without exponent up to a billion.

    The value of a metric keeps four: two losses that differ must not look equal.
    """
    if _METRIC.search(name):
        return f"{value:.4g}"
    return f"{value:,.0f}" if _LARGE <= abs(value) < _HUGE else f"{value:.3g}"


def _value_of(name: str, values: Values) -> object:
    first, _, column = name.partition(".")
    value: object = values.get(first, "unknown")
    if column:
        value = value.get(column) if isinstance(value, Mapping) else None
    return None if isinstance(value, Mapping) else value


def numbered(text: str, *, several: bool = False) -> str:
    """Return the text with the singular or plural chosen for each `{one|many}`."""
    return _BY_NUMBER.sub(lambda words: words["many" if several else "one"], text)


def substituted(text: str, word: Callable[[Sequence[str]], str]) -> str:
    """Return the text with each placeholder replaced by `word(names)`; `names` are its alternatives."""
    return _PLACEHOLDER.sub(lambda match: word(match["names"].split("|")), text)


def placeholders(text: str) -> Iterator[tuple[str, str | None]]:
    """Yield (name, column) of every placeholder in a text."""
    for match in _PLACEHOLDER.finditer(text):
        for name in match["names"].split("|"):
            first, _, column = name.partition(".")
            yield first, column or None


def unfilled(text: str) -> Iterator[str]:
    """Yield what looks like a choice in braces and would stay in the text as it is."""
    for match in _CHOICE.finditer(text):
        if not (_PLACEHOLDER.fullmatch(match[0]) or _BY_NUMBER.fullmatch(match[0])):
            yield match[0]


def _as_text(value: object) -> str:
    if value is None or isinstance(value, Mapping):
        return "unknown"
    text = " ".join(_INTERNAL.sub("", _LOG_HEAD.sub("", str(value))).split())
    if len(text) <= LONGEST_VALUE:
        return text
    cut = text[:LONGEST_VALUE]
    return (cut.rpartition(" ")[0] or cut) + "…"
