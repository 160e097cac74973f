"""Styles of the prefixes that collectors add: a parser for each launcher, runtime and log service."""

import json
import re
from collections.abc import Mapping, Sequence

from analyzer.ingest.logs.collectors import structured
from analyzer.ingest.logs.collectors.line_styles import CollectedLine, Style, regex_style
from analyzer.ingest.logs.collectors.timestamps import is_of_another_day, iso_timestamp, split_timestamp
from analyzer.ingest.logs.prefixes.heads import LEVEL_NAMES
from analyzer.ingest.logs.text import storable
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of


def _timestamped_line(line: str) -> CollectedLine | None:
    """Parse a line of `kubectl logs --timestamps` or `docker logs --timestamps`."""
    timestamp, text = split_timestamp(line)
    return CollectedLine(None, text, timestamp=timestamp) if timestamp else None


def json_line(line: str) -> CollectedLine | None:
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


def docker_line(line: str) -> CollectedLine | None:
    """Parse docker's json-file format: an entry without a final line break continues in the next."""
    collected = json_line(line)
    return collected and collected._replace(is_partial=collected.is_partial or not has_line_break(line))


def has_line_break(line: str) -> bool:
    """Return True if the entry's text ends with a line break."""
    log = json.loads(line).get("log")
    return not isinstance(log, str) or log.endswith("\n")


_ORIGIN_LABELS = (
    "pod_name", "pod", "k8s.pod.name", "task_name", "ml.googleapis.com/task_name", "container_name", "host",
    "instance",
)  # fmt: skip
"""Labels that name who wrote an entry, the most specific first; the last two are of Loki on plain hosts."""

_HOST_KEYS = ("_HOSTNAME", "hostname", "host", "HOST")
"""Fields of journald, Filebeat, GELF and syslog-ng that name the host of an entry."""
_STREAM_KEYS = (
    "logStreamName", "logStream", "@logStream", "podName", "pod_name", "kubernetes.pod.name",
    "kubernetes.pod_name", "k8s.pod.name", "container_name",
)  # fmt: skip
"""Fields of CloudWatch, stern, Elastic, OpenTelemetry and docker's drivers that name who wrote an entry."""


def _origin(entry: structured.Entry) -> str | None:
    for key in ("kubernetes", "resource", "labels", "fields"):
        outer = entry.get(key)
        nested = (outer, outer.get("labels"), outer.get("attributes")) if isinstance(outer, dict) else ()
        objects = [labels for labels in nested if isinstance(labels, dict)]
        named = (_name(labels[name]) for name in _ORIGIN_LABELS for labels in objects if name in labels)
        if isinstance(found := next(named, None), str):
            return found
    return next((str(entry[key]) for key in _STREAM_KEYS if isinstance(entry.get(key), str)), None)


def _name(label: object) -> object:
    """Return the value of a label; of an object, its `name`, as in Filebeat's `kubernetes.pod.name`."""
    return label.get("name") if isinstance(label, dict) else label


def _journal_line(line: str) -> CollectedLine | None:
    """Parse a line of systemd's journal or of syslog; a unit named after a task is the writer of the line."""
    if not (match := _journal_match(line)):
        return None
    unit = match["unit"]
    key = unit if worker_of(unit.replace("@", "-"), Kind.OTHER) else None
    return CollectedLine(key, match["text"] or "", timestamp=match["time"])


def _journal_match(line: str) -> re.Match[str] | None:
    return _JOURNAL.match(line) or (_SYSLOG_5424.match(line) if line.startswith("<") else None)


def _journal_of_hosts(line: str) -> CollectedLine | None:
    """Parse a line of the journals of several hosts: each host and each task's unit is a stream."""
    found, match = _journal_line(line), _journal_match(line)
    return found._replace(key=found.key or match["host"]) if found and match else None


def _aws_text_line(line: str) -> CollectedLine | None:
    """Parse an event of CloudWatch as the AWS command line prints it with `--output text`."""
    if not (match := _AWS_TEXT.match(line)):
        return None
    return CollectedLine(match["key"], match["text"], timestamp=iso_timestamp({"time": int(match["time"])}))


