"""The exit status that a wrapper prints below all that its worker printed: `EXIT 137`, `rc=137`.

A shell script that starts the training writes such a line in words of its own. Programs print numbers behind
such words, too: a line counts only if it says nothing else, and if nothing but the wrapper wrote below it.
"""

import re
from collections import deque

from analyzer.ingest.logs.fact_patterns import negative_signal
from analyzer.ingest.logs.records import Record
from analyzer.ingest.reader_output import SourceRows
from analyzer.model.lazy_regex import lazy_regex
from analyzer.model.source_kinds import Kind
from analyzer.model.task_names import is_rotated, worker_of

_MAX_LINES = 8
"""Lines of a wrapper below the output of its program that are looked at."""
_MAX_CHARS = 160

_PROGRAM = (
    r"(?:(?:python[\d.]*|\S{1,80}\.py|train\w{0,10}|worker|rank|task|job|process|program|command|main|end|prozess)"
    r"(?:[ _-]?\d{1,5})?[ ,:]{1,3}){0,3}"
)
"""Regex for what a status is of. Scripts of a shell are left out: one that copies files fails by itself."""
_STATUS = lazy_regex(
    r"(?i)[+#*=<> -]{0,12}(?:\[[\w./-]{1,40}\]:? )?[\[(]?"
    rf"(?P<program>{_PROGRAM})"
    r"(?:(?:(?:has )?(?:exited|ended|finished|stopped|terminated|died|beendet)[ ,]{1,2})?(?:with |mit )?"
    r"(?:(?P<exit>(?:non-?zero )?exit(?:ed)?(?:[ _-]?(?:code|status|value))?|non-?zero status)"
    r"|rc|ret(?:urned|urn[ _-]?(?:code|status))?|status|(?:->|=>|→))[ \t]{0,3}[:=]?[ \t]{0,3}"
    r"(?P<code>-?\d{1,3})"
    r"|exited abnormally \((?P<abnormal>\d{1,3})\)"
    r"|(?:was )?(?:terminated|killed|ended) by signal (?P<signal>\d{1,2})"
    r"|signal: (?P<name>[a-z ]{5,30})(?: \(core dumped\))?)"
    r"(?: at [\d:.]{4,15})?[\])]?[ =*#-]{0,12}"
)
"""Regex for a whole line that states how a program ended."""
_SIGNALS = {
    "killed": 9,
    "segmentation fault": 11,
    "aborted": 6,
    "bus error": 7,
    "illegal instruction": 4,
    "terminated": 15,
}
"""Words of Go's os/exec for the signal that ended a process → its number."""
_FATAL = {2, 8, 13, *_SIGNALS.values()}
"""Signals that end programs; others in such words are numbers of the program's own, as -1 is an error."""
_BELOW = lazy_regex(
    r"(?i)(?:real|user|sys)\s+\d|\+{1,3} |done\b|bye\b|finished\b"
    r"|(?:upload|copy|sync|archiv|clean|collect|remov|stopp|zipp)\w*\b(?!.*\b(?:model|checkpoint|weights)\b)"
)
"""Regex for how lines begin that wrappers print below a status."""


class WrapperStatus:
    """Finds the status in the last lines of a log, whose records are given in order."""

    def __init__(self) -> None:
        """Create without any records."""
        self._last: deque[Record] = deque(maxlen=_MAX_LINES)

    def read(self, record: Record) -> None:
        """Keep a record that a wrapper may have printed; any other one shows that the program still ran."""
        if record.kind == "plain":
            self._last.append(record)
        else:
            self._last.clear()

    def add_fact(self, output: SourceRows) -> None:
        """Add a fact `exit_code` if the log ends with a status that is not zero.

        A zero may be the status of another command, such as `tee`. Words like `rc` or `returned`, which
        programs also use of values of their own, count only before the status of a signal.
        """
        for record in () if is_rotated(output.source.name) else reversed(self._last):
            text = record.bodies[0].strip()
            if len(text) <= _MAX_CHARS and (stated := _STATUS.fullmatch(text)):
                code = _code(stated)
                if _counts(code, stated) and not _is_read(output, record.line):
                    task = worker_of(stated["program"].strip(" ,:"), Kind.EXIT_CODES)
                    place = {
                        "line": record.line,
                        "time": record.time,
                        "excerpt": record.pieces[0].text.strip(),
                    }
                    about = {"worker": task} if task else {}
                    output.add("facts", key="exit_code", value=str(code), **place, **about)
                return
            if text and not _BELOW.match(text):
                return


def _counts(code: int, stated: re.Match[str]) -> bool:
    return -code in _FATAL or (code > 0 and stated["exit"] is not None)


def _is_read(output: SourceRows, line: int) -> bool:
    """Return True if a known message states an exit code in this line."""
    read = output.cells("facts", "key", "line")
    return any(at == line and str(key).startswith("exit_code") for key, at in read)


def _code(stated: re.Match[str]) -> int:
    """Return the exit code of a match of `_STATUS`, negative for a signal."""
    if signal := stated["signal"]:
        return -int(signal)
    if name := stated["name"]:
        return -_SIGNALS.get(name.lower(), 0)
    return negative_signal(int(stated["code"] or stated["abnormal"]))
