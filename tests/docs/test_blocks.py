"""Every code block of README and docs works: it is run, or the reason why not is stated here."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from kubernetes_validate import validate

from analyzer.cli.analyze import main
from analyzer.cli.options.triage import parsed
from analyzer.engine.loading.schemas import file_schema
from tests.collect.conftest import needs
from tests.collect.http_server import HttpServer
from tests.collect.recorded_cluster import trained_by_tfjob
from tests.collect.recorded_engine import RecordedEngine
from tests.docs.blocks import Block, Shell, blocks
from tests.recordings import ROOT, sample_run_named

SAMPLE = sample_run_named("worker-killed")
ELSEWHERE = {
    "docs/write-a-rule.md": "test_write_a_rule.py",
    "docs/notebook.md": "test_notebook.py",
}
"""Pages whose blocks another test runs in order, and that test."""
NOT_RUN: Mapping[str, str] = {
    "python3 -m venv .venv && .venv/bin/pip install --quiet -c constraints.txt . ": "tests/install runs it",
    "python3 -m venv .venv && .venv/bin/pip install --quiet uv ": ".ci/run runs it",
    "mwms-triage s3://": "it needs a store, PostgreSQL or a scheduler; tests/triage/test_servers.py has them",
    "mwms-triage /srv/runs -o /srv/triage --reports-url": "it sends messages; tests/triage has servers for them",
    "mwms-triage ack ": "its id is that of a failure of the reader's; tests/triage acknowledges one",
    "mwms-triage --config ": "its configuration names a store; tests/triage/test_servers.py has one",
    "pip install '.[profile]'": "XProf is no dependency of the tests; tests/ingest/profiler has its answers",
}
"""Beginning of a block that is not run → the reason."""
MEANT = {
    "job/JOB": "tfjob/bert", "NAMESPACE": "ml", "JOBNUMBER": "4711", "JOBNAME": "bert", "JOBID": "48213",
    "PROJECT": "bert", "REGION": "europe-west4", "HOST1": "gpu21", "HOST2": "gpu22", "LOGDIR": "logdir",
    "CHECKPOINTS": "checkpoints", "SCRIPT.py": "train.py", "/srv/": "srv/", "/shared": "shared",
    "/sys/fs/cgroup": "cgroup",
}  # fmt: skip
"""What a reader puts in the place of words in capitals, and directories of other machines."""
SHELL = [
    each for each in {block.text: block for block in blocks("sh")}.values() if each.page not in ELSEWHERE
]
STATUSES = {0, 1, 3}
"""Of our own commands: done, or the job has failed; no wrong usage, nothing unreadable, no internal error."""


def not_run(block: Block) -> str | None:
    """Return why a block is not run; None if it is."""
    return next((reason for start, reason in NOT_RUN.items() if block.text.startswith(start)), None)


def test_every_block_is_run_or_has_a_reason() -> None:
    """Few are not run, and no reason is left over."""
    known = {"sh", "python", "yaml", "toml"}
    assert [each.name for each in blocks() if each.language not in known and each.page not in ELSEWHERE] == []
    assert all((Path(__file__).parent / name).exists() for name in ELSEWHERE.values())
    told = {reason for block in blocks("sh") if (reason := not_run(block))}
    assert told == set(NOT_RUN.values())
    assert sum(not_run(block) is not None for block in SHELL) <= 8


@pytest.fixture
def serving() -> Iterator[dict[str, Any]]:
    """Serve a cluster, an engine and a webhook; return the variables that lead to them."""
    cluster = trained_by_tfjob(SAMPLE, job="train")
    engine = RecordedEngine([(f"worker-{n}", 1) for n in range(3)])
    webhook = HttpServer(lambda request: (200, "ok"))
    yield {
        "DOCKER_HOST": engine.server.url.replace("http://", "tcp://"),
        "WEBHOOK": webhook.url,
        "CLUSTER": cluster,
    }
    for server in (cluster.server, engine.server, webhook):
        server.close()


@pytest.fixture
def shell(tmp_path: Path, serving: dict[str, Any]) -> Callable[[Block], Shell]:
    """Return a function that makes a shell in a directory that holds what the pages speak of."""
    here = tmp_path / "here"

    def make(block: Block) -> Shell:
        for name in ("run_dir", "good_run", "srv/runs/bert", "shared/run"):
            shutil.copytree(SAMPLE / "run", here / name)
        shutil.make_archive(str(here / "run"), "gztar", SAMPLE / "run")
        shutil.copy(SAMPLE / "run" / "worker-0.log", here)
        shutil.copy(SAMPLE / "run" / "worker-1.log", here)
        for name in ("logdir", "checkpoints", "cgroup", "recorder", "run"):
            (here / name).mkdir()
        (here / "checkpoints" / "checkpoint").write_text('model_checkpoint_path: "ckpt-12"\n')
        (here / "checkpoints" / "ckpt-12.index").touch()
        for name in ("current", "max", "events"):
            (here / "cgroup" / f"memory.{name}").touch()
        (here / "train.py").write_text("print('step 1 loss 0.5')\n")
        if "mwms-collect" in block.text:
            (here / "run").rmdir()
        if block.page == "docs/ci.md":
            shutil.copytree(SAMPLE / "run", here / "run", dirs_exist_ok=True)
        cluster = serving["CLUSTER"]
        task = (SAMPLE / "run" / "tf_config-1.json").read_text()
        given = {"KUBECONFIG": str(cluster.kubeconfig(tmp_path)), "HOME": str(tmp_path), "TF_CONFIG": task}
        slurm = {"SLURM_SUBMIT_DIR": str(here), "SLURM_JOB_ID": "48213"}
        docker = (
            {}
            if "docker run" in block.text or "docker build" in block.text
            else {"DOCKER_HOST": serving["DOCKER_HOST"]}
        )
        return Shell(here, {**given, **slurm, **docker, "WEBHOOK": serving["WEBHOOK"]})

    return make


@needs("kubectl", "docker")
@pytest.mark.processes
@pytest.mark.parametrize(
    "block", [each for each in SHELL if not_run(each) is None], ids=lambda block: block.name
)
def test_a_shell_block_runs(block: Block, shell: Callable[[Block], Shell]) -> None:
    """Each line does what the page says, or the one before told why not; words in capitals have a meaning."""
    text = block.text
    for word, meaning in MEANT.items():
        text = text.replace(word, meaning)
    if "vertex" in text:
        text = text.replace("-o run\n", "-o run\nrm -r run\n", 1)  # two examples, one directory
    made = shell(block)
    if "--verify" in text:
        made.run("mwms-analyze run_dir -o report.json")
    done = made.run(text)
    said = done.stdout + done.stderr
    assert not [line for line in said.splitlines() if "command not found" in line or "No such file" in line]
    assert done.returncode in STATUSES, said
    assert set(made.statuses) <= STATUSES, said
    if "mwms-collect" in text:
        assert any(path.is_file() for path in (made.folder / "run").rglob("*")), said


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "block",
    {each.text: each for each in blocks("python") if each.page == "docs/collect.md"}.values(),
    ids=lambda block: block.name,
)
def test_what_goes_into_the_script_runs(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In TensorFlow."""
    import os

    import tensorflow as tf

    monkeypatch.chdir(tmp_path)
    exec(block.text, {"tf": tf, "os": os, "index": 0})


