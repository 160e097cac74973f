"""Environment variables (`env`, `export -p`, `/proc/PID/environ`) → facts `env:NAME`.

Only variables that affect training are taken, and none whose name suggests a secret.
"""

import re
from collections.abc import Iterable

from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform import tf_config
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import add_matches, report_unread_lines
from analyzer.model.lazy_regex import lazy_regex

Variable = tuple[int, str, str]
"""Line, name and value."""
KEY = "env:"
"""Prefix of the fact's key, followed by the variable's name."""

_VARIABLE = lazy_regex(
    r"(?P<keyword>declare -x |typeset -x |export |set )?(?P<name>[A-Za-z_][\w.%()]{0,200})=(?P<value>.*)$",
    re.DOTALL,
)
_DECLARED = lazy_regex(r"(?:declare -x|export) [A-Za-z_]\w*$")
_WANTED = lazy_regex(
    r"(?:TF|NCCL|XLA|CUDA|CUDNN|OMP|KMP|GRPC|SLURM|KERAS|UCX|HOROVOD)_\w+|SLURMD_NODENAME|(?:PBS|LSB)_JOBID|LD_LIBRARY_PATH|LD_PRELOAD"
    r"|NVIDIA_(?:VISIBLE_DEVICES|DRIVER_CAPABILITIES)|PYTHON(?:HASHSEED|UNBUFFERED|FAULTHANDLER|PATH)"
    r"|(?:https?|no|all|grpc)_proxy|HTTPS?_PROXY|NO_PROXY|ALL_PROXY|MKL_NUM_THREADS|OPENBLAS_NUM_THREADS"
)
SECRET_NAME = lazy_regex(
    r"TOKEN|SECRET|PASS|CREDENTIAL|KEY(?!S?_?POINT)|JWT|AUTH|COOKIE|SIGNATURE", re.IGNORECASE
)
_HOSTS = ("SLURMD_NODENAME", "NODE_NAME", "HOSTNAME")
_PASSWORD = lazy_regex(r"(?<=://)[^/@\s]+@")
_MAX_VALUE_CHARS = 4_000


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read the variables; the value of TF_CONFIG is read like a TF_CONFIG file."""
    add_facts(output, matcher, whole_text(output, ends=b"\0"))


def add_facts(output: SourceRows, matcher: Matcher, text: str) -> None:
    """Add the facts of an environment given as text."""
    add_variables(output, matcher, _variables(output, text.replace("\x00", "\n")))


def add_variables(output: SourceRows, matcher: Matcher, variables: Iterable[Variable]) -> None:
    """Add the facts of some variables."""
    matcher.begin_file()
    hosts: dict[str, tuple[int, str]] = {}
    for number, name, value in variables:
        if name in _HOSTS:
            hosts[name] = (number, value)
        if name == "TF_CONFIG":
            tf_config.add_facts(output, value, number)
        elif _WANTED.fullmatch(name) and not SECRET_NAME.search(name):
            shown = _PASSWORD.sub("", value)[:_MAX_VALUE_CHARS]
            output.add("facts", line=number, key=KEY + name, value=shown)
            line = f"{name}={shown}"
            ids = set().union(*matcher.lines(line.encode("utf-8", "replace")).values())
            add_matches(output, matcher, number, line, ids)
    number, host = next((hosts[name] for name in _HOSTS if name in hosts), (0, ""))
    if re.fullmatch(r"[A-Za-z0-9][\w.-]{0,200}", host):
        output.add("facts", line=number, key="host", value=host)


def is_environment(text: str) -> bool:
    """Return True if at least two lines of a text start with a variable assignment."""
    return len(re.findall(r"^(?:declare -x |export )?[A-Za-z_]\w{0,200}=", text, re.MULTILINE)) > 1


def _variables(output: SourceRows, text: str) -> list[Variable]:
    """Return line, name and value of each variable; other lines continue the value before them."""
    unread: list[int] = []
    found: list[tuple[int, re.Match[str], list[str]]] = []
    for number, line in enumerate(text.split("\n"), 1):
        if start := _VARIABLE.match(line):
            found.append((number, start, [start["value"]]))
        elif found:
            found[-1][2].append(line)
        elif line.strip() and not _DECLARED.match(line):
            unread.append(number)
    report_unread_lines(output, unread, "no variable of an environment")
    return [(number, start["name"], _value(start["keyword"], lines)) for number, start, lines in found]


def _value(keyword: str | None, lines: list[str]) -> str:
    """Return the lines of a value as one text; after a keyword such as `export`, without shell quotes."""
    value = "\n".join(lines).rstrip("\r\n")
    if keyword and len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1] if value[0] == "'" else re.sub(r"\\(.)", r"\1", value[1:-1])
    return value
