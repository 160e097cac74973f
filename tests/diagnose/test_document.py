"""What the document carries over from findings and tables."""

from __future__ import annotations

import platform
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from analyzer.derive.training.pauses import pauses
from analyzer.diagnose.decide import Decision, decide
from analyzer.diagnose.document import document
from analyzer.diagnose.explanations import relate
from analyzer.diagnose.provenance import made_with
from analyzer.discover import discover
from analyzer.model.contract import DiagnosisDocument
from analyzer.model.findings import Evidence, Finding, Outcome, Role, Verdict
from analyzer.model.options import AnalysisOptions
from analyzer.model.run import Tables
from analyzer.pipeline import analyze, load_tables
from analyzer.render.phrasing import uncollected
from analyzer.tables.builders import frame
from analyzer.tables.clock_alignment import CommonClock
from tests.recordings import Recordings, sample_run_named
from tests.rules import our_rules

TablesOf = Callable[[Mapping[str, str]], Tables]
MakeRun = Callable[[Mapping[str, str]], Path]
LOG = "one\ntwo\nthree\nTraceback (most recent call last):\n  File 'x'\nKeyError: 'a'\nfour\nfive\n"


def fired(rule: str, confidence: float = 0.9, **parts: Any) -> Finding:
    """A cause that fired."""
    parts.setdefault("cause", f"x.{rule}")
    return Finding(
        rule=rule, title=rule, role=Role.CAUSE, outcome=Outcome.FIRED, confidence=confidence, **parts
    )


def made(tables: Tables, *findings: Finding) -> DiagnosisDocument:
    """The document of some findings."""
    related = relate(findings)
    return document("job", decide(related, tables), related, tables, made_with({}, ""))


def at(line: int, says: str = "", excerpt: str = "x") -> Evidence:
    """A line of the first worker's log."""
    return Evidence(says, "line", "worker:0", "worker-0.log", line, excerpt)


@pytest.mark.parametrize("line", range(2, 9))
def test_context_has_the_true_numbers(tables_of: TablesOf, line: int) -> None:
    """Also within a record of several lines, and far below the last line that was kept."""
    tables = tables_of({"worker-0.log": LOG, "worker-1.log": "other\n" * 9})
    (evidence,) = made(tables, fired("a", evidence=(at(line),)))["findings"][0]["evidence"]
    lines = LOG.splitlines()
    assert evidence["context"]
    assert [number for number, _ in evidence["context"]][-1] < line
    assert all(lines[number - 1].strip() == text.strip() for number, text in evidence["context"])


def test_context_is_what_stands_nearest(tables_of: TablesOf) -> None:
    """The three lines above, the last lines of a traceback among them."""
    tables = tables_of({"worker-0.log": LOG})
    (evidence,) = made(tables, fired("a", evidence=(at(7),)))["findings"][0]["evidence"]
    assert [number for number, _ in evidence["context"]] == [4, 5, 6]


def test_a_place_is_shown_once_and_only_if_it_shows_something(tables_of: TablesOf) -> None:
    """What a signal only helps to decide is no evidence; two that speak of one line are one."""
    helper = Evidence("", "fact", "worker:0")
    evidence = (at(2, "a peer left"), at(2, "the leader said so"), helper, at(3))
    tables = tables_of({"worker-0.log": LOG})
    shown = made(tables, fired("a", evidence=evidence))["findings"][0]["evidence"]
    assert [(each["line"], each["says"]) for each in shown] == [
        (2, "a peer left; the leader said so"),
        (3, ""),
    ]


@pytest.mark.runs
def test_a_signal_without_words_of_its_own_makes_no_claim(make_run: MakeRun) -> None:
    """The name of a signal is for who writes the rule."""
    abort = "2026-11-21 01:45:40.605133: E tensorflow/core/common_runtime/base_collective_executor.cc:249] "
    abort += "BaseCollectiveExecutor::StartAbort INTERNAL: Collective instance 200 expected type 0 and data_type 9 "
    log = f"Epoch 1/3\n{abort}but got type 0 and data_type 1\n"
    pack = our_rules()
    made = analyze([make_run({"worker-0.log": "Epoch 1/3\n", "worker-1.log": log})], pack=pack).document
    (rule,) = (rule for rule in pack.rules if rule.id == made["rule"])
    names = {signal.name.replace("_", " ") for signal in rule.signals.values()}
    assert rule.id == "uneven-shards"
    assert made["findings"][0]["evidence"]
    assert not names & {each["says"] for each in made["findings"][0]["evidence"]}


