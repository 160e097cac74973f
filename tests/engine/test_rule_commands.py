"""The commands of the rules' next steps run as they stand: shells and Python take them, and they show what they should."""

from __future__ import annotations

import ast
import os
import re
import shlex
import subprocess
import sys
from itertools import chain
from pathlib import Path
from warnings import catch_warnings, simplefilter

import pytest

from tests.rules import our_rules

COMMANDS = {step.command: rule.id for rule in our_rules().rules for step in rule.next if step.command}
PLACED = re.compile(r"\{\w+\.\w+\}")
"""A placeholder of a rule, which a report fills in."""
TENSORFLOW = """
class errors:
    class DataLossError(Exception): ...
class data:
    @staticmethod
    def TFRecordDataset(name):
        if "00001" in name:
            raise errors.DataLossError("corrupted record at 372336")
        return [b"a", b"b"]
class train:
    @staticmethod
    def load_checkpoint(name): return train
    @staticmethod
    def get_checkpoint_state(name): return None
    @staticmethod
    def get_variable_to_shape_map(): return {"w": [1]}
    @staticmethod
    def get_tensor(name): return [1.0]
"""


def is_python(command: str) -> bool:
    """Return True if a command is a statement for the training program."""
    with catch_warnings():
        simplefilter("ignore")
        try:
            ast.parse(command)
        except SyntaxError:
            return False
    return re.fullmatch(r"[\w.-]+", command) is None


def test_python_in_a_command_is_python() -> None:
    """Each `python -c` has a program that compiles."""
    shell = (PLACED.sub("1", command) for command in COMMANDS if not is_python(command))
    programs = [
        after
        for words in (shlex.split(command, comments=True) for command in shell)
        for option, after in zip(words, chain(words[1:], [""]), strict=True)
        if option == "-c" and words[words.index(option) - 1].startswith("python")
    ]
    assert len(programs) > 10
    for program in programs:
        ast.parse(program)


@pytest.mark.processes
def test_a_shell_takes_each_command() -> None:
    """Those that are not lines of the training program."""
    shell = [PLACED.sub("1", command) for command in COMMANDS if not is_python(command)]
    assert len(shell) > 100
    subprocess.run(["bash", "-n"], input="\n".join(shell), text=True, check=True, timeout=60)


def first_command(rule: str) -> str:
    """Return the first command of a rule."""
    return next(command for command, name in COMMANDS.items() if name == rule)


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run a command with a `tensorflow` of which one file cannot be read."""
    (folder / "tensorflow.py").write_text(TENSORFLOW, "utf-8")
    env = {**os.environ, "PYTHONPATH": str(folder)}
    here = command.replace("/data/", f"{folder}/").replace("python ", f"{sys.executable} ", 1)
    return subprocess.run(
        ["bash", "-c", here], env=env, capture_output=True, text=True, check=False, timeout=60
    )


@pytest.mark.processes
def test_the_damaged_file_is_named(tmp_path: Path) -> None:
    """It is the last name that is printed; TensorFlow's own error does not name it."""
    for number in range(3):
        (tmp_path / f"{number:05}.tfrecord").touch()
    done = run(first_command("corrupt-record"), tmp_path)
    assert done.stdout.splitlines()[-1].endswith("00001.tfrecord")
    assert "DataLossError" in done.stderr


@pytest.mark.processes
@pytest.mark.parametrize(
    ("rule", "shown"), [("restored-in-vain", "1 tensors, all readable"), ("checkpoint-corrupt", "None")]
)
def test_a_check_says_its_result(rule: str, shown: str, tmp_path: Path) -> None:
    """Also where all is well, or nothing is there."""
    command = next(text for text, name in COMMANDS.items() if name == rule and "python" in text)
    done = run(command, tmp_path)
    assert (done.stdout.strip(), done.returncode) == (shown, 0)


def test_counts_are_seen_while_the_input_hangs() -> None:
    """A number without an end of line stays in the buffer, and a traceback overwrites it."""
    assert [command for command in COMMANDS if "end='\\r'" in command or "end=''" in command] == []