def _job_stream_line(line: str) -> CollectedLine | None:
    """Parse `gcloud ai-platform jobs stream-logs`: level, time, task, text."""
    match = _JOB_STREAM.match(line)
    if not match:
        return None
    task = None if match[2] == "service" else match[2].replace("-replica", "")
    return CollectedLine(task, match[3], timestamp=re.sub(r" (?=[+-])", "", match[1]))


_LEVELS = "|".join(LEVEL_NAMES)
_ISO_TIME = r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?"
_SYSLOG_TIME = r"[A-Z][a-z][a-z] [ \d]\d \d\d:\d\d:\d\d(?:\.\d+)?"
_CRI = (
    r"(?P<time>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+\S*) (?P<channel>stdout|stderr) (?P<part>[FP])"
    r" ?(?P<text>.*)$"
)
"""Kubernetes' container runtime interface; F is a full line, P a partial one."""
_LAUNCHER = rf"(?:{_LEVELS})\|(?P<time>{_ISO_TIME})\|[^|]*\|\d+\| ?(?P<text>.*)$"
"""Regex for lines like `INFO|2018-04-14T23:31:05|/opt/launcher.py|27| text`."""
_JOB_STREAM = re.compile(rf"(?:{_LEVELS})\s+({_ISO_TIME})\s+([a-z][\w-]*-replica-\d+|service)\s+(.*)$")
_JOURNAL = re.compile(
    rf"(?:<\d{{1,3}}>)?(?P<time>{_SYSLOG_TIME}|{_ISO_TIME}) (?!(?:{_LEVELS})\b)"
    r"(?P<host>[\w.-]+) (?P<unit>[A-Za-z_][\w.@/-]*?)(?:\[\d+\])?:(?: (?P<text>.*))?$"
)
_SYSLOG_5424 = re.compile(
    rf"<\d{{1,3}}>1 (?P<time>{_ISO_TIME}) (?P<host>[\w.-]+) (?P<unit>\S+) \S+ \S+ "
    r"(?:-|(?:\[(?:[^\]\\]|\\.)*\])+)(?: \ufeff?(?P<text>.*))?$"
)
"""Regex for syslog as RFC 5424 has it: priority, version, time, host, program, process, kind, data, text."""
_STAMPED = (
    rf"\[?(?P<time>{_ISO_TIME}|{_SYSLOG_TIME}"
    r"|\d\d([/.])\d\d\2\d{4} \d\d:\d\d:\d\d(?:\.\d+)?|\d\d:\d\d:\d\d(?:[.,]\d+)?)"
    r"\]?(?: \||:)?(?: (?P<text>.*)| *)$"
)
"""Regex for a time before each line, as `ts` of moreutils and journals without a host print it."""
_TASK_IN_BRACKETS = (
    r"\[(?P<key>(?:(?:[a-z][\w.-]*?)?(?:worker|rank|chief|ps|node|evaluator)[-:_]?\d*(?=\]:)"
    r"|(?:worker|rank|chief|ps|task|evaluator)[-:_ ]?\d+))\]:? ?(?P<text>.*)$"
)
_EXIT_IN_BRACKETS = (
    r"(?P<text>\[(?P<key>(?:[\w.]{1,40}[-_.])??(?:worker|rank|chief|ps|task|evaluator)[-_]?\d+)\]"
    r" \S.{0,200} exited with code \w+)$"
)
"""Regex for the line in which concurrently says how a process ended; its label tells it from the output."""
_SERVICE = (
    r"(?:[a-z0-9][\w.-]*[-_])?(?:worker|chief|ps|evaluator)[-_.]?\d{1,4}(?:[-_]\d{1,4})?"
    r"|(?:[a-z0-9]{1,12}[-_]?)?algo-\d{1,2}(?:-[a-z0-9]{5})?(?:[-_]\d{1,2})?"
)
"""Regex for a service of docker compose that is named after a task or, by SageMaker, a host; perhaps with a
replica's number."""
_NO_ANSIBLE = r"(?! ?(?:CHANGED|SUCCESS|FAILED) \| rc=)"
"""Regex for what does not stand behind a service of docker compose, but behind a host of Ansible."""
_EXITED = r"exited with code \d{1,3}(?: \(restarting\))?"
_GREP = (
    r"(?:[> ] )?(?P<key>(?:[A-Za-z]:\\)?(?:[\w.@+-]+[/\\])*[\w.@+-]*\.(?:log|out|err|txt|stdout|stderr))"
    r"(?::(?:\d+[:-])?|-\d+-)"
    r"(?P<text>.*)$"
)
"""Regex for a line of a file as `grep -rn` or PowerShell's `Select-String` print it; dashes mark the
lines around a match, and a sign before the name the match."""
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
_DETERMINED = (
    rf"(?:<\w*> +)?\[(?P<time>{_ISO_TIME})\] [0-9a-f]+ \[rank=(?P<key>\d{{1,5}})\] \|\| ?(?P<text>.*)$"
)
"""Regex for `<info> [2026-03-04 09:12:44] 1d0cefc1 [rank=1] || text`: logs of Determined's trials."""
rank_in_brackets = regex_style(r"\[(?P<key>\d{1,5})\](?: (?P<text>.*)|$)")
"""Parses `[0] text`, as MPICH and Intel MPI print with `-prepend-rank`."""
_TORCHRUN = r"\[default(?P<key>\d{1,5})\]:(?P<text>.*)$"
"""Regex for `[default0]:text`, as torchrun prints with `--tee 3`; the name is that of the only role."""
_PROCESS = r"(?:[Ww]orker|[Rr]ank|[Cc]hief|ps|[Ee]valuator|[Rr]eplica|[Tt]rainer)[-_]\d{1,4}"
process_name = regex_style(
    rf"(?P<time>{_ISO_TIME})(?: [-|])? [\[(]?(?P<key>{_PROCESS})[\])]?(?: [-|]|:)? +"
    rf"(?P<text>(?P<covers_below>[\[(]?(?:{_LEVELS})\b).*)$",
    rf"(?P<text>(?P<covers_below>Process) (?P<key>{_PROCESS}):)$",
)
"""Parses `2026-03-04 09:12:44,123 worker-1 INFO text`, the `processName` of Python's logging, and the line
that multiprocessing prints above the traceback of a process; TensorFlow's own lines have no such name."""
_HOST = rf"(?!(?:{_LEVELS})\d|(?i:asyncio|dummy|(?:main)?thread|pool))[A-Za-z][\w-]*\d(?:\.[A-Za-z][\w.-]*)?"
_named_host = regex_style(
    rf"(?P<key>{_HOST}):(?: (?P<text>.*)|$)",
    rf"[\[(](?P<key>{_HOST})(?:/[\w.-]+)?[\])]:?(?: (?P<text>.*)|$)",
)
"""Parses `gpu21: text`, as pdsh and clush print, and `[gpu21] text`, as Fabric and Ansible's users do."""
_named_container = regex_style(r"\[(?P<key>[a-z0-9][\w.]*-[\w.-]+) [a-z][a-z0-9-]*\](?: (?P<text>.*)|$)")
"""Parses `[train-worker-0 main] text`, as kubetail prints pod and container."""
_AWS_TEXT = re.compile(
    r"EVENTS\t(?:\d{40,}\t\d{13}\t(?P<key>[^\t]{1,512})|\d{13})\t(?P<text>.*)\t(?P<time>\d{13})$"
)
"""Regex for the values of an event by the names of its fields: `eventId`, `ingestionTime`, `logStreamName`,
`message`, `timestamp`; `get-log-events` gives neither the first nor the third."""
_JOB_OF_ACTIONS = rf"(?P<key>[^\t]{{1,200}})\t[^\t]{{1,200}}\t\ufeff?(?P<time>{_ISO_TIME}) ?(?P<text>.*)$"
"""Regex for `job<tab>step<tab>2026-03-04T09:12:44.1234567Z text`: `gh run view --log`."""
replica_exit = regex_style(
    r"(?P<text>(?:message: \")?(?P<covers_below>The replica) (?P<key>[a-z]\S*(?: \d+)?)"
    r" exited with a non-zero status of .*)$"
)
"""AI Platform's report of a failed replica; the traceback below it belongs to the same replica."""
_OF_ANSIBLE = re.compile(
    r"(?:ok|changed|fatal|failed): \[(?P<key>[\w.-]+)(?: -> [^\]]+)?\](?: \(item=[^)]*\))?"
    r"(?:: [A-Z]+!)? => (?P<result>\{.*\})$"
)


