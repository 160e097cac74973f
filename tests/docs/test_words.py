"""Texts that users see speak as the field does: phrases that were mended do not come back."""

import ast
import runpy
from collections.abc import Iterator

import pytest

from analyzer.cli.triage_ack import _parser as acknowledging
from analyzer.engine import RulePack
from tests.recordings import ROOT
from tests.rules import our_rules

PHRASES = dict(
    line.split("\t")
    for line in (ROOT / "tests/docs/phrases.txt").read_text(encoding="utf-8").splitlines()
    if not line.startswith("#")
)
WRITTEN = (
    "README.md",
    "SECURITY.md",
    "analyzer/**/recipes.yaml",
    "analyzer/**/wording.yaml",
    "analyzer/model/tables.json",
    "reports/*.schema.json",
    "reports/templates/*.j2",
)
PAGES = (
    "ci",
    "collect",
    "compatibility",
    "configuration",
    "formats",
    "masking",
    "messages",
    "notebook",
    "packs",
    "recorder",
    "report",
    "rules",
    "tables",
    "trainer",
    "triage",
    "write-a-rule",
)


@pytest.fixture(scope="module")
def pack() -> RulePack:
    """The rules of the package."""
    return our_rules()


def of_rules(pack: RulePack) -> Iterator[tuple[str, str]]:
    """Yield (rule, text) for everything that a rule says to users."""
    for rule in pack.rules:
        steps = (step.text for step in rule.next)
        says = (signal.says for signal in rule.signals.values())
        for text in (rule.title, rule.summary, *rule.why, *rule.collect, *steps, *says):
            yield rule.id, text
    yield from pack.causes.items()


def of_files() -> Iterator[tuple[str, str]]:
    """Yield (file, line) of templates, wordings and pages."""
    files = [path for pattern in WRITTEN for path in ROOT.glob(pattern)]
    for path in (*files, *(ROOT / f"docs/{page}.md" for page in PAGES)):
        for line in path.read_text(encoding="utf-8").splitlines():
            yield str(path.relative_to(ROOT)), line


def of_commands() -> Iterator[tuple[str, str]]:
    """Yield (command, help) of each command and subcommand."""
    commands = runpy.run_path(str(ROOT / "docs" / "commands.py"))
    for make in (*commands["PARSERS"], commands["recorder"], acknowledging):
        for parser in commands["parsers"](make()):
            yield parser.prog, " ".join(parser.format_help().split())


def of_strings() -> Iterator[tuple[str, str]]:
    """Yield (module, text) of each text, docstrings aside, of modules that hold a phrase at all."""
    for path in (ROOT / "analyzer").rglob("*.py"):
        code = path.read_text(encoding="utf-8")
        lower = code.lower()
        if "trainer" in path.parts or not any(phrase in lower for phrase in PHRASES):
            continue
        tree = ast.parse(code)
        prose = {id(each.value) for each in ast.walk(tree) if isinstance(each, ast.Expr)}
        for each in ast.walk(tree):
            if isinstance(each, ast.Constant) and isinstance(each.value, str) and id(each) not in prose:
                yield str(path.relative_to(ROOT)), each.value


def mended(texts: Iterator[tuple[str, str]]) -> list[str]:
    """Return what speaks the old dialect, with the words that are expected instead."""
    return [
        f"{where}: {text.strip()!r}: instead of {phrase!r}, {better}"
        for where, text in texts
        for phrase, better in PHRASES.items()
        if phrase in text.lower()
    ]


def test_rules_speak_as_the_field_does(pack: RulePack) -> None:
    """Titles, summaries, reasons, steps, and the meaning of causes."""
    assert mended(of_rules(pack)) == []


def test_commands_and_messages_speak_as_the_field_does() -> None:
    """Every `--help`, and every text in the code but docstrings: errors, headings, sentences."""
    assert mended(of_commands()) == []
    assert mended(of_strings()) == []


def test_pages_speak_as_the_field_does() -> None:
    """The README, the pages for users, the templates of the reports and the wording of diagnoses."""
    assert mended(of_files()) == []


def test_recorded_reports_speak_as_the_field_does() -> None:
    """What Python puts together is seen in the documents that were kept."""
    shown = (ROOT / "reports/showcase").glob("*.html")
    assert mended((path.name, line) for path in shown for line in path.read_text("utf-8").splitlines()) == []
