"""Learns the prefix of a collector that no style knows, from the lines that TensorFlow and Python begin.

A program cannot put anything before the lines of TensorFlow's C++ logger, of absl or before a traceback. What
stands there in most of them, in one form, was added by whoever collected the output.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise
from typing import NamedTuple

from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style
from analyzer.ingest.logs.prefixes.heads import LEVEL_NAMES
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of

_OWN_BEGINNING = re.compile(
    r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{6}: [IWEF] "
    r"|[IWEF]\d{4} \d\d:\d\d:(?:\d\d|\d{9,})\.\d{6} +\d+ [\w./-]+:\d+\]"
    r"|(?:INFO|WARNING|ERROR):(?:tensorflow|absl):|Traceback \(most recent call last\):"
    r"|  File \"[^\"]{1,200}\", line \d|To enable (?:the following|them in) "
    r"|The error could be from a previous op"
)
"""Regex for how TensorFlow and Python begin lines that no program can put a prefix before."""
_TIMED_BEGINNING = re.compile(
    rf"{_OWN_BEGINNING.pattern}|\d{{4}}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(?:[.,]\d+)?(?:Z|[+-]\d\d:?\d\d)?[ |-]+"
    rf"\[?(?:{'|'.join(LEVEL_NAMES)})\b"
)
"""The same, and how loggers begin a line with a date and a level; a program may put a name before them."""
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
_MARKED, _NEARLY_ALL = 0.9, 0.98
"""Minimum share of all lines that have the prefix, and the share from which on no shorter form is tried."""
_MIN_MARKED_AMONG_NOTES = 0.25
"""Share of lines with the prefix that suffices if the prefix has brackets or other marks."""
_MAX_FORMS = 8
"""Forms of a prefix that are tried, the most frequent first."""
_MAX_WRITERS = 512
_MIN_COUNTED = 8
"""Words that are equal apart from their numbers, from which on any number may stand there."""
_NUMBERS = re.compile(r"\d+")
_COUNTED = re.compile(r"((?!.*\d:\d\d:).*[A-Za-z].*):\d+")
"""Regex for a name with the number of its line behind it."""
_MAX_DIGITS = 25
_OF_SEVERAL = re.compile(r"^(\d+)/(\d+)$")
LEAST_PID = 300
"""Numbers from here on are those of processes, not the ranks of a launcher that no style knows."""
_FEW_RANKS = 4
"""Ranks that may take turns in their order for a while."""
_MAX_ONCE = 16
"""Writers whose logs may follow each other; more words of which each stands in one block are a time."""
_TIME = re.compile(
    r"(?!\d+(?:\.\d+){3}(?!\d))(?=.*(?:\d\d:\d\d|\d\d[/-]\d\d|\d{9}))[\d:.,TZ+/-]*"
    r"|.*(?<!\d)\d\d:\d\d:\d\d(?!\d).*|[+-]\d\d:?\d\d|@[0-9a-f]{24}"
)
"""Regex for a word with a date or a time of day, for a zone, and for TAI64N, the time of multilog and s6."""
_DATE_WORDS = re.compile(
    r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)|UTC|GMT|[AP]M"
)
_STAMP = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|[+-]\d\d:?\d\d))?(?![\d:])"
    r"|[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
    r"|(?<![\d:])\d\d:\d\d:\d\d(?:[.,]\d+)?(?![\d:])"
)
_CHANNELS = ("stdout", "stderr", "out", "err", "o", "e", "O", "E", "I", "OUT", "ERR")
"""Words for a channel; annotate-output has I for what it says itself."""
_SAID_OF_ALL = tuple(
    (frozenset(words), "|".join(sorted(words, key=len, reverse=True)))
    for words in (_CHANNELS, [*LEVEL_NAMES, *map(str.lower, LEVEL_NAMES), "I", "W", "D"])
)
"""Words for streams and for levels, of which TensorFlow's lines have but one; and a regex for all of them."""

_ESCAPE = re.compile(r"\\(x[\da-fA-F]{2}|.)", re.DOTALL)
_QUOTED = r"\"(?:[^\"\\]|\\.)*\"|'(?:[^'\\]|\\.)*'"


class _Form(NamedTuple):
    """A form that many prefixes share: in `parts`, `W` is any word, a blank any white space."""

    parts: tuple[str, ...]
    prefixes: tuple[tuple[str, ...], ...]
    """The prefixes of this form, split into tokens."""


