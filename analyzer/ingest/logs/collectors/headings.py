"""Headings between the logs of several workers that somebody put into one file.

A heading is a line of its own: a title such as `### node B (worker 1)` or `worker 1:`, the `==> file <==` of
`tail`, the container of YARN, a shell command such as `$ kubectl logs job-worker-1`, or a name between two
rules.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import PurePosixPath

from analyzer.model.source_kinds import Kind, kind_by_name
from analyzer.model.task_names import worker_of

_PRINTED = (Kind.PODS, Kind.SACCT, Kind.STACKS)
"""Kinds of command output that have a reader of their own; all other output is read as a log."""
LIST_OF_PODS = "get-pods"
_MAX_CHARS = 120
_MAX_WORDS = 8
"""Maximum number of words in a title."""
_ROLE = re.compile(
    r"(?<![a-z])(?:worker|chief|master|ps|evaluator|rank|task|index|replica|algo|workerpool[0-3])"
    r"[-_.: #=]{0,2}\d{1,4}(?![\da-z])|(?<![a-z])process[-_]\d{1,3}(?![\da-z])"
    r"|(?<![a-z])(?:chief|master)(?![a-z])"
)
_ANNOUNCED = re.compile(
    r"(?:\b(?:log|output|stderr|stdout|traceback|trace|line|error)s? (?:of|from|on|in|for) (?:the )?"
    r"|(?:^|[.!?;,] )(?=.*(?::| (?:logs?|output|stderr|stdout|says|prints|shows))$)"
    rf"(?:on |from |in )?(?:the )?)(?P<task>{_ROLE.pattern})"
    r"(?:'s)?(?: (?:logs?|output|stderr|stdout|says|prints|shows))?(?: \([^()]*\))? ?:?$"
)
"""Regex for the end of a sentence that announces the log of one task: `Here is the log of worker 1:`."""
_OWNED = re.compile(rf"(?P<task>{_ROLE.pattern})'s (?:log|output|stderr|stdout|console)\b")
"""Regex for the beginning of one: `Worker 2's log, the others wait.`"""
_PLACE = re.compile(r"(?<![a-z])(?:node|host|machine|server|vm|container|terminal)[-_ #]?\d{1,4}(?!\d)")
"""Regex for a machine's number, which counts where a title names no task."""
_ALONE = re.compile(r"(?<![a-z])(ps|parameter[ -]server|evaluator)(?![a-z])(?!\s*\d)")
"""Regex for a role of which a small job has one task, which then needs no number."""
_WORKER = re.compile(r"(?:(?:on|from|the|in) )*worker(?:'s)?(?: (?:node|machine|side|logs?|output|console))*")
"""Regex for the title of the only worker of a small job, beside its parameter server or chief."""
_DUTY = re.compile(
    r"(?<=\d) *[(\[,] *(?:the |is )*(?:chief|master|leader|coordinator)(?: worker)?[)\]]?(?= *$)"
)
"""Regex for a role in brackets behind a numbered task: `worker 0 (chief)` is worker 0."""
_KEY = re.compile(r"[ \t]+[A-Za-z ]{2,20}:\s*$")
"""Regex for the indented key of a block of YAML, as the kinds of replicas in a job's status."""
_TITLE = re.compile(
    r"==> (.+) <==$"
    r"|\[!\w{1,20}\][-+]? +([^=]+)$"
    r"|(?:<details(?: open)?> *)?<summary>([^=]+)</summary>$"
    r"|(?:#+|={2,}|-{2,}(?= )|\*+|>{2,}) *([^=:\"]+?) *[#=*<:-]*$"
    r"|\[([^\]=]+)\]:?$|<([^<>=]+)>$"
    r"|((?!Process |Thread |Exception )[A-Za-z][^=:|\"'{}<>]*) *:$"
    r"|((?!.*(?:\b(?:DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL)\b|/job:))[A-Za-z][\w.@ -]*\([^()=]+\))$"
)
"""Regex for a title; the one group that matches is what it says. Lines of a logger may end in brackets."""
_OF_TAIL = re.compile(r"==> (?P<path>/?(?:[\w.@+-]+/)*[\w.@+-]+\.(?:log|out|err|txt)) <==$")
_OF_YARN = re.compile(r"Container: container_(?:\w+_)?(?P<number>\d{6,}) on (?P<host>[\w.-]+?)(?:_\d+)?$")
"""Regex for the heading of a container in the aggregated logs of YARN."""
_OF_PSSH = re.compile(r"\[\d+\] \d\d:\d\d:\d\d \[(?:SUCCESS|FAILURE)\] (?P<host>[\w.@:-]+)(?: .*)?$")
"""Regex for the line that `pssh -i` prints before the output of a host."""
_OF_ANSIBLE = re.compile(r"(?P<host>[\w.-]+) \| (?:CHANGED|SUCCESS|FAILED) \| rc=\d{1,3} (?:\| \(\w+\) )?>>$")
"""Regex for the line that Ansible prints before what a command printed on a host."""
_RULE = re.compile(r"-{8,}\s*$")
_NODES = re.compile(r"[A-Za-z0-9][\w.\[\],-]{0,99}(?: \(\d+\))?$")
"""Regex for a node or a set of nodes, with its size, as `dshbak -c` and `clush -b` print it."""
_PROMPT = re.compile(
    r"(?P<prompt>[^$%#|=\"']{0,40}+)(?:[$%]|(?<=[~/\w])#) "
    r"(?P<command>(?:\.{0,2}/)?[a-z][\w./-]* .*|[a-z]\w*|\.?/[\w./-]+)$"
)
_OF_PODS = re.compile(r"(?:NAMESPACE +)?NAME +READY +STATUS +RESTARTS +AGE\b")
"""Regex for the first row of the list of pods, which people copy without the command."""
_OF_BPEEK = re.compile(r"bpeek (?:-\S+ )*[\"']?\d+\[(?P<element>\d{1,5})\][\"']?$")
"""Regex for the command that prints what an element of a job array of LSF, counted from 1, has printed."""
_COMMAND = re.compile(
    r"(?:sudo )?(?:(?:kubectl|k|oc|docker|podman) (?:-\S+ (?:[\w.-]+ )?)*?"
    r"(?P<verb>logs|exec|compose|ps|inspect|describe|get (?:pods?|po|events?|ev)\b|get)"
    r"|(?P<tool>sacct|squeue|scontrol|sinfo|gcloud|yarn|py-spy))\b"
)
"""Regex for commands whose output is about the task that they name, or about no single task."""


