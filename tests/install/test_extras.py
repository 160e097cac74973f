"""Every extra does what its page says, in an environment that has nothing else."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from tests.install.environments import building, environment, installing, shell
from tests.recordings import ROOT

pytestmark = [pytest.mark.install, pytest.mark.xdist_group("extras"), pytest.mark.timeout(900)]

EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
ELSEWHERE = {
    "dev": "the environment of these tests",
    "trainer": "a test of its own below",
    "trainer-tools": "a part of `trainer`",
    "trainer-gpu": "gigabytes of CUDA",
}
RUN = f"'{ROOT}/sample_runs/slow-worker-fit-tf28/run'"
USES = {
    "cluster": "python -c 'import distributed, analyzer.triage.examine.cluster'",
    "gcs": "python -c 'import gcsfs'",
    "pandas": f'python -c \'from analyzer import analyze; analyze("{RUN[1:-1]}").tables["workers"].to_pandas()\'',
    "postgres": "python -c 'import psycopg'",
    "profile": f"python -m analyzer {RUN} --xprof -o . || test $? -eq 1",
    "s3": "python -c 'import s3fs'",
    "triage": f"python -m analyzer.cli.triage {RUN} -o night || test $? -eq 1; ls night/index.html",
}
"""What an extra is for, as short as it can be tried."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, built once."""
    folder = tmp_path_factory.mktemp("wheel")
    shell(building(ROOT, folder), folder)
    (built,) = folder.glob("*.whl")
    return built


def test_every_extra_is_tried() -> None:
    """Whoever adds one says what it is for."""
    assert USES.keys() | ELSEWHERE.keys() == EXTRAS.keys()


@pytest.mark.parametrize("extra", sorted(USES))
def test_an_extra_is_enough_for_what_it_is_for(extra: str, wheel: Path, tmp_path: Path) -> None:
    """Nothing of the development environment is there to help, nor another extra."""
    use = environment(tmp_path)
    shell(use + installing(f"'{wheel}[{extra}]'"), tmp_path)
    shell(use + USES[extra], tmp_path)


@pytest.mark.xdist_group("trainers_page")
def test_the_commands_of_the_trainers_page(tmp_path: Path) -> None:
    """Its first block, word for word, and a custom loop that writes events, for which TensorFlow wants TensorBoard."""
    text = (ROOT / "docs/trainer.md").read_text(encoding="utf-8")
    block = re.search(r"```sh\npip install (.+?)```", text, re.DOTALL)
    assert block
    what, *commands = block[1].splitlines()
    clone = tmp_path / "clone"
    shell(f"git clone --quiet '{ROOT}' '{clone}'", tmp_path)
    use = environment(tmp_path)
    shell(use + installing(what), clone)
    for command in [*commands, "mwms-train run nan-loss -o nan", "mwms-analyze nan"]:
        shell(f"{use}{command}" + (" || test $? -eq 1" if command.startswith("mwms-analyze") else ""), clone)
    assert (clone / "nan/exit_codes.txt").exists() or list((clone / "nan").rglob("events*"))
