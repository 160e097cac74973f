"""Turns log lines in which TensorFlow and training scripts describe themselves into facts.

The wording is in `rules/messages/`: messages that state a `fact`. Every named group becomes a fact of that
key; a message without a regex becomes a fact with the key that it names and the value `yes`.
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from signal import Signals

from analyzer.ingest.logs.text import storable
from analyzer.ingest.matcher import Hit
from analyzer.ingest.platform.stacks import main_thread_key
from analyzer.model.messages import Message
from analyzer.model.task_names import tasks_in

_SIGNALS = {
    "Illegal instruction": 4,
    "Aborted": 6,
    "Bus error": 7,
    "Floating point exception": 8,
    "Killed": 9,
    "Out Of Memory": 9,
    "Segmentation fault": 11,
    "Terminated": 15,
}
"""Slurm's description of a crashed or killed task → number of the signal."""
_UNFINISHED = re.compile(r"_temp/|tempstate")
"""Regex for files of a checkpoint that was not completed, from which training cannot resume."""
_ADDRESSES = {
    "channels": re.compile(r"\d+ -> ([^,}\s]+)"),
    "worker_addresses": re.compile(r"[\w.-]+:\d+"),
}
"""Regexes for the addresses of the tasks of one job, in the order of their indices."""
_ROLE = re.compile(r"[a-z_]+")
_INDEX = re.compile(r"[0-9]{1,9}")
_INTEGER = re.compile(r"[0-9]+")
_MAX_CUTS = 64
"""Maximum number of closing braces to try as the end of a literal; each try parses the whole text."""


def facts(hit: Hit, announced: Message) -> Iterator[tuple[str, str | None]]:
    """Yield the facts that one matched message states, as (key, value)."""
    if announced.regex is None:
        yield announced.detail, None
    if "task_id" in hit.captures:
        yield "task", f"{hit.captures['task_type']}:{hit.captures['task_id']}"
    if "main_thread" in hit.captures:
        yield _main_thread(hit.captures["main_thread"])
    for key, value in _with_share(_with_full_path(hit.captures)).items():
        yield from _normal(key, value, hit.captures)


def _normal(key: str, value: str, captures: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yield the facts of one captured group, in the spelling that later stages expect."""
    if key in {"task_type", "task_id", "channel_job", "of_task", "of_name", "main_thread"} or (
        key == "checkpoint" and _UNFINISHED.search(value)
    ):
        return
    if key in _ADDRESSES:
        yield (
            "cluster_spec",
            json.dumps({captures.get("channel_job", "worker"): _ADDRESSES[key].findall(value)}),
        )
    elif key in {"connected", "own_device", "created_device", "awaits"}:
        yield from ((key, task) for task in tasks_in(value))
    elif key == "exit_code":
        yield _exit_code_of(captures), str(negative_signal(int(value)))
    elif key in {"crashed", "signal"}:
        yield _exit_code_of(captures), str(-_signal_number(value))
    elif key == "task":
        yield from (("task", task) for task in _task_of(_literal(value)))
    elif key == "tf_config":
        yield from tf_config_facts(_literal(value))
    elif key == "cluster_spec":
        cluster = _literal(value.removeprefix("ClusterSpec("))
        if isinstance(cluster, dict):
            yield key, _cluster(cluster)
    else:
        yield key, value


def _exit_code_of(captures: Mapping[str, str]) -> str:
    """Return the key of an exit code; it names the process if that is not called after its task."""
    return f"exit_code:{storable(captures['of_name'])}" if "of_name" in captures else "exit_code"


def _signal_number(name: str) -> int:
    """Return the number of a signal from Slurm's description, its name (`SIGSEGV`, `SEGV`) or its number."""
    if name.isdecimal() or name in _SIGNALS:
        return _SIGNALS.get(name) or int(name)
    return Signals[name if name.startswith("SIG") else f"SIG{name}"]


def _with_full_path(captures: Mapping[str, str]) -> Mapping[str, str]:
    """Return the captured groups; if a saver prints path and step separately, only their join `PATH-STEP`."""
    if (step := captures.get("checkpoint_step")) is None:
        return captures
    path = captures["checkpoint"]
    return {"checkpoint": path if path.endswith(f"-{step}") else f"{path}-{step}"}


def _with_share(captures: Mapping[str, str]) -> Mapping[str, str]:
    """Return the captured groups; records that a reader rejected, `900 of 1000`, become their share."""
    if (counts := captures.get("rejected_records")) is None:
        return captures
    rejected, read = map(int, _INTEGER.findall(counts))
    return {"rejected_records": f"{min(rejected / max(read, 1), 1.0):.2f}"}


def _main_thread(frame: str) -> tuple[str, str]:
    """Return the fact about a main thread from its innermost frame, `FILE", line N in FUNCTION`."""
    file, _, place = frame.partition('", line ')
    line, _, function = place.partition(" in ")
    return main_thread_key(file), f"{function} ({PurePosixPath(file).name}:{line})"


def negative_signal(code: int) -> int:
    """Return -n for the exit codes that stand for signal n, and any other code unchanged.

    A shell reports 128 + n; a launcher that exits with `subprocess.Popen.returncode`, which is -n, ends
    with 256 - n. PBS writes 256 + n, which is no exit code of a process.
    """
    if 128 < code < 160:
        return 128 - code
    if 256 < code < 321:
        return 256 - code
    return code - 256 if 256 - code in _SIGNALS.values() else code


def tf_config_facts(config: object) -> Iterator[tuple[str, str]]:
    """Yield the cluster of a TF_CONFIG and the task that its owner claims to be, as facts."""
    if not isinstance(config, dict):
        return
    if isinstance(config.get("cluster"), dict):
        yield "cluster_spec", _cluster(config["cluster"])
    yield from (("task", task) for task in _task_of(config.get("task")))


def _cluster(cluster: Mapping[object, object]) -> str:
    """Return a cluster as JSON, role → list of addresses; entries of any other form are dropped."""
    roles = {
        role: _addresses(value)
        for role, value in cluster.items()
        if isinstance(role, str) and _ROLE.fullmatch(role) and isinstance(value, list | dict)
    }
    return json.dumps(roles)


def _addresses(stated: list[object] | dict[object, object]) -> list[str]:
    """Return the addresses in the order of their indices; a dict maps indices to addresses."""
    if isinstance(stated, dict):
        by_index = sorted(stated.items(), key=lambda item: (len(str(item[0])), str(item[0])))
        stated = [address for _, address in by_index]
    return [storable(str(address)) for address in stated]


def _task_of(task: object) -> list[str]:
    if not isinstance(task, dict) or "type" not in task:
        return []
    index = str(task.get("index", ""))
    return [storable(f"{task['type']}:{index}")] if _INDEX.fullmatch(index) else []


def _literal(text: str) -> object:
    """Parse a JSON or Python literal that other text may follow; None if no part up to a `}` is one."""
    for _ in range(_MAX_CUTS):
        if not text:
            break
        for read in (json.loads, _python_literal):
            try:
                value: object = read(text)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
            return value
        text = text[: text.rfind("}", 0, -1) + 1]
    return None


def _python_literal(text: str) -> object:
    from ast import literal_eval

    return literal_eval(text)
