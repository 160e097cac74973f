"""What `py-spy dump` prints of a process → facts: where its is_main thread stands, and what its input waits for.

Frames come innermost first. A thread that waits for other workers stands in TensorFlow's own Python, which
called its runtime; one that a lock, a sleep or a file holds stands in code of the user's, or in Python's.
Functions of the user's that tf.data calls run on threads of the runtime's. Native frames (`--native`) are
passed over: which library waits tells nothing of for whom.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import not_understood
from analyzer.model.run import Source

IN_TENSORFLOW, OUTSIDE_TENSORFLOW = "stands_inside_tensorflow", "stands_outside_tensorflow"
"""The keys of the fact of a is_main thread; its value is the innermost frame of Python, as the dump has it."""
INPUT_FRAME = "input_stands_in"
"""The key of the same of a thread on which tf.data called a function of the user's."""

_PROCESS = re.compile(r"Process \d+: ")
_THREAD = re.compile(r"Thread (?:0x[0-9A-Fa-f]+|\d+)(?: \((?P<state>[\w+]+)\))?(?:: ?\"(?P<name>[^\"]*)\")?")
_FRAME = re.compile(r"\s+(?P<frame>\S.{0,500} \((?P<file>[^()]{1,500}?)(?::\d+)?\))\s*$")
_IGNORED = re.compile(r"(?:Python v\d|\s+(?:Arguments|Locals):|\s+[\w.]+: |\s*$)")
"""The version, and with `--locals` the values of variables, which are nobody's business here."""
_RUNTIME = re.compile(r"(?:^|/)tensorflow/python/")
_CALLED_BY_TF_DATA = re.compile(r"(?:^|/)tensorflow/python/ops/script_ops\.py$")
_PYTHON = re.compile(r"\.py$|^<")
"""A file of Python; all other frames are native."""


@dataclass
class _Thread:
    """One thread: whether it is the is_main one, its innermost frame of Python, and what else is known of it."""

    is_main: bool
    line: int = 0
    frame: str = ""
    in_tensorflow: bool = False
    called_by_tf_data: bool = False

    def add_frame(self, line: int, frame: str, file: str) -> None:
        """Take in its next frame."""
        if not self.frame and _PYTHON.search(file):
            self.line, self.frame, self.in_tensorflow = line, frame, bool(_RUNTIME.search(file))
        self.called_by_tf_data |= bool(_CALLED_BY_TF_DATA.search(file))


def read(source: Source, _matcher: Matcher) -> SourceRows:
    """A fact for the is_main thread of each process, and one for each thread that tf.data waits for.

    Raises:
        OSError: the file cannot be read.

    """
    output = SourceRows(source)
    threads: list[_Thread] = []
    unread: list[int] = []
    for number, line in enumerate(whole_text(output).split("\n"), 1):
        if _PROCESS.match(line):
            _add_facts(output, threads)
            threads = []
        elif thread := _THREAD.match(line):
            # Without a name, which an old Python does not tell, the first thread is the is_main one.
            threads.append(_Thread(thread["name"] == "MainThread" or not (threads or thread["name"])))
        elif frame := _FRAME.match(line):
            if threads:
                threads[-1].add_frame(number, frame["frame"], frame["file"])
        elif not _IGNORED.match(line):
            unread.append(number)
    _add_facts(output, threads)
    not_understood(output, unread, "no frame as py-spy prints it")
    return output


def _add_facts(output: SourceRows, threads: Iterable[_Thread]) -> None:
    for thread in threads:
        if thread.frame and thread.is_main:
            key = IN_TENSORFLOW if thread.in_tensorflow else OUTSIDE_TENSORFLOW
            output.add("facts", line=thread.line, key=key, value=thread.frame)
        elif thread.frame and thread.called_by_tf_data:
            output.add("facts", line=thread.line, key=INPUT_FRAME, value=thread.frame)
