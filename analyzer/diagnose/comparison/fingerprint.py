"""Identifies kinds of failures: equal for failures that one action would end, whatever the worker or time.

A kind is the cause and the role of the culprit. Where the cause names no action by itself, it is also the
frame of the user's code that raised, the calls that met in a collective, the directory of the files that
failed, or the rule that explains it.
"""

import hashlib
import re
from collections.abc import Iterator, Mapping

from analyzer.diagnose.decide import Decision
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.log_template import template_of
from analyzer.model.run import Tables
from analyzer.model.task_names import split_task

_BY_FRAME = frozenset({"user.exception", "data.pipeline_error", "unknown"})
_BY_CALL = frozenset({"api.collective_mismatch"})
"""Causes identified by the calls that did not match, whichever worker raised first."""
_BY_DIRECTORY = frozenset(
    {"data.missing_file", "data.corrupt_record", "storage.unreachable", "storage.access_denied"}
)
_BY_RULE = frozenset({"hang.at_startup", "peer.vanished"})
"""Parents of other causes, too general to say what to do; the rule says it."""
_TRAINING_ROLES = frozenset({"worker", "chief"})
_FRAME = lazy_regex(r"(?:.*/)?(?P<file>[^/]*?)(?::\d+)? in (?P<function>.*)", re.DOTALL)
_PATH = lazy_regex(r"((?:[\w.@+=-]*/)+)[\w.@+=*-]")
_GRAPH_NAME = lazy_regex(r"\{\{\w*node [^{}]*\}\}|/job:\S+")
"""Matches what TensorFlow adds to the text of errors: a node or function of its graph, or a device."""
_MAX_CHARACTERS = 200


def fingerprint(decision: Decision, tables: Tables, renamed: Mapping[str, str]) -> str:
    """Return 16 hexadecimal digits that identify the kind of failure.

    `renamed` maps former ids of causes and rules to the present ones; the oldest id is hashed, so that a
    renaming changes no fingerprint.
    """
    former = {present: past for past, present in renamed.items()}
    text = "\n".join(_first_id(part, former) for part in _parts(decision, tables))
    return hashlib.sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:16]


def _first_id(part: str, former: Mapping[str, str]) -> str:
    for _ in former:
        part = former.get(part, part)
    return part


def _parts(decision: Decision, tables: Tables) -> Iterator[str]:
    """Yield the texts that identify the kind of failure; the module says which."""
    cause, chosen = decision.cause or "", decision.chosen
    yield cause
    roles = {split_task(worker)[0] for worker in chosen.culprits} if chosen else set()
    yield from sorted(roles - _TRAINING_ROLES)
    final = tables["exceptions"].filter("final")
    raised = final.filter("own")
    if cause in _BY_FRAME:
        yield from sorted({_frame(kind, frame) for kind, frame in raised.select("type", "frame").iter_rows()})
    if cause in _BY_CALL:
        yield from sorted({_call(frame) for frame in final["frame"]} - {""})
    if cause in _BY_DIRECTORY:
        yield from sorted({_directory(message) for message in raised["message"]} - {""})
    if cause in _BY_RULE and chosen:
        yield chosen.rule
    if chosen is None:
        yield decision.verdict.value
        yield from sorted(set(tables["lifetimes"]["ended"].drop_nulls()))
        messages = (_GRAPH_NAME.sub("", message) for message in raised["message"])
        yield from sorted({template_of(message[:_MAX_CHARACTERS]) for message in messages})


def _frame(kind: str, frame: str | None) -> str:
    """Return exception class, file and function; not the line, which every edit of the file moves."""
    return f"{kind} {_call(frame)}".rstrip()


def _call(frame: str | None) -> str:
    match = _FRAME.fullmatch(frame or "")
    return f"{match['file']}:{match['function']}" if match else ""


def _directory(message: str) -> str:
    """Return the directory of the first path in a message, with numbers masked."""
    found = _PATH.search(_GRAPH_NAME.sub("", message))
    return re.sub(r"\d+", "#", found[1]) if found else ""
