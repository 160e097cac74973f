"""Options come from the command line, variables, a file and defaults, in this order."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from analyzer.cli import collect, rules, triage
from analyzer.cli.analyze import main
from analyzer.cli.options.triage import parsed
from tests.recordings import sample_run_named


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty directory, without configuration of the user."""
    for name in [name for name in os.environ if name.startswith("MWMS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "here"


def test_each_value_is_printed_with_its_origin(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line has precedence over variables, these over the file, and the file over defaults."""
    Path("mwms.toml").write_text(
        '[analyze]\nredact = "topology"\nfail-on = "failed"\nrules = ["a"]\ncolor = "never"\nxprof = true\n'
    )
    monkeypatch.setenv("MWMS_RULES", "b 'c d'")
    monkeypatch.setenv("MWMS_COLOR", "always")
    assert main(["--print-config", "--color", "auto", "--no-xprof"]) == 0
    printed = capsys.readouterr().out.splitlines()
    for line in (
        'redact = "topology"  # mwms.toml:2',
        'fail-on = "failed"  # mwms.toml:3',
        'rules = ["b", "c d"]  # MWMS_RULES',
        'color = "auto"  # command line',
        "xprof = false  # command line",
        "explain = false  # default",
        "# against =  # default",
    ):
        assert line in printed


def test_a_secret_is_not_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The path of a webhook is as good as a password."""
    monkeypatch.setenv("MWMS_POST", "https://hooks.example/secret")
    assert main(["--print-config"]) == 0
    assert 'post = "https://hooks.example/…"  # MWMS_POST' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[analyze]\n\nredakt = "topology"\n', "mwms.toml:3: unknown option redakt; did you mean redact?"),
        ('redakt = "topology"\n', "mwms.toml:1: unknown option redakt; did you mean redact?"),
        ('[analyze]\nredact = "all"\n', 'mwms.toml:2: redact = "all": choose from secrets, topology'),
        ("[analyze]\nxprof = 1\n", "mwms.toml:2: xprof = 1: give true or false"),
        ('[analyze]\nrules = "a"\n', 'mwms.toml:2: rules = "a": give a list of texts'),
        ("[analyze]\npost = true\n", "mwms.toml:2: post = true: give a text or a number"),
        ("[analyze]\n[traige]\n", "mwms.toml:2: unknown table [traige]; did you mean [triage]?"),
        ('[analyse]\nredact = "topology"\n', "mwms.toml:1: unknown table [analyse]; did you mean [analyze]?"),
        ("[analyze]\nredact = topology\n", "mwms.toml:2: Invalid value; strings must be quoted"),
        ("[analyze]\n\nredact\n", "mwms.toml:3: Expected '=' after a key in a key/value pair"),
        ('[analyze]\nredact = "topolgy"\n', 'mwms.toml:2: redact = "topolgy": did you mean topology?'),
        (
            'rules = ["a"]\n[triage]\n',
            'mwms.toml:1: rules = ["a"]: put it below the table of a command',
        ),
        ("collect = 3\n", "mwms.toml:1: unknown option collect; choose from"),
        ('rules = "a"\n', 'mwms.toml:1: rules = "a": give a list of texts'),
    ],
)
def test_a_fault_of_the_file_is_told_with_its_line(
    text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, before anything is read."""
    Path("mwms.toml").write_text(text)
    assert main(["run"]) == 2
    told = capsys.readouterr().err
    assert (
        told.startswith(f"mwms-analyze: {said}")
        if said.endswith("choose from")
        else told == f"mwms-analyze: {said}\n"
    )


@pytest.mark.parametrize(
    "text", ['rules = ["a"]\n', 'redact = "topology"\nrules = ["a"]\n', '[analyze]\nrules = ["a"]\n[rules]\n']
)
def test_a_list_of_rules_at_the_top_is_the_option(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Only a table `[rules]` is the part of the command `mwms-rules`."""
    Path("mwms.toml").write_text(text)
    assert main(["--print-config"]) == 0
    assert 'rules = ["a"]  # mwms.toml:' in capsys.readouterr().out


def test_triage_takes_rules_from_a_file_without_tables(capsys: pytest.CaptureFixture[str]) -> None:
    """As docs/triage.md shows such a file."""
    Path("triage.toml").write_text('roots = ["runs"]\noutput = "out"\nrules = ["../rule/my"]\n')
    assert triage.main(["--config", "triage.toml", "--print-config"]) == 0
    assert 'rules = ["../rule/my"]  # triage.toml:3' in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--redact", "topolgy"], "--redact topolgy: did you mean topology?"),
        (["--redact", "x"], "--redact x: choose from secrets, topology"),
        (["--format", "htm"], "--format htm: did you mean html?"),
        (["--format", "text,x"], "--format x: choose from github, gitlab, html"),
        (["--color", "alway"], "--color alway: did you mean always?"),
    ],
)
def test_what_is_no_choice_is_told_in_one_style(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the nearest choice, or all of them."""
    assert main(["run", *arguments]) == 2
    assert capsys.readouterr().err.startswith(f"mwms-analyze: {said}")


@pytest.mark.parametrize(
    ("variable", "value", "said"),
    [
        ("MWMS_REDCAT", "topology", "MWMS_REDCAT: unknown option; did you mean MWMS_REDACT?"),
        ("MWMS_FAIL_ON", "never", "MWMS_FAIL_ON = never: choose from failed, degraded"),
        ("MWMS_XPROF", "perhaps", "MWMS_XPROF = perhaps: give true or false"),
        ("MWMS_RULES", "'a", "MWMS_RULES: No closing quotation"),
        ("MWMS_CONFIG", "none.toml", "none.toml: no such file or directory"),
    ],
)
def test_a_fault_of_a_variable_is_told(
    variable: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Variables that are no option of any command are left alone."""
    monkeypatch.setenv("MWMS_TEAM", "vision")
    monkeypatch.setenv(variable, value)
    assert main(["run"]) == 2
    assert capsys.readouterr().err == f"mwms-analyze: {said}\n"


@pytest.mark.parametrize(
    ("command", "table", "line"),
    [
        (main, "analyze", 'rules = ["nope"]'),
        (main, "analyze", 'budget = "10 minutes"'),
        (main, "analyze", 'against = "nope"'),
        (main, "analyze", 'post = "nope"'),
        (rules.main, "rules", 'rules = ["nope"]'),
        (collect.main, "collect", 'timeout = "soon"'),
        (triage.main, "triage", 'settle = "soon"'),
    ],
)
def test_a_value_that_only_its_command_can_judge_is_told_with_its_line(
    command: Callable[[Sequence[str] | None], int],
    table: str,
    line: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """To the file, a directory, a time and a budget are texts; on the command line, the option suffices."""
    run = str(sample_run_named("worker-killed") / "run")
    called = {
        "analyze": [run],
        "rules": ["list"],
        "collect": ["docker", "bert"],
        "triage": [run, "-o", "out"],
    }
    words = called[table]
    Path("mwms.toml").write_text(f"[{table}]\n{line}\n", encoding="utf-8")
    assert command(words) == 2
    option, _, value = line.partition(" = ")
    told = capsys.readouterr().err
    assert "mwms.toml:2: " in told
    Path("mwms.toml").unlink()
    assert command([*words, f"--{option}", value.strip('"[]')]) == 2
    told = capsys.readouterr().err
    assert "mwms.toml" not in told


def test_the_users_file_counts_where_the_directory_has_none(
    here: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One file is read, not several."""
    users = here.parent / "home/mwms/mwms.toml"
    users.parent.mkdir(parents=True)
    users.write_text('[analyze]\ncolor = "never"\n')
    assert main(["--print-config"]) == 0
    assert f'color = "never"  # {users}:2' in capsys.readouterr().out
    Path("mwms.toml").touch()
    assert main(["--print-config"]) == 0
    assert 'color = "auto"  # default' in capsys.readouterr().out


@pytest.mark.parametrize("run", [".", "..", "worker-0.log"])
def test_a_file_that_came_with_the_run_is_not_read(run: str, capsys: pytest.CaptureFixture[str]) -> None:
    """It could send the report elsewhere; a warning says that it is there."""
    Path("worker-0.log").touch()
    Path("mwms.toml").write_text('[analyze]\npost = "https://elsewhere.example/"\n')
    assert main([run, "--print-config"]) == 0
    printed = capsys.readouterr()
    assert "# post =  # default" in printed.out
    assert (
        printed.err
        == "mwms-analyze: mwms.toml: not read because it is inside the run; name it with --config\n"
    )
    assert main([run, "--config", "mwms.toml", "--print-config"]) == 0
    assert "elsewhere" in capsys.readouterr().out


def test_a_file_that_others_can_change_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    """As in /tmp, where a stranger may have put it."""
    Path("mwms.toml").touch()
    Path("mwms.toml").chmod(0o666)
    assert main(["run"]) == 2
    assert "mwms.toml: another user can change it" in capsys.readouterr().err


def test_the_triage_reads_its_own_table() -> None:
    """With roots and owners, which the command line and variables cannot give."""
    Path("mwms.toml").write_text(
        '[analyze]\nredact = "topology"\n[triage]\nroots = ["/srv/runs"]\noutput = "out"\nlimit = 3\n'
        '[triage.owners]\n"a/*" = "b"\n'
    )
    options, settings = parsed([])
    assert (options.roots, options.output, options.limit) == (["/srv/runs"], "out", 3)
    assert options.owners == {"a/*": "b"}
    assert settings["owners"].origin == "mwms.toml:7"


def test_subcommands_share_the_table_of_their_command(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each takes the options that it has; those of its neighbours are no error."""
    Path("mwms.toml").write_text(
        '[collect]\nnamespace = "ml"\nregion = "eu"\ntimeout = "20s"\nanalyze = false\n'
        '[rules]\nrules = ["mine"]\n'
    )
    monkeypatch.setenv("MWMS_LOGS", "'a b' c")
    assert collect.main(["k8s", "-n", "own", "--print-config"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "[collect]", "analyze = false  # mwms.toml:5", 'timeout = "20s"  # mwms.toml:4',
        "# selector =  # default", 'namespace = "own"  # command line', "# context =  # default",
    ]  # fmt: skip
    assert collect.main(["slurm", "48213", "--print-config"]) == 0
    assert 'logs = ["a b", "c"]  # MWMS_LOGS' in capsys.readouterr().out
    for command in (["list"], ["lint"]):
        assert rules.main(command) == 2
        assert capsys.readouterr().err == "mwms-rules: mwms.toml:7: mine: no such directory\n"


@pytest.mark.parametrize(("main", "call"), [(collect.main, ["k8s"]), (rules.main, ["new", "--from", "r"])])
def test_a_fault_is_told_before_a_subcommand_runs(
    main: Callable[[list[str]], int], call: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """An option that no subcommand has."""
    Path("mwms.toml").write_text("namespce = 3\n")
    assert main(call) == 2
    assert "mwms.toml:1: unknown option namespce" in capsys.readouterr().err


def test_a_home_that_cannot_be_looked_into_has_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with `sudo -u`, where HOME is that of another user; root is only refused a name that is too long."""
    monkeypatch.setenv("XDG_CONFIG_HOME", "/" + "x" * 300)
    assert main(["--print-config"]) == 0


@pytest.mark.parametrize(
    ("command", "words", "told"),
    [
        (
            main,
            ["--formatt", "json", "run"],
            "mwms-analyze: unknown argument --formatt; did you mean --format?\n",
        ),
        (collect.main, ["k8s", "--zzz"], "mwms-collect: unknown argument --zzz; see --help\n"),
        (rules.main, ["test", "--ruls=x"], "mwms-rules: unknown argument --ruls=x; did you mean --rules?\n"),
    ],
)
def test_an_unknown_option_is_told_with_the_nearest(
    command: Callable[[list[str]], int], words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """In one line, as in a file."""
    assert command(words) == 2
    assert capsys.readouterr().err == told


def test_the_format_in_effect_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """HTML by default, else that of the output's suffix."""
    assert main(["--print-config"]) == main(["--print-config", "-o", "result.xml"]) == 0
    printed = capsys.readouterr().out
    assert 'format = "html"  # default' in printed
    assert 'format = "junit"  # default' in printed


def test_own_rules_are_named_with_or_without_the_option(capsys: pytest.CaptureFixture[str]) -> None:
    """As a directory to check, and as with the other commands; both are checked."""
    said = []
    for words in (["nowhere"], ["--rules", "nowhere"], ["--rules", "nowhere", "nowhere"]):
        assert rules.main(["lint", *words]) == 2
        said.append(capsys.readouterr().err)
    assert said == ["mwms-rules: nowhere: no such directory\n"] * 3
