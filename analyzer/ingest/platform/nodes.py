"""States of the job's nodes (`kubectl get nodes -o json`, `scontrol show node`) → facts `node_problem`.

Only nodes that were not usable when the files were collected become facts, in words:
`gpu21 NotReady: Kubelet stopped posting node status. (since 2026-11-21T02:08:30Z)`.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.text_reader import LineFinder, parsed_json, parts, searched_text

_MAX_CHARS = 300
_BAD_CONDITIONS = frozenset(
    {"MemoryPressure", "DiskPressure", "PIDPressure", "NetworkUnavailable"}
    | {"KernelDeadlock", "ReadonlyFilesystem"}
)
"""Conditions of Kubernetes, and of its node problem detector, that mean trouble where they are true."""
_BAD_STATES = frozenset(
    {"DOWN", "ERROR", "FAIL", "FAILING", "NOT_RESPONDING", "DRAIN", "DRAINED", "DRAINING"}
)
"""States of Slurm in which a node takes no jobs, or loses those it has."""
_SLURM_NODE = re.compile(r"NodeName=(?P<name>\S+)")
_SLURM_STATE = re.compile(r"(?:^|\s)State=(?P<states>[A-Z_+]+)(?P<silent>\*?)")
_SLURM_REASON = re.compile(
    r"(?:^|\s)Reason=(?P<reason>[^\[\n]{1,200})(?:\[[^@\]\s]{0,60}@(?P<since>[^\]\s]{1,40})\])?"
)

Problem = tuple[int | None, str]
"""Line, and the problem in words."""


def read(output: SourceRows, matcher: Matcher) -> None:
    """Add a fact for each problem of each node."""
    text = searched_text(output, matcher)
    found = _of_kubernetes(output, text) if text.lstrip().startswith("{") else _of_slurm(output, text)
    for line, problem in found:
        output.add("facts", line=line, key="node_problem", value=problem[:_MAX_CHARS])


def _of_slurm(output: SourceRows, text: str) -> Iterator[Problem]:
    """Yield the problem of each node that is described, on one line or on several."""
    if text.strip() and not _SLURM_NODE.search(text):
        output.add_damage("describes no node", line=1)
    for line, part in parts(text, _SLURM_NODE):
        name, state = _SLURM_NODE.match(part), _SLURM_STATE.search(part)
        if name and state and (bad := _bad_states(state)):
            given = _SLURM_REASON.search(part)
            reason = _because(given["reason"].strip(), given["since"]) if given else ""
            yield line + part.count("\n", 0, state.start("states")), f"{name['name']} {bad}{reason}"


def _bad_states(state: re.Match[str]) -> str:
    """Return a node's bad states joined by `+`; an asterisk after them is returned as `NOT_RESPONDING`."""
    states = [*state["states"].split("+"), *(["NOT_RESPONDING"] if state["silent"] else [])]
    return "+".join(dict.fromkeys(each for each in states if each in _BAD_STATES))


def _of_kubernetes(output: SourceRows, text: str) -> Iterator[Problem]:
    if (found := parsed_json(output, text, "kubectl")) is None:
        return
    finder = LineFinder(text)
    for node in _mappings(found.get("items") if "items" in found else [found]):
        name = str(_mapping(node.get("metadata")).get("name") or "")
        line = finder.line(rf'"name":\s*"{re.escape(name)}"') if name else None
        for problem in _bad_conditions(_mapping(node.get("status")).get("conditions")):
            yield line, f"{name} {problem}".strip()


def _bad_conditions(conditions: object) -> Iterator[str]:
    for each in _mappings(conditions):
        kind, status = str(each.get("type")), each.get("status")
        why = _because(each.get("message") or each.get("reason"), each.get("lastTransitionTime"))
        if kind == "Ready" and status in {"False", "Unknown"}:
            yield f"NotReady{why}"
        elif kind in _BAD_CONDITIONS and status == "True":
            yield f"{kind}{why}"


def _because(reason: object, since: object) -> str:
    """Return `: REASON (since TIME)`, to be appended to a state; unknown parts are left out."""
    text = f": {' '.join(str(reason).split())}" if reason else ""
    return f"{text} (since {since})" if since else text


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _mappings(values: object) -> Iterable[Mapping[str, Any]]:
    return [each for each in values if isinstance(each, dict)] if isinstance(values, list) else ()
