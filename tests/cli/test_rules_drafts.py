"""`mwms-rules new`: the draft of a rule for a run that none explains."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
import yaml

from analyzer.cli.rules import main
from analyzer.engine.authoring.draft_text import LineTemplate
from analyzer.model.log_template import template_of
from tests.recordings import OF_EACH_CAUSE, ROOT

MakeRun = Callable[[Mapping[str, str]], Path]
Said = pytest.CaptureFixture[str]

few_rules = pytest.mark.usefixtures("package_of_few_rules")
LEASE = {
    "exit_codes.txt": "worker-0 1\nworker-1 3\n",
    "worker-0.log": "step 1 loss 0.7\nstep 2 loss 0.6\nWARNING:app:slow disk\n",
    "worker-1.log": "WARNING:app:slow disk\nstep 1 loss 0.7\nstep 2 loss 0.6\n"
    "ERROR:store:lease 4711 on /data/features/17 revoked by 10.0.0.9:7070\n",
}


def drafted(text: str, folder: Path, capsys: Said) -> dict[str, object]:
    """The draft of a rule, with its TODO texts filled in the plainest way."""
    folder.mkdir()
    (folder / "drafted.yaml").write_text(text, encoding="utf-8")
    assert main(["lint", str(folder)]) == 2
    faults = capsys.readouterr().out.splitlines()[:-1]
    assert all("is still to be written" in fault or "`TODO` is no word" in fault for fault in faults), faults
    filled = text.replace("TODO an id of causes.yaml", "storage.unreachable").replace("TODO ", "")
    filled = filled.replace("{retry: TODO, owner: TODO}", "{retry: after_fix, owner: data}")
    (folder / "drafted.yaml").write_text(filled, encoding="utf-8")
    document: dict[str, object] = yaml.safe_load(filled)
    return document


@pytest.mark.runs
@few_rules
def test_a_draft_holds_what_one_worker_alone_says(make_run: MakeRun, tmp_path: Path, capsys: Said) -> None:
    """Masked; and it passes `lint` and its own two cases once its texts are filled in."""
    assert main(["new", "--from", str(make_run(LEASE)), "--id", "drafted"]) == 0
    rule = drafted(capsys.readouterr().out, tmp_path / "rules-of-mine", capsys)
    assert list(rule["signals"]) == ["said"]  # type: ignore[call-overload]
    log = rule["signals"]["said"]["log"]  # type: ignore[index]
    assert "lease" in str(log)
    assert str(rule["cases"][0]["given"]["worker-1.log"]).splitlines()[-1].startswith("ERROR:store:lease")  # type: ignore[index]
    assert not {"4711", "10.0.0.9", "features"} & set(log["regex"].replace("\\", " ").split())
    assert main(["lint", str(tmp_path / "rules-of-mine")]) == 0
    assert main(["test", str(tmp_path / "rules-of-mine")]) == 0


PLAIN = {
    "exit_codes.txt": "worker-0 1\nworker-1 3\nworker-2 1\n",
    "worker-0.log": "loading data\nstep 1 loss 0.7\nstep 2 loss 0.6\n",
    "worker-1.log": "loading data\nusing the spare disk\nstep 1 loss 0.7\nstep 2 loss 0.6\n"
    "licensed: license expired, shutting down\n",
    "worker-2.log": "loading data\nusing the fast disk\nstep 1 loss 0.7\nstep 2 loss 0.6\n",
}


@pytest.mark.runs
@few_rules
def test_a_plain_line_that_only_one_worker_has_is_enough(
    make_run: MakeRun, tmp_path: Path, capsys: Said
) -> None:
    """Not every program prints a level; the line after the last common step is the one."""
    assert main(["new", "--from", str(make_run(PLAIN)), "--id", "drafted"]) == 0
    rule = drafted(capsys.readouterr().out, tmp_path / "rules-of-mine", capsys)
    assert [signal["log"]["any_of"] for signal in rule["signals"].values()] == [  # type: ignore[attr-defined]
        ["licensed: license expired, shutting down"]
    ]
    assert rule["cases"][0]["expect"]["culprits"] == ["worker:1"]  # type: ignore[index]
    assert rule["cases"][0]["origin"] == "made from job-17"  # type: ignore[index]
    assert main(["test", str(tmp_path / "rules-of-mine")]) == 0


@pytest.mark.runs
@few_rules
def test_the_text_to_search_for_has_whole_words(make_run: MakeRun, tmp_path: Path, capsys: Said) -> None:
    """No colon or comma is left of what was cut off beside it."""
    lines = PLAIN["worker-1.log"] + "ERROR ACME-4032: project nlp-prod exceeded its quota, 12 GB over\n"
    assert main(["new", "--from", str(make_run({**PLAIN, "worker-1.log": lines})), "--id", "drafted"]) == 0
    rule = drafted(capsys.readouterr().out, tmp_path / "rules-of-mine", capsys)
    texts = [signal["log"]["any_of"] for signal in rule["signals"].values()]  # type: ignore[attr-defined]
    assert texts[-1] == ["project nlp-prod exceeded its quota"]
    assert rule["explains"] == ["peer.*", "symptom-*"]


@pytest.mark.parametrize(
    ("line", "matched", "other"),
    [
        ("lease token 77af expired", "lease token 3be91 expired", "lease token expired"),
        ("lease token af77 expired", "lease token 4c expired", "lease of token expired"),
        ("device fp16 lost", "device fp8 lost", "device bf16 lost"),
    ],
)
def test_a_token_with_digits_is_masked_as_a_whole(line: str, matched: str, other: str) -> None:
    """So that the draft fits the next case; letters that cannot be hexadecimal stay, if they lead."""
    drawn = LineTemplate(line, template_of(line)).regex
    assert drawn is not None
    assert re.search(drawn, line)
    assert re.search(drawn, matched)
    assert not re.search(drawn, other)


@pytest.mark.runs
@few_rules
def test_plain_lines_of_a_lone_worker_tell_nothing(make_run: MakeRun, capsys: Said) -> None:
    """There is nobody that it differs from."""
    run = make_run({"worker-1.log": PLAIN["worker-1.log"]})
    assert main(["new", "--from", str(run)]) == 2
    assert "distinguishes one of its workers" in capsys.readouterr().err


@pytest.mark.recordings
def test_a_run_that_is_explained_already_is_said_to_be(capsys: Said) -> None:
    """The draft is made all the same, but nobody should write a second rule unawares."""
    assert main(["new", "--from", str(ROOT / "sample_runs" / "worker-killed" / "run")]) == 0
    printed = capsys.readouterr()
    assert printed.err.startswith("mwms-rules: worker-killed is already explained by worker-killed; ")
    assert "explains: [peer.*, symptom-*]" in printed.out
    assert "blame: none" in printed.out
    assert "# None is of worker:2, which the diagnosis blames" in printed.out


@pytest.mark.runs
def test_a_draft_is_made_for_the_culprit(make_run: MakeRun, tmp_path: Path, capsys: Said) -> None:
    """However loud the others are about it."""
    logs = {
        "exit_codes.txt": "worker-0 1\nworker-1 -9\n",
        "worker-0.log": "step 1 loss 0.7\nstep 2 loss 0.6\n"
        'Traceback (most recent call last):\n  File "train.py", line 109, in <module>\n    train()\n'
        "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed\n"
        "Additional GRPC error information from remote target /job:worker/replica:0/task:1 while calling "
        "/tensorflow.WorkerService/RecvBuf:\n",
        "worker-1.log": "step 1 loss 0.7\nstep 2 loss 0.6\nWARNING:store:the lease is about to end\n",
    }
    assert main(["new", "--from", str(make_run(logs)), "--id", "drafted"]) == 0
    rule = drafted(capsys.readouterr().out, tmp_path / "rules-of-mine", capsys)
    assert rule["cases"][0]["expect"] == {"fires": True, "culprits": ["worker:1"]}  # type: ignore[index]


@pytest.mark.runs
@few_rules
def test_a_line_of_several_workers_is_drafted_for_all_of_them(
    make_run: MakeRun, tmp_path: Path, capsys: Said
) -> None:
    """Each has its own in the case; where all say it, none is expected to be the culprit."""
    lost = "ERROR:store:rank{0}: lease 4711 of worker {0} revoked by the quorum\n"
    steps = "step 1 loss 0.7\nstep 2 loss 0.6\n"
    for saying, expected in (((1, 2), {"culprits": ["worker:1", "worker:2"]}), ((0, 1, 2), {})):
        logs = {f"worker-{n}.log": steps + (lost.format(n) if n in saying else "") for n in range(3)}
        run = make_run(logs | {"exit_codes.txt": "worker-0 1\nworker-1 1\nworker-2 1\n"})
        assert main(["new", "--from", str(run), "--id", "drafted"]) == 0
        folder = tmp_path / f"rules-of-mine-{len(saying)}"
        case = drafted(capsys.readouterr().out, folder, capsys)["cases"][0]  # type: ignore[index]
        assert case["expect"] == {"fires": True, **expected}
        assert [f"lease 4711 of worker {n} " in case["given"][f"worker-{n}.log"] for n in range(3)] == [
            n in saying for n in range(3)
        ]
        assert main(["test", str(folder)]) == 0
        capsys.readouterr()


@few_rules
@pytest.mark.parametrize("wrong", ["Bad_ID!", "-x", "a b", "../x"])
def test_an_id_that_lint_would_refuse_is_refused(wrong: str, make_run: MakeRun, capsys: Said) -> None:
    """At once, and not after the draft was filled in."""
    assert main(["new", "--from", str(make_run(LEASE)), f"--id={wrong}"]) == 2
    assert f"--id {wrong}: an id consists of" in capsys.readouterr().err


BROKEN = [sample for cause, sample in OF_EACH_CAUSE.items() if cause != "healthy"]


@pytest.mark.parametrize("sample", BROKEN, ids=lambda path: path.name)
def test_a_draft_from_a_recorded_run_proves_itself(
    sample: Path, tmp_path: Path, capsys: Said, request: pytest.FixtureRequest
) -> None:
    """Tracebacks, long paths and control codes among its lines do no harm; where no line tells, it says so."""
    if main(["new", "--from", str(sample / "run"), "--id", "drafted"]) == 2:
        assert "distinguishes one of its workers from the others" in capsys.readouterr().err
        return
    text = capsys.readouterr().out
    request.getfixturevalue("package_of_few_rules")
    drafted(text, tmp_path / "rules-of-mine", capsys)
    assert main(["test", str(tmp_path / "rules-of-mine")]) == 0, capsys.readouterr().out


@pytest.mark.runs
@few_rules
def test_a_run_without_a_telling_line_gives_no_draft(make_run: MakeRun, capsys: Said) -> None:
    """Rather than one that fits everything."""
    assert main(["new", "--from", str(make_run({"worker-0.log": "step 1 loss 0.5\n"}))]) == 2
    assert "distinguishes one of its workers" in capsys.readouterr().err