def learned_style(lines: Sequence[str]) -> Style | None:
    """Return a parser of the prefix that TensorFlow's lines in a sample have; None if there is no single one.

    If the prefix ends with a quotation mark, the text ends before the next one, as in `msg="text" pod=w-1`.
    """
    own = _form_of_most(lines)
    if (form := own or _form_of_most(lines, _TIMED_BEGINNING)) is None:
        return None
    best: tuple[float, Style] | None = None
    for end in _ends(form):
        expression = _expression(form, end)
        marked = [match for line in lines if (match := expression.match(line))]
        key = _writer_groups(marked)
        if own is None and not _count_tasks(key, marked):
            return None
        if not key and end < len(form.parts):
            continue
        share = len(marked) / len(lines)
        if best is None or share > best[0]:
            counted = {group for group in key if _is_counted([match[group] for match in marked])}
            best = share, _style(expression, key, counted)
        if share >= _NEARLY_ALL:
            break
    is_marked_by_signs = not {*form.parts} <= {"W", " "}
    least = _MIN_MARKED_AMONG_NOTES if is_marked_by_signs else _MARKED
    return best[1] if best and best[0] >= least else None


def _ends(form: _Form) -> Iterator[int]:
    """Yield the lengths, in tokens, that a prefix may have, longest first; shorter ones end with a blank.

    What a shorter one leaves are marks and times, which some collectors put before a part of the lines.
    """
    parts = form.parts
    yield len(parts)
    for end in range(len(parts) - 1, 0, -1) if parts[-1] != '"' else ():
        if parts[end] == "W" and not all(_is_time(prefix[end]) for prefix in form.prefixes):
            return
        if parts[end - 1] == " ":
            yield end


def begins_own_line(text: str) -> bool:
    """Return True if a text is a line that TensorFlow or Python began."""
    return _OWN_BEGINNING.match(text) is not None


def has_unread_prefix(lines: Sequence[str]) -> bool:
    """Return True if most of TensorFlow's lines begin with a prefix of one form that is more than a time."""
    form = _form_of_most(lines)
    words = {word for prefix in form.prefixes for word in prefix} if form else ()
    return not all(_is_time(word) or _is_mark(word) or word.isspace() for word in words)


def _count_tasks(key: Sequence[int], marked: Sequence[re.Match[str]]) -> bool:
    """Return True if several names differ only in a number, as of tasks, and the lowest is not 1."""
    names = {":".join(match[group] for group in key) for match in marked}
    first = min((int(each[-1]) for name in names if (each := _NUMBERS.findall(name))), default=1)
    alike = len({_NUMBERS.sub("0", name) for name in names}) == 1 < len(names)
    return alike and first != 1 and not re.match(r"(?i)\w*(?:thread|process|executor|pool)", min(names))


def _form_of_most(lines: Sequence[str], beginning: re.Pattern[str] = _OWN_BEGINNING) -> _Form | None:
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
    return _Form(parts, tuple(each[: len(parts)] for each in split if _form(each)[: len(parts)] == parts))


def _count_of_longer(parts: Sequence[str], forms: Counter[tuple[str, ...]]) -> int:
    """Return how many prefixes begin with these `parts`; longer ones reach into a text that quotes a line."""
    return sum(count for form, count in forms.items() if form[: len(parts)] == parts)


def _form(tokens: Sequence[str]) -> tuple[str, ...]:
    return tuple(" " if each.isspace() else _mark(each) if _is_mark(each) else "W" for each in tokens)


def _mark(token: str) -> str:
    return token.replace("'", '"')


def _is_mark(token: str) -> bool:
    return token[0] in "[](){}<>|│┃,;=\"'*" or not token.strip(":")


def _expression(form: _Form, end: int) -> re.Pattern[str]:
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
        return _compiled(found[:-1], rf"(?P<text>{_QUOTED}|[^\s\"']*)")
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
    for known, expression in _SAID_OF_ALL:
        if values <= known:
            return expression
    if all(value.isdecimal() for value in values):
        return r"\d+"
    if all(map(_is_time, values)):
        return _WORD_WITH_COMMA if any("," in value for value in values) else _WORD
    if len(values) >= _MIN_COUNTED and len(shapes := {_NUMBERS.sub("0", value) for value in values}) == 1:
        return r"\d+".join(map(re.escape, shapes.pop().split("0")))
    return "|".join(re.escape(value) for value in sorted(values, key=len, reverse=True))


def _is_time(word: str) -> bool:
    return _TIME.fullmatch(word) is not None or _DATE_WORDS.fullmatch(word) is not None


