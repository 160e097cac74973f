"""What a recording is told: where to write, which parts are off; handed to the hook in one variable."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Mapping

VARIABLE = "MWMS_RECORDER"
"""The environment variable that tells the hook where to write."""
PARTS = ("streams", "hook", "reach", "gpus", "stacks", "weights")
"""What `--off` can turn off."""


@dataclass(frozen=True)
class Settings:
    """The options of one recording."""

    out: str
    task: str | None = None
    off: list[str] = field(default_factory=list)
    interval: float = 5.0
    stall: float = 60.0
    check_weights: int = 0
    weights_mib: int = 64
    fingerprint_data: bool = False
    directory: str = ""
    """The task's own directory, once it exists."""
    pages: str = ""
    """Directory of the pages on which hooks count steps."""

    def records(self, part: str) -> bool:
        """Return whether a part is on."""
        return part not in self.off

    def at(self, directory: str, pages: str) -> Settings:
        """Return the settings with the directories that were made."""
        return replace(self, directory=directory, pages=pages)

    def encoded(self) -> str:
        """Return the settings as the text that the hook reads."""
        return json.dumps(asdict(self))

    def changed(self) -> dict[str, Any]:
        """Return the options that differ from the defaults."""
        default = asdict(Settings(self.out))
        aside = {"out", "task", "directory", "pages"}
        return {
            name: value
            for name, value in asdict(self).items()
            if name not in aside and value != default[name]
        }


def decoded(environment: Mapping[str, str]) -> Settings | None:
    """Return the settings that a supervisor put into the environment, if one did."""
    text = environment.get(VARIABLE)
    return Settings(**json.loads(text)) if text else None