def test_alternatives_are_rivals(tables_of: TablesOf) -> None:
    """Neither what follows from the verdict, nor the verdict once more."""
    document = made(
        tables_of({"worker-0.log": LOG}),
        fired("chosen", culprits=("worker:0",), explains=("follows",)),
        fired("follows"),
        fired("again", 0.5, cause="x.chosen"),
        fired("elsewhere", 0.5, cause="x.chosen", culprits=("worker:1",)),
        fired("rival", 0.4),
    )
    assert [each["rule"] for each in document["alternatives"]] == ["elsewhere", "rival"]


@pytest.mark.parametrize(
    ("name", "lost"),
    [
        ("ckpt/step-00020", 4),
        ("/out/model.ckpt-20", 4),
        ("ckpt/global_step20", 4),
        ("ckpt/ckpt-20", None),
        ("ckpt/weights-02", None),
        ("ckpt/step-00030", None),
    ],
)
def test_lost_steps_are_counted_where_that_is_certain(
    tables_of: TablesOf, name: str, lost: int | None
) -> None:
    """From a checkpoint named after its step; a plain number may count something else."""
    log = "".join(f"step {step} loss 0.5\n" for step in range(1, 25)) + f"Saved checkpoint to {name}\n"
    action = made(tables_of({"worker-0.log": log}))["action"]
    assert action == action | {"steps_lost": lost, "resume_from": name}


@pytest.mark.parametrize(("number", "lost"), [(20, 4), (2, None)], ids=["of steps", "of checkpoints"])
def test_a_plain_number_is_a_step_where_the_log_was_there_as_it_saved(
    tables_of: TablesOf, number: int, lost: int | None
) -> None:
    """The steps around the line tell."""
    before, after = ("".join(f"step {step} loss 0.5\n" for step in part) for part in ((18, 20), (22, 24)))
    log = f"{before}Saved checkpoint to ckpt/ckpt-{number}\n{after}"
    assert made(tables_of({"worker-0.log": log}))["action"]["steps_lost"] == lost


def test_a_culprit_did_not_stop_for_want_of_a_peer(tables_of: TablesOf) -> None:
    """Its own end is told so that it does not contradict the verdict."""
    lost = (
        "step 1 loss 0.5\nTraceback (most recent call last):\n  File 'x'\n"
        "tensorflow.python.framework.errors_impl.UnavailableError: Collective ops is aborted by: Socket closed\n"
    )
    tables = tables_of(
        {f"worker-{i}.log": lost for i in range(2)} | {"exit_codes.txt": "worker-0 1\nworker-1 1\n"}
    )
    assert tables["lifetimes"]["ended"].to_list() == ["aborted_by_peer"] * 2
    document = made(tables, fired("a", culprits=("worker:1",)))
    ends = [worker["ended"]["says"] for worker in document["workers"]]
    assert ends == ["stopped because it lost a peer (exit code 1)", "ended with an error (exit code 1)"]
    told = {(e["worker"], e["text"]) for e in document["timeline"] if e["kind"] in {"end", "error"}}
    assert ("worker:1", "ended with an error (exit code 1)") in told
    assert not [text for worker, text in told if worker == "worker:1" and "peer" in text]


@pytest.mark.runs
def test_without_a_verdict_each_worker_has_its_last_words(make_run: MakeRun) -> None:
    """Its own error, else its last lines; what only one says comes first, and chatter is left out."""
    run = make_run(
        {
            "worker-0.log": "step 1 loss 0.5\nwaiting for the scheduler\nbye\n",
            "worker-1.log": "step 1 loss 0.5\nTraceback (most recent call last):\n  File 'x'\nValueError: odd\n",
            "worker-2.log": "step 1 loss 0.5\nwaiting for the scheduler\nbye\nstep 2 loss 0.4\n",
            "exit_codes.txt": "worker-0 7\nworker-1 7\nworker-2 7\n",
        }
    )
    tables = load_tables(discover([run]), our_rules())
    said = document("job", Decision(Verdict.FAILED, "unknown", 0.0), [], tables, made_with({}, ""))[
        "last_words"
    ]
    assert [each["worker"] for each in said] == ["worker:1", "worker:0", "worker:2"]
    assert said[0]["says"] == "The last error of worker:1"
    assert "ValueError: odd" in said[0]["excerpt"]
    assert [each["excerpt"] for each in said[1:]] == ["bye", "bye"]
    assert [each["says"] for each in said[1:]] == [
        "The last lines of worker:0",
        "The last notable lines of worker:2",
    ]
    assert [2, "waiting for the scheduler"] in said[1]["context"]