@pytest.mark.processes
def test_the_recorder_starts_from_a_script(tmp_path: Path, shell: Callable[[Block], Shell]) -> None:
    """As the page on it shows."""
    (block,) = (each for each in blocks("python") if each.page == "docs/recorder.md")
    made = shell(block)
    (made.folder / "start.py").write_text(block.text.replace("/shared", "shared"))
    assert made.run("python start.py").returncode == 0
    assert list((made.folder / "shared" / "run").rglob("recording.jsonl"))


def test_every_other_python_block_is_run_elsewhere() -> None:
    """No page has one that nobody runs."""
    pages = {each.page for each in blocks("python")}
    assert pages <= {*ELSEWHERE, "docs/collect.md", "docs/recorder.md"}


@pytest.mark.parametrize("block", blocks("toml"), ids=lambda block: block.name)
def test_a_toml_block_is_a_configuration(block: Block, tmp_path: Path) -> None:
    """`--config` of the commands takes it; where it has no table for a command, it is that of `mwms-triage`."""
    (tmp_path / "mwms.toml").write_text(block.text, encoding="utf-8")
    call = ["--config", str(tmp_path / "mwms.toml"), "--print-config"]
    parsed(call)
    assert "[analyze]" not in block.text or main(call) == 0


@pytest.mark.parametrize(
    "block", [each for each in blocks("yaml") if each.page not in ELSEWHERE], ids=lambda block: block.name
)
def test_a_yaml_block_keeps_to_its_schema(block: Block) -> None:
    """A rule, a file of messages, or a pod; of an excerpt, the names of its keys."""
    text = block.text
    value = yaml.safe_load(text)
    if block.page == "docs/recorder.md":
        validate(
            {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "bert"}, **value}, "1.29", strict=True
        )
    elif block.page == "docs/messages.md":
        jsonschema.validate(value, file_schema("message"))
    elif "means:" in text:
        jsonschema.validate(value, file_schema("causes"))
    elif block.page == "docs/ci.md":
        see_that_ci_fits(value)
    else:
        known = {name for kind in ("rule", "overlay", "pack") for name in keys_of(kind)}
        assert set(value) <= known or all(set(each) <= keys_of("signal") for each in value.values())


def see_that_ci_fits(pipeline: Any) -> None:
    """The action has the inputs that a workflow gives."""
    (job,) = pipeline.get("jobs", {"train": pipeline.get("train")}).values()
    for step in job.get("steps", ()):
        if "mwms-analyze" in step.get("uses", ""):
            assert step["with"].keys() <= yaml.safe_load((ROOT / "action.yml").read_text())["inputs"].keys()


@pytest.mark.runs
def test_gitlab_finds_what_the_command_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One file for each report, whatever the directory above the run is called; and the command is installed."""
    (job,) = (
        found
        for each in blocks("yaml")
        if each.page == "docs/ci.md" and (found := yaml.safe_load(each.text).get("train"))
    )
    (tmp_path / "proj" / "run").mkdir(parents=True)
    (tmp_path / "proj" / "run" / "worker-0.log").write_text("step 1 loss 0.5\n")
    monkeypatch.chdir(tmp_path / "proj")
    for command in job["after_script"]:
        main(shlex.split(command)[1:])
    for pattern in job["artifacts"]["reports"].values():
        assert [path.suffix for path in Path().glob(pattern)] == [Path(pattern).suffix]
    assert any("pip install" in each for each in job["before_script"])


def keys_of(kind: str) -> set[str]:
    """Return the keys that a rule file, or one of its signals, may have."""
    schema = file_schema("rule")
    properties = (
        schema["$defs"]["signal"]["properties"] if kind == "signal" else file_schema(kind)["properties"]
    )
    return set(properties)
