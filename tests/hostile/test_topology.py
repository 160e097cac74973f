"""An attacker names machines, people and places in every shape: with `--redact topology` none comes out."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from analyzer.model.options import AnalysisOptions
from analyzer.pipeline import analyze
from analyzer.redact import redact
from tests.hostile.planting import Shape, shapes
from tests.recordings import Recordings
from tests.redact.planted import document_with, excerpts, outputs, unescaped

pytestmark = pytest.mark.slow

MakeRun = Callable[[Mapping[str, str]], Path]
NAMING = [shape for shape in shapes() if shape.names]
STEPS = [f"step {n} loss 0.5" for n in range(4)]
RAISED = 'Traceback (most recent call last):\n  File "t.py", line 1, in <module>\nValueError: {}\n'
INNOCENT = [shape for shape in shapes() if not shape.names]


@pytest.mark.parametrize("shape", NAMING, ids=lambda shape: shape.name)
def test_a_name_is_replaced(shape: Shape) -> None:
    """Alone, in a JSON log and in a source line; what is redacted again stays as it is."""
    texts = [shape.line, json.dumps({"message": shape.line}), f"    raise ValueError({shape.line!r})"]
    for text in texts:
        made = redact(document_with(text), "topology")
        assert not [name for name in shape.names if name in excerpts(made)[0]]
        assert redact(made, "topology") == made


@pytest.mark.parametrize("shape", INNOCENT, ids=lambda shape: shape.name)
def test_an_ordinary_line_stays(shape: Shape) -> None:
    """Devices, packages, versions, tensors, digests, times and public pages."""
    assert excerpts(redact(document_with(shape.line), "topology")) == [shape.line]


def test_no_output_holds_a_name() -> None:
    """All shapes in one document, in every format."""
    document = redact(document_with(*(shape.line for shape in NAMING)), "topology")
    for output, text in outputs(document).items():
        shown = unescaped(text)
        left = {name for shape in NAMING for name in shape.names if name in shown and len(name) > 6}
        assert not left, output


def test_names_are_learned_from_the_facts_of_a_run(make_run: MakeRun) -> None:
    """From TF_CONFIG, event files, prompts and node lists; each name is replaced wherever it stands."""
    config = {
        "cluster": {"worker": ["falcon-a:2222", "falcon-b:2222"]},
        "task": {"type": "worker", "index": 0},
    }
    log = (
        "grace@falcon-a:~$ python train.py\nstep 1 loss 0.5\n"
        'Traceback (most recent call last):\n  File "/home/grace/train.py", line 3, in <module>\n    main()\n'
        "ValueError: falcon-b gave up, then hawk02 of hawk[01-02] did, says grace\n"
    )
    run = make_run(
        {"worker-0.log": log, "worker-1.log": "step 1 loss 0.5\n", "tf_config-0.json": json.dumps(config)}
    )
    document = analyze([run], AnalysisOptions(redaction="topology")).document
    shown = json.dumps(document)
    assert not [name for name in ("falcon", "hawk0", "grace") if name in shown]
    assert "gave up, then host-" in shown


def test_names_are_learned_from_lines_that_are_not_quoted(make_run: MakeRun) -> None:
    """A prompt, a node list and a home directory in the middle of another worker's log."""
    naming = ["grace@falcon-a:~$ python train.py", "SLURM_NODELIST=hawk[01-02]", "using /home/ada/data"]
    log = RAISED.format("hawk02 gave up, then falcon-a did, say grace and ada")
    run = make_run({"worker-0.log": log, "worker-1.log": "\n".join([*naming, *STEPS])})
    shown = json.dumps(analyze([run], AnalysisOptions(redaction="topology")).document)
    assert not [name for name in ("falcon-a", "hawk02", "grace", " ada") if name in shown]
    assert "host-1 gave up" in shown or "host-2 gave up" in shown


def test_the_directory_of_a_run_is_replaced() -> None:
    """In the title, in paths and in commands; a common name such as `run` stays."""
    document = document_with("saved to /data/bert-fraud-7/ckpt-20", name="bert-fraud-7")
    document["next"] = [{"text": "Look.", "command": "mwms-analyze bert-fraud-7 --against x"}]
    made = redact(document, "topology")
    assert "fraud" not in json.dumps(made)
    assert made["run"]["name"] == "dir-1"
    assert redact(document_with("x", name="run"), "topology")["run"]["name"] == "run"


def test_files_in_common_directories_keep_their_names() -> None:
    """A path keeps its file and what every machine has; only directories that somebody named are replaced."""
    lines = {
        "/workspace/train.py:101: error": "/workspace/train.py:101: error",
        'File "/workspace/train.py", line 3': 'File "/workspace/train.py", line 3',
        'File "/mnt/acme/train.py", line 3': 'File "/mnt/dir-1/train.py", line 3',
    }
    assert excerpts(redact(document_with(*lines), "topology")) == list(lines.values())


@pytest.mark.recordings
def test_a_report_stays_readable(sample_run: Path, recordings: Recordings) -> None:
    """Workers, verdict and causes are those of the plain report, and no step or loss is replaced."""
    document = recordings.document(sample_run)
    made = redact(document, "topology")
    assert [worker["id"] for worker in made["workers"]] == [worker["id"] for worker in document["workers"]]
    assert made["verdict"] == document["verdict"]
    assert [each["rule"] for each in made["findings"]] == [each["rule"] for each in document["findings"]]