@pytest.mark.parametrize(
    ("codes", "told"),
    [((1, 7), True), ((0, 7), True), ((7, 7), False), ((1, 1), False), ((3, 7), False), ((7, 1), False)],
)
def test_what_is_known_begins_with_the_last_line_of_an_odd_exit_code(
    codes: tuple[int, int], told: bool, tables_of: TablesOf
) -> None:
    """One that is not 0, or that a script gave itself; its last words come first, too."""
    logs = {f"worker-{n}.log": f"step 1 loss 0.5\nbye from {n}\n" for n in range(2)}
    stated = "".join(f"worker-{n} {code}\n" for n, code in enumerate(codes))
    document = made(tables_of({**logs, "exit_codes.txt": stated}))
    first = "The last line of worker:1, the only one with exit code 7, is “bye from 1” (worker-1.log:2)."
    assert (document["why"][0] == first) is told
    assert document["last_words"][0]["worker"] == f"worker:{int(told)}"


def test_only_what_is_missing_is_to_be_collected(tables_of: TablesOf) -> None:
    """Not the exit codes that were handed over, nor logs that are there."""
    logs = {f"worker-{i}.log": "step 1 loss 0.5\nodd\n" for i in range(2)}
    known = made(tables_of(logs | {"exit_codes.txt": "worker-0 7\nworker-1 7\n"}))
    assert [step["command"] for step in known["next"]] == ["mwms-rules new --from RUN --id ID"]


def test_exit_codes_that_are_missing_are_asked_for(tables_of: TablesOf) -> None:
    """Once: as the file that would decide, and by no step again."""
    document = made(tables_of({"worker-0.log": "step 1 loss 0.5\nodd\n"}))
    deciding = document["deciding_file"]
    assert deciding is not None
    assert deciding["kind"] == "exit_codes"
    assert not any("exit code" in step["text"] for step in document["next"])
    assert not any("exit codes" in text for text in uncollected(document))


def test_a_few_pasted_lines_ask_for_those_above(tables_of: TablesOf) -> None:
    """Not for exit codes, nor for profiles of steps that nobody saw."""
    tail = "    for a, b in batch:\nValueError: not enough values to unpack\n"
    document = made(tables_of({"worker-0.log": tail}))
    deciding = document["deciding_file"]
    assert deciding is not None
    assert deciding["what"] == "the complete output of worker:0"
    texts = [step["text"] for step in document["next"]]
    assert "collect the log from its first line" in texts[0]
    assert not any("exit code" in text for text in texts)
    assert all(recipe["kind"] != "trace" for recipe in document["collect"])


def test_where_the_traced_time_went_is_told(recordings: Recordings) -> None:
    """Of the recording of a slow worker: it comes last, and the others wait for it."""
    told = recordings.document(sample_run_named("slow-worker-fit-tf28"))["trace"]
    assert [(row["worker"], row["last"]) for row in told] == [(f"worker:{n}", n == 0) for n in range(4)]
    assert told[0]["delay_share"] > 0.5 > told[0]["collective_share"]


def test_the_last_checkpoint_is_an_event(recordings: Recordings) -> None:
    """With its line, and how many came before it."""
    told = recordings.document(sample_run_named("healthy-pauses-fit-tf215"))["timeline"]
    saved = {event["worker"]: event for event in told if event["kind"] == "checkpoint"}
    assert set(saved) == {"worker:0", "worker:1"}
    assert saved["worker:0"]["text"] == "checkpoint checkpoints/weights-03 (the last of 3)"
    assert saved["worker:0"]["line"] == 13


def test_the_longest_compilation_is_an_event(tables_of: TablesOf) -> None:
    """Where the trace counts its time from 1970."""
    tables = dict(tables_of({"worker-0.log": LOG}))
    span = {"worker": "worker:0", "source": "t.xplane.pb", "kind": "compile", "name": "jit", "absolute": True}
    spans = [span | {"start": 10.0, "end": 11.0}, span | {"start": 20.0, "end": 24.5}, span | {"start": 30.0}]
    clock = CommonClock(tables["clocks"], tables["sources"])
    tables["pauses"] = pauses(tables | {"spans": frame("spans", spans)}, clock)
    told = [event for event in made(tables)["timeline"] if event["kind"] == "compile"]
    assert [(event["time"], event["text"]) for event in told] == [(20.0, "compiled for 4.5 s")]