def ansible_output(line: str) -> tuple[str, Mapping[str, str]] | None:
    """Return the host of a task's result that Ansible prints, and channel → what its command printed there.

    None for any other line, and for a result without output.
    """
    if not (match := _OF_ANSIBLE.match(line)):
        return None
    try:
        result = json.loads(match["result"])
    except (ValueError, RecursionError):
        return None
    printed = {key: result[key] for key in ("stdout", "stderr") if isinstance(result.get(key), str)}
    return (match["key"], printed) if printed else None


def ansible_result(line: str) -> CollectedLine | None:
    """Parse the result of a task that Ansible ran on a host: all lines of its output are in one."""
    if (found := ansible_output(line)) is None:
        return None
    host, printed = found
    return CollectedLine(host, storable("\n".join(filter(None, printed.values()))))


_stamped = regex_style(_STAMPED)
tagged_rank = regex_style(
    r"(?:\w{3} \w{3} [\d: ]+)?\[(?:\d+,(?:mpirank:)?)?(?P<key>\d+)(?:,[\w.-]+)?\]<std(?:out|err)>: ?"
    r"(?P<text>.*)$"
)
"""Parses `[1,0]<stdout>:text`, as mpirun prints with `--tag-output`."""
bar_line = regex_style(r" {0,8}\|(?: (?P<text>.*(?<!\|))| *)$")
"""Parses `   | text`, as a supervisor prints the lines of its child; rows of a table end with a bar, too."""
_ray_process = regex_style(
    r"\((?:[A-Za-z_][\w.:<>() ]*?,? )?(?P<key>pid=\d+)(?:, ip=[^)\s]+)?\) ?(?P<text>.*)$",
    r"\([\w.-]+, rank=(?P<key>\d{1,5}), (?:ip=[^)\s,]+, )?pid=\d+(?:, ip=[^)\s]+)?\) ?(?P<text>.*)$",
    r"(?P<text>(?P<covers_below>ray\.exceptions\.RayTaskError\([\w.]+\)): ray::"
    r"(?!(?:_Inner|ImplicitFunc|TrainTrainable|TensorflowTrainer|DataParallelTrainer)\.)\S+ "
    r"\((?P<key>pid=\d+), .*)$",
)
_ray_lost_process = regex_style(
    r"\(raylet(?:, ip=[^)\s]+)?\) (?P<text>(?P<covers_below>A worker died) or was killed .* "
    r"Worker PID: (?P<key>\d+)\b.* exit code None\..*)$"
)