def _writer_groups(marked: Sequence[re.Match[str]]) -> Sequence[int]:
    """Return the regex groups that identify the writer of a line: a name and, if needed, a process number."""
    groups = range(2, marked[0].re.groups) if marked else ()
    words = {group: _uncounted([match[group] for match in marked]) for group in groups}
    named = {
        group: values for group, values in words.items() if 2 * sum(map(_is_time, values)) <= len(values)
    }
    ranked = {group: rank for group, values in named.items() if (rank := rank_of_key(values)) is not None}
    if not ranked:
        return ()
    name = max(ranked, key=lambda group: (ranked[group], -group))
    names_tasks, *_ = ranked[name]
    numbers = [
        group for group in ranked if not names_tasks and group != name and _counts_processes(words[group])
    ]
    pairs = {group: {*zip(words[name], words[group], strict=True)} for group in numbers}
    return (name, *[group for group in numbers if len(pairs[group]) > len({*words[name]})][:1])


def _uncounted(values: Sequence[str]) -> Sequence[str]:
    """Return names without the number of their line, as in `worker-0:12`, where most have another one."""
    found = [match[1] for value in values if (match := _COUNTED.fullmatch(value))]
    return found if len(found) == len(values) < 2 * len({*values}) else values


def _counts_processes(values: Sequence[str]) -> bool:
    """Return True if the words are numbers from 0 or from 1 without a gap, as of the processes on a host."""
    numbers = {int(value) for value in values if value.isdecimal() and len(value) < 4}
    counted = {*range(min(numbers, default=0), min(numbers, default=0) + len({*values}))}
    return numbers == counted and min(numbers, default=2) < 2


def counts_lines(numbers: Sequence[int]) -> bool:
    """Return True if numbers are a counter of lines, which begins anew now and then."""
    rising = sum(after in {before + 1, 0, 1} for before, after in pairwise(numbers))
    return len({*numbers}) > _FEW_RANKS and rising >= _MIN_SHARE * (len(numbers) - 1)


def rank_of_key(values: Sequence[str]) -> tuple[bool, bool, int] | None:
    """Return how well words tell the writers apart; None for times, levels, counters and constants."""
    distinct = {*values}
    is_number = all(value.isdecimal() for value in distinct)
    is_said_of_all = any(distinct <= known for known, _ in _SAID_OF_ALL)
    names_tasks = all(worker_of(value, Kind.OTHER) for value in distinct)
    if is_said_of_all or all(map(_is_time, distinct)):
        return None
    if len(distinct) < 2:
        return (True, True, 1) if names_tasks else None
    turns = 1 + sum(before != after for before, after in pairwise(values))
    if turns == len(distinct) > _MAX_ONCE:
        return None
    numbers = [int(value) for value in values if is_number and len(value) < _MAX_DIGITS]
    is_counter = bool(numbers) and (counts_lines(numbers) or all(a <= b for a, b in pairwise(numbers)))
    is_process_of_one = is_number and turns == len(distinct)
    if is_counter or is_process_of_one or 2 * len(distinct) > len(values) or len(distinct) > _MAX_WRITERS:
        return None
    return names_tasks, not is_number, len(distinct)


def _is_counted(values: Sequence[str]) -> bool:
    return _uncounted(values) is not values


def _style(expression: re.Pattern[str], key: Sequence[int], counted: AbstractSet[int]) -> Style:
    def read(line: str) -> CollectedLine | None:
        if not (match := expression.match(line)):
            return None
        stamp = _STAMP.search(match["prefix"])
        time = stamp[0].replace(",", ".") if stamp else ""
        names = (_COUNTED.sub(r"\1", match[group]) if group in counted else match[group] for group in key)
        writer = _OF_SEVERAL.sub(r"\1-of-\2", ":".join(names))
        writer = f"pid={writer}" if writer.isdecimal() and int(writer[:_MAX_DIGITS]) >= LEAST_PID else writer
        return CollectedLine(writer or None, _unquoted(match["text"] or ""), timestamp=time)

    return read


def _unquoted(text: str) -> str:
    """Return what a text in quotation marks stands for, in JSON or in Python; any other text as it is."""
    if not re.fullmatch(_QUOTED, text, re.DOTALL):
        return text
    value = _of_json(text)
    return (_of_bytes(text) if value is None else value).rstrip("\n")


def _of_json(text: str) -> str | None:
    try:
        return str(json.loads(text, strict=False))
    except ValueError:
        return None


def _of_bytes(text: str) -> str:
    """Return what Python's form of bytes or of a text stands for."""
    plain = _ESCAPE.sub(_escaped, text[1:-1])
    try:
        return plain.encode("latin-1").decode()
    except UnicodeError:
        return plain


def _escaped(match: re.Match[str]) -> str:
    what = match[1]
    return chr(int(what[1:], 16)) if what[1:] else {"n": "\n", "t": "\t", "r": "\r"}.get(what, what)
