"""Prefixes that collectors add to log lines: launchers, container runtimes, Kubernetes, log services.

One file can hold the output of many workers, with a prefix on each line that names its writer. The prefixes
are removed and the file is split into one stream per origin; every line keeps its number in the file.
"""

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice, pairwise
from operator import itemgetter
from typing import NamedTuple

from analyzer.ingest.logs.collectors import structured
from analyzer.ingest.logs.collectors.headings import name_several_streams, stream_below
from analyzer.ingest.logs.collectors.line_styles import CollectedLine, regex_style
from analyzer.ingest.logs.collectors.timestamps import TimestampStripper, iso_timestamp, split_timestamp
from analyzer.ingest.logs.prefixes import LEVEL_NAMES
from analyzer.ingest.logs.text import ESCAPES, storable
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of

_MIN_MARKED_SHARE = 0.9
"""Share of the sampled lines that must carry a prefix for the file to be of that style."""
_MIN_EMBEDDED_SHARE = 0.2
"""Share of lines with a prefix that suffices for `EMBEDDED_STYLES`."""
_SAMPLE_LINES = 400
_OF_SLURM = ("srun: ", "slurmstepd: ")


class Stream(NamedTuple):
    """Lines of one origin, numbered as in the file; `key` is the collector's name for the origin.

    A message of several lines gives several entries with the same line number.
    """

    key: str | None
    lines: list[tuple[int, str]]


def _timestamped_line(line: str) -> CollectedLine | None:
    """Parse a line of `kubectl logs --timestamps` or `docker logs --timestamps`."""
    timestamp, text = split_timestamp(line)
    return CollectedLine(None, text, timestamp=timestamp) if timestamp else None


def _json_line(line: str) -> CollectedLine | None:
    """Parse a line that is one JSON object, of a log service, journald or the program itself."""
    return _collected(structured.parse(line))


def _collected(entry: structured.Entry | None) -> CollectedLine | None:
    if entry is None or not structured.is_log_entry(entry):
        return None
    key, partial = _origin(entry), "P" in {str(entry.get("_p")), str(entry.get("logtag"))}
    channel = str(entry.get("stream", ""))
    text = structured.render(entry)
    return CollectedLine(key and storable(key), text, partial, channel, iso_timestamp(entry))


def _json_of_hosts(line: str) -> CollectedLine | None:
    """Parse a JSON entry of an export of several hosts; its stream is its pod, or else its host."""
    entry = structured.parse(line) or {}
    host = _name(next((entry[key] for key in _HOST_KEYS if key in entry), None))
    collected = _collected(entry) if isinstance(host, str) else None
    return collected and collected._replace(key=collected.key or storable(str(host)))


def _docker_line(line: str) -> CollectedLine | None:
    """Parse docker's json-file format: an entry without a final line break continues in the next."""
    collected = _json_line(line)
    return collected and collected._replace(is_partial=collected.is_partial or not _has_line_break(line))


def _has_line_break(line: str) -> bool:
    """Return True if the entry's text ends with a line break."""
    log = json.loads(line).get("log")
    return not isinstance(log, str) or log.endswith("\n")


_ORIGIN_LABELS = (
    "pod_name", "pod", "task_name", "ml.googleapis.com/task_name", "container_name", "host", "instance",
)  # fmt: skip
"""Labels that name who wrote an entry, the most specific first; the last two are of Loki on plain hosts."""


_HOST_KEYS = ("_HOSTNAME", "hostname", "host", "HOST")
"""Fields of journald, Filebeat, GELF and syslog-ng that name the host of an entry."""


def _origin(entry: structured.Entry) -> str | None:
    for key in ("kubernetes", "resource", "labels", "fields"):
        outer = entry.get(key)
        nested = (outer, outer.get("labels")) if isinstance(outer, dict) else ()
        objects = [labels for labels in nested if isinstance(labels, dict)]
        named = (_name(labels[name]) for name in _ORIGIN_LABELS for labels in objects if name in labels)
        if isinstance(found := next(named, None), str):
            return found
    stream = entry.get("logStreamName", entry.get("logStream"))
    return stream if isinstance(stream, str) else None


def _name(label: object) -> object:
    """Return the value of a label; of an object, its `name`, as in Filebeat's `kubernetes.pod.name`."""
    return label.get("name") if isinstance(label, dict) else label


