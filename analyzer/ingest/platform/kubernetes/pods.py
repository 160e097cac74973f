"""Kubernetes' description of pods → facts and matches, each for the pod's worker.

Reads `kubectl get pods|events -o json|yaml`, `kubectl describe` and the plain table. In all of them a pod's
name precedes its details, so one pass over the lines assigns each to its worker. Labels with which
controllers state a pod's task take precedence over its name, which begins with that of the job.
"""

import itertools
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping

from analyzer.ingest.logs.fact_patterns import negative_signal
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform.kubernetes.containers import lines_of_helpers
from analyzer.ingest.reader_output import SourceRows, whole_text, why_no_json
from analyzer.ingest.text_reader import MAX_EXCERPT_CHARS, add_matches
from analyzer.model.task_names import worker_of

_NAME = re.compile(r'\s*(?:- )?"?[Nn]ame"?:\s*"?(?P<value>[A-Za-z0-9][\w.-]*)"?,?\s*$')
_IP = r"(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{0,4}(?::[0-9a-f]{0,4}){2,7})"
_ROW = re.compile(
    r"(?:pod/)?(?P<value>[a-z0-9][\w.-]*)\s+(?P<ready>\d+)/(?P<of>\d+)\s+(?P<status>[A-Z][\w:]*)"
    r"(?:\s+(?P<restarts>\d{1,4})\b)?"
    rf"(?:\s.{{0,80}}?\s{_IP}\s+(?P<node>[A-Za-z0-9][\w.-]*))?"
)
"""Regex for a row of the list of pods; `-o wide` adds the pod's address and the node."""
_WELL = {"Running", "Completed", "Succeeded", "Terminating"}
"""States in the list of pods that do not indicate a failure."""
_ROLES = ("training.kubeflow.org/replica-type", "replica-type", "tf-replica-type")
_JOB_OF_SET = "jobset.sigs.k8s.io/job-index"
_INDEXES = (
    "training.kubeflow.org/replica-index", "replica-index", "tf-replica-index",
    "batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index",
)  # fmt: skip
"""Labels (of current and of earlier versions) with which controllers state role and index of a pod's task."""
_OBJECT = re.compile(r'\s*(?:- )?"?(?:kind"?:\s*"?(?:Pod|PodList|List)"?,?|metadata"?:\s*\{?)\s*$')
"""Regex for a line at which the next pod may begin; not every tool writes its kind."""
_BEGINS = re.compile(rf"{_OBJECT.pattern}|Name: +\S+\s*$|{_ROW.pattern}")
"""Regex for a line at which another pod may begin, in any of the forms."""
_LABEL = re.compile(
    rf'\s*"?(?P<key>{"|".join(map(re.escape, (*_ROLES, *_INDEXES, _JOB_OF_SET)))})"?:'
    r"\s*[\"']?(?P<value>\d{1,5}|[A-Za-z]{1,20})\b"
)
_SECTION = re.compile(r'\s*"?(?P<init>init|Init |ephemeral|Ephemeral )?[cC]ontainer(?:Statuse)?s"?:')
_STATE = re.compile(r'\s*"?(?:(?P<last>lastState|Last State)|state|State)"?:')
_RUNNING = re.compile(r'\s*(?:"?running"?:|State:\s+Running\s*$)')
_FACTS = {
    "host": re.compile(r'\s*"?(?:nodeName|Node)"?:\s*"?(?P<value>[A-Za-z0-9][\w.-]*)'),
    "restarts": re.compile(r'\s*"?(?:restartCount|Restart Count)"?:\s*(?P<value>[1-9]\d{0,3})\b'),
    "namespace": re.compile(r'\s*"?[Nn]amespace"?:\s*"?(?P<value>[a-z0-9][a-z0-9-]*)"?,?\s*$'),
    "pod_status": re.compile(r'\s*"?[Rr]eason"?:\s*"?(?P<value>Evicted|NodeLost)\b'),
    "image": re.compile(r'.*\b(?:Failed to pull|Back-off pulling) image \\*"(?P<value>[\w./:@-]{1,250})\\*"'),
    "container": re.compile(r'\s*"Id":\s*"(?P<value>[0-9a-f]{64})"'),
}
_LOST_NODE = re.compile(r".*\bNode (?P<node>[\w.-]+) which was running pod \S+ is unresponsive")
_CODE = re.compile(r'\s*"?(?:exitCode|Exit Code)"?:\s*(?P<value>\d{1,3})\b')
_TIME = r"""["']?(?P<value>\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"""
_FINISHED = re.compile(rf'\s*"?finishedAt"?:\s*{_TIME}')
_STARTED = re.compile(rf'\s*"?start(?:edAt|Time)"?:\s*{_TIME}')
_MAX_LINES_OF_STATE = 5
"""Lines from an exit code to the time in the same state of a container."""
_EVENT = re.compile(r".*?(?:\s(?P<reason>[A-Z]\w+)\s+)?\b[Pp]od/(?P<value>[a-z0-9][\w.-]*)\s")
"""Regex for a line of `kubectl get events` that is about a pod."""
_OF_EVENT = re.compile(r'(?P<indent>\s*(?:- )?)"?involvedObject"?:')
"""Regex for the line at which the object of an event begins; its siblings are the other keys of the event."""
_KEYED = re.compile(r'(?P<indent>\s*(?P<first>- )?)"?(?P<key>\w+)"?:')
_EXITED = re.compile(r".*\bPod: (?:[\w-]+\.)?(?P<pod>[\w-]+) exited with code (?P<value>\d{1,3})\b")
"""Regex for the event with which a training operator reports an exit code."""
_BLANKS = re.compile(r"\s*")
_JSON = re.compile(r"\.json(\.\w+)?$", re.IGNORECASE)


