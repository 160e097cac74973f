"""An installed package brings rules and readers; a broken one is named."""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from analyzer.cli.analyze import main
from analyzer.discover import discover, installed_readers, reader_versions
from analyzer.engine import installed_packs, load_with_packs
from analyzer.model.errors import RuleError, UsageError
from analyzer.pipeline import analyze
from analyzer.storage import extensions
from tests.recordings import ROOT

EXAMPLE = ROOT / "docs" / "example_pack"
Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Return a function that installs the example, as pip would, and returns the directory of its package."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    site = tmp_path / "site-packages"
    folder = site / "mwms_rules_acme"

    def install(rules: str = "mwms_rules_acme", reader: str = "mwms_rules_acme.journal") -> Path:
        shutil.copytree(EXAMPLE / "mwms_rules_acme", folder)
        described = site / "mwms_rules_acme-1.2.0.dist-info"
        described.mkdir()
        (described / "METADATA").write_text("Metadata-Version: 2.1\nName: mwms-rules-acme\nVersion: 1.2.0\n")
        (described / "entry_points.txt").write_text(
            f"[mwms_analyze.rules]\nacme = {rules}\n[mwms_analyze.readers]\nacme_journal = {reader}\n"
        )
        monkeypatch.setattr(sys, "path", [str(site), *sys.path])
        extensions._all.cache_clear()
        return folder

    yield install
    for name in [name for name in sys.modules if name.startswith("mwms_rules_acme")]:
        del sys.modules[name]
    extensions._all.cache_clear()


def test_its_rules_count_and_its_version_is_told(install: Install, few_rules: Path) -> None:
    """No code of a rule pack runs."""
    folder = install()
    (found,) = installed_packs()
    assert found == folder.resolve()
    pack = load_with_packs([few_rules], installed_packs())
    assert "host-drained" in {rule.id for rule in pack.rules}
    assert [(each.name, each.version) for each in pack.packs][1] == ("mwms-rules-acme", "1.2.0")
    assert pack.directories == []
    assert "mwms_rules_acme" not in sys.modules


@pytest.mark.runs
def test_its_reader_takes_its_files(install: Install, tmp_path: Path) -> None:
    """Before the readers of the package, by name; the version is that of its distribution."""
    install()
    run = tmp_path / "run"
    run.mkdir()
    (run / "acme-journal.txt").write_text("worker-1 drained: ECC errors\n")
    (run / "worker-0.log").write_text("step 1 loss 0.5\n")
    found = discover([run], installed_readers())
    assert {source.name: source.reader for source in found.sources} == {
        "acme-journal.txt": "mwms_rules_acme.journal",
        "worker-0.log": "",
    }
    assert reader_versions(found) == {"mwms-rules-acme": "1.2.0"}
    made = [analyze([where]).document["made_with"]["versions"] for where in (run, run / "worker-0.log")]
    assert ["mwms-rules-acme" in versions for versions in made] == [True, False]


@pytest.mark.runs
def test_what_its_reader_prints_is_no_part_of_the_report(
    install: Install, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its rows count, and standard output stays JSON."""
    journal = install() / "journal.py"
    journal.write_text(journal.read_text() + "\n    print('read')\n")
    run = tmp_path / "run"
    run.mkdir()
    (run / "acme-journal.txt").write_text("worker-1 drained: ECC errors\n")
    main([str(run), "--format", "json", "-o", "-"])
    printed = capsys.readouterr()
    assert json.loads(printed.out)["sources"][0]["read"] == "complete"
    assert "read\n" in printed.err


def test_a_broken_rule_names_its_package(install: Install, few_rules: Path) -> None:
    """Besides the file and the line, and what to do until it is mended."""
    rule = install() / "host-drained.yaml"
    rule.write_text(rule.read_text().replace("role: cause", "rolle: cause"))
    with pytest.raises(RuleError) as raised:
        load_with_packs([few_rules], installed_packs())
    *faults, last = str(raised.value).splitlines()
    assert any(fault.startswith("mwms_rules_acme/host-drained.yaml:3: ") for fault in faults)
    assert last == "installed with mwms-rules-acme 1.2.0; --no-packs leaves installed packages out"


def test_a_pack_without_rules_is_named(install: Install) -> None:
    """Its entry point leads nowhere."""
    install(rules="mwms_rules_acme.none")
    with pytest.raises(
        RuleError, match=r"^mwms-rules-acme 1\.2\.0: rule pack mwms_rules_acme\.none: no such package"
    ):
        installed_packs()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("import nowhere", "ModuleNotFoundError: No module named 'nowhere'"),
        ("NAMES = 'x'", "TypeError: no function read(output, matcher)"),
        ("def read(output, matcher): ...", "TypeError: neither NAMES nor OPENING"),
    ],
)
def test_a_broken_reader_names_its_package(text: str, said: str, install: Install) -> None:
    """Before anything is read."""
    (install() / "journal.py").write_text(text)
    with pytest.raises(UsageError) as raised:
        installed_readers()
    assert str(raised.value) == (
        f"reader acme_journal of mwms-rules-acme 1.2.0: {said}; --no-packs leaves installed packages out"
    )


def test_the_version_lists_what_is_installed(install: Install, capsys: pytest.CaptureFixture[str]) -> None:
    """Each package with what it adds."""
    install()
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out.splitlines()[1:] == [
        "mwms-rules-acme 1.2.0 (rules acme)",
        "mwms-rules-acme 1.2.0 (reader acme_journal)",
    ]


def test_the_page_shows_the_example() -> None:
    """The entry points of docs/packs.md are those of the package that is installed in tests."""
    page = (ROOT / "docs/packs.md").read_text().replace("    ", "")
    declared = (EXAMPLE / "pyproject.toml").read_text()
    assert declared[declared.index("[project.entry-points") :] in page
