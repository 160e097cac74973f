"""Files of a control group → memory, CPU and process readings and OOM counts.

A file is a copy (`memory.current`, `memory.events`, `cpu.stat`), or repeated samples with the time at the
start of each line.
"""

import re
from collections.abc import Mapping
from functools import partial
from pathlib import PurePosixPath

from analyzer.ingest.logs.gauges import add_gauge
from analyzer.ingest.logs.prefixes.time_formats import seconds
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.text_reader import read_lines, searched_text

_FILE = re.compile(
    r"(memory|cpu|pids)[._](current|events|failcnt|high|limit_in_bytes|max|max_usage_in_bytes|oom_control|peak|stat"
    r"|usage_in_bytes)(?![a-z])"
)
_TAGS: Mapping[str, str] = {
    "memory.current": "memory_used_bytes",
    "memory.usage_in_bytes": "memory_used_bytes",
    "memory.peak": "memory_peak_bytes",
    "memory.max_usage_in_bytes": "memory_peak_bytes",
    "memory.max": "memory_limit_bytes",
    "memory.limit_in_bytes": "memory_limit_bytes",
    "memory.high": "memory_high_bytes",
    "memory.failcnt": "memory_limit_hits",
    "pids.current": "processes",
    "pids.max": "processes_limit",
}
_STAMP = re.compile(
    r"(?:(?P<epoch>[12]\d{9}(?:\d{3}|\.\d{1,9})?)|(?P<date>\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*))"
    r"[\s,;]+(?=\S)"
)
_NUMBER = re.compile(r"(?P<number>\d{1,20})\s*$|max\s*$")
_PAIR = re.compile(r"(?P<name>[a-z][\w.]{0,60})[\s:=]+(?P<number>\d{1,20})(?=[\s,;]|$)")
_UNLIMITED = 1 << 62
"""Values from here on mean "no limit", for which cgroup v1 writes nearly 2^63."""


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read the values of one file, tagged by its name or by the names in it; "no limit" is omitted."""
    found = _FILE.search(PurePosixPath(output.source.name).name.lower())
    name = f"{found[1]}.{found[2]}" if found else "memory.current"
    text = searched_text(output, matcher)
    read_lines(output, text, partial(_read_line, output, name), f"no reading of {name}")


def _read_line(output: SourceRows, name: str, number: int, line: str) -> bool:
    """Read one line, a number or name–number pairs after an optional time; False if it is neither."""
    time, rest = _split_time(line.strip())
    output.observe_time(time)
    if single := _NUMBER.match(rest):
        if single["number"] and int(single["number"]) < _UNLIMITED:
            tag = _TAGS.get(name, name.replace(".", "_"))
            add_gauge(output, tag, float(single["number"]), line=number, time=time)
        return True
    pairs = list(_PAIR.finditer(rest))
    for pair in pairs:
        tag = f"{name.replace('.', '_')}/{pair['name']}"
        add_gauge(output, tag, float(pair["number"]), line=number, time=time)
        if pair["name"] == "oom_kill" and int(pair["number"]):
            output.add("facts", line=number, time=time, key="oom_kill", value=pair["number"])
    return bool(pairs)


def _split_time(line: str) -> tuple[float | None, str]:
    stamp = _STAMP.match(line)
    if not stamp:
        return None, line
    if stamp["date"]:
        return seconds(stamp["date"]), line[stamp.end() :]
    epoch = float(stamp["epoch"])
    return epoch / 1000 if epoch > 1e12 else epoch, line[stamp.end() :]