def task_by_labels(labels: Mapping[str, str]) -> str | None:
    """Return the task that a pod's labels or annotations state; None if they state no index.

    A JobSet has several jobs of one pod, or one job of several pods: one of its two indexes is 0.
    """
    role = next((labels[key].lower() for key in _ROLES if key in labels), "worker")
    stated = next((labels[key] for key in _INDEXES if key in labels), "")
    numbers = [each for each in (stated, labels.get(_JOB_OF_SET, "")) if each.isdecimal()]
    return worker_of(f"{role}-{sum(map(int, numbers))}") if numbers else None


class _Labels:
    """The labels of one pod; in JSON and YAML they precede its name."""

    def __init__(self) -> None:
        self._labels: dict[str, str] = {}
        self.worker: str | None = None
        """The task that they state, set when the pod's name is read: later names are those of its parts."""

    def read_line(self, line: str, named: re.Match[str] | None) -> bool:
        """Read one line; return True if it is the pod's name, and the labels state its task."""
        if self.worker:
            return False
        if label := _LABEL.match(line):
            self._labels[label["key"]] = label["value"]
        self.worker = task_by_labels(self._labels) if named else None
        return self.worker is not None


class _Pod:
    """Exit codes of one worker's pod: of the current container state and of the last one.

    The last state is that of the attempt before, but of a container that waits for its next start.
    """

    def __init__(self, worker: str | None) -> None:
        self.worker = worker
        self.in_init_container = self.in_last_state = False
        self.codes: dict[bool, tuple[int, int, str]] = {}
        """True for the last state, False for the current one → exit code, line number and line."""
        self.running: int | None = None
        """Number of the line that says that a container runs."""
        self.restarts = 0
        self.finished: tuple[int, str] | None = None
        """Line number and time of the current exit code."""
        self.started: tuple[str, int] | None = None
        """Earliest time at which the pod or a container of it started, and the number of that line."""
        self._named = False

    @property
    def runs(self) -> bool:
        """Return True if a container runs and none has ended."""
        return self.running is not None and False not in self.codes

    def _is_running_by(self, line: str) -> bool:
        """Return True if a line is the state of a running container, or the row of a running pod."""
        if _RUNNING.match(line):
            return not (self.in_last_state or self.in_init_container)
        row = _ROW.match(line)
        return row is not None and row["status"] == "Running" and row["ready"] == row["of"]

    def _states_code_near(self, number: int) -> bool:
        """Return True if the current exit code stands in the same state as the line of that number."""
        at = self.codes[False][1] if False in self.codes else -math.inf
        return not self.in_last_state and number - at <= _MAX_LINES_OF_STATE

    def is_named_by(self, name: str) -> bool:
        """Return True for the first name without a dot, which is the pod's own; names of events have one."""
        first = self.worker is not None and not self._named and "." not in name
        self._named = self._named or first
        return first

    def read_line(self, line: str, number: int) -> None:
        """Read one line; of several containers that may train, a failed one takes precedence."""
        if section := _SECTION.match(line):
            self.in_init_container = bool(section["init"])
        elif state := _STATE.match(line):
            self.in_last_state = bool(state["last"])
        if not self.in_init_container and (restarts := _FACTS["restarts"].match(line)):
            self.restarts = max(self.restarts, int(restarts["value"]))
        if started := _STARTED.match(line):
            self.started = min(self.started or ("~", 0), (started["value"], number))
        if self._is_running_by(line):
            self.running = number
        elif (code := _CODE.match(line)) and not self.in_init_container:
            found = (int(code["value"]), number, line)
            self.codes[self.in_last_state] = found if found[0] else self.codes.get(self.in_last_state, found)
        elif (finished := _FINISHED.match(line)) and self._states_code_near(number):
            self.finished = (number, finished["value"])

    def end(self) -> Iterator[dict[str, object]]:
        """Yield what it states of its end as facts: that it runs, or its exit code and the time of that."""
        if self.runs:
            yield {"line": self.running, "key": "pod_running", "value": "yes"}
        if self.started:
            yield {"line": self.started[1], "key": "started_at", "value": self.started[0]}
        if self.finished:
            at, value = self.finished
            yield {"line": at, "key": "finished_at", "value": value}
        went_on = self.restarts and (self.running is not None or False in self.codes)
        for in_last_state, (code, at, line) in self.codes.items():
            if went_on or not in_last_state or False not in self.codes:
                value, excerpt = str(negative_signal(code)), line.strip()[:MAX_EXCERPT_CHARS]
                attempt = self.restarts if went_on and in_last_state else None
                yield {"line": at, "key": "exit_code", "value": value, "excerpt": excerpt, "attempt": attempt}


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read exit codes, hosts and restarts of the workers, and the matches of rules."""
    matcher.begin_file()
    text = whole_text(output)
    _check_json(output, text)
    numbered = _numbered(text)
    wanted = matcher.lines("\n".join(line for _, line in numbered).encode("utf-8", "replace"))
    current = _Pod(output.source.worker)
    pods = {current.worker: current}
    nobodys = False  # whether the pod that began last is that of no worker, as far as its names tell
    printed = [line for _, line in numbered]
    of_states: list[tuple[int, str, Iterable[str], str | None]] = []
    of_last_states = of_states[:]  # how earlier attempts ended is quoted only if nothing else is
    labels, event_pods, helping = _Labels(), _pods_of_events(printed), lines_of_helpers(printed)
    for place, (number, line) in enumerate(numbered, 1):
        if place in helping:
            continue
        named = _NAME.match(line) or _ROW.match(line)
        if _BEGINS.match(line):
            labels, nobodys = _Labels(), output.source.worker is None
        if labels.read_line(line, named) and named:
            current = pods[labels.worker] = _Pod(labels.worker)
            output.add("facts", worker=labels.worker, line=number, key="labelled_pod", value=named["value"])
        elif not labels.worker:
            current = _pod_named(named, _Pod(None) if named and nobodys else current, pods)
        nobodys = nobodys and not (named and current.worker)
        current.read_line(line, number)
        if (event := _EXITED.match(line)) and (task := worker_of(event["pod"])):
            pods.setdefault(task, _Pod(task)).codes[False] = (int(event["value"]), number, line)
        if current.worker:
            for key, value in _stated(line, named, current):
                excerpt = line.strip()[:MAX_EXCERPT_CHARS]
                output.add("facts", worker=current.worker, line=number, key=key, value=value, excerpt=excerpt)
        event_row = _EVENT.match(line)
        elsewhere = event_pods.get(place, current.worker)
        about = _worker_of_event(output, number, event_row) if event_row else elsewhere
        kept = of_last_states if current.in_last_state else of_states
        kept.append((number, line, wanted.get(place, ()), about))
    for number, line, hits, about in (*of_states, *of_last_states):
        add_matches(output, matcher, number, line, hits, worker=about)
    _add_ends(output, pods)


def _worker_of_event(output: SourceRows, number: int, row: re.Match[str]) -> str | None:
    """Return the worker of the pod that an event is about, and add the event's reason as a fact."""
    if worker := worker_of(row["value"]):
        place = {"line": number, "excerpt": row["value"]}
        output.add("facts", worker=worker, key="pod_event", value=row["reason"], **place)
    return worker


