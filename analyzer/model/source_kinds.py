"""Kinds of files in a run; a new format needs an entry here and a reader module.

An entry has the reader's module in `analyzer.ingest`, a pattern for file names, and one for the first bytes
of files whose names are inconclusive. Entries are tried in order: specific kinds precede logs.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Self


class Kind(StrEnum):
    """The kind of a source, detected from its name or its first bytes.

    `reader` is a module of `analyzer.ingest` with `read(output, matcher)`, imported on first use, or None.
    `names` is searched in the name within the run, in lower case and without compression suffixes;
    `opening` must match the first bytes.
    """

    reader: str | None
    names: re.Pattern[str] | None
    opening: bytes | None

    def __new__(
        cls, value: str, reader: str | None = None, names: str | None = None, opening: bytes | None = None
    ) -> Self:
        """Create a kind with its attributes."""
        kind = str.__new__(cls, value)
        kind._value_ = value
        kind.reader = reader
        kind.names = re.compile(names) if names else None
        kind.opening = opening
        return kind

    EVENT_FILE = (
        "event_file",
        "tensorboard.event_reader",
        r"(^|/)(events\.out\.tfevents|[^/]*\.tfevents)[^/]*$",
    )
    TRACE = "trace", "profiler.trace_reader", r"\.xplane\.pb$|(^|[/.])trace\.json$"
    TF_CONFIG = (
        "tf_config",
        "platform.tf_config_files",
        r"tf[-_]?config[^/]*\.(json|txt|env)$|tf[-_]?config[^/.]*$",
    )
    EXIT_CODES = "exit_codes", "platform.exit_codes", r"(exit|return)[-_]?(code|status)s?[^/]*$"
    PODS = (
        "pods",
        "platform.pods",
        (
            r"(^|/)(kubectl|describe|get|pods?|events)([-_.][^/]*)?\.(json|ya?ml)$"
            r"|(^|/)(kubectl[-_.])?(describe|get[-_.](pods?|events))[^/]*\.(txt|log|out)$"
        ),
    )
    SACCT = (
        "sacct",
        "platform.sacct",
        r"(^|[/_.-])sacct([-_.][^/]*)?\.(txt|log|out|json|csv|psv)$|(^|/)sacct$",
        rb"\s*JobID(?:Raw)?(?:[ \t|,;]+[\w%]+)*?[ \t|,;]+(?:State|ExitCode)\b",
    )
    NVIDIA_SMI = (
        "nvidia_smi",
        "platform.nvidia_smi",
        r"(^|[/_.-])(nvidia[-_]?smi|nvsmi|dmon)([-_.][^/]*)?\.(txt|log|out|csv)$|(^|/)nvidia-smi$",
        (
            rb"(?:[a-z._]+, ?)*(?:utilization\.gpu|memory\.used|temperature\.gpu) \["
            rb"|# ?(?:Date +)?(?:Time +)?gpu +(?:pwr|gtemp|sm)"
        ),
    )
    CGROUP = (
        "cgroup",
        "platform.cgroups",
        (
            r"(^|[/_.-])(memory|cpu|pids)[._](current|events|failcnt|high|limit_in_bytes|max|max_usage_in_bytes"
            r"|oom_control|peak|stat|usage_in_bytes)([-_][^/.]*)?(\.local)?(\.(txt|log|out|csv|tsv))?$"
        ),
    )
    DISKS = (
        "disks",
        "platform.disks",
        r"(^|[/_.-])(df|disk[-_]?(free|space|usage))([-_.][^/]*)?\.(txt|log|out)$|(^|/)df$",
    )
    STACKS = (
        "stacks",
        "platform.stacks",
        (
            r"(^|[/_.-])py[-_]?spy([-_.][^/]*)?\.(txt|log|out|dump)$"
            r"|(^|/)(py[-_]?spy|stacks)/[^/]*\.(txt|log|out|dump)$"
        ),
        rb"Process \d+: [^\n]*\r?\nPython v\d",
    )
    PACKAGES = (
        "packages",
        "platform.packages",
        (
            r"(^|[/_.-])(pip|uv|conda|packages)([-_.]?(freeze|list|export|env))?([-_.][^/]*)?\.(txt|json|lst)$"
            r"|(^|/)(pip|conda)[-_](freeze|list)$"
        ),
        (
            rb"Package +Version\b[^\n]*\r?\n-+ -+|# packages in environment at "
            rb"|(?:[A-Za-z0-9][\w.-]*==\d\S*\r?\n){2}"
        ),
    )
    ENVIRONMENT = (
        "environment",
        "platform.environments",
        (
            r"(^|[/_.-])(env|environ|environment|printenv)([-_.][^/.]*)?\.(txt|env)$|[^/]\.env$"
            r"|(^|/)(env|environ|printenv)([-_][^/.]*)?(\.(log|out))?$"
        ),
        rb"(?:(?:declare -x |export )?[A-Z_][A-Z0-9_]*=[^\n\0]*[\n\0]){3}",
    )
    CHECKPOINT = "checkpoint", "platform.checkpoints", r"(^|/)checkpoint$|[^/]\.index$"
    LOG = (
        "log",
        "logs.exports",
        (
            r"\.(log|out|err|txt|stdout|stderr|jsonl)(\.\d+)?$|(^|/)(stdout|stderr|log|output)$|\.[oe]\d+$"
            r"|(^|/)(cloud[-_]?logging|stackdriver)[^/]*\.json$"
        ),
        (
            rb'\s*[\[{].*?"(?:log|message|textPayload|jsonPayload|msg)"\s*:'
            rb"|(?:---\s*\n)?(?:insertId|jsonPayload|textPayload): "
            rb"|(?:[^\n]*\n)*?[^\n\"']{0,160}?(?:\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [IWEF] "
            rb"|(?:INFO|WARNING|ERROR):tensorflow:|[IWEF]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ "
            rb"|Traceback \(most recent call last\))"
        ),
    )
    OTHER = "other"


def kind_by_name(name: str) -> Kind:
    """Return the kind for a lower-case name without compression suffix."""
    return next((kind for kind in Kind if kind.names and kind.names.search(name)), Kind.OTHER)


def kind_by_opening(opening: bytes) -> Kind:
    """Return the kind for the first bytes of a file; logs of known loggers are recognised."""
    return next(
        (kind for kind in Kind if kind.opening and re.match(kind.opening, opening, re.DOTALL)), Kind.OTHER
    )
