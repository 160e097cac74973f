"""Prefixes that collectors add to log lines: launchers, container runtimes, Kubernetes, log services.

One file can hold the output of many workers, with a prefix on each line that names its writer. The prefixes
are removed and the file is split into one stream per origin; every line keeps its number in the file.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, pairwise
from operator import itemgetter
from typing import NamedTuple

from analyzer.ingest.logs.collectors import sections, structured
from analyzer.ingest.logs.collectors.captured_fields import style_of_fields, with_learned_writer
from analyzer.ingest.logs.collectors.channels import by_channel
from analyzer.ingest.logs.collectors.colours import Coloured, coloured_style
from analyzer.ingest.logs.collectors.indented import hosts_above, indented_style
from analyzer.ingest.logs.collectors.learned.forms import has_unread_prefix
from analyzer.ingest.logs.collectors.learned.style import LEAST_PID, learned_style
from analyzer.ingest.logs.collectors.learned.words import counts_lines
from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style, differ_in_number_only
from analyzer.ingest.logs.collectors.shippers import without_added_fields
from analyzer.ingest.logs.collectors.styles import (
    EMBEDDED_STYLES,
    OF_JSON,
    ONLY_IN_TURN,
    STYLES,
    TIMES,
    ansible_result,
    bar_line,
    docker_line,
    has_line_break,
    json_line,
    process_name,
    rank_in_brackets,
    ray_line,
    replica_exit,
    stamped_line,
    tagged_rank,
)
from analyzer.ingest.logs.collectors.timestamps import TimestampStripper, iso_timestamp
from analyzer.ingest.logs.prefixes.heads import head
from analyzer.ingest.logs.text import ESCAPES

_MIN_MARKED_SHARE = 0.9
"""Share of the sampled lines that must carry a prefix for the file to be of that style."""
_MIN_EMBEDDED_SHARE = 0.2
"""Share of lines with a prefix that suffices for `EMBEDDED_STYLES`."""
_MIN_SHARE_OF_PROCESSES = 0.05
"""The same for the names of processes, also of Ray: most of their output may be tracebacks."""
_SAMPLE_LINES = 400
_MIN_LINES = 2
"""Lines with a prefix that a file of its style has at least; one of `tagged_rank` and of `replica_exit`, as
nothing looks alike."""
_MIN_FOR_RETURNS = 12
"""Lines with a prefix from which on each writer must have written two of them on average."""
_OF_SLURM = ("srun: ", "slurmstepd: ")
_REPORT, _END_OF_REPORT = "Sender: LSF System <", "The output (if any)"
"""How LSF's report on a job begins, below the output or above it, and the line above the output."""
_DATED = re.compile(r"\d{4}|[IWEF]\d{4} \d\d:")
"""Regex for lines that begin with a date, of TensorFlow's loggers, too: no prefix above covers them."""
_LOG_FIELD = re.compile(r'"log"\s*:')


class Stream(NamedTuple):
    """The lines of one writer in a file, with their line numbers; `key` is how the collector names it.

    A message of several lines gives several entries with the same line number.
    """

    key: str | None
    lines: list[tuple[int, str]]


def detect_style(lines: Sequence[str]) -> Style | None:
    """Return the collector style of a file, judged by its first lines; None if there is none.

    A prefix that no style knows is learned from the lines that TensorFlow began.
    """
    marked = (_without_colours(line) for line in lines if _may_be_marked(line))
    sample = list(islice(marked, _SAMPLE_LINES))
    style, learned = _detected(sample), None
    if style and _is_before_ranks(style, sample):
        style = _two_prefixes(style, tagged_rank)
    elif style:
        style = _with_learned(style, sample)
    elif found := style_of_fields(sample) or coloured_style(lines):
        return found
    elif learned := learned_style(sample):
        learned = _with_known(learned, sample)
        style = learned if len(_texts(learned, sample)) >= _MIN_MARKED_SHARE * len(sample) else None
    if style is None and learned is None and (indented := indented_style(lines)):
        heading = hosts_above(lines) or sections.heading_style(lines, sample)
        return sections.Sections(heading, indented) if heading else indented
    if style is None or _names_no_writer(style, sample):
        heading = sections.heading_style(lines, sample)
        if heading:
            is_alone = style is None and heading is sections.below_headings
            return heading if is_alone else sections.Sections(heading, style)
    return style or learned


def _names_no_writer(style: Style, sample: Sequence[str]) -> bool:
    """Return True if the prefixes of a style, such as times, tell no writers apart."""
    return not any(collected.key for line in sample if (collected := style(line)))


def is_unread_layout(lines: Sequence[str]) -> bool:
    """Return True if most of TensorFlow's lines begin with text that is not understood."""
    return has_unread_prefix([_without_colours(line) for line in lines[:_SAMPLE_LINES] if line.strip()])


