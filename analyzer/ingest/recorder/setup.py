"""Reads how a task was started: command, TF_CONFIG, environment, versions, strategy, seeds."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from analyzer.ingest.logs.gauges import add_gauge
from analyzer.ingest.logs.text import storable
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.platform import environments, packages, tf_config
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.recorder.event_reader import Event, EventReader

_BATCH_SIZE = re.compile(
    r"--?(?:(?:per[-_]?)?(?:worker|replica|device|gpu)[-_]?|local[-_]?|train(?:ing)?[-_]?|mini[-_]?)?"
    r"batch(?:[-_]?size)?(?:[-_]?per[-_]?(?:worker|replica|device|gpu))?",
    re.IGNORECASE,
)
"""Regex for options that set how many examples a worker or device trains on per step."""


class SetupReader(EventReader):
    """Reads the events that describe the start of a task."""

    def __init__(self, output: SourceRows, matcher: Matcher) -> None:
        super().__init__(output)
        self._matcher = matcher

    def _read_recording(self, number: int, event: Event) -> None:
        self._add_fact(number, "host", event["host"])
        command = [*map(str, event["command"])]
        self._add_fact(number, "recorded_command", " ".join(command))
        self._add_fact(number, "batch_size", _batch_size(command))

    def _read_facts(self, number: int, event: Event) -> None:
        config = event.get("tf_config")
        if config is not None:
            text = config if isinstance(config, str) else json.dumps(config)
            tf_config.add_facts(self._output, storable(text), number)
        variables = event.get("environment", {}).items()
        listed = [(number, storable(name), storable(value)) for name, value in variables]
        environments.add_variables(self._output, self._matcher, listed)
        if limit := event.get("cgroup", {}).get("memory_max_bytes"):
            add_gauge(self._output, "memory_limit_bytes", float(limit), line=number, time=event["time"])
        if files := event.get("limits", {}).get("RLIMIT_NOFILE"):
            add_gauge(self._output, "open_files_limit_count", float(files), line=number, time=event["time"])
        self._add_fact(number, "gpu_driver", next((gpu.get("driver") for gpu in event.get("gpus", ())), None))

    def _read_process(self, number: int, event: Event) -> None:
        self._add_fact(number, "tensorflow", event["tensorflow"])
        self._add_fact(number, "python", event["python"])
        if "cpus_allowed" in event:
            tag, allowed = "cpus_allowed_count", float(event["cpus_allowed"])
            add_gauge(self._output, tag, allowed, line=number, time=event["time"])
        for name, version in event.get("packages", {}).items():
            packages.add_version(self._output, number, storable(name), storable(version))

    def _read_strategy(self, number: int, event: Event) -> None:
        self._add_fact(number, "strategy_made" if event["made"] else "strategy_begun", event["class"])
        if event["made"]:
            self._add_fact(number, "strategy", event["class"])
            self._add_fact(number, "replicas", event.get("replicas"))

    def _read_options(self, number: int, event: Event) -> None:
        self._add_fact(number, "communication", event["values"].get("implementation"))

    def _read_seed(self, number: int, event: Event) -> None:
        self._add_fact(number, f"seed:{event['function']}", event["value"])

    def _read_dataset(self, number: int, event: Event) -> None:
        self._add_fact(number, "auto_shard_policy", event.get("auto_shard_policy"))

    def _read_files(self, number: int, event: Event) -> None:
        for path in event["opened"]:
            self._add_fact(number, "reads_file", path)


def _batch_size(command: Sequence[str]) -> str | None:
    """Return the batch size that a command is given, of several the last; None if it is given none."""
    words = [word for argument in command for word in argument.split("=", 1)]
    sizes = [value for option, value in pairwise(words) if _BATCH_SIZE.fullmatch(option)]
    return next((size for size in reversed(sizes) if size.isdecimal()), None)
