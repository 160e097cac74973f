"""Directories of rules: why one cannot be used, and how faults in its files name it."""

import re
from collections.abc import Sequence
from pathlib import Path


def with_given_paths(faults: str, folders: Sequence[Path]) -> str:
    """Return faults with the directories as they were given, so that the paths can be pasted."""

    def given(match: re.Match[str]) -> str:
        held = (each for each in folders if each.resolve().name == match["folder"])
        files = (each / match["file"] for each in held)
        return next((str(each) for each in files if each.is_file()), match[0])

    return re.sub(r"(?<![^\s`])(?P<folder>[^\s/`]+)/(?P<file>[^\s:`]+\.ya?ml)", given, faults)


def why_no_rules(folder: Path) -> str:
    """Return why a directory cannot be one of rules: it is none, or holds no rule; empty if it can."""
    if folder.is_file():
        return f"is a file; give its directory, {folder.parent}"
    if not folder.is_dir():
        return "no such directory"
    if any(folder.rglob("*.yaml")):
        return ""
    misnamed = next(folder.rglob("*.yml"), None)
    hint = f"; rename {misnamed.name} to {misnamed.stem}.yaml" if misnamed else ""
    return f"holds no rule (*.yaml){hint}"
