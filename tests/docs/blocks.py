"""The code blocks of the documents, and a shell in which they run as their readers run them.

What a reader has and a test has not is a stand-in on PATH: a cluster that answers from a recording, and
programs of which `STAND_INS` says why they are not the real ones.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from tests.recordings import ROOT

PAGES = ("README.md", *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("*.md")))
_BLOCK = re.compile(
    r"^(?:<!-- (?P<mark>[\w ]+) -->\n)?```(?P<language>\w+) ?(?P<what>.*)\n(?P<text>(?:.*\n)*?)```$",
    re.MULTILINE,
)
_COMMANDS = ("analyze", "collect", "rules", "triage")

_SACCT = """\
JobID|JobName|State|ExitCode|NodeList
48213|bert|FAILED|1:0|gpu[21-22]
48213.0|bash|FAILED|1:0|gpu[21-22]"""
_PARSED = "from analyzer.cli.train import _parser; import sys; _parser().parse_args(sys.argv[1:])"
STAND_INS: Mapping[str, tuple[str, str]] = {
    "pip": ("installing takes minutes; tests/install does it", "true"),
    "docker": (
        "no engine runs here, but a recorded one",
        f'[ -z "${{DOCKER_HOST-}}" ] || exec {shutil.which("docker") or "docker"} "$@"',
    ),
    "kubectl": (
        "`debug` starts a pod, which the recorded cluster refuses; all else is the real one",
        f'''[ "$1" != debug ] || {{ echo "[Sat Nov 21 01:40:37 2026] eth0: link becomes ready"; exit; }}
exec {shutil.which("kubectl") or "kubectl"} "$@"''',
    ),
    "mwms-train": (
        "it starts TensorFlow for minutes; tests/trainer runs it; its options are read",
        f'{sys.executable} -c \'{_PARSED}\' "$@" && {{ [ "$1" != run ] || cp -r run_dir broken; }}',
    ),
    "sacct": (
        "its daemons take half a minute to start; tests/collect/test_slurm.py runs the real one",
        f"""case "$*" in *WorkDir*) pwd ;; *) echo '{_SACCT}' ;; esac; echo 'step 1 loss 0.5' > slurm-48213.out""",
    ),
    "scontrol": ("as sacct", "echo 'slurm_load_jobs error: Invalid job id specified' >&2; exit 1"),
    "ssh": ("no other host is here; tests/collect/test_ssh.py runs the real one", "echo step 1 loss 0.5"),
    "rsync": ("as ssh", 'cp -r run_dir/. "${@: -1}"'),
    "gcloud": (
        "it takes half a minute to start; tests/collect/test_cloud.py runs the real one",
        """echo '[{"textPayload": "step 1 loss 0.5", "timestamp": "2026-11-21T01:40:37.5Z"}]'""",
    ),
    "aws": (
        "as gcloud",
        """echo '{"events": [{"logStreamName": "bert/algo-1-1", "message": "step 1 loss 0.5"}]}'""",
    ),
    "srun": ("one task of many is enough here", 'exec "$@"'),
    "nvidia-smi": ("no GPU is here", "echo 'timestamp, index, name'"),
    "py-spy": (
        "no training runs here",
        "printf 'Process 1: python train.py\\nPython v3.11.7 (/usr/bin/python3.11)\\n'",
    ),
    "pgrep": ("no training runs here", "echo 1"),
    "dmesg": (
        "reading the kernel's log needs rights",
        "echo '[Sat Nov 21 01:40:37 2026] eth0: link becomes ready'",
    ),
}
"""Program → why it is not the real one, and what is run in its place."""


class Block(NamedTuple):
    """A code block: its page, language, what stands behind the language, its text, and a comment above it."""

    page: str
    number: int
    language: str
    what: str
    text: str
    mark: str

    @property
    def name(self) -> str:
        """Return page and number, for the name of a test."""
        return f"{self.page}-{self.number}"


def blocks(*languages: str) -> list[Block]:
    """Return the blocks of all pages in some languages; in all of them where none is given."""
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for number, each in enumerate(_BLOCK.finditer(text), 1):
            found.append(
                Block(page, number, each["language"], each["what"], each["text"], each["mark"] or "")
            )
    return [each for each in found if not languages or each.language in languages]


class Shell:
    """Runs blocks in a directory; `statuses` are the exit statuses of our own commands."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self.folder = folder
        self._log = folder.parent / "statuses"
        self._log.touch()
        tools = folder.parent / "bin"
        tools.mkdir()
        for name in _COMMANDS:
            module = f"import sys; from analyzer.cli.{name} import main; sys.exit(main())"
            _script(
                tools / f"mwms-{name}",
                f'{sys.executable} -c \'{module}\' "$@"; s=$?; echo $s >> "$LOG"; exit $s',
            )
        _script(tools / "mwms-recorder", f'exec {sys.executable} -m mwms_recorder "$@"')
        _script(tools / "python", f'exec {sys.executable} "$@"')
        for name, (_, body) in STAND_INS.items():
            _script(tools / name, body)
        path = f"{tools}:{environment.get('PATH', os.environ['PATH'])}"
        known = {"PATH": path, "PYTHONPATH": f"{ROOT}:{ROOT / 'recorder'}", "LOG": str(self._log)}
        self._environment = {**os.environ, **environment, **known}

    def run(self, text: str) -> subprocess.CompletedProcess[str]:
        """Run a block with bash."""
        return subprocess.run(
            ["bash", "-uc", text],
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )

    @property
    def statuses(self) -> Sequence[int]:
        """Exit statuses of our own commands so far."""
        return [int(line) for line in self._log.read_text().split()]


def _script(path: Path, body: str) -> None:
    path.write_text(f"#!/bin/bash\n{body}\n")
    path.chmod(0o755)
