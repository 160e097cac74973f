"""Tells the container that trains from the others of its pod: proxies, log shippers, mounts of storage.

Only the training container's state says how a worker ended. A proxy beside it is often killed when the
work is done, with an exit code of its own.
"""

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

_SECTION = re.compile(r'\s*"?(?P<key>containers|containerStatuses|Containers)"?:')
_DEFAULT = re.compile(
    r'.*\bkubectl\.kubernetes\.io/default-(?:logs-)?container"?[:=]\s*["\']?(?P<name>[a-z0-9-]+)'
)
"""Regex for the annotation that names the container `kubectl logs` shows."""
_KEYED = re.compile(r'(?P<indent>\s*(?:- )?)"?(?P<key>[\w./-]+)"?:')
_NAME = re.compile(r'\s*(?:- )?"?name"?:\s*["\']?(?P<name>[A-Za-z0-9][\w.-]*)["\']?,?\s*$')
_HEADING = re.compile(r"\s+(?P<name>[a-z0-9][a-z0-9-]*):\s*$")
"""Regex for the line above a container in `kubectl describe`."""
_TRAINS = frozenset(
    {"tensorflow", "pytorch", "xgboost", "mpi", "main", "trainer", "training", "train", "worker", "node"}
)
"""Names that training operators, Argo and users give the training container; `node` is of Kubeflow's v2."""
_HELPS = re.compile(
    r".*(?:sidecar|-proxy|exporter|-shipper|-collector|-agent)(?:-.*)?|(?:linkerd|envoy|consul|vault|fluent|"
    r"filebeat|promtail|vector|datadog|otel|opentelemetry|jaeger|istio|gcsfuse|cloudsql|aws-|metrics)\b.*|"
    r"fluent(?:bit|d)|cloudsql|daprd|xray-daemon|otc-container|wait|git-sync|tensorboard|nginx|POD"
)
"""Regex for the names of containers that never train: service meshes, secrets, logs, metrics, storage."""


class _Container(NamedTuple):
    """One container of a section: its name, and its lines, from `first` to before `end`, counted from 0."""

    name: str
    first: int
    end: int


def lines_of_helpers(lines: Sequence[str]) -> set[int]:
    """Return the places, from 1, of the lines about the states of containers that do not train."""
    found: set[int] = set()
    annotated, in_spec = "", list[str]()
    for at, line in enumerate(lines):
        if stated := _DEFAULT.match(line):
            annotated = stated["name"]
        if not (section := _SECTION.match(line)):
            continue
        containers = list(_containers(lines, at, headed=section["key"] == "Containers"))
        names = [each.name for each in containers]
        if section["key"] == "containers":
            in_spec = names
            continue
        training = training_containers(
            names, annotated, in_spec if section["key"] == "containerStatuses" else names
        )
        for each in containers:
            if each.name not in training:
                found.update(range(each.first + 1, each.end + 1))
        annotated, in_spec = "", []
    return found


def training_containers(names: Sequence[str], annotated: str, in_spec: Sequence[str]) -> set[str]:
    """Return the containers that may train, given their names and the order in the pod's specification."""
    if annotated in names:
        return {annotated}
    if known := {*names} & _TRAINS:
        return known
    left = [name for name in names if not _HELPS.fullmatch(name)]
    first = [name for name in in_spec if name in left][:1]
    return {*(first or left or names)}


def _containers(lines: Sequence[str], at: int, *, headed: bool) -> Iterator[_Container]:
    """Yield the containers of the section that begins at a line; `headed` if their names stand above."""
    end = _end_of_section(lines, at)
    inside = [each for each in range(at + 1, end) if lines[each].strip()]
    if not inside:
        return
    outer = min(_margin(lines[each]) for each in inside)
    begins = [each for each in inside if _margin(lines[each]) == outer and lines[each].strip()[0] not in "]}"]
    for first, after in pairwise([*begins, end]):
        if name := _named(lines[first:after], headed=headed):
            yield _Container(name, first, after)


def _end_of_section(lines: Sequence[str], at: int) -> int:
    """Return the line after a section: the first that is indented no deeper, but for items of a YAML list."""
    margin = _margin(lines[at])
    for end in range(at + 1, len(lines)):
        line = lines[end]
        if line.strip() and (
            _margin(line) < margin or (_margin(line) == margin and not line.lstrip().startswith("- "))
        ):
            return end
    return len(lines)


def _named(lines: Sequence[str], *, headed: bool) -> str:
    """Return the name of a container; the names of its ports and variables are indented deeper."""
    if headed:
        heading = _HEADING.match(lines[0])
        return heading["name"] if heading else ""
    depth = next((len(keyed["indent"]) for line in lines if (keyed := _KEYED.match(line))), 0)
    own = (line for line in lines if (keyed := _KEYED.match(line)) and len(keyed["indent"]) == depth)
    return next((name["name"] for line in own if (name := _NAME.match(line))), "")


def _margin(line: str) -> int:
    return len(line) - len(line.lstrip())
