"""Tells why a directory cannot be used as rules, and writes paths in faults as the user gave them."""

import re
from collections.abc import Sequence
from pathlib import Path


def with_given_paths(faults: str, folders: Sequence[Path]) -> str:
    """Return the faults with each rule file's path below the directory as the user gave it, to be pasted."""

    def given(match: re.Match[str]) -> str:
        held = (each for each in folders if each.resolve().name == match["folder"])
        files = (each / match["file"] for each in held)
        return next((str(each) for each in files if each.is_file()), match[0])

    return re.sub(r"(?<![^\s`])(?P<folder>[^\s/`]+)/(?P<file>[^\s:`]+\.ya?ml)", given, faults)


def why_no_rules(folder: Path) -> str:
    """Return why a path is no directory of rules: no directory, or without `*.yaml`; empty if it is one."""
    if folder.is_file():
        return f"is a file; give its directory, {folder.parent}"
    if not folder.is_dir():
        return "no such directory"
    if any(folder.rglob("*.yaml")):
        return ""
    misnamed = next(folder.rglob("*.yml"), None)
    hint = f"; rename {misnamed.name} to {misnamed.stem}.yaml" if misnamed else ""
    return f"holds no rule (*.yaml){hint}"
