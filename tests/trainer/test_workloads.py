"""The bundled workloads are programs of their own, each with its paths, log style and data."""

from __future__ import annotations

import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from analyzer.trainer import catalogue
from analyzer.trainer.jobs.interpreter import Interpreter, InterpreterError
from analyzer.trainer.jobs.programs import ProgramError, ReferenceProgram
from analyzer.trainer.jobs.sandbox.hosts import Hosts
from analyzer.trainer.jobs.sandbox.workspace import Workspace
from analyzer.trainer.jobs.workloads import HOME, Workload, WorkloadProgram, program_of, workload_names
from analyzer.trainer.scenario import Scenario, load_scenario
from analyzer.trainer.scenario_file import ScenarioError
from tests.trainer.test_witness import networks_can_be_made

SCENARIOS = [scenario for scenario in catalogue.all_scenarios() if scenario.workload]
PYTHON = Interpreter(
    Path("/bin/true"), "3.11.7", "2.15.1", ("absl-py", "loguru"), ("/v/lib/site",), "/b/lib", ("/v", "/b")
)

MINE = """\
description: One of mine.
workload: leaves
workers: 2
guilty: 1
mode: fit
{more}
hands_over: [logs]
expect: {{cause: unknown, culprits: [guilty]}}
"""


def program(scenario: Scenario, interpreter: Interpreter = PYTHON) -> WorkloadProgram:
    """Return the program of a scenario, with packages enough."""
    able = replace(interpreter, packages=("absl-py", "loguru", "structlog", "tqdm", "tensorflow-estimator"))
    made = program_of(scenario, dict.fromkeys(range(scenario.workers), able), "auto")
    assert isinstance(made, WorkloadProgram)
    return made


def test_every_workload_has_scenarios() -> None:
    """Else nobody would start it."""
    assert {scenario.workload for scenario in SCENARIOS} == {*workload_names()}


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_command_line_is_made_of_the_scenario(scenario: Scenario) -> None:
    """Its program is there, and no number stays unfilled."""
    python, first, *rest = program(scenario).command(0, scenario)
    home = HOME / scenario.workload
    assert python == "/bin/true"
    assert (home / (f"{rest[0].replace('.', '/')}.py" if first == "-m" else first)).is_file()
    assert str(scenario.batch_size) in " ".join(rest)
    assert not [word for word in (first, *rest) if "{" in word]


def test_no_two_workloads_share_places() -> None:
    """Each belongs to somebody else."""
    homes = [Workload.load(name).home for name in workload_names()]
    assert len({*homes}) == len(homes)


@pytest.mark.processes
def test_the_recorded_paths_are_those_of_its_author(tmp_path: Path) -> None:
    """Not the container of the load forecast."""
    scenario = next(scenario for scenario in SCENARIOS if scenario.workload == "leaves")
    program(scenario).install(tmp_path / "worker-0", scenario)
    workspace = Workspace(tmp_path, scenario, ())
    text = f'File "{workspace.folder(1)}/train_classifier.py", File "/v/lib/site/absl/app.py"'
    shown = program(scenario).anonymizer(workspace).text(text.encode()).decode()
    assert '"/home/akoch/leaf-id/train_classifier.py"' in shown
    assert '"/home/akoch/miniconda3/envs/leaf/lib/python3.11/site-packages/absl/app.py"' in shown


@pytest.mark.processes
def test_a_workload_that_cannot_write_its_data_is_refused(tmp_path: Path) -> None:
    """Before any worker starts."""
    scenario = SCENARIOS[0]
    failing = replace(PYTHON, path=Path("/bin/false"))
    with pytest.raises(ProgramError, match="no data for"):
        program(scenario, failing).install(tmp_path / "worker-0", scenario)


def test_a_missing_package_is_named() -> None:
    """Before the job."""
    scenario = next(scenario for scenario in SCENARIOS if scenario.workload == "ratings")
    with pytest.raises(InterpreterError, match="structlog"):
        program_of(scenario, {0: PYTHON}, "auto")


def test_without_a_workload_it_is_the_load_forecast() -> None:
    """As it always was."""
    scenario = catalogue.find_scenario("worker-killed")
    assert isinstance(program_of(scenario, {0: PYTHON}, "auto"), ReferenceProgram)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("fault: {name: hold_lock}", "6: the fault hold_lock needs the load forecast"),
        ("host_names: [a, b]", "6: host_names needs `hosts: true`"),
        ("hosts: true\nhost_names: [a]", "7: host_names needs .* one name for each worker"),
    ],
)
def test_what_does_not_fit_a_workload_is_refused(more: str, said: str, tmp_path: Path) -> None:
    """With its line."""
    path = tmp_path / "mine.yaml"
    path.write_text(MINE.format(more=more))
    with pytest.raises(ScenarioError, match=said):
        load_scenario(path)


@pytest.mark.processes
def test_hosts_know_each_other_by_name() -> None:
    """And each its own; afterwards no file is left."""
    if not networks_can_be_made():
        pytest.skip("needs root, network namespaces and iptables")
    hosts = Hosts(2, ("wn031", "wn057"))
    try:
        hosts.make()
        assert hosts.addresses == ("wn031:2222", "wn057:2222")
        assert hosts.ask(0, "hostname").strip() == "wn031"
        assert hosts.ask(0, "getent hosts wn057").split()[0] == "10.20.0.12"
        spaces = [*hosts.made]
    finally:
        hosts.remove()
    assert not [space for space in spaces if Path(f"/etc/netns/{space}").exists()]
    assert "wn057" not in subprocess.run(["getent", "hosts", "wn057"], capture_output=True, text=True).stdout
