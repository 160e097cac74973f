"""What XProf says of traces, quoted; it is asked in a process of its own, and of a copy."""

from __future__ import annotations

import json
import sys
from importlib.util import find_spec
from pathlib import Path

import jsonschema
import pytest

from analyzer import pipeline
from analyzer.cli.analyze import main
from analyzer.discover import discover
from analyzer.ingest.profiler import xprof
from analyzer.ingest.profiler.xprof import ASK, TOOLS, Quote, quotes, read_answers
from analyzer.model.errors import UsageError
from analyzer.model.options import AnalysisOptions
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind
from analyzer.render import render
from tests.recordings import ROOT

pytestmark = pytest.mark.recordings

RUN = ROOT / "sample_runs" / "slow-input-all-tf24" / "run"
SESSION = "tb/worker-0/train/plugins/profile/2026_11_21_05_37_03/vm.xplane.pb"


def asked(program: str, seconds: float = 20.0, runs: Path = RUN, whole: bool = True) -> list[Quote]:
    """What the traces of a run are quoted with, where this program stands for XProf's."""
    sources = discover([runs]).sources
    known = {one.name: one.worker for one in sources if one.kind is Kind.TRACE and whole}
    return quotes(sources, known, seconds, (sys.executable, "-I", "-c", program))


def answers(*tables: object) -> str:
    """A program that answers both tools with these tables, and says beside which file it was asked."""
    return f"import sys, json; open(sys.argv[1] + '.op_stats', 'w'); print({json.dumps(dict.fromkeys(TOOLS, tables))!r})"


STEPS = {
    "cols": [{"id": "stepnum"}, {"id": "infeedTimeMs"}, {"id": "stepTimeMs"}],
    "rows": [
        {"c": [{"v": "train 8"}, {"v": 300.0}, {"v": 400.0}]},
        {"c": [{"v": "train 9"}, {"v": 0.0}, {"v": 200.0}]},
    ],
    "p": {"input_conclusion": "HIGHLY input-bound, see <a href='x'>map()</a> &amp; more", "statement": ""},
}


def test_its_sentences_are_quoted_without_markup_and_beside_its_figures() -> None:
    """Once, though both tools say them; in seconds and as a share of all steps."""
    (quote,) = asked(answers({}, STEPS, {"cols": [], "rows": [], "p": None}))
    assert quote == Quote(SESSION, "worker:0", ("HIGHLY input-bound, see map() & more",), 2, 0.3, 0.5)


def test_a_real_answer_of_xprof() -> None:
    """Of version 2.24, on the trace of a slow input."""
    text = (Path(__file__).parents[2] / "fixtures_binary" / "xprof-answers.json").read_text(encoding="utf-8")
    quote = read_answers(Quote("t", "worker:0"), json.loads(text))
    assert quote.steps == 2
    assert quote.step_time == pytest.approx(0.37724, abs=1e-5)
    assert quote.input_share == pytest.approx(0.8388, abs=1e-4)
    assert quote.says[0].startswith("Your program is HIGHLY input-bound because 83.9% of")


def test_nothing_is_written_beside_the_trace() -> None:
    """It writes beside what it reads, and that is a copy which is gone afterwards."""
    before = sorted(path.name for path in (RUN / SESSION).parent.iterdir())
    asked(answers(STEPS))
    assert sorted(path.name for path in (RUN / SESSION).parent.iterdir()) == before


@pytest.mark.parametrize(
    ("program", "problem"),
    [
        ("import sys; print('no such event', file=sys.stderr); sys.exit(3)", "failed: no such event"),
        ("import os; os.abort()", "failed: exit code -6"),
        ("print('[]')", "cannot be quoted: TypeError"),
        ("print('{')", "cannot be quoted: JSONDecodeError"),
        (answers({}), "says nothing of it"),
    ],
)
def test_what_it_does_wrong_is_a_sentence(program: str, problem: str) -> None:
    """And neither an error of ours nor an all-clear."""
    (quote,) = asked(program)
    assert (quote.problem, quote.says) == (problem, ())


def test_it_is_ended_in_time() -> None:
    """And what comes after it is not begun."""
    found = asked("import time; time.sleep(3600)", 0.5, ROOT / "sample_runs" / "slow-worker-fit-tf28" / "run")
    assert [one.problem for one in found][:2] == [
        "gave no answer in time", "was not asked about: the time was used up",
    ]  # fmt: skip


def test_it_is_not_asked_about_damage() -> None:
    """For it answers with an empty "no suggestions"."""
    (quote,) = asked(answers(STEPS), whole=False)
    assert quote.problem == "was not asked about: the trace is damaged"


def test_without_it_the_user_is_told_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Which is wrong usage."""
    monkeypatch.setattr(xprof, "find_spec", lambda _: None)
    with pytest.raises(UsageError, match=r"'\.\[profile\]'"):
        quotes([], {}, 1.0)
    assert main([str(RUN), "--xprof", "-o", "-", "--format", "json"]) == 2
    assert "'.[profile]'" in capsys.readouterr().err


def test_the_diagnosis_and_its_pages_quote_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """In JSON by the contract, in the text, and in the HTML page, where run text is no markup."""
    told = Quote(SESSION, "worker:0", ("HIGHLY <b>input-bound</b>",), 2, 0.3, 0.5)

    def say(sources: list[Source], whole: dict[str, str | None], seconds: float) -> list[Quote]:
        assert whole[SESSION] == "worker:0"
        assert seconds == 7.0
        return [told]

    monkeypatch.setattr(xprof, "quotes", say)
    document = pipeline.analyze([RUN], AnalysisOptions(xprof_seconds=7.0)).document
    contract = json.loads((ROOT / "reports" / "diagnosis.schema.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(contract).validate(document)
    assert document["xprof"][0]["input_share"] == 0.5
    assert document["made_with"]["command"].endswith(" --xprof")
    assert "worker:0: HIGHLY <b>input-bound</b>" in " ".join(render(document, "text").split())
    assert "HIGHLY &lt;b&gt;input-bound&lt;/b&gt;" in render(document, "html")
    assert "What XProf says" not in render(pipeline.analyze([RUN]).document, "html")


@pytest.mark.skipif(not find_spec("xprof"), reason="the extra `profile` is not installed")
def test_the_real_one() -> None:
    """As far as it is installed."""
    sources = discover([RUN]).sources
    (quote,) = quotes(sources, {SESSION: "worker:0"}, 60.0, ASK)
    assert quote.steps == 4
    assert quote.input_share == pytest.approx(0.857, abs=0.01)
