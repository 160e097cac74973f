"""Output of `py-spy dump` → facts: the current frames of the main thread and of the input pipeline.

Frames are printed innermost first. A thread that waits for other workers is inside TensorFlow's Python code;
one blocked by a lock, a sleep or a file is in user code or the standard library. User functions called by
tf.data run on threads of the runtime. Native frames (`--native`) are ignored.
"""

import sys
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import report_unread_lines
from analyzer.model.lazy_regex import lazy_regex

IN_TENSORFLOW, OUTSIDE_TENSORFLOW = "stands_inside_tensorflow", "stands_outside_tensorflow"
"""Keys of the fact about a main thread; the value is its innermost Python frame."""
INPUT_FRAME = "input_stands_in"
"""Key of the fact about a thread on which tf.data calls a user function; the value is its frame."""

_PROCESS = lazy_regex(r"Process \d+: ")
_THREAD = lazy_regex(r"Thread (?:0x[0-9A-Fa-f]+|\d+)(?: \((?P<state>[\w+]+)\))?(?:: ?\"(?P<name>[^\"]*)\")?")
_FRAME = lazy_regex(r"\s+(?P<frame>\S.{0,500} \((?P<file>[^()]{1,500}?)(?::\d+)?\))\s*$")
_IGNORED = lazy_regex(r"(?:Python v\d|\s+(?:Arguments|Locals):|\s+[\w.]+: |\s*$)")
"""Regex for lines to skip: Python's version, and the variables that `--locals` prints."""
_RUNTIME = lazy_regex(r"(?:^|/)tensorflow/python/")
_CALLED_BY_TF_DATA = lazy_regex(r"(?:^|/)tensorflow/python/ops/script_ops\.py$")
_INSTALLED = lazy_regex(r"(?:site|dist)-packages/|/lib/python\d|^<(?!module|string|stdin|ipython)")
_LIBRARIES = sys.stdlib_module_names | {
    "tensorflow", "tf_keras", "keras", "numpy", "pandas", "pyarrow", "h5py", "grpc", "google", "requests",
    "urllib3", "aiohttp", "boto3", "botocore", "s3fs", "gcsfs", "fsspec",
}  # fmt: skip
"""Packages whose frames are not the user's; py-spy leaves out the directory that they are installed in."""
_PYTHON = lazy_regex(r"\.py$|^<")
"""Regex for the file of a Python frame; all other frames are native."""


class _Thread(NamedTuple):
    """One thread with line, text and file of each Python frame, innermost first."""

    is_main: bool
    frames: list[tuple[int, str, str]]


def read(output: SourceRows, _matcher: Matcher) -> None:
    """Read one fact per main thread and one per thread that tf.data waits for."""
    threads: list[_Thread] = []
    unread: list[int] = []
    for number, line in enumerate(whole_text(output).split("\n"), 1):
        if _PROCESS.match(line):
            _add_facts(output, threads)
            threads = []
        elif thread := _THREAD.match(line):
            # Without a name, which an old Python does not print, the first thread is the main one.
            is_main = thread["name"] == "MainThread" or not (threads or thread["name"])
            threads.append(_Thread(is_main, []))
        elif frame := _FRAME.match(line):
            if threads and _PYTHON.search(frame["file"]):
                threads[-1].frames.append((number, frame["frame"], frame["file"]))
        elif not _IGNORED.match(line):
            unread.append(number)
    _add_facts(output, threads)
    report_unread_lines(output, unread, "no frame as py-spy prints it")


def main_thread_key(file: str) -> str:
    """Return the key of the fact about a main thread whose innermost Python frame is in `file`."""
    return IN_TENSORFLOW if _RUNTIME.search(file) else OUTSIDE_TENSORFLOW


def is_called_by_tf_data(file: str) -> bool:
    """Return whether a frame in `file` shows that tf.data calls a user function on its thread."""
    return bool(_CALLED_BY_TF_DATA.search(file))


def _add_facts(output: SourceRows, threads: Iterable[_Thread]) -> None:
    for thread in threads:
        if not thread.frames:
            continue
        line, innermost, file = thread.frames[0]
        frame = innermost
        if not _RUNTIME.search(file) and (caller := _own_caller(thread.frames)):
            frame = f"{frame}, called from {caller}"
        if thread.is_main:
            output.add("facts", line=line, key=main_thread_key(file), value=frame, excerpt=innermost)
        elif any(is_called_by_tf_data(file) for _, _, file in thread.frames):
            output.add("facts", line=line, key=INPUT_FRAME, value=frame, excerpt=innermost)


def _own_caller(frames: Sequence[tuple[int, str, str]]) -> str | None:
    """Return the innermost frame of the user's code if libraries were called from it; else None."""
    own = next((frame for _, frame, file in frames if not _is_of_library(file)), None)
    return own if own != frames[0][1] else None


def _is_of_library(file: str) -> bool:
    return bool(_INSTALLED.search(file)) or file.partition("/")[0].removesuffix(".py") in _LIBRARIES
