"""The diagnosis documents that the renderers are tested on."""

import copy
import json
import zlib
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

from analyzer.render import render

Json = Any
DIAGNOSES = Path(__file__).parent / "diagnoses"
NAMES = sorted(path.stem for path in DIAGNOSES.glob("*.json"))


def load(name: str) -> Json:
    """Read one of the documents."""
    return json.loads((DIAGNOSES / f"{name}.json").read_text(encoding="utf-8"))


def many_workers(count: int = 64, steps: int = 240) -> Json:
    """Make a run of many workers, with curves of some steps, out of the one of four."""
    made = load("r101")
    four, made["workers"] = made["workers"], []
    for i in range(count):
        worker = copy.deepcopy(four[2 if i == 17 else 0]) | {
            "id": f"worker:{i}",
            "host": f"node-{i}",
            "claimed": None,
        }
        points = [[step, 5.0 / (step + 1) + i / 100, None] for step in range(steps)]
        worker["curves"] = [
            {"tag": t, "scope": "local", "kept": steps, "total": 500, "points": points}
            for t in ("loss", "step time")
        ]
        made["workers"].append(worker)
    made["culprits"] = ["worker:17"]
    made["witnesses"] = [f"worker:{i}" for i in range(count) if i != 17]
    made["run"] |= {"workers_expected": count, "workers_seen": count}
    first = made["timeline"]
    made["timeline"] = [
        {
            **event,
            "n": i * len(first) + k + 1,
            "worker": event["worker"] and f"worker:{i}",
            "time": event["time"] + i / 1000,
        }
        for i in range(count)
        for k, event in enumerate(first)
    ]
    for fact in made["facts"]:
        fact["values"] = {f"worker:{i}": f"{fact['key']}-{i % 3}" for i in range(count)}
        fact["equal"] = False
    return made


def whole() -> Json:
    """Make a run of whose document every part is filled: pauses, clocks, barriers, a trace, a good run."""
    made = load("r101")
    ids = [worker["id"] for worker in made["workers"]]
    place = made["findings"][0]["evidence"][0]
    began = made["run"]["started"]
    for n, worker in enumerate(made["workers"]):
        worker["pauses"] = [
            {
                "kind": kind,
                "start": began + 2.0 * k + n,
                "end": began + 2.0 * k + n + 1.5,
                "source": "tb/events",
            }
            for k, kind in enumerate(("compile", "checkpoint", "evaluation", "pause"))
        ]
        points = [[step, 0.3 + step / 100, began + step] for step in range(1, 20)]
        worker["curves"].append(
            {"tag": "seconds per step", "scope": "local", "kept": 19, "total": 19, "points": points}
        )
    made["timeline"][0]["excerpt"] = "the very first line"
    made["clocks"] = [
        {"worker": w, "kind": "log", "basis": "steps", "steps": 20, "offset": 3.5 * n, "residual": 0.1, "shift": 3.5 * n}
        for n, w in enumerate(ids)
    ]  # fmt: skip
    made["barriers"] = [
        {"barrier": "step", "place": "step 24", "arrived": ids[:2], "awaited": ids[2:3], "unknown": ids[3:]}
    ]
    made["odd_lines"] = [
        place | {"says": "Only this worker has it", "excerpt": "a line that is odd", "marks": []}
    ]
    made["against"] = {
        "run": "job-16",
        "facts": [{"key": "python", "label": "Python", "here": ["3.11.2"], "there": ["3.10.4"]}],
        "step_time": {"here": 0.4, "there": 0.1},
        "curves": [{"tag": "loss", "epoch": None, "step": 20, "here": "NaN", "there": 0.25}],
        "lines": [place | {"says": "New", "excerpt": "a line that the good run lacks", "marks": []}],
    }
    made["near_misses"] = [
        {"rule": "nan-loss", "title": "NaN", "cause": "numeric.nan", "worker": ids[1], "held": ["falls silent"],
         "missing": "the loss", "collect": "the event files"}
    ]  # fmt: skip
    made["trace"] = [
        {"worker": w, "collectives": 6, "step_time": 0.1, "collective_share": 0.5, "collective_seconds": 1.0,
         "input_share": 0.1, "delay_share": 0.2, "delay_seconds": 0.3, "last": False, "times_last": n, "caused_seconds": 0.1 * n}
        for n, w in enumerate(ids)
    ]  # fmt: skip
    made["collectives"] = [
        {"name": "all-reduce", "step": n, "nth": 1, "workers": 4, "last": ids[n % 2 + 1], "waited": 0.1 * n}
        for n in range(6)
    ]
    made["collectives_left_out"] = 4321
    made["findings"][0] |= {
        "reckoned": ["0.78 to begin with", "+0.12 for a traceback"],
        "contradicted_by": ["nan-loss"],
    }
    made["made_with"] |= {
        "versions": {"python": "3.11.2", "polars": "1.9"},
        "command": "mwms-analyze - --against job-16",
        "options": {"masked": "2"},
    }
    return made