def stream_below(line: str) -> str | None:
    """Return the name of the stream whose lines follow a heading: its task, such as `worker-1`, or its file.

    The output of a command about a task or the job is named like a file that holds such output:
    `describe-worker-1`, `get-pods`, `sacct`. Empty if the heading names no single task, None if the line is
    not a heading.
    """
    if len(line) > _MAX_CHARS or _KEY.match(line) or not (line := line.strip("\r\n `")):
        return None
    asked = _PROMPT.match(line)
    command = _COMMAND.match(asked["command"] if asked else line)
    if command and (command["tool"] != "py-spy" or _named(line)):
        return _output_name(command, _named(line))
    if asked:
        element = _OF_BPEEK.match(asked["command"])
        return f"task-{int(element['element']) - 1}" if element else _named(line) or None
    if _OF_PODS.match(line):
        return LIST_OF_PODS
    if named := _named_by_tool(line):
        return named
    if len(line.split()) > _MAX_WORDS:
        return None
    title = _TITLE.match(line)
    return (title and _named(next(filter(None, title.groups())))) or _file_of(line) or None


def _named_by_tool(line: str) -> str:
    """Return the host in a heading of pssh or Ansible, host and container in one of YARN; else no text."""
    if container := _OF_YARN.match(line):
        return f"{container['host']}/container_{container['number']}"
    host = _OF_PSSH.match(line) or _OF_ANSIBLE.match(line)
    return host["host"] if host else ""


def is_of_ansible(line: str) -> bool:
    """Return True for the line that Ansible prints before what a command printed on a host."""
    return _OF_ANSIBLE.match(line.rstrip()) is not None


def _file_of(line: str) -> str:
    """Return folder and name, without suffix, of the file in a heading of `tail`; else an empty text."""
    path = PurePosixPath(found["path"]) if (found := _OF_TAIL.match(line)) else None
    return f"{path.parent.name}/{path.stem}".lstrip("/") if path else ""


def kind_below(stream: str) -> Kind:
    """Return the kind of source that a stream is read as: a command's output such as `sacct`, or a log."""
    kind = kind_by_name(f"{stream}.txt")
    return kind if kind in _PRINTED else Kind.LOG


def task_of_output(stream: str) -> str | None:
    """Return the task that a command's output is about: `worker-1` of `describe-worker-1`; else None.

    The stream of a log is returned as it is.
    """
    return stream if kind_below(stream) is Kind.LOG else _named(stream) or None


def _output_name(command: re.Match[str], task: str) -> str:
    """Return the name of the stream that holds a command's output, ending in `task` unless that is empty.

    Commands that print a task's log give `worker-1`, or `worker-1-previous` for the container before the
    restart; others put the command first: `describe-worker-1`.
    """
    verb = command["verb"] or ""
    if verb in {"logs", "exec", "compose", "ps"} or command["tool"] == "gcloud":
        previous = re.search(r" (?:--previous|-p)\b(?!=false)", command.string)
        return f"{task}-previous" if task and previous else task
    what = command["tool"] or re.sub(r" (?:pods?|po)$", "-pods", re.sub(r" (?:events?|ev)$", "-events", verb))
    return f"{what}-{task}" if task else what


def task_below(line: str) -> str:
    """Return the task whose log a line announces, as a heading or at the end of a sentence; else no text."""
    named = stream_below(line)
    if named:
        return named if kind_below(named) is Kind.LOG and _ROLE.search(line.lower()) else ""
    text = line.strip().lower()
    announced = _OWNED.match(text) or _ANNOUNCED.search(text)
    return _named(announced["task"]) if announced and named is None else ""


def name_several_streams(lines: Iterable[str]) -> bool:
    """Return True if the lines contain headings that name two or more different streams."""
    return len(set(filter(None, map(stream_below, lines)))) > 1


def names_between_rules(lines: Sequence[str]) -> frozenset[str]:
    """Return the node names that stand alone between two lines of dashes; empty unless there are several."""
    rules = [at for at, line in enumerate(lines) if line.startswith("--------") and _RULE.match(line)]
    between = (lines[at + 1].strip() for at, below in pairwise(rules) if below == at + 2)
    names = frozenset(line for line in between if _NODES.match(line))
    return names if len(names) > 1 else frozenset()


def _named(text: str) -> str:
    """Return the task that a text names, or else its numbered machine; empty if it names none or several."""
    text = _DUTY.sub("", text.lower())
    for pattern in (_ROLE, _PLACE):
        names = {re.sub(r"[_.: #=]+", "-", name) for name in pattern.findall(text)}
        tasks = {name.replace("index", "task"): worker_of(name.replace("index", "task")) for name in names}
        if tasks:
            return min(tasks) if len(set(tasks.values())) == 1 else ""
    if _WORKER.fullmatch(text.strip()):
        return "worker-0"
    roles = {"evaluator" if name == "evaluator" else "ps" for name in _ALONE.findall(text)}
    return f"{min(roles)}-0" if len(roles) == 1 else ""