def _journal_line(line: str) -> CollectedLine | None:
    """Parse a line of `journalctl`: time, host, unit; units named after a task are streams of their own."""
    if not (match := _JOURNAL.match(line)):
        return None
    unit = match["unit"]
    key = unit if worker_of(unit.replace("@", "-"), Kind.OTHER) else None
    return CollectedLine(key, match["text"] or "", timestamp=match["time"])


def _journal_of_hosts(line: str) -> CollectedLine | None:
    """Parse a line of the journals of several hosts: each host and each task's unit is a stream."""
    found, match = _journal_line(line), _JOURNAL.match(line)
    return found._replace(key=found.key or match["host"]) if found and match else None


def _job_stream_line(line: str) -> CollectedLine | None:
    """Parse `gcloud ai-platform jobs stream-logs`: level, time, task, text."""
    match = _JOB_STREAM.match(line)
    if not match:
        return None
    task = None if match[2] == "service" else match[2].replace("-replica", "")
    return CollectedLine(task, match[3], timestamp=re.sub(r" (?=[+-])", "", match[1]))


def below_headings(line: str) -> CollectedLine | None:
    """Parse a heading: the lines below it are of the stream that it names."""
    named = stream_below(line)
    return None if named is None else CollectedLine(named or None, line)


_LEVELS = "|".join(LEVEL_NAMES)
_ISO_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_CRI = (
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\S*) (?P<channel>stdout|stderr) (?P<part>[FP])"
    r" ?(?P<text>.*)$"
)
"""Kubernetes' container runtime interface; F is a full line, P a partial one."""
_LAUNCHER = rf"(?:{_LEVELS})\|(?P<time>{_ISO_TIME})\|[^|]*\|\d+\| ?(?P<text>.*)$"
"""Regex for lines like `INFO|2018-04-14T23:31:05|/opt/launcher.py|27| text`."""
_JOB_STREAM = re.compile(rf"(?:{_LEVELS})\s+({_ISO_TIME})\s+([a-z][\w-]*-replica-\d+|service)\s+(.*)$")
_JOURNAL = re.compile(
    rf"(?P<time>[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?|{_ISO_TIME}) (?!(?:{_LEVELS})\b)"
    r"(?P<host>[\w.-]+) (?P<unit>[A-Za-z_][\w.@/-]*?)(?:\[\d+\])?:(?: (?P<text>.*))?$"
)
_TASK_IN_BRACKETS = (
    r"\[(?P<key>(?:(?:[a-z][\w.-]*?)?(?:worker|rank|chief|ps|node|evaluator)[-:_]?\d*(?=\]:)"
    r"|(?:worker|rank|chief|ps|task|evaluator)[-:_ ]?\d+))\]:? ?(?P<text>.*)$"
)
_SERVICE = r"(?:[a-z0-9][\w.-]*[-_])?(?:worker|chief|ps|evaluator)[-_]?\d{1,4}(?:[-_]\d{1,4})?"
"""Regex for a service of docker compose that is named after a task, perhaps with a replica's number."""
_EXITED = r"exited with code \d{1,3}(?: \(restarting\))?"
_NAMED_WRITER = (
    rf"(?P<time>{_ISO_TIME}) (?P<key>[A-Za-z][\w.:/-]*?\d{{1,5}}(?:/[\w-]+)?):? "
    r"(?![\w.@/-]+\[\d+\]: |kernel: |systemd: )(?P<text>.*)$"
)
"""Regex for `2026-03-04T09:12:44Z worker-1 text`: syslog servers, `aws logs tail`."""
_LOGCLI = (
    rf"(?P<time>{_ISO_TIME}) "
    r"\{(?=[^}]*\b(?:pod|pod_name|instance|host)=\"(?P<key>[^\"]+)\")[^}]*\} ?(?P<text>.*)$"
)
"""Regex for `2026-03-04T09:12:44Z {app="train", pod="worker-1"} text`: Loki's `logcli query`."""
_AIRFLOW = rf"\{{[\w.]+\.py:\d+\}} (?:{_LEVELS}) - (?:\[[\w-]+\] )?(?P<text>.*)$"
"""Regex for what follows the time in an Airflow task's log, with the container that an operator follows."""
_DETERMINED = rf"<\w*> +\[(?P<time>{_ISO_TIME})\] [0-9a-f]+ \[rank=(?P<key>\d{{1,5}})\] \|\| ?(?P<text>.*)$"
"""Regex for `<info> [2026-03-04 09:12:44] 1d0cefc1 [rank=1] || text`: logs of Determined's trials."""
_rank_in_brackets = regex_style(r"\[(?P<key>\d{1,5})\](?: (?P<text>.*)|$)")
"""Parses `[0] text`, as MPICH and Intel MPI print with `-prepend-rank`."""
_HOST = rf"(?!(?:{_LEVELS})\d)[A-Za-z][\w-]*\d(?:\.[A-Za-z][\w.-]*)?"
_named_host = regex_style(
    rf"(?P<key>{_HOST}):(?: (?P<text>.*)|$)",
    rf"\[(?P<key>{_HOST})(?:/[\w.-]+)?\]:?(?: (?P<text>.*)|$)",
)
"""Parses `gpu21: text`, as pdsh and clush print, and `[gpu21] text`, as Fabric and Ansible's users do."""
_JOB_OF_ACTIONS = rf"(?P<key>[^\t]{{1,200}})\t[^\t]{{1,200}}\t\ufeff?(?P<time>{_ISO_TIME}) ?(?P<text>.*)$"
"""Regex for `job<tab>step<tab>2026-03-04T09:12:44.1234567Z text`: `gh run view --log`."""
_replica_exit = regex_style(
    r"(?P<text>(?P<covers_below>The replica) (?P<key>[a-z]\S*(?: \d+)?) exited with a non-zero status of .*)$"
)
"""AI Platform's report of a failed replica; the traceback below it belongs to the same replica."""
EMBEDDED_STYLES: Mapping[Callable[[str], CollectedLine | None], Sequence[str]] = {
    regex_style(
        r"\((?:[A-Za-z_][\w.:<>() ]*? )?(?P<key>pid=\d+)(?:, ip=[^)\s]+)?\) ?(?P<text>.*)$",
        r"(?P<text>(?P<covers_below>ray\.exceptions\.RayTaskError\([\w.]+\)): ray::_?RayTrainWorker\S* "
        r"\((?P<key>pid=\d+), .*)$",
    ): ("pid=",),
    regex_style(
        r"(?:\w{3} \w{3} [\d: ]+)?\[(?:\d+,(?:mpirank:)?)?(?P<key>\d+)(?:,[\w.-]+)?\]<std(?:out|err)>: ?"
        r"(?P<text>.*)$"
    ): ("]<std",),
    regex_style(_TASK_IN_BRACKETS): ("[",),
    regex_style(r"(?P<key>(?:worker|chief|ps|rank|node|host|task)[-_ ]?\d{1,5})(?:: |> ?)(?P<text>.*)$"): (
        ": ",
        ">",
    ),
    regex_style(rf"(?P<key>{_SERVICE}) +\| ?(?P<text>.*)$", rf"(?P<text>(?P<key>{_SERVICE}) {_EXITED})$"): (
        "|",
        "exited with code",
    ),
    regex_style(rf"\[(?P<time>{_ISO_TIME})\] {_AIRFLOW}", rf"\[[\d-]+, [\d:]+ \w+\] {_AIRFLOW}"): (".py:",),
    _replica_exit: ("The replica",),
    regex_style(_DETERMINED): ("[rank=",),
}
"""Styles that only some lines have: Ray, mpirun, tasks in brackets or before a colon, docker compose,
Airflow, AI Platform, Determined. Each has texts of which every such line holds one; most files have none."""
STYLES: Sequence[Callable[[str], CollectedLine | None]] = (
    regex_style(_CRI),
    _json_of_hosts,
    _json_line,
    regex_style(rf"(?P<time>{_ISO_TIME})(?: [A-Z]{{3,4}})? (?<!(?:INFO|WARN) ){_TASK_IN_BRACKETS}"),
    regex_style(_NAMED_WRITER),
    regex_style(_LOGCLI),
    _timestamped_line,
    regex_style(_JOB_OF_ACTIONS),
    regex_style(r"\[pod/(?P<key>[^\]/]+)/[^\]]+\] ?(?P<text>.*)$"),
    regex_style(
        rf"(?P<key>(?!(?:{_LEVELS})\b)[A-Za-z][\w.-]*?(?:@[\w.-]+)?) *\| ?(?P<text>.*)$",
        rf"(?P<text>(?P<key>[a-z0-9][\w.-]*[-_]\d{{1,5}}) {_EXITED})$",
    ),
    *EMBEDDED_STYLES,
    _journal_of_hosts,
    _journal_line,
    regex_style(_LAUNCHER),
    _job_stream_line,
    regex_style(r" *(?P<key>\d{1,5}):(?: (?P<text>.*)|$)"),
    _rank_in_brackets,
    _named_host,
    regex_style(r"(?P<key>[a-z][a-z0-9-]*-\d+) [a-z][a-z0-9-]* (?P<text>.*)$"),
    regex_style(r" {0,8}\|(?: (?P<text>.*(?<!\|))| *)$"),
)
"""All styles, the most specific first; a file has one style."""
_ONLY_IN_TURN = (_rank_in_brackets, _named_host, _journal_of_hosts, _json_of_hosts)
"""Styles that count only if one writer's lines go on after another's."""


