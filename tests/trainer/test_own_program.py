"""`mwms-train run --program` breaks a program that knows nothing of the trainer, and collects its run.

The program is a job of two that adds numbers over sockets; like any program of users, it reads TF_CONFIG.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from analyzer.cli.train import main
from analyzer.trainer.jobs.sandbox.leftovers import remove_leftovers
from analyzer.trainer.witness.proc import command_line, state
from tests.trainer.test_witness import networks_can_be_made

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("own_program")]

SUM = """
import json, os, socket, sys, time

config = json.loads(os.environ["TF_CONFIG"])
addresses, rank = config["cluster"]["worker"], config["task"]["index"]
rows = open("rows.txt").read().split()
print(f"rank {rank} of {len(addresses)} at {addresses[rank]}, {len(rows)} rows", flush=True)
host, port = addresses[0].rsplit(":", 1)
if rank == 0:
    server = socket.create_server((host, int(port)))
    server.settimeout(120)
    peers = [server.accept()[0] for _ in addresses[1:]]
else:
    deadline = time.monotonic() + 120
    while True:
        try:
            peers = [socket.create_connection((host, int(port)), timeout=60)]
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
readers = [peer.makefile() for peer in peers]
for step in range(1, 61):
    for peer in peers:
        peer.sendall(f"{rows[step % 50]}\\n".encode())
    total = int(rows[step % 50]) + sum(int(reader.readline()) for reader in readers)
    os.makedirs("out", exist_ok=True)
    with open("out/total.txt", "a") as out:
        out.write(f"{total}\\n" * 200)
    print(f"iteration done, step {step}: total {total}", flush=True)
    time.sleep(0.03)
"""

SCENARIO = """\
description: A program of the user's is broken.
workers: 2
guilty: 1
step: 10
mode: custom
{more}
fault: {fault}
hands_over: [logs, exit_codes, tf_config]
expect: {{cause: unknown, culprits: [guilty]}}
"""

WAYS = {
    "killed": "{name: send_signal, signal: KILL}",
    "crashed": "{name: send_signal, signal: SEGV}",
    "frozen": "{name: send_signal, signal: STOP}",
    "never started": "{name: never_start}",
    "without TF_CONFIG": "{name: tf_config, change: absent}",
    "with an index that is not there": "{name: tf_config, change: outside}",
    "without its data": "{name: data_file, happened: lost, path: rows.txt}",
    "with data that were cut": "{name: data_file, happened: cut, path: rows.txt}",
    "with too few open files": "{name: limit, of: files}",
    "over its time": "{name: time_limit, seconds: 1}",
    "with another user's language": "{name: environment, set: {PYTHONIOENCODING: no-such}}",
    "on a full disk": "{name: small_disk, path: out, kilobytes: 16}",
    "behind a firewall": "{name: network_rule, rule: partition}",
}
ROOT_ONLY = {"on a full disk", "behind a firewall"}
ENDS_AT_ONCE = {"with another user's language"}
"""The worker may end before a busy machine has seen its environment; the run is then refused, and tried again."""


def run(folder: Path, fault: str, more: str = "", program: str = SUM) -> tuple[int, Path]:
    """Break the program as a user would on the command line; return the status and the run directory."""
    code = folder / "code"
    code.mkdir()
    (code / "sum.py").write_text(program)
    (code / "rows.txt").write_text("".join(f"{number}\n" for number in range(50)))
    scenario = folder / "mine.yaml"
    scenario.write_text(SCENARIO.format(fault=fault, more=more))
    words = ["run", str(scenario), "--program", "python3 sum.py", "--directory", str(code)]
    return main([*words, "--stall-timeout", "3", "-o", str(folder / "run")]), folder / "run"


@pytest.mark.parametrize("way", WAYS)
def test_a_program_is_broken(way: str, tmp_path: Path) -> None:
    """The run has what a user would collect, and the user's own files are as they were."""
    if way in ROOT_ONLY and (os.geteuid() or (way == "behind a firewall" and not networks_can_be_made())):
        pytest.skip("needs root, namespaces and iptables")
    more = "hosts: true" if way == "behind a firewall" else ""
    for attempt in range(3 if way in ENDS_AT_ONCE else 1):
        work = tmp_path / str(attempt)
        work.mkdir()
        status, folder = run(work, WAYS[way], more)
        if not status:
            break
    assert status == 0
    codes = (folder / "exit_codes.txt").read_text()
    assert "worker-1 0" not in codes
    if way != "over its time":  # which may be over before the program has printed anything
        assert (folder / "worker-0.log").read_text().startswith("rank 0 of 2")
    assert str(work / "mwms-job") not in (folder / "worker-0.log").read_text()
    assert (work / "code/rows.txt").read_text().count("\n") == 50


