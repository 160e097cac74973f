"""The parts of the recorder, one by one."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest
from recorded import rows

from mwms_recorder.host import facts, gpus, proc
from mwms_recorder.inside.ticks import Counter
from mwms_recorder.journal import Journal, masked, masked_command
from mwms_recorder.outside import launch, reach, stalls, task
from mwms_recorder.outside.samples import Sampler
from mwms_recorder.progress import (
    BEGIN,
    CALLS,
    END,
    FUNCTION,
    GENERATOR_LOOKS,
    INPUT,
    LOOKS,
    TOTAL,
    Page,
    Slot,
    add_slot,
    create,
    read,
)
from mwms_recorder.settings import Settings


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("--api-key=abc123 --steps=5", "--api-key=*** --steps=5"),
        ("redis://user:secret@host/0", "redis://***@host/0"),
        ("DB_PASSWORD: hunter2 rest", "DB_PASSWORD: *** rest"),
        ("export AKIAIOSFODNN7EXAMPLE now", "export *** now"),
        ("steps=100 batch=32", "steps=100 batch=32"),
    ],
)
def test_secrets_are_masked_and_nothing_else(text: str, kept: str) -> None:
    """Values of secret-looking names, user info of URLs, tokens by their form."""
    assert masked(text) == kept


def test_the_argument_of_a_secret_option_is_masked() -> None:
    """`--token VALUE` as well as `--token=VALUE`."""
    assert masked_command(["train.py", "--hf-token", "abc", "--lr", "0.1"]) == [
        *("train.py", "--hf-token", "***", "--lr", "0.1"),
    ]


@pytest.mark.parametrize(
    "name", ["AWS_SECRET_ACCESS_KEY", "TF_VAR_password", "HOME", "USER", "WANDB_API_KEY", "TF_CONFIG"]
)
def test_variables_beside_the_list_are_not_read(name: str) -> None:
    """A prefix such as TF_ alone would let Terraform's variables through."""
    assert not facts.allowed(name)


@pytest.mark.parametrize(
    "name", ["TF_CPP_MIN_LOG_LEVEL", "NCCL_DEBUG", "http_proxy", "SLURM_PROCID", "CUDA_VISIBLE_DEVICES"]
)
def test_variables_of_the_list_are_read(name: str) -> None:
    """What explains a failure: log levels, proxies, devices, ranks."""
    assert facts.allowed(name)


@pytest.mark.parametrize(
    ("variables", "name", "source"),
    [
        ({"TF_CONFIG": '{"task": {"type": "chief", "index": 0}}', "RANK": "3"}, "chief-0", "TF_CONFIG"),
        ({"TF_CONFIG": "{broken", "SLURM_PROCID": "3"}, "rank-3", "SLURM_PROCID"),
        ({"TF_CONFIG": '{"task": {"type": "../x", "index": 0}}'}, ".._x-0", "TF_CONFIG"),
    ],
)
def test_a_task_is_named_by_tf_config_or_the_launcher(
    variables: dict[str, str], name: str, source: str
) -> None:
    """A name never leaves the directory of the run."""
    assert task.task_name(variables, None) == {"task": name, "task_from": source}


def test_all_peers_are_found() -> None:
    """Lists and maps of addresses; what is neither is left out."""
    config = {"cluster": {"chief": ["a:1"], "worker": {"2": "b:2"}, "ps": "c"}}
    assert task.peers(config) == [("chief:0", "a:1"), ("worker:2", "b:2")]


@pytest.mark.processes
def test_what_a_connection_holds_back_is_found_by_its_port() -> None:
    """Nobody reads at the other end, and other connections do not count."""
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(
        server.getsockname()
    ) as link:
        link.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            while True:
                link.send(bytes(1 << 16))
        port = server.getsockname()[1]
        assert min(proc.queued({port})) > 0
        assert proc.queued({1}) == (0, 0)


def _greet(server: socket.socket, count: int) -> None:
    """Accept some connections and speak first on each, as a gRPC server does."""
    for _ in range(count):
        with server.accept()[0] as connection:
            connection.sendall(b"x")


