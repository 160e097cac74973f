"""Fresh environments, made by uv: what is installed is what pip would install, in a fraction of its time."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache
from pathlib import Path

from uv import find_uv_bin

from tests.recordings import ROOT

UV = find_uv_bin()


def shell(command: str, folder: Path) -> str:
    """Run a command line in a folder, with nothing of our own environment, and give what it printed."""
    own = {"PATH": f"{Path(sys.executable).resolve().parent}:{os.environ['PATH']}", "HOME": str(folder)}
    kept = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "UV_"))}
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=own | kept, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def environment(folder: Path) -> str:
    """Make an empty environment `venv` in a folder; return the prefix of commands that use it."""
    shell(f"'{UV}' venv --quiet --python '{sys.executable}' '{folder}/venv'", folder)
    return f"export PATH='{folder}/venv/bin':$PATH VIRTUAL_ENV='{folder}/venv'; "


def installing(what: str) -> str:
    """Return the command that installs what `pip install` would install."""
    return f"'{UV}' pip install --quiet --cache-dir '{_cache()}' -c '{ROOT}/constraints.txt' {what}"


def building(project: Path, folder: Path) -> str:
    """Return the command that builds the wheel of a project into a folder."""
    return f"'{UV}' build --quiet --cache-dir '{_cache()}' --wheel --out-dir '{folder}' '{project}'"


@cache
def _cache() -> str:
    """Return the directory where uv keeps the wheels that the set-up of these tests has brought."""
    return subprocess.run([UV, "cache", "dir"], capture_output=True, text=True, check=True).stdout.strip()
