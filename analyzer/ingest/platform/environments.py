"""Environment variables (`env`, `export -p`, `/proc/PID/environ`) → facts `env:NAME`.

Only variables that affect training are taken, and none whose name suggests a secret.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform import tf_config
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import add_matches, report_unread_lines
from analyzer.model.run import Source

KEY = "env:"
"""Prefix of the fact's key, followed by the variable's name."""

_VARIABLE = re.compile(
    r"(?P<keyword>declare -x |typeset -x |export |set )?(?P<name>[A-Za-z_][\w.%()]{0,200})=(?P<value>.*)$",
    re.DOTALL,
)
_DECLARED = re.compile(r"(?:declare -x|export) [A-Za-z_]\w*$")
_WANTED = re.compile(
    r"(?:TF|NCCL|XLA|CUDA|CUDNN|OMP|KMP|GRPC|SLURM|KERAS|UCX|HOROVOD)_\w+|SLURMD_NODENAME|LD_LIBRARY_PATH|LD_PRELOAD"
    r"|NVIDIA_(?:VISIBLE_DEVICES|DRIVER_CAPABILITIES)|PYTHON(?:HASHSEED|UNBUFFERED|FAULTHANDLER|PATH)"
    r"|(?:https?|no|all|grpc)_proxy|HTTPS?_PROXY|NO_PROXY|ALL_PROXY|MKL_NUM_THREADS|OPENBLAS_NUM_THREADS"
)
_SECRET = re.compile(
    r"TOKEN|SECRET|PASS|CREDENTIAL|KEY(?!S?_?POINT)|JWT|AUTH|COOKIE|SIGNATURE", re.IGNORECASE
)
_HOSTS = ("SLURMD_NODENAME", "NODE_NAME", "HOSTNAME")
_PASSWORD = re.compile(r"(?<=://)[^/@\s]+@")
_MAX_VALUE_CHARS = 4_000


class Variable(NamedTuple):
    """One variable and the line on which it begins."""

    line: int
    name: str
    value: str


def read(source: Source, matcher: Matcher) -> SourceRows:
    """Read the variables; TF_CONFIG is read like a file of its own.

    Raises:
        OSError: the file cannot be read.

    """
    output = SourceRows(source)
    matcher.begin_file()
    add_facts(output, matcher, whole_text(output, ends=b"\0"))
    return output


def add_facts(output: SourceRows, matcher: Matcher, text: str) -> None:
    """Add the facts of an environment given as text."""
    hosts = {}
    for variable in _variables(output, text.replace("\x00", "\n")):
        if variable.name in _HOSTS:
            hosts[variable.name] = variable
        if variable.name == "TF_CONFIG":
            tf_config.add_facts(output, variable.value, variable.line)
        elif _WANTED.fullmatch(variable.name) and not _SECRET.search(variable.name):
            value = _PASSWORD.sub("", variable.value)[:_MAX_VALUE_CHARS]
            output.add("facts", line=variable.line, key=KEY + variable.name, value=value)
            line = f"{variable.name}={value}"
            ids = {
                pattern
                for wanted in matcher.lines(line.encode("utf-8", "replace")).values()
                for pattern in wanted
            }
            add_matches(output, matcher, variable.line, line, ids)
    host = next((hosts[name] for name in _HOSTS if name in hosts), None)
    if host and re.fullmatch(r"[A-Za-z0-9][\w.-]{0,200}", host.value):
        output.add("facts", line=host.line, key="host", value=host.value)


def is_environment(text: str) -> bool:
    """True if a text has at least two lines that start with a variable assignment."""
    return len(re.findall(r"^(?:declare -x |export )?[A-Za-z_]\w{0,200}=", text, re.MULTILINE)) > 1


def _variables(output: SourceRows, text: str) -> Iterator[Variable]:
    """Yield each variable; lines that start none continue the value before them."""
    unread: list[int] = []
    current: Variable | None = None
    continuation: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if start := _VARIABLE.match(line):
            if current:
                yield _join_lines(current, continuation)
            current, continuation = (
                Variable(number, start["name"], start["value"]),
                [start["keyword"] or ""],
            )
        elif current:
            continuation.append(line)
        elif line.strip() and not _DECLARED.match(line):
            unread.append(number)
    if current:
        yield _join_lines(current, continuation)
    report_unread_lines(output, unread, "no variable of an environment")


def _join_lines(variable: Variable, continuation: list[str]) -> Variable:
    """Return the variable with its continuation lines, without the shell's quotes."""
    keyword, *lines = continuation
    value = "\n".join([variable.value, *lines]).rstrip("\r\n")
    if keyword and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        value = value[1:-1] if value[0] == "'" else re.sub(r"\\(.)", r"\1", value[1:-1])
    return variable._replace(value=value)
