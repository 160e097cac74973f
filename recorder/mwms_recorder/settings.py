"""Options of a recording, passed to the hook in one environment variable."""

from __future__ import annotations

import json
from typing import Any, Mapping, NamedTuple, Sequence

VARIABLE = "MWMS_RECORDER"
"""Environment variable with the settings as JSON, for the hook."""
PARTS = ("streams", "hook", "reach", "gpus", "files", "stacks", "weights")
"""Parts of a recording that `--off` can disable."""


class Settings(NamedTuple):
    """Options of one recording; intervals are in seconds."""

    out: str
    task: str | None = None
    off: Sequence[str] = []
    interval: float = 5.0
    stall: float = 60.0
    check_weights: int = 0
    weights_mib: int = 64
    fingerprint_data: bool = False
    check_finite: bool = False
    directory: str = ""
    """Directory of this task's recording; empty until created."""
    pages: str = ""
    """Directory of the progress pages; empty until created."""

    def records(self, part: str) -> bool:
        """Return True if a part of the recording is enabled."""
        return part not in self.off

    def at(self, directory: str, pages: str) -> Settings:
        """Return a copy of the settings with the directories of the recording and of the progress pages."""
        return self._replace(directory=directory, pages=pages)

    def encoded(self) -> str:
        """Return the settings as JSON, which `decoded` reads."""
        return json.dumps(self._asdict())

    def changed(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, by name, without task and directories."""
        default = Settings(self.out, self.task, directory=self.directory, pages=self.pages)._asdict()
        return {name: value for name, value in self._asdict().items() if value != default[name]}


def decoded(environment: Mapping[str, str]) -> Settings | None:
    """Return the settings in the environment variable, or None if it is unset."""
    text = environment.get(VARIABLE)
    return Settings(**json.loads(text)) if text else None
