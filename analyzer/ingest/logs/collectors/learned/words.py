"""Tells what the words of a prefix are: times, levels, streams, counters, names of writers."""

import re
from collections.abc import Sequence
from itertools import pairwise

from analyzer.ingest.logs.prefixes.heads import LEVEL_NAMES
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of

_MIN_RISING = 0.8
"""Share of a counter's numbers that are one more than the number before, or begin anew."""
_MAX_WRITERS = 512
_COUNTED = re.compile(r"((?!.*\d:\d\d:).*[A-Za-z].*):\d+")
"""Regex for a name with the number of its line behind it."""
MAX_DIGITS = 25
"""Digits of a number that are looked at; a longer one is none that a launcher counts with."""
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
_CHANNELS = ("stdout", "stderr", "out", "err", "o", "e", "O", "E", "I", "OUT", "ERR")
"""Words for a channel; annotate-output has I for what it says itself."""
SAID_OF_ALL = tuple(
    (frozenset(words), "|".join(sorted(words, key=len, reverse=True)))
    for words in (_CHANNELS, [*LEVEL_NAMES, *map(str.lower, LEVEL_NAMES), "I", "W", "D"])
)
"""Words for streams and for levels, of which TensorFlow's lines have but one; and a regex for all of them."""


def is_time(word: str) -> bool:
    """Return True for a word with a date, a time of day or a zone."""
    return _TIME.fullmatch(word) is not None or _DATE_WORDS.fullmatch(word) is not None


def writer_groups(marked: Sequence[re.Match[str]]) -> Sequence[int]:
    """Return the regex groups that identify the writer of a line: a name and, if needed, a process number."""
    groups = range(2, marked[0].re.groups) if marked else ()
    words = {group: uncounted([match[group] for match in marked]) for group in groups}
    named = {group: values for group, values in words.items() if 2 * sum(map(is_time, values)) <= len(values)}
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


def uncounted(values: Sequence[str]) -> Sequence[str]:
    """Return names without the number of their line, as in `worker-0:12`, where most have another one."""
    found = [match[1] for value in values if (match := _COUNTED.fullmatch(value))]
    return found if len(found) == len(values) < 2 * len({*values}) else values


def without_line_number(name: str) -> str:
    """Return a name without the number of its line: `worker-0:12` → `worker-0`."""
    return _COUNTED.sub(r"\1", name)


def _counts_processes(values: Sequence[str]) -> bool:
    """Return True if the words are numbers from 0 or from 1 without a gap, as of the processes on a host."""
    numbers = {int(value) for value in values if value.isdecimal() and len(value) < 4}
    counted = {*range(min(numbers, default=0), min(numbers, default=0) + len({*values}))}
    return numbers == counted and min(numbers, default=2) < 2


def counts_lines(numbers: Sequence[int]) -> bool:
    """Return True if numbers are a counter of lines, which begins anew now and then."""
    rising = sum(after in {before + 1, 0, 1} for before, after in pairwise(numbers))
    return len({*numbers}) > _FEW_RANKS and rising >= _MIN_RISING * (len(numbers) - 1)


def rank_of_key(values: Sequence[str]) -> tuple[bool, bool, int] | None:
    """Return how well words tell the writers apart; None for times, levels, counters and constants."""
    distinct = {*values}
    is_number = all(value.isdecimal() for value in distinct)
    is_said_of_all = any(distinct <= known for known, _ in SAID_OF_ALL)
    names_tasks = all(worker_of(value, Kind.OTHER) for value in distinct)
    if is_said_of_all or all(map(is_time, distinct)):
        return None
    if len(distinct) < 2:
        return (True, True, 1) if names_tasks else None
    turns = 1 + sum(before != after for before, after in pairwise(values))
    if turns == len(distinct) > _MAX_ONCE:
        return None
    numbers = [int(value) for value in values if is_number and len(value) < MAX_DIGITS]
    is_counter = bool(numbers) and (counts_lines(numbers) or all(a <= b for a, b in pairwise(numbers)))
    is_process_of_one = is_number and turns == len(distinct)
    if is_counter or is_process_of_one or 2 * len(distinct) > len(values) or len(distinct) > _MAX_WRITERS:
        return None
    return names_tasks, not is_number, len(distinct)