def _with_learned(style: Style, sample: Sequence[str]) -> Style:
    """Return a style that also parses the prefix learned from the rest of the lines, if they have one."""
    texts = _texts(style, sample)
    if not has_unread_prefix(texts):
        return style
    learned = learned_style(texts)
    return _with_first_writer(style, learned) if learned else learned_style(sample) or style


def _is_before_ranks(style: Style, sample: Sequence[str]) -> bool:
    """Return True if one writer, the pod of mpirun, printed the lines of several ranks."""
    found = [collected for line in sample if (collected := style(line))]
    ranks = [(each.key, rank.key) for each in found if (rank := tagged_rank(each.text))]
    is_one = len({writer for writer, _ in ranks}) == 1 and ranks[0][0] is not None
    return is_one and len({*ranks}) > 1 and len(ranks) >= _MIN_EMBEDDED_SHARE * len(sample)


def _texts(style: Style, lines: Sequence[str]) -> Sequence[str]:
    """Return the texts behind the prefixes, without the lines that lack the prefix of this style."""
    return [collected.text for line in lines if (collected := style(line))]


def _with_known(learned: Style, sample: Sequence[str]) -> Style:
    """Return a learned style that also parses a known prefix in the rest of the lines, if they have one."""
    texts = _texts(learned, sample)
    inner = _detected([text for text in texts if text.strip()], behind_time=True)
    return _with_first_writer(learned, inner) if inner else learned


def _with_first_writer(first: Style, second: Style) -> Style:
    """Return a style for lines with both prefixes, which takes the writer from the first if that has one."""
    both = _two_prefixes(first, second)

    def read(line: str) -> CollectedLine | None:
        found, outer = both(line), first(line)
        return found._replace(key=outer.key or found.key) if found and outer else found

    return read


def _detected(sample: Sequence[str], *, behind_time: bool = False) -> Style | None:
    """Return the style of the sampled lines, None if unknown; `behind_time`: a time was removed from them."""
    text = "\n".join(sample)
    for style in STYLES if len(sample) >= _MIN_LINES else (tagged_rank,):
        if style in EMBEDDED_STYLES and not any(each in text for each in EMBEDDED_STYLES[style]):
            continue
        marked = _marked(sample, style)
        if len(marked) < (1 if style in {tagged_rank, replica_exit} else _MIN_LINES):
            continue
        if style in TIMES:
            if not behind_time and (found := _with_prefix_behind_time(style, marked)):
                return found
        elif _plausible(style, marked):
            if style is json_line and _is_docker(marked):
                return docker_line
            if style in OF_JSON:
                known = with_learned_writer(without_added_fields(style, marked), marked)
                style = style_of_fields(marked) or known
            return _two_prefixes(style, bar_line) if _has_bars_behind(style, marked) else style
    return None


def _has_bars_behind(style: Style, lines: Sequence[str]) -> bool:
    """Return True if most lines have a supervisor's bar behind the style's prefix."""
    if style in EMBEDDED_STYLES or style is bar_line:
        return False
    texts = _texts(style, lines)
    return sum(map(bool, map(bar_line, texts))) >= _MIN_MARKED_SHARE * len(texts)


def _with_prefix_behind_time(time: Style, lines: Sequence[str]) -> Style | None:
    """Return a style for lines that begin with a time; None if the program itself may have printed it."""
    texts = _texts(time, lines)
    writer = _detected([text for text in texts if text.strip()], behind_time=True)
    if time is stamped_line:
        own = [found.text for text in texts if writer and (found := writer(text))]
        if sum(map(_has_time_of_collector, [*texts, *own])) < _MIN_LINES:
            return None
    return _two_prefixes(time, writer) if writer else time


def _two_prefixes(first: Style, second: Style) -> Style:
    """Return a style that parses the prefix of the first style and, if it follows, that of the second."""

    def read(line: str) -> CollectedLine | None:
        outer = first(line)
        inner = second(outer.text) if outer else None
        if outer is None or inner is None:
            return outer
        time = inner.timestamp or outer.timestamp
        return inner._replace(
            key=inner.key or outer.key, timestamp=time, channel=inner.channel or outer.channel
        )

    return read


def _marked(lines: Sequence[str], style: Style) -> Sequence[str]:
    """Return the lines with a style's prefix; none if too few have it."""
    marked: list[str] = []
    left = len(lines) - _share_needed(style) * len(lines)
    for line in lines:
        if style(line) is not None:
            marked.append(line)
        elif (left := left - 1) < 0:
            return []
    return marked