def test_addresses_answer_or_not() -> None:
    """Open, refused and unresolvable are told apart, and a server that speaks from one that does not."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = f"127.0.0.1:{server.getsockname()[1]}"
        silent = reach.probe(address, 0.1)
        threading.Thread(target=_greet, args=(server, 4), daemon=True).start()
        greeted = reach.probe(address, 2.0)
        assert (silent["outcome"], silent["answer_seconds"]) == ("open", None)
        assert greeted["outcome"] == "open"
        assert 0 <= greeted["answer_seconds"] <= greeted["seconds"]
    assert reach.probe(address, 2.0)["outcome"] == "refused"
    assert reach.probe("no-such-host.invalid:1", 2.0)["outcome"] == "unresolvable"
    assert reach.probe("no port", 2.0)["outcome"] == "unresolvable"


def test_lines_of_nvidia_smi() -> None:
    """Units become bytes, bits become names, unsupported fields are left out."""
    line = "0, 1024, 97, 83, 301.5, 1100, 0x0000000000000060, [N/A]"
    assert gpus.parsed(line, gpus.CHANGING) == {
        "index": 0,
        "memory_used_bytes": 1 << 30,
        "utilization_percent": 97.0,
        "temperature_celsius": 83.0,
        "power_watts": 301.5,
        "clock_sm_mhz": 1100.0,
        "throttle_reasons": ["sw_thermal_slowdown", "hw_thermal_slowdown"],
    }


FAULTHANDLER = """Thread 0x00007f00 (most recent call first):
  File "/lib/mwms_recorder/inside/ticks.py", line 83 in _run

Thread 0x00007f01 (most recent call first):
  File "/lib/threading.py", line 300 in wait

Current thread 0x00007f02 (most recent call first):
  File "/app/train.py", line 141 in refresh
  File "/app/train.py", line 98 in <module>
