"""What package indexes, libraries and lawyers read says the same everywhere."""

import tomllib

import yaml

import mwms_analyze
from analyzer import __version__, analyze
from tests.recordings import ROOT

CONFIGURATION = tomllib.loads((ROOT / "pyproject.toml").read_text())
PROJECT, HATCH = CONFIGURATION["project"], CONFIGURATION["tool"]["hatch"]


def test_the_citation_names_this_version_and_licence() -> None:
    """Libraries copy it as it is."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (__version__, PROJECT["license"])


def test_the_version_stands_in_one_place() -> None:
    """The build reads it from the package."""
    assert "version" in PROJECT["dynamic"]
    assert f'__version__ = "{__version__}"' in (ROOT / HATCH["version"]["path"]).read_text()


def test_the_distribution_can_be_imported_by_its_name() -> None:
    """With types, and with what `analyzer` offers."""
    assert (mwms_analyze.analyze, mwms_analyze.__version__) == (analyze, __version__)
    assert "mwms_analyze" in HATCH["build"]["targets"]["wheel"]["packages"]
    assert (ROOT / "mwms_analyze/py.typed").exists()


def test_the_rules_of_the_package_carry_its_version() -> None:
    """As their pack says."""
    assert yaml.safe_load((ROOT / "rules/pack.yaml").read_text())["version"] == __version__


def test_the_licence_is_the_one_that_is_stated() -> None:
    """And its text goes into the wheel."""
    (file,) = PROJECT["license-files"]
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0" in (ROOT / file).read_text()
