"""Collects the files of a job from its hosts with `rsync` and `ssh`, never asking for a password."""

import re
import shlex
from collections.abc import Sequence

from analyzer.collect.commands import Commands
from analyzer.model.errors import UsageError

_OPTIONS = ("-o", "BatchMode=yes", "-o", "ConnectTimeout=10")
_LEFT_OUT = ("*.data-?????-of-?????", "*.h5", "*.tfrecord", "*.tfrecords", ".git/", "__pycache__/", ".venv/")
"""Patterns of weights, training data and code: large, and of no use to the analyzer."""
_KEEP_APART = ("--relative",)
"""Options of `rsync` that keep files of one name from several paths apart: each below its whole path."""


def collect(commands: Commands, hosts: Sequence[str], paths: Sequence[str]) -> None:
    """Save the files below `paths` of each host, its kernel log and how full its disks are.

    Raises:
        UsageError: a host or path would be taken for an option.

    """
    for name in (*hosts, *paths):
        if name.startswith("-"):
            raise UsageError(f"{name} is not a host or path")
    apart = _KEEP_APART if len(paths) > 1 else ()
    for host in dict.fromkeys(hosts):
        folder = folder_of(host)
        for path in paths:
            commands.save_tree(folder, *_rsync(host, path, *apart))
        remote = ("ssh", *_OPTIONS, host)
        commands.save(f"{folder}/df.txt", *remote, f"df -h {shlex.join(paths)}")
        commands.save(f"{folder}/kernel.log", *remote, "dmesg --time-format=iso")
    commands.state_platform("ssh", {folder_of(host): host.rpartition("@")[2] for host in hosts})


def folder_of(host: str) -> str:
    """Return the name of a host's directory; `node=3` for the host `node-3`, which need not be worker 3."""
    name = re.sub(r"[^\w.-]", "-", host.rpartition("@")[2])
    return re.sub(r"(?i)(?<![a-z])(node|host)[-_.]?(?=\d)", r"\1=", name)


def _rsync(host: str, path: str, *further: str) -> tuple[str, ...]:
    """Return the command that copies a path of a host, without its last argument, the target."""
    excluded = [f"--exclude={pattern}" for pattern in _LEFT_OUT]
    shell = f"--rsh={shlex.join(('ssh', *_OPTIONS))}"
    options = ("--recursive", "--times", "--copy-links", "--compress")
    return ("rsync", *options, *further, *excluded, shell, f"{host}:{path}")
