"""Finds the form that the prefixes of a collector share, and makes a regex of it."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from typing import NamedTuple

from analyzer.ingest.logs.collectors.learned.words import SAID_OF_ALL, is_time
from analyzer.ingest.logs.prefixes.heads import LEVEL_NAMES
from analyzer.ingest.logs.prefixes.own_beginnings import OWN_BEGINNING

TIMED_BEGINNING = re.compile(
    rf"{OWN_BEGINNING.pattern}|\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[ |-]+"
    rf"\[?(?:{'|'.join(LEVEL_NAMES)})\b"
)
"""How TensorFlow, Python and loggers begin lines; a program may put a name before a logger's date."""
_MAX_PREFIX_CHARS = 240
_TOKEN = re.compile(
    r"(?:\d{4}-\d\d-\d\dT)?\d\d:\d\d:\d\d,\d{1,9}(?![\w,])"
    r"| +|\t|[\[\](){}<>|│┃,;=\"'*]|:+(?=[\s\[\](){}<>|│┃,;=\"'*]|$)"
    r"|(?:(?!:+(?:[\s\[\](){}<>|│┃,;=\"'*]|$))[^\s\[\](){}<>|│┃,;=\"'*])+"
)
"""Regex for a time with a comma, blanks, a tab, a bracket or a mark, or a word that may hold colons, dots and
dashes."""
_WORD = r"[^\s\[\](){}<>|│┃,;=\"'*]+?"
_WORD_WITH_COMMA = r"[\dT:-]+,\d+"
_MIN_LINES = 3
"""Lines of TensorFlow's that have the prefix at least."""
_MIN_SHARE = 0.8
"""Share of TensorFlow's lines that have the same form of prefix."""
_MAX_FORMS = 8
"""Forms of a prefix that are tried, the most frequent first."""
_MIN_COUNTED = 8
"""Words that are equal apart from their numbers, from which on any number may stand there."""
_NUMBERS = re.compile(r"\d+")
QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"


class Form(NamedTuple):
    """A form that many prefixes share: in `parts`, `W` is any word, a blank any white space."""

    parts: tuple[str, ...]
    prefixes: tuple[tuple[str, ...], ...]
    """The prefixes of this form, split into tokens."""


def ends(form: Form) -> Iterator[int]:
    """Yield the lengths, in tokens, that a prefix may have, longest first; shorter ones end with a blank.

    What a shorter one leaves are marks and times, which some collectors put before a part of the lines.
    """
    parts = form.parts
    yield len(parts)
    for end in range(len(parts) - 1, 0, -1) if parts[-1] != '"' else ():
        if parts[end] == "W" and not all(is_time(prefix[end]) for prefix in form.prefixes):
            return
        if parts[end - 1] == " ":
            yield end


def has_unread_prefix(lines: Sequence[str]) -> bool:
    """Return True if most of TensorFlow's lines begin with a prefix of one form that is more than a time."""
    form = form_of_most(lines)
    words = {word for prefix in form.prefixes for word in prefix} if form else ()
    return not all(is_time(word) or _is_mark(word) or word.isspace() for word in words)


def form_of_most(lines: Sequence[str], beginning: re.Pattern[str] = OWN_BEGINNING) -> Form | None:
    """Return the form of what stands before most lines with that beginning; None if there is nothing."""
    begun = [match.start() and line[: match.start()] for line in lines
             if (match := beginning.search(line, 0, _MAX_PREFIX_CHARS + 80))]  # fmt: skip
    split = [tuple(_TOKEN.findall(prefix.lstrip())) for prefix in begun if prefix and prefix.strip()]
    if not split:
        return None
    forms = Counter(map(_form, split))
    shared = {parts: _count_of_longer(parts, forms) for parts, _ in forms.most_common(_MAX_FORMS)}
    parts = max(shared, key=lambda each: (shared[each], len(each)))
    if shared[parts] < _MIN_LINES or shared[parts] < _MIN_SHARE * len(begun):
        return None
    return Form(parts, tuple(each[: len(parts)] for each in split if _form(each)[: len(parts)] == parts))


def _count_of_longer(parts: Sequence[str], forms: Counter[tuple[str, ...]]) -> int:
    """Return how many prefixes begin with these `parts`; longer ones reach into a text that quotes a line."""
    return sum(count for form, count in forms.items() if form[: len(parts)] == parts)


def _form(tokens: Sequence[str]) -> tuple[str, ...]:
    return tuple(" " if each.isspace() else _mark(each) if _is_mark(each) else "W" for each in tokens)


def _mark(token: str) -> str:
    return token.replace("'", '"')


def _is_mark(token: str) -> bool:
    return token[0] in "[](){}<>|│┃,;=\"'*" or not token.strip(":")


def line_regex(form: Form, end: int) -> re.Pattern[str]:
    """Return a regex for lines with the first `end` parts of a prefix; each word is a group."""
    only_words = {*form.parts} <= {"W", " "}
    seen = [{prefix[at] for prefix in form.prefixes} for at in range(end)]
    narrow = [only_words and {*after} != {"\t"} for after in [*seen[1:], set()]]
    found = [
        _part(part, values, only_words=each)
        for part, values, each in zip(form.parts, seen, narrow, strict=False)
    ]
    last = form.parts[end - 1]
    if last == '"':
        return _compiled(found[:-1], rf"(?P<text>{QUOTED}|[^\s\"']*)")
    if last != " ":
        return _compiled(found, "(?P<text>.*)$")
    width = min(map(len, seen[-1])) if end == len(form.parts) else 1
    blank = _blank(seen[-1])
    return _compiled(found[:-1], rf"(?:{blank}{{{width}}}(?P<text>.*)|{blank}*)$")


def _part(part: str, values: AbstractSet[str], *, only_words: bool) -> str:
    if part == "W":
        expression = _WORD_WITH_COMMA if any("," in value for value in values) else _WORD
        return f"({_word(values) if only_words else expression})"
    return {" ": f"{_blank(values)}+", '"': "[\"']"}.get(part, re.escape(part))


def _blank(values: AbstractSet[str]) -> str:
    """Return a regex for one blank or tab; for a tab only, if nothing but tabs stood at this place."""
    return r"\t" if {*"".join(values)} == {"\t"} else r"[ \t]"


def _compiled(prefix: Sequence[str], rest: str) -> re.Pattern[str]:
    return re.compile(rf"(?P<prefix>[ \t]*{''.join(prefix)}){rest}", re.DOTALL)


def _word(values: AbstractSet[str]) -> str:
    """Return a narrow regex for a prefix's word with these values, as no separator marks where it ends."""
    for known, expression in SAID_OF_ALL:
        if values <= known:
            return expression
    if all(value.isdecimal() for value in values):
        return r"\d+"
    if all(map(is_time, values)):
        return _WORD_WITH_COMMA if any("," in value for value in values) else _WORD
    if len(values) >= _MIN_COUNTED and len(shapes := {_NUMBERS.sub("0", value) for value in values}) == 1:
        return r"\d+".join(map(re.escape, shapes.pop().split("0")))
    return "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))
