"""Recognizes reports that the tool wrote, so that they are not read as logs of a run."""

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
    |\A\{{\s*"schema":\ "mwms-diagnosis/""".encode(),
    re.VERBOSE,
)
"""Regex for the first bytes of a report in any format whose own name does not tell."""
_TRIAGE_OPENING = re.compile(
    rb"""<meta\ name="generator"\ content="mwms-triage\b
    |\A\{"place":\ [^\n]*"fingerprint":  # runs.jsonl
    |\A\{\s*"night":\ "[\d-]+",\s*"groups":\ \[
    |\A\#\#\#\ \[?Runs\ of\ \d{4}-\d\d-\d\d\b
    |\A\#\ HELP\ mwms_triage_
    |<title>mwms-triage:\ |"title":\ "mwms-triage:\ """,
    re.VERBOSE,
)
"""Regex for the first bytes of what mwms-triage writes."""


def reporting_tool(name: str, opening: bytes) -> str | None:
    """Return the command that wrote a report, by its name or its first bytes; None if it is no report."""
    if _NAME.search(name) or _OPENING.search(opening):
        return "mwms-analyze"
    return "mwms-triage" if _TRIAGE_OPENING.search(opening) else None
