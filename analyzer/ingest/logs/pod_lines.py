"""Lines of a post that Kubernetes printed about one pod, among lines of other programs.

People paste a few rows of `kubectl get events`, `kubectl get pods` or `kubectl describe pod` above or below a
log. What such a row says is about the pod that it or the command names, not about the task whose log
surrounds it.
"""

from analyzer.ingest.logs.records import Record
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import worker_of

_POD = r"(?P<pod>[a-z0-9][a-z0-9.-]*)"
_ROW = lazy_regex(
    r"[^\n]{0,60}?\b(?:Normal|Warning)\s+[A-Z]\w+\s|(?:Mounting (?:command|arguments)|Output): "
)
"""Regex for a row of a table of events: when, type, reason and message; or for more of a failed mount's."""
_NAMED = lazy_regex(
    rf"[^\n]{{0,60}}?\b(?:Normal|Warning)\s+(?P<reason>[A-Z]\w+)\s+(?:[Pp]od/{_POD}\s"
    r"|[^\n]*?\bSuccessfully assigned (?:[\w.-]+/)?(?P<assigned>[a-z0-9][\w.-]*) to )"
)
"""Regex for an event that names its pod: as the object, or as the one that the scheduler placed."""
_DESCRIBED = lazy_regex(
    r"(?:.{0,40}?[$#%>] *)?(?:sudo )?(?:kubectl|k|oc) (?:[^\n|;&]*? )?describe (?:-\S+ )*"
    rf"(?:pods?|po)[ /]{_POD}"
)
"""Regex for the command that describes one pod, behind any prompt."""
_LISTED = lazy_regex(
    rf"\s*(?:[a-z0-9-]+\s+)?(?:pod/)?{_POD}\s+\d+/\d+\s+(?P<status>[A-Z][\w:]+)\s+\d{{1,4}}\b"
)
"""Regex for a row of the list of pods, below the column of namespaces or without one."""
_PRINTED = lazy_regex(rf"\s*[A-Z][\w -]{{0,30}}:(?:\s|$)|\s+\S|{_ROW.pattern}")
"""Regex for a line of a pod's description."""

_WELL = {"Pending", "ContainerCreating", "Running", "Completed", "Succeeded", "Terminating"}
"""States in the list of pods that do not indicate a failure."""
_WORDS = ("pod/", "Pod/", " assigned ", " describe ", " 0/1 ", " 1/1 ", " 0/2 ", " 1/2 ", " 2/2 ")
"""Words of which the first line about a pod holds one; a list counts the containers that are ready."""


class PodLines:
    """Finds the worker of the pod that each record is about, in the order of the records."""

    def __init__(self, output: SourceRows) -> None:
        """Add facts to `output`: reasons of events that name a worker's pod, states of its rows."""
        self._output = output
        self._about: str | None = None
        """The pod that the lines above are about."""
        self._described = False

    def worker(self, record: Record) -> str | None:
        """Return the worker of the pod that a record is about; None for all that Kubernetes did not print."""
        text = record.bodies[0]
        if record.kind != "plain" or not (self._about or any(word in text for word in _WORDS)):
            self._about = None
            return None
        if command := _DESCRIBED.match(text):
            self._about, self._described = command["pod"], True
            self._add(record, "described")
        elif named := _NAMED.match(text):
            self._about, self._described = named["pod"] or named["assigned"], False
            self._add(record, named["reason"])
        elif listed := _LISTED.match(text):
            self._about, self._described = listed["pod"], False
            if listed["status"] not in _WELL:
                self._add(record, listed["status"], key="pod_status")
        elif not (_PRINTED if self._described else _ROW).match(text):
            self._about = None
        return worker_of(self._about, Kind.PODS) if self._about else None

    def _add(self, record: Record, reason: str, key: str = "pod_event") -> None:
        if worker := worker_of(self._about or "", Kind.PODS):
            place = {"line": record.line, "excerpt": record.bodies[0].strip()}
            self._output.add("facts", worker=worker, key=key, value=reason, **place)
