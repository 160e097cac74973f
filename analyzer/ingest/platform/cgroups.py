"""Files of a control group → memory, CPU and process readings and OOM counts.

Copied as they are (`memory.current`, `memory.events`, `cpu.stat`), or sampled repeatedly with the time at the
start of each line.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath

from analyzer.ingest.logs.gauges import Gauge, add_gauge
from analyzer.ingest.logs.prefixes import seconds
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows, whole_text
from analyzer.ingest.text_reader import add_all_matches, report_unread_lines
from analyzer.model.run import Source

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
"""cgroup v1 writes nearly 2^63 for "no limit"."""


def read(source: Source, matcher: Matcher) -> SourceRows:
    """Read the values of one file, tagged by its name or by the names in it; "no limit" is omitted.

    Raises:
        OSError: the file cannot be read.

    """
    output = SourceRows(source)
    matcher.begin_file()
    text = whole_text(output)
    add_all_matches(output, matcher, text)
    found = _FILE.search(PurePosixPath(source.name).name.lower())
    name, unread = f"{found[1]}.{found[2]}" if found else "memory.current", []
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip() and not _read_line(output, name, number, line.strip()):
            unread.append(number)
    report_unread_lines(output, unread, f"no reading of {name}")
    return output


def _read_line(output: SourceRows, name: str, number: int, line: str) -> bool:
    """Read one line, a number or name–number pairs after an optional time; False if it is neither."""
    time, rest = _split_time(line)
    output.observe_time(time)
    if single := _NUMBER.match(rest):
        if single["number"] and int(single["number"]) < _UNLIMITED:
            tag = _TAGS.get(name, name.replace(".", "_"))
            add_gauge(output, Gauge(tag, float(single["number"])), line=number, time=time)
        return True
    pairs = list(_PAIR.finditer(rest))
    for pair in pairs:
        gauge = Gauge(f"{name.replace('.', '_')}/{pair['name']}", float(pair["number"]))
        add_gauge(output, gauge, line=number, time=time)
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