def _plausible(style: Style, lines: Sequence[str]) -> bool:
    """Return True if the prefixes can name writers: unlike step numbers, names of writers recur."""
    keys = [collected.key or "" for line in lines if (collected := style(line))]
    if len(keys) >= _MIN_FOR_RETURNS and 2 * len({*keys}) > len(keys):
        return False
    if style is process_name:
        return len({*keys}) > 1
    if style not in ONLY_IN_TURN:
        return True
    if style is rank_in_brackets:
        numbers = [int(key) for key in keys]
        are_ranks = min(numbers) < LEAST_PID and not counts_lines(numbers)
        return are_ranks and any(later < each for each, later in pairwise(numbers))
    if len({*keys}) < sum(later != key for key, later in pairwise(keys)) + 1:
        return True
    return differ_in_number_only(keys) and any(map(_has_time_of_collector, _texts(style, lines)))


def _has_time_of_collector(text: str) -> bool:
    """Return True if a time before this text is a collector's: programs print none before such a line."""
    found = head(text)
    return text.startswith(('  File "', "{")) or (found is not None and found.time is not None)


def _share_needed(style: Style) -> float:
    if style in {replica_exit, ansible_result}:
        return 0.0
    if style in {process_name, ray_line}:
        return _MIN_SHARE_OF_PROCESSES
    return _MIN_EMBEDDED_SHARE if style in EMBEDDED_STYLES else _MIN_MARKED_SHARE


def _may_be_marked(line: str) -> bool:
    """Return False for blank lines and for messages of Slurm itself, which have no label."""
    return bool(line.strip()) and not line.startswith(_OF_SLURM)


def _without_colours(line: str) -> str:
    return ESCAPES.sub("", line) if "\x1b" in line else line


def _is_docker(entries: Sequence[str]) -> bool:
    """Return True if any entry keeps its line break; if none does, each entry is a whole line."""
    return any(_LOG_FIELD.search(line) and has_line_break(line) for line in entries)


def _outside_reports(style: Style) -> Style:
    """Return a parser that finds no new writers in the reports of LSF, whose lines look labelled."""
    seen: set[str | None] = set()
    inside = False

    def read(line: str) -> CollectedLine | None:
        nonlocal inside
        inside = line.startswith(_REPORT) or (inside and not line.startswith(_END_OF_REPORT))
        found = style(line)
        if found is None or (inside and found.key not in seen):
            return None
        seen.add(found.key)
        return found

    return read


def split_streams(numbered: list[tuple[int, str]], style: Style | None) -> list[Stream]:
    """Split consecutive lines of a file by origin; without a style, they are one stream.

    Entries that programs log as JSON objects are rendered as lines of text.
    """
    if style is None and not any(line.startswith(structured.STARTS) for _, line in numbered):
        return [Stream(None, numbered)]
    found: dict[str | None, Stream] = {}
    unfinished: dict[tuple[str | None, str], tuple[int, str, str]] = {}
    strippers: defaultdict[str | None, TimestampStripper] = defaultdict(TimestampStripper)
    key: str | None = None
    read = _outside_reports(style) if style else None
    for number, line in numbered:
        if line.startswith((*_OF_SLURM, _REPORT)):
            key = None
        shown = line if isinstance(style, Coloured) else _without_colours(line)
        marked = read(shown) if read else None
        if marked and (marked.follows or sections.continues_output(key, marked.key)):
            marked = marked._replace(key=key)
        elif marked:
            key = marked.key if marked.covers_below or style not in EMBEDDED_STYLES else None
        elif style in EMBEDDED_STYLES and _DATED.match(line):
            key = None
        else:
            key = sections.stream_of(key, shown, style)
        collected = marked or CollectedLine(key, line)
        origin = collected.key
        place, fresh = (origin, collected.channel), (number, collected.timestamp, "")
        start, timestamp, before = unfinished.pop(place, fresh)
        if collected.is_partial:
            unfinished[place] = (start, timestamp, before + collected.text)
        else:
            _append(found, origin, start, before + collected.text, timestamp, strippers[origin])
    for (origin, _), (start, timestamp, rest) in unfinished.items():
        _append(found, origin, start, rest, timestamp, strippers[origin])
    for stream in found.values():
        stream.lines.sort(key=itemgetter(0))
    return [*_channels_of(found.values())] if sections.has_headings(style) else [*found.values()]


def _channels_of(streams: Iterable[Stream]) -> Iterator[Stream]:
    """Yield a stream for each channel of those that show two of them."""
    for key, lines in streams:
        yield from (Stream(*channel) for channel in by_channel(key, lines)) if key else [Stream(key, lines)]


def _append(
    found: dict[str | None, Stream],
    key: str | None,
    number: int,
    message: str,
    timestamp: str,
    stripper: TimestampStripper,
) -> None:
    entry = structured.parse(message)
    if entry is not None and structured.is_log_entry(entry):
        message, timestamp = structured.render(entry), iso_timestamp(entry) or timestamp
    stream = found.setdefault(key, Stream(key, []))
    stream.lines.extend((number, stripper.restore(line, timestamp)) for line in message.split("\n"))