@pytest.mark.runs
def test_the_command_line_names_no_place(make_run: MakeRun) -> None:
    """The same for the files in any order; a whole directory goes by the name of the run."""
    run = make_run({"worker-0.log": LOG, "worker-1.log": LOG})
    files = sorted(run.iterdir())
    whole, some, turned = (
        analyze(paths, AnalysisOptions(redaction="topology")).document["made_with"]["command"]
        for paths in ([run], files, files[::-1])
    )
    assert whole == "mwms-analyze job-17 --redact topology"
    assert some == turned == "mwms-analyze worker-0.log worker-1.log --redact topology"
    assert (
        analyze([files[0]], AnalysisOptions(shown_paths=("-",))).document["made_with"]["command"]
        == "mwms-analyze -"
    )


@pytest.mark.runs
def test_what_it_was_made_with(make_run: MakeRun) -> None:
    """An archive by its own name, the good run by its; and the versions of what read and reckoned."""
    run = make_run({"worker-0.log": LOG, "worker-1.log": LOG})
    archive = Path(shutil.make_archive(str(run), "gztar", run))
    made = analyze([archive], AnalysisOptions(against=(run,))).document["made_with"]
    assert made["command"] == "mwms-analyze job-17.tar.gz --against job-17"
    assert made["versions"]["python"] == platform.python_version()
    assert made["versions"]["polars"] == pl.__version__


@pytest.mark.runs
def test_the_line_of_an_exit_code_is_quoted_and_not_its_value(make_run: MakeRun) -> None:
    """A reader finds `-9` nowhere in a log that says `Killed`."""
    log = "0: step 1 loss 0.5\n1: step 1 loss 0.5\nsrun: error: n1: task 1: Killed\n"
    found = analyze([make_run({"slurm-7.out": log})], pack=our_rules()).document["findings"]
    quoted = [
        place["excerpt"] for each in found if each["rule"] == "worker-killed" for place in each["evidence"]
    ]
    assert "srun: error: n1: task 1: Killed" in quoted


@pytest.mark.parametrize(("second", "listed"), [("10.0.0.2:2222", False), ("10.0.0.1:2223", True)])
def test_a_gpu_is_listed_only_if_workers_share_it(tables_of: TablesOf, second: str, listed: bool) -> None:
    """The same slot of two hosts is no difference between them."""
    device = "Created device /job:worker/replica:0/task:{}/device:GPU:0 with 79087 MB memory:  -> device: 0, name: A100, pci bus id: 0000:07:00.0, compute capability: 8.0"
    cluster = (
        '{{"cluster": {{"worker": ["10.0.0.1:2222", "{}"]}}, "task": {{"type": "worker", "index": {}}}}}'
    )
    logs = {
        f"worker-{n}.log": f"TF_CONFIG={cluster.format(second, n)}\n"
        f"2026-11-17 21:00:04.308945: I tensorflow/core/common_runtime/gpu/gpu_device.cc:1929] {device.format(n)}\n"
        for n in (0, 1)
    }
    facts = made(tables_of(logs))["facts"]
    assert ("gpu_place" in {each["key"] for each in facts}) == listed


def test_the_last_lines_are_not_those_of_the_start(tables_of: TablesOf) -> None:
    """What a program says above its first step tells nothing of the end; what it says below does."""
    log = "model of 617 parameters\n" + "".join(f"step {n} loss 0.5\n" for n in range(1, 9))
    logs = {"worker-0.log": log, "worker-1.log": f"{log}uploading metrics\nstep 9 loss 0.4\n"}
    shown = {each["worker"]: each["excerpt"] for each in made(tables_of(logs))["last_words"]}
    assert "step 8" in shown["worker:0"]
    assert "617" not in shown["worker:0"] + shown["worker:1"]
    assert shown["worker:1"] == "uploading metrics"


@pytest.mark.parametrize(
    ("first", "said"),
    [
        (
            "step 1 loss 0.5\nTraceback (most recent call last):\n  File 'x'\nKeyError: 'a'\n",
            "worker:1 raised KeyError",
        ),
        ("step 1 loss 0.5\n", None),
    ],
    ids=["an exception", "nothing told"],
)
def test_what_failed_before_a_restart(tables_of: TablesOf, first: str, said: str | None) -> None:
    """A run that ended well in its second attempt says how the first one ended, if its files do."""
    whole = "step 1 loss 0.5\nstep 2 loss 0.4\ntraining finished\n"
    logs = {f"attempt-{n}/worker-{i}.log": whole for n in (1, 2) for i in range(2)}
    logs["attempt-1/worker-1.log"] = first
    logs["attempt-1/worker-0.log"] = "step 1 loss 0.5\n"
    document = made(tables_of(logs))
    assert document["verdict"] == "healthy"
    assert ("In attempt 1, " in document["summary"]) is (said is not None)
    assert said is None or said in document["summary"]
