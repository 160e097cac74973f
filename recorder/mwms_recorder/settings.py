"""Options of a recording, passed to the hook in one environment variable."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Mapping

VARIABLE = "MWMS_RECORDER"
"""Environment variable with the settings as JSON, for the hook."""
PARTS = ("streams", "hook", "reach", "gpus", "stacks", "weights")
"""Parts of a recording that `--off` can disable."""


@dataclass(frozen=True)
class Settings:
    """Options of one recording; intervals are in seconds."""

    out: str
    task: str | None = None
    off: list[str] = field(default_factory=list)
    interval: float = 5.0
    stall: float = 60.0
    check_weights: int = 0
    weights_mib: int = 64
    fingerprint_data: bool = False
    directory: str = ""
    """Directory of this task's recording; empty until created."""
    pages: str = ""
    """Directory of the progress pages; empty until created."""

    def records(self, part: str) -> bool:
        """Return True if a part of the recording is enabled."""
        return part not in self.off

    def at(self, directory: str, pages: str) -> Settings:
        """Return a copy of the settings with the directories of the recording and of the progress pages."""
        return replace(self, directory=directory, pages=pages)

    def encoded(self) -> str:
        """Return the settings as JSON, which `decoded` reads."""
        return json.dumps(asdict(self))

    def changed(self) -> dict[str, Any]:
        """Return the options that differ from the defaults, by name, without task and directories."""
        default = asdict(Settings(self.out))
        aside = {"out", "task", "directory", "pages"}
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in aside and value != default[name]
        }


def decoded(environment: Mapping[str, str]) -> Settings | None:
    """Return the settings in the environment variable, or None if it is unset."""
    text = environment.get(VARIABLE)
    return Settings(**json.loads(text)) if text else None
