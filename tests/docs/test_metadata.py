"""What package indexes, libraries and lawyers read says the same everywhere."""

import tomllib

import yaml

from tests.recordings import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def test_the_citation_names_this_version_and_licence() -> None:
    """Libraries copy it as it is."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert (citation["version"], citation["license"]) == (PROJECT["version"], PROJECT["license"])


def test_the_licence_is_the_one_that_is_stated() -> None:
    """And its text goes into the wheel."""
    (file,) = PROJECT["license-files"]
    assert PROJECT["license"] == "Apache-2.0"
    assert "Apache License\n                           Version 2.0" in (ROOT / file).read_text()
