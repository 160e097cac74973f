"""`mwms-collect ssh` with real `ssh`, `rsync` and `sshd` on this machine."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from analyzer.cli.collect import main
from tests.collect.conftest import needs

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
pytestmark = [
    needs("ssh", "ssh-keygen", "rsync", SSHD),
    pytest.mark.skipif(os.getuid() != 0, reason="sshd runs as root"),
    pytest.mark.processes,
]


@pytest.fixture
def hosts(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let `ssh` reach this machine as `gpu21` and `gpu22`, with a key and a configuration of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    for key in ("host", "user"):
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / key], check=True)
    (home / "sshd_config").write_text(
        f"Port {port}\nListenAddress 127.0.0.1\nHostKey {home}/host\nAuthorizedKeysFile {home}/user.pub\n"
        "PasswordAuthentication no\nUsePAM no\nStrictModes no\nPidFile none\n"
    )
    (home / "ssh_config").write_text(
        f"Host gpu2*\n Hostname 127.0.0.1\n Port {port}\n IdentityFile {home}/user\n IdentitiesOnly yes\n"
        " StrictHostKeyChecking no\n UserKnownHostsFile /dev/null\n LogLevel ERROR\n"
    )
    bin_ = home / "bin"
    bin_.mkdir()
    (bin_ / "ssh").write_text(f'#!/bin/sh\nexec {shutil.which("ssh")} -F {home}/ssh_config "$@"\n')
    (bin_ / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{bin_}:{os.environ['PATH']}")
    Path("/run/sshd").mkdir(exist_ok=True)
    daemon = subprocess.Popen([SSHD, "-D", "-e", "-f", home / "sshd_config"], stderr=subprocess.DEVNULL)
    while socket.socket().connect_ex(("127.0.0.1", port)):
        assert daemon.poll() is None
        time.sleep(0.05)
    yield home
    daemon.terminate()
    daemon.wait()


def test_files_of_each_host_are_copied(hosts: Path, capsys: Any) -> None:
    """Into a directory a host, with its disks and kernel log; weights and data stay where they are."""
    logs = hosts / "my logs"
    (logs / "tb").mkdir(parents=True)
    (logs / "worker-0.log").write_text("step 1 loss 0.5\n")
    (logs / "tb" / "events.out.tfevents.1").write_bytes(b"")
    (logs / "ckpt-1.data-00000-of-00001").write_bytes(b"w" * 100)
    main(["ssh", "gpu21", "gpu22", "--path", f"{logs}/", "-o", "run", "--no-analyze"])
    for host in ("gpu21", "gpu22"):
        stored = {
            path.relative_to(f"run/{host}").as_posix()
            for path in Path(f"run/{host}").rglob("*")
            if path.is_file()
        }
        assert stored - {"kernel.log"} == {"worker-0.log", "tb/events.out.tfevents.1", "df.txt"}


def test_a_host_that_does_not_answer_is_told(hosts: Path, capsys: Any) -> None:
    """And the others are collected."""
    (hosts / "worker-1.log").write_text("step 1 loss 0.5\n")
    assert (
        main(
            [
                "ssh",
                "nowhere.invalid",
                "gpu21",
                "--path",
                f"{hosts}/worker-1.log",
                "-o",
                "run",
                "--no-analyze",
            ]
        )
        == 0
    )
    assert Path("run/gpu21/worker-1.log").exists()
    assert "nowhere.invalid" in capsys.readouterr().err


def test_a_host_is_no_option(home: Path, capsys: Any) -> None:
    """`-oProxyCommand=…` would run a command."""
    assert main(["ssh", "--path", "/x", "-o", "run", "--", "-oProxyCommand=touch pwned"]) == 2
    assert not (home / "pwned").exists()