def _add_ends(output: SourceRows, pods: Mapping[str | None, _Pod]) -> None:
    for worker, pod in pods.items():
        if worker:
            for row in pod.end():
                output.add("facts", worker=worker, **row)


def _pods_of_events(lines: list[str]) -> dict[int, str | None]:
    """Return the place of each line of an event (from 1) with the worker of the pod that it is about, if any.

    The keys of an event may come in any order: its reason precedes the pod's name as often as it follows.
    """
    found: dict[int, str | None] = {}
    for at, line in enumerate(lines):
        if begins := _OF_EVENT.match(line):
            indent = len(begins["indent"])
            first, end = _siblings(lines, at, indent)
            named = _name_below(lines[at + 1 : end], indent)
            found |= dict.fromkeys(range(first + 1, end + 1), worker_of(named) if named else None)
    return found


def _name_below(lines: list[str], indent: int) -> str | None:
    """Return the first name in the lines that are indented by more than `indent`, up to one that is not."""
    inside = itertools.takewhile(lambda line: _indent(line) > indent, lines)
    return next((name["value"] for line in inside if (name := _NAME.match(line))), None)


def _siblings(lines: list[str], at: int, indent: int) -> tuple[int, int]:
    """Return the first line of the object that has a key at `at`, and the line after its last."""
    first, end = at, at + 1
    while first and not _begins_item(lines[first], indent) and _indent(lines[first - 1]) >= indent:
        first -= 1
    while end < len(lines) and _indent(lines[end]) >= indent and not _begins_item(lines[end], indent):
        end += 1
    return first, end