def ray_line(line: str) -> CollectedLine | None:
    """Parse a line that Ray's driver prints of one process; below its exit code stands its traceback."""
    lost = _ray_lost_process(line)
    return lost._replace(key=f"pid={lost.key}") if lost else _ray_process(line)


EMBEDDED_STYLES: Mapping[Style, Sequence[str]] = {
    ray_line: ("pid=", "Worker PID: "),
    regex_style(_TORCHRUN): ("[default",),
    tagged_rank: ("]<std",),
    regex_style(_EXIT_IN_BRACKETS, _TASK_IN_BRACKETS): ("[",),
    regex_style(r"(?P<key>(?:worker|chief|ps|rank|node|host|task)[-_ ]?\d{1,5})(?:: |> ?)(?P<text>.*)$"): (
        ": ",
        ">",
    ),
    regex_style(
        rf"(?P<time>\d\d:\d\d:\d\d) (?P<key>{_SERVICE}) +\|{_NO_ANSIBLE} ?(?P<text>.*)$",
        rf"(?P<key>{_SERVICE}) +\|{_NO_ANSIBLE} ?(?P<text>.*)$",
        rf"(?P<text>(?P<key>{_SERVICE}) {_EXITED})$",
    ): (
        "|",
        "exited with code",
    ),
    regex_style(rf"\[(?P<time>{_ISO_TIME})\] {_AIRFLOW}", rf"\[[\d-]+, [\d:]+ \w+\] {_AIRFLOW}"): (".py:",),
    replica_exit: ("The replica",),
    ansible_result: ("] => {", "! => {"),
    regex_style(_DETERMINED): ("[rank=",),
    process_name: ("orker", "ank", "hief", "ps", "valuator", "eplica", "rainer"),
}
"""Styles that only some lines have: Ray, SkyPilot, torchrun, mpirun, tasks in brackets or before a colon,
docker compose, Airflow, AI Platform, Determined, Python's multiprocessing. Each has texts of which every
such line holds one; most files have none."""


