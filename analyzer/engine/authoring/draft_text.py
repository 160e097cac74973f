"""Writes a draft as a rule file; the author must replace each TODO, which `lint` rejects."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import regex
import yaml

from analyzer.model.log_template import literals_between
from analyzer.model.task_names import in_order, listed

_PREFIX = re.compile(r"^[^\]]{0,120}\.(?:cc|h|cpp):(?:\d+|<\w+>)\] ")
"""Regex of the prefix that TensorFlow's C++ code prints before a message."""
_NUMBERED_TOKEN = re.compile(r"(?:\b[0-9a-fA-F]{1,16})?(?:<n>\w*)+")
"""Regex of a token that holds masked numbers, with what belongs to them: `<n>af`, `T<n>` keeps its letter."""
_PUNCTUATION = " \t:;,.-=|#"
"""Characters that are cut off at both ends of a text to search for."""


class LineTemplate(NamedTuple):
    """A line and its template."""

    line: str
    template: str

    @property
    def parts(self) -> list[str]:
        """Return the parts of the message that are equal in every run."""
        prefixed = "] " in self.line and _PREFIX.match(self.line)
        template = self.template.partition("] ")[2] if prefixed else self.template
        parts = literals_between(_NUMBERED_TOKEN.sub("<n>", template))
        while len(parts) > 1 and not re.search(r"[A-Za-z]{2}", parts[0]):
            parts.pop(0)
        return parts

    @property
    def literal(self) -> str | None:
        """Return the text to search for, the longest part without numbers; None if under 4 characters."""
        words = sorted((part.strip(_PUNCTUATION) for part in self.parts), key=len, reverse=True)
        return next((each for each in words if len(each) >= 4 and each in self.line), None)

    @property
    def regex(self) -> str | None:
        """Return a regex that accepts any numbers, addresses and paths in the line; None if it has none."""
        parts = [re.escape(part).replace(r"\ ", r"\s+") for part in self.parts]
        expression = r"\S+?".join(parts).strip()
        matches = len(parts) > 1 and regex.search(expression, self.line, timeout=0.25)
        return expression if matches else None


def rule_text(
    rule_id: str,
    run: str,
    workers: Sequence[str],
    lines: Sequence[LineTemplate],
    fires: Mapping[str, Sequence[str]],
    quiet: Mapping[str, Sequence[str]],
    explains: Sequence[str],
    silent: Sequence[str] = (),
) -> str:
    """Return the text of the rule file; `fires` and `quiet` are worker → log lines of its two cases.

    `workers` have the lines; they are the culprits of the first case, unless these are all workers.
    `silent` are the run's culprits if only others have such lines; the rule then blames nobody.
    """
    some = len(workers) < len(fires) and not silent
    expected = {"fires": True, "culprits": in_order(workers)} if some else {"fires": True}
    names = ["said"] if len(lines) == 1 else [f"said_{number + 1}" for number in range(len(lines))]
    groups: list[dict[str, Any]] = [
        {"id": rule_id, "title": "TODO what happened, in one line", "role": "cause",
         "cause": "TODO an id of causes.yaml", "status": "experimental", "requires": ["log"]},
        {"signals": {name: _signal(each) for name, each in zip(names, lines, strict=True)}},
        {"when": " and ".join(names), "blame": "none" if silent else "subject", "confidence": "possible",
         "explains": [*(each for each in explains if not each.startswith("peer.")), "peer.*", "symptom-*"]},
        {"summary": "TODO what it means; {subject} is the worker", "why": [f"{{{names[-1]}.excerpt}}"],
         "next": ["TODO what to do about it"], "action": {"retry": "TODO", "owner": "TODO"}},
        {"cases": [
            {"name": "the run that it was drafted from", "origin": f"made from {run}",
             "given": _Files(fires), "expect": expected},
            {"name": "the same run without these lines", "origin": "near miss, made from the case above",
             "given": _Files(quiet), "expect": {"fires": False}},
        ]},
    ]  # fmt: skip
    name = " ".join(run.split())
    who = f"{workers[0]} alone says, or says" if len(workers) == 1 else f"{listed(in_order(workers))} say"
    heading = f"# Drafted from {name}: what {who} after the last common step.\n"
    if silent:
        heading += f"# None is of {listed(silent)}, which the diagnosis blames: the rule blames nobody.\n"
    return heading + "\n".join(_dumped(group) for group in groups)


def _signal(line: LineTemplate) -> dict[str, Any]:
    log = {"any_of": [line.literal], "regex": line.regex, "example": line.line}
    given = {key: value for key, value in log.items() if value}
    return {"log": given, "of": "subject", "says": "TODO what the line shows; {subject} is the worker"}


class _Files(dict[str, str]):
    """The logs of a case, file name → text."""

    def __init__(self, lines: Mapping[str, Sequence[str]]) -> None:
        names = {worker: f"{worker.replace(':', '-')}.log" for worker in sorted(lines)}
        super().__init__({name: "\n".join(lines[worker]) + "\n" for worker, name in names.items()})


class _Dumper(yaml.SafeDumper):
    """YAML dumper: short lists and mappings on one line, long texts as blocks."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.Node:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


def _files(dumper: yaml.SafeDumper, files: _Files) -> yaml.Node:
    return dumper.represent_mapping("tag:yaml.org,2002:map", files.items(), flow_style=False)


_Dumper.add_representer(str, _text)
_Dumper.add_representer(_Files, _files)


def _dumped(group: Mapping[str, Any]) -> str:
    return yaml.dump(
        group, Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=None, width=2_000
    )