def _indent(line: str) -> int:
    keyed = _KEYED.match(line)
    return len(keyed["indent"]) if keyed else len(line) - len(line.lstrip())


def _begins_item(line: str, indent: int) -> bool:
    """Return True if a line begins an item of a YAML list whose keys have that indent."""
    keyed = _KEYED.match(line)
    return bool(keyed and keyed["first"]) and _indent(line) == indent


def _stated(line: str, named: re.Match[str] | None, pod: _Pod) -> Iterator[tuple[str, str]]:
    """Yield (key, value) of each fact that a line states about a worker's pod."""
    if named and pod.is_named_by(named["value"]):
        yield "pod", named["value"]
    row = named.groupdict() if named else {}
    if row.get("status", "Running") not in _WELL:
        yield "pod_status", row["status"]
    if row.get("node"):
        yield "host", row["node"]
    if (row.get("restarts") or "0") != "0":
        yield "restarts", row["restarts"]
    if lost := _LOST_NODE.match(line):
        yield "node_problem", f"{lost['node']} NotReady: it is unresponsive"
    for key, pattern in _FACTS.items():
        if stated := pattern.match(line):
            yield key, stated["value"]


def _pod_named(named: re.Match[str] | None, current: _Pod, pods: dict[str | None, _Pod]) -> _Pod:
    """Return the pod of the worker that a line names, added to `pods` if new; else the current pod."""
    worker = worker_of(named["value"]) if named else None
    return pods.setdefault(worker, _Pod(worker)) if worker else current


def _numbered(text: str) -> list[tuple[int, str]]:
    """Return numbered lines; single-line JSON is printed the way `kubectl` would."""
    lines = enumerate(text.split("\n"), 1)
    return [(number, printed) for number, line in lines for printed in _pretty_json(line)]


def _pretty_json(line: str) -> list[str]:
    if not (line.startswith("{") and line.rstrip().endswith("}")):
        return [line]
    try:
        return json.dumps(json.loads(line), indent=4, ensure_ascii=False).split("\n")
    except (ValueError, RecursionError):
        return [line]


def _check_json(output: SourceRows, text: str) -> None:
    """Report where JSON is malformed (its lines are read regardless); objects may be concatenated."""
    at, decoder = _skip_blanks(text, 0), json.JSONDecoder()
    if not text.startswith("{", at) and not _JSON.search(output.source.name):
        return
    try:
        while at < len(text):
            _, end = decoder.raw_decode(text, at)
            at = _skip_blanks(text, end)
    except (ValueError, RecursionError) as error:
        broken = getattr(error, "pos", at)
        output.add_damage(f"is not JSON: {why_no_json(error)}", line=text.count("\n", 0, broken) + 1)


def _skip_blanks(text: str, at: int) -> int:
    match = _BLANKS.match(text, at)
    return match.end() if match else at