"""


def test_stacks_of_faulthandler() -> None:
    """Frames are turned so that the innermost is last; the main thread is known by its id.

    The thread that writes the progress is left out.
    """
    other, main = stalls.threads_of(FAULTHANDLER, 0x7F02)
    assert (other["main"], main["main"]) == (False, True)
    assert main["frames"][-1] == {"file": "/app/train.py", "line": 141, "function": "refresh"}


def test_a_page_tells_what_was_counted(tmp_path: Path) -> None:
    """Another process reads what the hook counted."""
    path = str(tmp_path / "1.page")
    words = create(path)
    slot = add_slot(words, "train_step", FUNCTION)
    for word, value in ((CALLS, 3), (TOTAL, 30), (BEGIN, 50), (END, 40)):
        words[slot + word] = value
    words[LOOKS + INPUT], words[GENERATOR_LOOKS] = 7, 5
    page = read(path)
    assert page
    assert page.pid == os.getpid()
    assert (page.looks, page.generator_looks) == ((0, 7, 0, 0, 0, 0), 5)
    assert page.step() == Slot("train_step", FUNCTION, 3, 30, 50, 40)
    assert page.slots[0].inside


@pytest.mark.parametrize(
    ("looks", "told"),
    [
        ([(0, 1, 5)], (0, True, 5)),
        ([(7, 1, 5), (8, 1, 5)], (0, True, 10)),
        ([(7, 1, 5), (8, 1, 0)], (1, False, 5)),
        ([(7, 4, 0)], (4, False, 0)),
        ([(7, 4, 0), (8, 9, 5)], (8, True, 5)),
        ([(7, 1, 5), (8, 9, 5)], (8, True, 10)),
    ],
)
def test_only_calls_that_ended_are_written(
    tmp_path: Path, looks: list[tuple[int, int, int]], told: tuple[int, bool, int]
) -> None:
    """Of each look: its time, the begun calls, and the time that a running call took since the one before."""
    words, counter = create(str(tmp_path / "1.page")), Counter("step", FUNCTION)
    for now, counter.calls, elapsed in looks:
        counter.write(words, 100 + now, elapsed)
    page = read(str(tmp_path / "1.page"))
    assert page
    (slot,) = page.slots
    assert (slot.calls, slot.inside, slot.total) == told


def page(seconds: float, calls: int) -> Page:
    """Return a page whose last step ended at a time."""
    return Page(7, 2, 0, 1, 0, [Slot("step", FUNCTION, calls, calls, 0, int(seconds * 1e9))])


@pytest.mark.parametrize(
    ("pace", "silence", "stalls_begun"), [(1.0, 59, 0), (1.0, 61, 1), (5.0, 90, 0), (5.0, 101, 1)]
)
def test_a_stall_is_measured_by_the_median_step(
    tmp_path: Path, pace: float, silence: float, stalls_begun: int
) -> None:
    """The longer of 60 s and 20 median steps."""
    journal = Journal(str(tmp_path / "recording.jsonl"))
    watch = stalls.Stalls(Settings("", off=["stacks"], directory=str(tmp_path)), journal, lambda: None)
    for number in range(1, 11):
        watch.look([page(100 + number * pace, number)], 100 + number * pace)
    watch.look([page(100 + 10 * pace, 10)], 100 + 10 * pace + silence)
    events = [row["event"] for row in rows(tmp_path / "recording.jsonl")]
    assert events == ["stall"] * stalls_begun


@pytest.mark.parametrize(("seconds", "pages", "said"), [(58, [], 0), (61, [], 1), (61, [page(100, 1)], 0)])
def test_a_program_without_tensorflow_is_told_that_no_hang_is_noticed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], seconds: float, pages: list[Page], said: int
) -> None:
    """Once, after as long as a stall takes."""
    journal = Journal(str(tmp_path / "recording.jsonl"))
    watch = stalls.Stalls(Settings("", off=["stacks"], directory=str(tmp_path)), journal, lambda: None)
    for now in (100.0, 100.0 + seconds, 101.0 + seconds):
        watch.look(pages, now)
    assert capsys.readouterr().err.count("TensorFlow was not imported within 60 s") == said


def test_a_cut_line_does_not_spoil_the_next(tmp_path: Path) -> None:
    """An event that follows a line cut short begins on a line of its own."""
    journal = Journal(str(tmp_path / "events.jsonl"))
    journal.append("first")
    with (tmp_path / "events.jsonl").open("a") as file:
        file.write('{"event": "cut')
    journal._torn = True
    journal.append("second")
    lines = (tmp_path / "events.jsonl").read_text().splitlines()
    assert ['"first"' in lines[0], lines[1], '"second"' in lines[2]] == [True, '{"event": "cut', True]


@pytest.mark.parametrize(
    ("command", "refused"),
    [(["jupyter", "lab"], True), (["python", "-m", "ipykernel"], True), (["python", "jupyter.py"], False)],
)
def test_notebook_servers_are_known(command: list[str], refused: bool) -> None:
    """Servers and kernels, not programs that are named like them."""
    assert launch.serves_notebooks(command) is refused


def test_only_files_that_are_open_for_reading_are_inputs(tmp_path: Path) -> None:
    """Neither a log that is written, nor code."""
    modes = {tmp_path / "part-0.csv": "r", tmp_path / "train.py": "r", tmp_path / "train.log": "a"}
    with contextlib.ExitStack() as stack:
        for path, mode in modes.items():
            path.write_text("1,2")
            stack.enter_context(path.open(mode))
        found = proc.input_files(os.getpid())
    assert {path for path in map(str, modes) if path in found} == {str(tmp_path / "part-0.csv")}


@pytest.mark.processes
def test_a_process_that_is_stopped_is_seen(tmp_path: Path) -> None:
    """The states at the looks since the last sample stand in the next one, and once only."""
    with subprocess.Popen(["sleep", "60"]) as child:
        child.send_signal(signal.SIGSTOP)
        os.waitpid(child.pid, os.WUNTRACED)
        sampler = Sampler(Settings(out="", directory=str(tmp_path), off=("gpus", "files")), child.pid)
        sampler.ports = {1}
        sampler.look([])
        sampler.take([])
        sampler.take([])
        child.kill()
    first, second = rows(tmp_path / "samples.jsonl")
    assert (first["states"], "states" in second) == ({"T": 1}, False)
    assert (first["unsent_looks"], second["unsent_looks"]) == ([0], [])
    assert (first["unread_looks"], second["unread_looks"]) == ([0, 0], [0])