Style = Callable[[str], CollectedLine | None]
"""Parses one line of a collector's format; None for a line without that prefix."""


def detect_style(lines: Iterable[str]) -> Style | None:
    """Return the collector style of a file, judged by its first lines; None if there is none."""
    sample = list(islice((_without_colours(line) for line in lines if _may_be_marked(line)), _SAMPLE_LINES))
    text = "\n".join(sample)
    for style in STYLES:
        if not any(each in text for each in EMBEDDED_STYLES.get(style, ("",))):
            continue
        marked = _marked(sample, style)
        if len(marked) > 1 and _plausible(style, marked):
            return _docker_line if style is _json_line and _is_docker(marked) else style
    return below_headings if name_several_streams(sample) else None


def _marked(lines: Sequence[str], style: Style) -> Sequence[str]:
    """Return the lines with a style's prefix; none if too few have it."""
    marked: list[str] = []
    most_unmarked = len(lines) - _share_needed(style) * len(lines)
    for number, line in enumerate(lines, 1):
        if style(line) is not None:
            marked.append(line)
        elif number - len(marked) > most_unmarked:
            return []
    return marked


def _plausible(style: Style, lines: Sequence[str]) -> bool:
    """Return False if the prefixes may name no writers: those take turns, numbers of steps only grow."""
    if style not in _ONLY_IN_TURN:
        return True
    keys = [collected.key or "" for line in lines if (collected := style(line))]
    if style is _rank_in_brackets:
        return any(int(later) < int(key) for key, later in pairwise(keys))
    return len({*keys}) < sum(later != key for key, later in pairwise(keys)) + 1


