"""Recognizes reports that the tool wrote: beside the logs of a run they are no logs of it."""

import re

_NAME = re.compile(r"(?:^|/)mwms-report-[^/]*$")
_VERDICT = r"(?:✕|▲|✓|\?)\ (?i:failed|degraded|healthy|inconclusive)\b"
"""Regex for the sign and the name of a verdict, as all reports begin."""
_OPENING = re.compile(
    rf"""\A(?:\x1b\[[\d;]*m)*{_VERDICT}(?:\x1b\[[\d;]*m)*\ \ (?=.*\n\n)  # text, perhaps in colour
    |\A(?:\#\#\#|h3\.)\ {_VERDICT}:[ ]
    |\A::(?:error|warning|notice)\ title={_VERDICT}
    |<meta\ name="generator"\ content="mwms-analyze\b
    |<testsuites\ name="mwms-analyze"
    |"driver":\ \{{\s*"name":\ "mwms-analyze"
    |\A\{{\s*"schema":\ "mwms-diagnosis/
    |\A\{{"place":\ [^\n]*"fingerprint":  # runs.jsonl of mwms-triage""".encode(),
    re.VERBOSE,
)
"""Regex for the first bytes of a report in any format whose own name does not tell."""


def is_own_report(name: str, opening: bytes) -> bool:
    """Return True for a file that mwms-analyze wrote, by its name or its first bytes."""
    return bool(_NAME.search(name) or _OPENING.search(opening))
