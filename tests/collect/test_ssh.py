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

from analyzer import analyze
from analyzer.cli.collect import main
from analyzer.collect.ssh import folder_of
from analyzer.trainer.free_ports import free_ports
from tests.collect.conftest import needs
from tests.recordings import expected, sample_run_named

SSHD = shutil.which("sshd") or "/usr/sbin/sshd"
pytestmark = [
    needs("ssh", "ssh-keygen", "rsync", SSHD),
    pytest.mark.skipif(os.getuid() != 0, reason="sshd runs as root"),
    pytest.mark.processes,
]


@pytest.fixture
def hosts(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Let `ssh` reach this machine as `gpu21` and `gpu22`, with a key and a configuration of its own."""
    (port,) = free_ports(1)
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
    assert Path("run/collected_from.txt").read_text(encoding="utf-8") == "ssh\ngpu21\tgpu21\ngpu22\tgpu22\n"


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


def test_what_could_not_be_copied_is_listed_and_stands_in_the_report(hosts: Path, capsys: Any) -> None:
    """A run of disks and kernel logs alone must not look as if that were all there is of the job."""
    (hosts / "empty").mkdir()
    (hosts / "worker-0.log").write_text("step 1 loss 0.5\ntraining finished\n")
    wanted = [f"{hosts}/worker-0.log", f"{hosts}/empty", f"{hosts}/gone"]
    paths = [word for path in wanted for word in ("--path", path)]
    main(["ssh", "gpu21", *paths, "-o", "run", "--no-analyze"])
    assert "logs are missing: see run/not_collected.txt" in capsys.readouterr().err
    lost = dict(line.split("\t") for line in Path("run/not_collected.txt").read_text().splitlines())
    assert list(lost) == [f"gpu21:{path}" for path in wanted[1:]]
    assert next(iter(lost.values())).endswith("no files there")
    document = analyze("run").document
    notes = [each["summary"] for each in document["findings"] if each["rule"] == "logs-not-collected"]
    assert [note.startswith(f"mwms-collect could not collect gpu21:{hosts}/empty") for note in notes] == [
        True
    ]
    assert document["verdict"] != "healthy" or document["confidence"] < 0.8


def test_files_of_one_name_from_several_directories_are_kept_apart(hosts: Path) -> None:
    """Each lies below its whole path."""
    for folder in ("a", "b"):
        (hosts / folder).mkdir()
        (hosts / folder / "train.log").write_text(f"of {folder}\n")
    paths = [word for folder in ("a", "b") for word in ("--path", f"{hosts}/{folder}/")]
    main(["ssh", "gpu21", *paths, "-o", "run", "--no-analyze"])
    assert {path.read_text() for path in Path("run/gpu21").rglob("train.log")} == {"of a\n", "of b\n"}


def test_a_host_is_no_option(home: Path, capsys: Any) -> None:
    """`-oProxyCommand=…` would run a command."""
    assert main(["ssh", "--path", "/x", "-o", "run", "--", "-oProxyCommand=touch pwned"]) == 2
    assert not (home / "pwned").exists()


@pytest.mark.recordings
@pytest.mark.parametrize(
    "names", [("gpu21", "gpu22", "gpu23", "gpu24"), ("node-1", "node-2", "node-3", "node-4")]
)
def test_what_hosts_leave_is_diagnosed(tmp_path: Path, names: tuple[str, ...]) -> None:
    """Neither the number of a host nor its kernel log makes a worker; logs of one name are told apart by order."""
    sample = sample_run_named("worker-exception")
    for name, log in zip(names, sorted((sample / "run").glob("worker-*.log")), strict=True):
        folder = tmp_path / "run" / folder_of(name)
        folder.mkdir(parents=True)
        shutil.copy(log, folder / "train.log")
        (folder / "kernel.log").write_text("2026-11-21T01:00:00,000000+00:00 eth0: link becomes ready\n")
    document = analyze(tmp_path / "run").document
    assert document["cause"] == expected(sample)["cause"]
    assert document["culprits"] == expected(sample)["culprits"]
    assert [each["id"] for each in document["workers"]] == [f"worker:{n}" for n in range(4)]


@pytest.mark.parametrize(
    ("host", "folder"),
    [
        ("gpu21", "gpu21"),
        ("me@gpu21.example.com", "gpu21.example.com"),
        ("node-3", "node=3"),
        ("worker-3", "worker-3"),
        ("::1", "--1"),
    ],
)
def test_a_directory_is_called_like_its_host(host: str, folder: str) -> None:
    """Unless that would name a worker by the number of a machine."""
    assert folder_of(host) == folder