def _share_needed(style: Style) -> float:
    if style is _replica_exit:
        return 0.0
    return _MIN_EMBEDDED_SHARE if style in EMBEDDED_STYLES else _MIN_MARKED_SHARE


def _may_be_marked(line: str) -> bool:
    """Return False for blank lines, and for those that Slurm itself prints without a label."""
    return bool(line.strip()) and not line.startswith(_OF_SLURM)


def _without_colours(line: str) -> str:
    return ESCAPES.sub("", line) if "\x1b" in line else line


def _is_docker(entries: Sequence[str]) -> bool:
    """Return True if any entry keeps its line break; if none does, each entry is a whole line."""
    return any('"log"' in line and _has_line_break(line) for line in entries)


def split_streams(numbered: list[tuple[int, str]], style: Style | None) -> list[Stream]:
    """Split consecutive lines of a file by origin; without a style, they are one stream.

    Entries that programs log as JSON objects are rendered as lines of text.
    """
    if style is None and not any(line.startswith("{") for _, line in numbered):
        return [Stream(None, numbered)]
    found: dict[str | None, Stream] = {}
    unfinished: dict[tuple[str | None, str], tuple[int, str, str]] = {}
    strippers: defaultdict[str | None, TimestampStripper] = defaultdict(TimestampStripper)
    key: str | None = None
    for number, line in numbered:
        if line.startswith(_OF_SLURM):
            key = None
        marked = style(_without_colours(line)) if style else None
        if marked:
            key = marked.key if marked.covers_below or style not in EMBEDDED_STYLES else None
        elif style in EMBEDDED_STYLES and line[:4].isdigit():
            key = None
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
    return list(found.values())


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
