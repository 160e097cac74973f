"""The diagnosis documents that the renderers are tested on."""

import copy
import json
import zlib
from pathlib import Path
from typing import Any

Json = Any
DIAGNOSES = Path(__file__).parent / "diagnoses"
NAMES = sorted(path.stem for path in DIAGNOSES.glob("*.json"))


def load(name: str) -> Json:
    """Read one of the documents."""
    return json.loads((DIAGNOSES / f"{name}.json").read_text(encoding="utf-8"))


def many_workers(count: int = 64) -> Json:
    """Make a run of many workers out of the one of four."""
    made = load("r101")
    four, made["workers"] = made["workers"], []
    for i in range(count):
        worker = copy.deepcopy(four[2 if i == 17 else 0]) | {
            "id": f"worker:{i}",
            "host": f"node-{i}",
            "claimed": None,
        }
        points = [[step, 5.0 / (step + 1) + i / 100, None] for step in range(500)]
        worker["curves"] = [
            {"tag": t, "scope": "local", "kept": 500, "total": 500, "points": points}
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


def hostile_everywhere() -> Json:
    """Make a run of which every text that the contract leaves free is an attack; equal ones stay equal."""
    made = load("r101")
    made["made_with"]["command"] = "mwms-analyze r101"
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
        kind = key == "kind" and value in _EVENT_AND_EVIDENCE_KINDS
        return value if key in _OURS or kind else PAYLOADS[zlib.crc32(value.encode()) % len(PAYLOADS)] + value
    if isinstance(value, dict):
        return {k: v if k == "points" else _attacked(v, k) for k, v in value.items()}
    return [_attacked(each, key) for each in value] if isinstance(value, list) else value


_EVENT_AND_EVIDENCE_KINDS = {"line", "absence", "fact", "value", "start", "server_up", "joined", "first_step"}
_EVENT_AND_EVIDENCE_KINDS |= {"last_step", "error", "accusation", "signal", "end", "silence", "checkpoint"}


ALL = (*NAMES, "many-workers", "long-line", "hostile-everywhere")


def document(name: str) -> Json:
    """Return the document of a name, read or made."""
    made = _MADE.get(name)
    return made() if made else load(name)


_MADE = {
    "many-workers": many_workers,
    "long-line": long_line,
    "hostile-everywhere": hostile_everywhere,
}
