"""The diagnosis documents that the renderers are tested on."""

import copy
import json
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


ALL = (*NAMES, "many-workers", "long-line")


def document(name: str) -> Json:
    """Return the document of a name, read or made."""
    made = {"many-workers": many_workers, "long-line": long_line}.get(name)
    return made() if made else load(name)