def stamped_line(line: str) -> CollectedLine | None:
    """Parse a line with a time in front that only a collector can have put there, as the line was printed."""
    found = _stamped(line)
    return None if found is None or is_of_another_day(found.text, found.timestamp) else found


STYLES: Sequence[Style] = (
    regex_style(_CRI),
    _json_of_hosts,
    json_line,
    regex_style(rf"(?P<time>{_ISO_TIME})(?: [A-Z]{{3,4}})? (?<!(?:INFO|WARN) ){_TASK_IN_BRACKETS}"),
    regex_style(_NAMED_WRITER),
    regex_style(_LOGCLI),
    regex_style(rf"(?P<time>{_ISO_TIME}) [a-z]+\[(?P<key>[A-Za-z][\w.-]*)\]: ?(?P<text>.*)$"),
    _timestamped_line,
    regex_style(_JOB_OF_ACTIONS),
    _aws_text_line,
    regex_style(r"\[pod/(?P<key>[^\]/]+)/[^\]]+\] ?(?P<text>.*)$"),
    regex_style(
        rf"(?P<key>(?!(?:{_LEVELS})\b)[A-Za-z][\w.-]*?(?:@[\w.-]+)?) *\|{_NO_ANSIBLE} ?(?P<text>.*)$",
        rf"(?P<text>(?P<key>[a-z0-9][\w.-]*[-_]\d{{1,5}}) {_EXITED})$",
    ),
    regex_style(r"\[(?P<key>[A-Za-z][\w.-]*)\] *\| ?(?P<text>.*)$"),
    *EMBEDDED_STYLES,
    regex_style(_GREP),
    _journal_of_hosts,
    _journal_line,
    regex_style(_LAUNCHER),
    _job_stream_line,
    regex_style(r" *(?P<key>\d{1,5}):(?: (?P<text>.*)|$)"),
    rank_in_brackets,
    _named_host,
    _named_container,
    regex_style(r"(?P<key>[a-z0-9][\w.-]*) \u203a [\w.-]+(?: (?P<text>.*)|$)"),
    regex_style(r"(?P<key>[a-z][a-z0-9-]*-\d+) [a-z][a-z0-9-]* (?P<text>.*)$"),
    stamped_line,
    bar_line,
    regex_style(r"(?P<text>.*?) *[\[(](?P<key>(?:worker|chief|ps|rank|task|evaluator)[-:_/ ]?\d{1,5})[\])]$"),
)
"""All styles, the most specific first; a file has one style."""
TIMES = (_timestamped_line, stamped_line)
"""Styles that name no writer, whose name may stand behind the time."""
OF_JSON = (_json_of_hosts, json_line)
ONLY_IN_TURN = (rank_in_brackets, _named_host, _named_container, _journal_of_hosts, _json_of_hosts)
"""Styles that count only if one writer's lines go on after another's."""
