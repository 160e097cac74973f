"""`mwms-rules` as a person who writes rules calls it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from analyzer import AnalysisOptions
from analyzer import analyze as python_analyze
from analyzer.cli.analyze import main as analyze
from analyzer.cli.rules import main
from analyzer.engine.authoring.cases import Trial
from analyzer.engine.loading.schemas import file_schema
from analyzer.model.errors import RuleError
from analyzer.pipeline import load_rules
from analyzer.storage.package_files import resource
from tests.recordings import ROOT

pytestmark = pytest.mark.usefixtures("package_of_few_rules")

MakeRun = Callable[[Mapping[str, str]], Path]
HEADINGS = [
    "What it means", "What it looks for", "Whom it blames", "Confidence", "What it explains",
    "What it contradicts", "What to do", "What to collect next time", "Cases", "References",
]  # fmt: skip
RULE = """\
id: mine
title: A lease was revoked
role: cause
cause: storage.unreachable
signals:
  said:
    log: {any_of: ["lease revoked"], example: "E: lease revoked"}
    of: subject
when: said
blame: subject
summary: "{subject} lost its lease"
cases:
  - name: revoked
    origin: recorded run job-17
    given: {worker-0.log: "step 1 loss 0.5\\n", worker-1.log: "step 1 loss 0.5\\nlease revoked\\n"}
    expect: {fires: true, culprits: ["worker:1"]}
  - name: not revoked
    origin: near miss
    given: {worker-0.log: "step 1 loss 0.5\\n"}
    expect: {fires: false}
