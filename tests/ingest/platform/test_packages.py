"""What is installed, as pip and conda list it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
LOGS = {f"worker-{index}.log": "step 1 loss 0.5\n" for index in range(3)}
NAME = "pip-freeze-worker-1.txt"

FREEZE = """\
# Editable install with no version control
absl-py==2.1.0
tensorflow==2.15.1
tf_keras===2.15.1
nvidia-nccl-cu12==2.19.3 ; python_version >= "3.9"
mypkg @ file:///wheels/mypkg-1.2.0+local-py3-none-any.whl
hidden @ git+https://me:s3cret@git.example/me/hidden.git@0123456789abcdef0123456789abcdef01234567
elsewhere @ file:///src/elsewhere
-e git+ssh://git@git.example/me/tool.git@89abcdef0123#egg=tool
-e /src/mine
"""
LIST = """\
Package                      Version      Editable project location
---------------------------- ------------ -------------------------
numpy                        1.26.4
tensorflow-cpu               2.18.0
training                     0.1.0        /src/training

[notice] A new release of pip is available: 23.0 -> 24.0
"""
CONDA = """\
# packages in environment at /opt/conda/envs/tf:
#
# Name                    Version                   Build  Channel
_libgcc_mutex             0.1                 conda_forge    conda-forge
python                    3.11.9          hb806964_0_cpython    conda-forge
tensorflow                2.15.0          cuda120py311h5cbd639_3    conda-forge
protobuf                  4.25.3                   pypi_0    pypi
"""
EXPORTED = """\
# This file may be used to create an environment using:
@EXPLICIT
https://conda.anaconda.org/conda-forge/linux-64/numpy-1.26.4-py311h64a7726_0.conda#a502d7aad449
https://conda.anaconda.org/conda-forge/linux-64/_libgcc_mutex-0.1-conda_forge.tar.bz2
"""
ENVIRONMENT = """\
name: tf
channels:
  - conda-forge
dependencies:
  - python=3.11.9=hb806964_0_cpython
  - pip:
      - tensorflow==2.15.1
prefix: /opt/conda/envs/tf
"""


def told(tables: Tables, name: str = NAME) -> dict[str, tuple[str, int]]:
    """Key of each fact of a file → its value and line."""
    own = tables["facts"].filter(tables["facts"]["source"] == name)
    return {key: (value, line) for key, value, line in own.select("key", "value", "line").iter_rows()}


def test_pip_freeze(tables_of: TablesOf) -> None:
    """Names in one spelling; of what came from elsewhere the version or the commit, and never the place."""
    tables = tables_of({**LOGS, NAME: FREEZE})
    assert told(tables) == {
        "package:absl-py": ("2.1.0", 2),
        "package:tensorflow": ("2.15.1", 3),
        "package:tf-keras": ("2.15.1", 4),
        "package:nvidia-nccl-cu12": ("2.19.3", 5),
        "package:mypkg": ("1.2.0+local", 6),
        "package:hidden": ("commit 0123456789abcdef0123456789abcdef01234567", 7),
        "package:elsewhere": ("from a place of its own", 8),
        "package:tool": ("commit 89abcdef0123", 9),
        "package:mine": ("from a place of its own", 10),
        "tensorflow": ("2.15.1", 3),
    }
    assert tables["damage"].height == 0


@pytest.mark.parametrize(
    ("name", "text", "some"),
    [
        (NAME, LIST, {"package:training": ("0.1.0", 5), "tensorflow": ("2.18.0", 4)}),
        ("conda-list-worker-1.txt", CONDA, {"package:-libgcc-mutex": ("0.1", 4), "python": ("3.11.9", 5)}),
        ("conda-list-worker-1.txt", EXPORTED, {"package:numpy": ("1.26.4", 3)}),
        (
            "conda-env-worker-1.txt",
            ENVIRONMENT,
            {"package:python": ("3.11.9", 5), "tensorflow": ("2.15.1", 7)},
        ),
        (
            "pip-list-worker-1.json",
            json.dumps(
                [{"name": "numpy", "version": "1.26.4"}, {"name": "Keras", "version": "3.1"}], indent=1
            ),
            {"package:numpy": ("1.26.4", 3), "package:keras": ("3.1", 7)},
        ),
    ],
)
def test_other_lists(name: str, text: str, some: dict[str, tuple[str, int]], tables_of: TablesOf) -> None:
    """Of pip and of conda, whole."""
    tables = tables_of({**LOGS, name: text})
    found = told(tables, name)
    assert {key: found.get(key) for key in some} == some
    assert tables["damage"].height == 0


def test_the_words_of_a_log_come_first(tables_of: TablesOf) -> None:
    """What runs may be another installation than the one that was listed."""
    tables = tables_of({**LOGS, "worker-1.log": "TensorFlow 2.8.4\nstep 1 loss 0.5\n", NAME: FREEZE})
    assert dict(tables["workers"].select("worker", "tensorflow").rows())["worker:1"] == "2.8.4"
    assert "tensorflow" not in told(tables)


def test_a_worker_with_another_version_shows_up(tables_of: TablesOf) -> None:
    """What differs is compared; what is equal, or has no bearing, is not."""
    same = "tensorflow==2.15.1\nnumpy==1.26.4\nrich==13.0\n"
    lists = {f"worker-{index}/pip-freeze.txt": same for index in range(3)}
    odd = "tensorflow==2.15.1\nnumpy==2.0.0\nrich==12.0\nh5py==3.1\n"
    compared = tables_of({**LOGS, **lists, "worker-2/pip-freeze.txt": odd})["cluster"]
    rows = compared.filter(compared["key"].str.starts_with("package:"))
    assert rows.filter("odd").select("key", "worker", "value", "majority").rows() == [
        ("package:h5py", "worker:2", "3.1", "not in its list"),
        ("package:numpy", "worker:2", "2.0.0", "1.26.4"),
    ]
    assert set(rows["key"].to_list()) == {"package:h5py", "package:numpy"}


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("numpy==1.26.4\nbash: pip: command not found\n", 2),
        ("\x00\xff\n", 1),
        ("[" * 100_000, None),
        ('[{"name": 5}, 7, {"name": "a", "version": null}]', None),
        ("a " * 50_000, 1),
        (" " * 99_999 + "x\n", 1),
    ],
)
def test_what_is_no_package_is_damage(text: str, line: int | None, tables_of: TablesOf) -> None:
    """With its line where there is one."""
    tables = tables_of({**LOGS, NAME: text})
    assert (NAME, line) in tables["damage"].select("source", "line").rows()
    assert "reader failed" not in "".join(tables["sources"]["reason"].to_list())


def test_requirements_are_no_list_of_what_is_there(tables_of: TablesOf) -> None:
    """They say what somebody wished for."""
    tables = tables_of({**LOGS, "src-worker-1/requirements.txt": "tensorflow==2.15.1\nnumpy==1.26.4\n"})
    assert "package:tensorflow" not in set(tables["facts"]["key"].to_list())


def test_a_file_of_another_name_is_known_by_its_first_lines(tables_of: TablesOf) -> None:
    """Where its name tells nothing."""
    tables = tables_of({**LOGS, "worker-1.pkgs": FREEZE.partition("\n")[2], "worker-2.installed": LIST})
    kinds = dict(tables["sources"].select("source", "kind").rows())
    assert kinds["worker-1.pkgs"] == kinds["worker-2.installed"] == "packages"
