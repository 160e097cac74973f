"""Packs of any number of rules, made by code: each looks for a line of its own, as most rules do."""

from __future__ import annotations

import sys
from pathlib import Path

_RULE = """\
id: made-{n:04d}
title: The service number {n} went away
role: cause
cause: network.unreachable
requires: [log]
signals:
  told:
    log:
      any_of: ["service-{n:04d} went away", "lost service-{n:04d}"]
      regex: "service-{n:04d} went away(?: after (?P<seconds>\\\\d+) s)?|lost service-{n:04d}"
      example: "service-{n:04d} went away after 12 s"
    of: subject
    says: "{{subject}} lost the service number {n}"
when: told
blame: subject
confidence: {{base: 0.7}}
summary: "{{subject}} lost the service number {n}."
next:
  - text: "See why the service went away."
action: {{retry: after_fix, owner: user_code}}
"""
_CASES = """\
cases:
  - name: the line of a log
    origin: made by code
    given:
      worker-0.log: |
        service-{n:04d} went away after 12 s
    expect: {{fires: true}}
  - name: the line of another service
    origin: made by code
    given:
      worker-0.log: |
        service-x went away after 12 s
    expect: {{fires: false}}
"""


def write_rules(folder: Path, count: int) -> Path:
    """A directory of so many rules."""
    folder.mkdir(parents=True, exist_ok=True)
    for n in range(count):
        (folder / f"made-{n:04d}.yaml").write_text((_RULE + _CASES).format(n=n), encoding="utf-8")
    causes = "network.unreachable: {means: A service that training needs cannot be reached.}\n"
    (folder / "causes.yaml").write_text(causes, encoding="utf-8")
    return folder


if __name__ == "__main__":
    write_rules(Path(sys.argv[1]), int(sys.argv[2]))