"""
Said = pytest.CaptureFixture[str]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    """A directory of rules with one rule."""
    folder = tmp_path / "my-rules"
    folder.mkdir()
    (folder / "mine.yaml").write_text(RULE, encoding="utf-8")
    return folder


def change(folder: Path, right: str, wrong: str) -> None:
    """Another text in the rule."""
    assert right in RULE
    (folder / "mine.yaml").write_text(RULE.replace(right, wrong), encoding="utf-8")


def test_list_names_every_rule_in_columns(capsys: Said) -> None:
    """The columns are aligned, and every rule has one line."""
    assert main(["list"]) == 0
    heading, *lines = capsys.readouterr().out.splitlines()
    at = heading.index("title")
    assert heading.split() == ["id", "role", "cause", "status", "title"]
    assert len(lines) == len(load_rules().rules)
    assert all(line[at - 2 : at] == "  " and line[at] != " " for line in lines)


def test_list_for_programs_holds_the_same(mine: Path, capsys: Said) -> None:
    """And the rules of one's own."""
    assert main(["list", "--json", "--rules", str(mine)]) == 0
    rows = {row["id"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["mine"] == {
        "id": "mine", "role": "cause", "cause": "storage.unreachable", "status": "experimental",
        "title": "A lease was revoked", "file": "my-rules/mine.yaml",
    }  # fmt: skip


@pytest.mark.parametrize("rule", ["mine", "worker-killed", "benign-no-gpu-found"])
def test_show_prints_every_rule_under_the_same_headings(rule: str, mine: Path, capsys: Said) -> None:
    """And without a placeholder left in it."""
    assert main(["show", rule, "--rules", str(mine)]) == 0
    page = capsys.readouterr().out
    assert [line[3:] for line in page.splitlines() if line.startswith("## ")] == HEADINGS
    assert "{subject}" not in page


def test_show_knows_what_was_meant(capsys: Said) -> None:
    """A slip of the pen is answered with the rules that come nearest."""
    assert main(["show", "worker-kiled"]) == 2
    assert "is it worker-killed" in capsys.readouterr().err
    assert main(["show", "nope"]) == 2
    assert "`mwms-rules list`" in capsys.readouterr().err


def test_lint_names_every_fault_with_file_and_line(mine: Path, capsys: Said) -> None:
    """Of all files at once, each by the path that the directory was given with."""
    change(mine, "of: subject", "of: object")
    (mine / "yours.yaml").write_text(RULE.replace("role: cause", "role: kause"), encoding="utf-8")
    assert main(["lint", str(mine)]) == 2
    lines = capsys.readouterr().out.splitlines()
    assert lines[-1] == f"{len(lines) - 1} faults"
    assert any(line.startswith(f"{mine}/mine.yaml:8: `object` is no scope") for line in lines)
    assert any(line.startswith(f"{mine}/yours.yaml:3: `kause` is no role") for line in lines)


@pytest.mark.parametrize(
    ("cause", "fault"),
    [
        ("peer.killed", "`peer.killed` is a cause of rules/causes.yaml already"),
        ("Acme Vocab", "`Acme Vocab` is not the id of a cause: `family.name` in lowercase letters"),
        ("vocab_mismatch", "`vocab_mismatch` is not the id of a cause: `family.name` in lowercase letters"),
    ],
)
def test_a_cause_of_ones_own_has_an_id_of_its_own(cause: str, fault: str, mine: Path, capsys: Said) -> None:
    """In a family, as those of the package."""
    (mine / "causes.yaml").write_text(f"{cause}: {{means: x}}\n", encoding="utf-8")
    assert main(["lint", str(mine)]) == 2
    assert f"{mine}/causes.yaml:1: {fault}" in capsys.readouterr().out


def test_every_command_names_files_as_they_were_given(
    mine: Path, make_run: MakeRun, monkeypatch: pytest.MonkeyPatch, capsys: Said
) -> None:
    """Wherever they stand in a fault; so does Python."""
    monkeypatch.chdir(mine.parent.parent)
    given = f"{mine.parent.name}/{mine.name}"
    (mine / "yours.yaml").write_text(RULE, encoding="utf-8")
    run = make_run({"worker-0.log": "step 1 loss 0.5\n"})
    for command in (["list", "--rules", given], ["lint", given]):
        assert main(command) == 2
        said = capsys.readouterr()
        assert f"{given}/yours.yaml:1: the id `mine` is" in said.out + said.err
    assert analyze([str(run), "--rules", given]) == 2
    assert f"is that of {given}/mine.yaml too" in capsys.readouterr().err
    with pytest.raises(RuleError, match=f"^{given}/"):
        python_analyze(run, options=AnalysisOptions(rules=(Path(given),)))


def test_an_unknown_cause_is_named_beside_other_faults(mine: Path, capsys: Said) -> None:
    """Though the file violates the schema, too."""
    wrong = RULE.replace("of: subject", "of: object").replace("storage.unreachable", "storage.gone")
    (mine / "mine.yaml").write_text(wrong, encoding="utf-8")
    assert main(["lint", str(mine)]) == 2
    assert "my-rules/mine.yaml:4: `storage.gone` is no cause" in capsys.readouterr().out


def test_lint_takes_what_is_right(mine: Path, capsys: Said) -> None:
    """One's own rules, and those of the package when no directory is named."""
    assert main(["lint", str(mine)]) == 0
    assert capsys.readouterr().out == "1 rule, no faults\n"
    assert main(["lint"]) == main(["lint", str(resource("rules"))]) == 0


@pytest.mark.runs
def test_test_tries_every_case_of_ones_own_rules(mine: Path, capsys: Said) -> None:
    """And only of those; those that pass are counted, and listed if one asks."""
    assert main(["test", str(mine)]) == 0
    assert capsys.readouterr().out == "2 cases, 0 failed, 0 skipped\n"
    assert main(["test", str(mine), "--verbose"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "pass  mine: revoked", "pass  mine: not revoked", "2 cases, 0 failed, 0 skipped",
    ]  # fmt: skip


@pytest.mark.runs
def test_variants_are_rules_of_the_directory_too(mine: Path, capsys: Said) -> None:
    """Whatever their file is called."""
    variants = {name: {"title": name} for name in ("one", "another")}
    shared = {key: value for key, value in yaml.safe_load(RULE).items() if key != "title"}
    (mine / "mine.yaml").write_text(yaml.safe_dump({**shared, "variants": variants}), encoding="utf-8")
    assert main(["lint", str(mine)]) == main(["test", str(mine)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert (lines[0], lines[-1]) == ("2 rules, no faults", "4 cases, 0 failed, 0 skipped")


@pytest.mark.runs
@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ('culprits: ["worker:1"]', 'culprits: ["worker:0"]', "should blame worker:0 as culprit, but blames worker:1"),
        ("loss 0.5\\nlease revoked", "loss 0.5\\nlease kept", "should fire, but is quiet (signals not found: said)"),
        ('0.5\\n"}\n    expect: {fires: false}', '0.5\\nlease revoked"}\n    expect: {fires: false}',
         "should stay quiet, but fires: worker:0 lost its lease"),
        ('given: {worker-0.log: "step 1 loss 0.5\\n"}', "run: job-18", "no run job-18 in {parent}: `run` is relative to that directory"),
    ],
)  # fmt: skip
def test_test_says_how_a_case_fails(right: str, wrong: str, says: str, mine: Path, capsys: Said) -> None:
    """In words, and with exit status 1; a recording that is not there proves nothing either."""
    change(mine, right, wrong)
    assert main(["test", str(mine)]) == 1
    case, said, count = capsys.readouterr().out.splitlines()
    assert case.startswith(("FAIL  mine: ", "skip  mine: "))
    assert says.format(parent=mine.parent) in said
    assert count.startswith("2 cases, ")


@pytest.mark.runs
def test_a_case_without_its_run_is_a_fault(mine: Path, capsys: Said) -> None:
    """Of lint, with file and line; `test` says why it ends with 1 though no case failed."""
    change(mine, 'given: {worker-0.log: "step 1 loss 0.5\\n"}', "run: job-18")
    assert main(["lint", str(mine)]) == 2
    fault, count = capsys.readouterr().out.splitlines()
    line = 1 + (mine / "mine.yaml").read_text().splitlines().index("    run: job-18")
    assert fault.startswith(f"{mine}/mine.yaml:{line}: no run job-18 in {mine.parent}")
    assert count == "1 fault"
    assert main(["test", str(mine)]) == 1
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == "2 cases, 0 failed, 1 skipped for lack of its run, which counts as failed"


def test_the_recordings_that_a_package_lacks_are_counted_in_one_line(
    mine: Path, capsys: Said, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is broken: the wheel has none. `--verbose` lists the cases."""
    (rule,) = [each for each in load_rules((mine,)).rules if each.id == "mine"]
    missing = [Trial(rule, case, missing="no run sample_runs/x in there") for case in rule.cases]
    monkeypatch.setattr("analyzer.cli.rules._trials", lambda _: iter(missing))
    assert main(["test"]) == 0
    (said,) = capsys.readouterr().out.splitlines()
    assert said.startswith("2 cases, 0 failed, 2 skipped: their recorded runs are in a checkout")
    assert main(["test", "--verbose"]) == 0
    assert capsys.readouterr().out.count("no run sample_runs/x in there") == 2


def test_a_file_with_another_suffix_is_a_fault(mine: Path, capsys: Said) -> None:
    """Nobody believes that a rule is in use that is not read."""
    (mine / "other.yml").write_text(RULE, encoding="utf-8")
    assert main(["lint", str(mine)]) == 2
    assert f"{mine}/other.yml:1: is not read; rename it to other.yaml\n" in capsys.readouterr().out
    (mine / "mine.yaml").unlink()
    assert main(["lint", str(mine)]) == 2
    assert "holds no rule (*.yaml); rename other.yml to other.yaml" in capsys.readouterr().err


def test_a_file_in_place_of_its_directory_is_an_error(mine: Path, capsys: Said) -> None:
    """The answer names the directory."""
    assert main(["lint", str(mine / "mine.yaml")]) == 2
    assert f"mine.yaml: is a file; give its directory, {mine}" in capsys.readouterr().err


@pytest.mark.runs
def test_a_case_may_name_a_run_beside_the_directory(mine: Path) -> None:
    """Whether its files lie in the run itself or in a folder `run`, as `mwms-train record` leaves them."""
    change(mine, 'given: {worker-0.log: "step 1 loss 0.5\\n"}', "run: job-18")
    run = mine.parent / "job-18" / "run"
    run.mkdir(parents=True)
    (run / "worker-0.log").write_text("step 1 loss 0.5\n", encoding="utf-8")
    assert main(["test", str(mine)]) == 0


@pytest.mark.runs
def test_coverage_says_what_is_left_open(mine: Path, tmp_path: Path, capsys: Said) -> None:
    """Causes without a rule, rules without a recording, and rules that fired on no run."""
    (mine / "causes.yaml").write_text('mine.own: {means: "nobody wrote its rule"}\n', encoding="utf-8")
    runs = tmp_path / "runs"
    (runs / "broken").mkdir(parents=True)
    (runs / "broken" / "worker-1.log").write_text("step 1 loss 0.5\nlease revoked\n", encoding="utf-8")
    (runs / "empty").mkdir()
    assert main(["coverage", "--rules", str(mine), "--runs", str(runs)]) == 1
    causes, recordings, fired = [part.splitlines() for part in capsys.readouterr().out.split("rules ")]
    assert "  mine.own" in causes
    assert not {"  healthy", "  unknown"} & {*causes}
    assert "  mine" not in recordings
    assert "  mine" not in fired
    assert "  worker-killed" in fired


def test_schema_prints_what_the_repository_holds(capsys: Said) -> None:
    """The file for editors and the command say the same."""
    assert main(["schema"]) == 0
    held = json.loads((ROOT / "rules" / "rule.schema.json").read_text(encoding="utf-8"))
    assert json.loads(capsys.readouterr().out) == held == file_schema("rule")


def test_a_directory_without_rules_is_an_error(tmp_path: Path, capsys: Said) -> None:
    """A mistyped path must not look like a proof."""
    for command in ("lint", "test"):
        assert main([command, str(tmp_path)]) == 2
        assert "holds no rule (*.yaml)" in capsys.readouterr().err
    (tmp_path / "overlay.yaml").write_text("switch_off: [plateau]\n", encoding="utf-8")
    assert main(["lint", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "0 rules, no faults\n"
    assert main(["test", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "0 cases: there are no rules to test here\n"


def test_one_is_not_plural(mine: Path, capsys: Said) -> None:
    """Of faults either."""
    change(mine, "role: cause", "role: reason")
    assert main(["lint", str(mine)]) == 2
    assert capsys.readouterr().out.splitlines()[-1] == "1 fault"


def test_causes_are_listed_with_what_they_mean(mine: Path, capsys: Said) -> None:
    """Those of the package and one's own."""
    (mine / "causes.yaml").write_text('mine.own: {means: "something of ours"}\n', encoding="utf-8")
    assert main(["causes", "--rules", str(mine)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["id", "meaning"]
    rows = dict(line.split("  ", 1) for line in lines)
    assert rows["mine.own"].strip() == "something of ours"
    assert "SIGKILL" in rows["peer.killed"]


@pytest.mark.parametrize(
    ("arguments", "status"),
    [(["lint", "nowhere"], 2), (["list", "--rules", "nowhere"], 2), (["new", "--from", "nowhere"], 4)],
)
def test_wrong_usage_is_2_and_what_cannot_be_read_4(arguments: list[str], status: int, capsys: Said) -> None:
    """One line that says what is wrong."""
    assert main(arguments) == status
    assert "nowhere: no such" in capsys.readouterr().err


@pytest.mark.runs
def test_an_overlay_is_named_in_the_diagnosis(mine: Path, make_run: MakeRun, capsys: Said) -> None:
    """What it switches off is not tried."""
    run = make_run({"worker-0.log": "step 1 loss 0.5\n", "worker-1.log": "step 1 loss 0.5\nlease revoked\n"})
    (mine / "overlay.yaml").write_text("switch_off: [worker-killed]\nverdict: {mine: degraded}\n", "utf-8")
    assert analyze([str(run), "--rules", str(mine), "--format", "json", "-o", "-"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert document["made_with"]["options"] == {"overlay": "my-rules/overlay.yaml"}
    assert document["rule"] == "mine"
    assert document["verdict"] == "degraded"
    assert "worker-killed" not in {finding["rule"] for finding in document["findings"]}


def test_a_cause_that_is_no_mapping_is_told_its_key(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each has a text `means`."""
    (tmp_path / "causes.yaml").write_text("storage.quorum: the quorum was lost\n", encoding="utf-8")
    assert main(["lint", str(tmp_path)]) == 2
    assert (
        "causes.yaml:1: `storage.quorum` is to be a mapping with `means`, not `the quorum"
        in capsys.readouterr().out
    )