def long_line(size: int = 10_000_000) -> Json:
    """Make a run whose evidence is a line of ten megabytes, marked in the middle."""
    made = load("r101")
    place = made["findings"][0]["evidence"][0]
    place["excerpt"] = "x" * (size // 2) + "KeyError" + "\x1b[31m<b>" * (size // 16)
    place["marks"] = [[size // 2, size // 2 + 8]]
    made["summary"] = "y" * size
    return made


PAYLOADS = (
    "<script>window.PWNED=1</script><img src=x onerror='window.PWNED=1'>",
    "</script><script>window.PWNED=1</script>]]><!--",
    "{{ 7*7 }}{% for x in () %}${window.PWNED=1}<%= 1 %>#{1}",
    "\x1b[31;1mred\x1b]8;;https://evil.example\x07link\x07\x00\x9b2J",
    "\u202etxt.exe\u2066\u200f\u200b\ufeff\u2028\u2029\x85",
    "javascript:window.PWNED=1//\"' onmouseover=window.PWNED=1 x='",
    "👩‍👩‍👧‍👦🏴‍☠️" * 9 + "مرحبا بالعالم שלום " * 9,
    "W" * 3000,
    "data:text/html,<svg/onload=window.PWNED=1>&lt;&#x3C;\\u003cscript",
    "](javascript:window.PWNED=1) `x` | @everyone ![x](//evil.example/x.png)",
)
_OURS = {"schema", "verdict", "retry", "owner", "part", "how", "scope", "role", "outcome", "read", "id"}
_OURS |= {"worker", "workers", "culprits", "suspects", "witnesses", "claimed"}
_OURS |= {"basis", "barrier", "arrived", "awaited", "unknown", "last"}


def hostile_everywhere() -> Json:
    """Make a run of which every text that the contract leaves free is an attack; equal ones stay equal."""
    made = whole()
    made["findings"][1]["explained_by"] = [made["findings"][0]["rule"]]
    return _attacked(made)


def hostile_workers() -> Json:
    """Make one whose workers, too, have names that the contract does not allow."""
    text = json.dumps(hostile_everywhere())
    for n, payload in enumerate(PAYLOADS[:4]):
        text = text.replace(json.dumps(f"worker:{n}"), json.dumps(f"{payload}:{n}"))
    return json.loads(text)


def _attacked(value: Json, key: str = "") -> Json:
    if isinstance(value, str):
        kind = value == "NaN" or (key == "kind" and value in _EVENT_AND_EVIDENCE_KINDS)
        return value if key in _OURS or kind else PAYLOADS[zlib.crc32(value.encode()) % len(PAYLOADS)] + value
    if isinstance(value, dict):
        return {k: v if k == "points" else _attacked(v, k) for k, v in value.items()}
    return [_attacked(each, key) for each in value] if isinstance(value, list) else value


_EVENT_AND_EVIDENCE_KINDS = {"line", "absence", "fact", "value", "start", "server_up", "joined", "first_step"}
_EVENT_AND_EVIDENCE_KINDS |= {"last_step", "error", "accusation", "signal", "end", "silence", "checkpoint"}
_EVENT_AND_EVIDENCE_KINDS |= {"compile", "evaluation", "pause", "log"}


ALL = (*NAMES, "whole", "many-workers", "long-line", "hostile-everywhere")


def document(name: str) -> Json:
    """Return the document of a name, read or made."""
    made = _MADE.get(name)
    return made() if made else load(name)


@cache
def rendered(name: str, kind: str) -> str:
    """Return the document of a name in a format, rendered once for all tests."""
    return render(document(name), kind)


_MADE: Mapping[str, Callable[[], Json]] = {
    "whole": whole,
    "many-workers": partial(many_workers, steps=40),
    "long-line": partial(long_line, 1_000_000),
    "hostile-everywhere": hostile_everywhere,
}