def test_a_program_that_is_not_broken_ends_well(tmp_path: Path) -> None:
    """Without a fault all workers end with 0."""
    status, folder = run(tmp_path, "{name: none}")
    assert status == 0
    assert (folder / "exit_codes.txt").read_text() == "worker-0 0\nworker-1 0\n"


def test_a_program_that_starts_slowly_is_not_stalled(tmp_path: Path) -> None:
    """The time until its first line does not count as silence: it may import libraries on a busy machine."""
    status, folder = run(
        tmp_path, WAYS["with data that were cut"], program=f"import time; time.sleep(5)\n{SUM}"
    )
    assert status == 0
    assert (folder / "worker-1.log").read_text().count("rank 1 of 2") == 1


def test_a_fault_of_our_own_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A line says so, and names those that fit any program."""
    status, folder = run(tmp_path, "{name: hold_lock}")
    assert status == 2
    assert "send_signal" in capsys.readouterr().err
    assert not any(folder.iterdir())


def test_a_program_without_steps_is_broken_after_some_seconds(tmp_path: Path) -> None:
    """The clock replaces the steps of the log."""
    scenario = tmp_path / "mine.yaml"
    scenario.write_text(SCENARIO.format(fault=WAYS["killed"], more=""))
    words = ["run", str(scenario), "--program", "sleep 12", "--after", "1", "--directory", str(tmp_path)]
    assert main([*words, "--stall-timeout", "3", "-o", str(tmp_path.parent / "run-of-sleep")]) == 0
    assert "worker-1 -9" in (tmp_path.parent / "run-of-sleep/exit_codes.txt").read_text()


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root")
def test_a_killed_trainer_leaves_nothing_behind_the_next_start(tmp_path: Path) -> None:
    """Its workers end with it; its directory, mount and namespaces are removed by the next trainer."""
    if not networks_can_be_made():
        pytest.skip("no network namespaces here")
    scenario = tmp_path / "mine.yaml"
    fault = "{name: small_disk, path: out}"
    scenario.write_text(SCENARIO.format(fault=fault, more="hosts: true"))
    words = [
        "run",
        str(scenario),
        "--program",
        "sleep 61",
        "--directory",
        str(tmp_path),
        "-o",
        str(tmp_path / "r"),
    ]
    start = "import sys; from analyzer.cli.train import main; sys.exit(main(sys.argv[1:]))"
    trainer = subprocess.Popen([sys.executable, "-c", start, *words])
    while not (sleepers := [pid for pid in children_of(trainer.pid) if "sleep" in command_line(pid)]):
        time.sleep(0.05)
    trainer.kill()
    trainer.wait()
    removed = [one for one in remove_leftovers() if f"-{trainer.pid}-" in one]
    assert len(removed) == 4, "a directory, a switch and two hosts"
    assert str(trainer.pid) not in Path("/proc/mounts").read_text()
    assert not any(Path(one).exists() for one in removed)
    assert not [pid for pid in sleepers if state(pid) not in {"", "Z"}]


def children_of(pid: int) -> list[int]:
    """Return the child processes, also those of other threads."""
    return [
        int(child)
        for threads in Path(f"/proc/{pid}/task").glob("*/children")
        for child in threads.read_text().split()
    ]
