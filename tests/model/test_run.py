"""A run in a notebook: what it shows of itself, and what a mistake is answered with."""

import inspect
import json
import traceback
from pathlib import Path
from typing import Any

import pytest

from analyzer import AnalysisOptions, analyze
from analyzer.model.errors import NothingReadable, RuleError, UsageError
from analyzer.model.run import Diagnosis, NamedTables, Run
from analyzer.model.schema import TABLES
from analyzer.render import render
from analyzer.tables.builders import frame

DOCUMENT = json.loads(Path("tests/render/diagnoses/r101.json").read_text(encoding="utf-8"))


@pytest.fixture
def run() -> Run:
    """A run with all tables, of which one has rows."""
    tables = NamedTables({name: frame(name, []) for name in TABLES})
    tables["scalars"] = frame("scalars", [{"worker": "worker:0", "tag": "loss", "step": 1, "time": 1.8e9}])
    return Run("r101", tables, Diagnosis(DOCUMENT))


def test_it_shows_the_decision_not_its_tables(run: Run) -> None:
    """In a line, and as HTML in which text of the run is no markup."""
    assert repr(run) == "<Run r101: failed, user.exception, 96 %, worker:2>"
    hostile = run._replace(diagnosis=Diagnosis(DOCUMENT | {"summary": "<script>alert(1)</script>"}))
    page = hostile._repr_html_()
    assert "&lt;script&gt;" in page
    assert "<script" not in page
    assert "Rows in tables: scalars 1<" in page
    assert len(page) < 4_000
    assert "<p>Restart: " in page
    assert "Checkpoint: " in page
    quoted = run._replace(diagnosis=Diagnosis(DOCUMENT | {"why": ["Give `f(x)` <b>."]}))
    assert "<li>Give <code>f(x)</code> &lt;b&gt;.</li>" in quoted._repr_html_()


def test_a_wrong_table_is_answered_with_those_that_resemble_it(run: Run) -> None:
    """As is a list of paths, where several paths are meant."""
    with pytest.raises(KeyError, match="no table scalrs; did you mean scalars"):
        run.tables["scalrs"]
    with pytest.raises(KeyError, match="no table scalrs; did you mean scalars"):
        run.polars()["scalrs"]
    with pytest.raises(TypeError, match=r"a path is a list: pass several files as analyze\(\*paths\)"):
        analyze(["worker-0.log", "worker-1.log"])  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a path is a NoneType: give a text or a Path"):
        analyze(None)  # type: ignore[arg-type]
    with pytest.raises(
        TypeError, match=r"argument 'rules'; for options, see options=AnalysisOptions\(rules=…\)"
    ):
        analyze("run", rules=())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"analyze\(\) needs a path"):
        analyze()


def test_completion_offers_what_a_run_has(run: Run) -> None:
    """Not what every tuple has, which means nothing here."""
    for each, own in ((run, {"name", "tables", "polars"}), (run.diagnosis, {"document", "verdict"})):
        assert own <= {*dir(each)}
        assert not {"count", "index"} & {*dir(each)}


def test_what_is_no_diagnosis_is_not_rendered() -> None:
    """And the answer says what is to be passed."""
    with pytest.raises(UsageError, match=r"this is not a diagnosis; pass `run\.diagnosis\.document`"):
        render({}, "html")


def test_pandas_dtypes_do_not_depend_on_the_data(run: Run) -> None:
    """Of an empty table as of a full one; times are instants in UTC."""
    pytest.importorskip("pandas")
    empty = run._replace(tables=NamedTables({name: frame(name, []) for name in TABLES}))
    with pytest.raises(KeyError, match="no table scalrs; did you mean scalars"):
        run.pandas()["scalrs"]
    full, none = run.pandas()["scalars"], empty.pandas()["scalars"]
    assert list(full.dtypes) == list(none.dtypes)
    assert str(full.dtypes["time"]) == "timestamp[us, tz=UTC][pyarrow]"
    assert full["time"][0].isoformat() == "2027-01-15T08:00:00+00:00"


def test_times_are_datetimes_in_polars_too(run: Run) -> None:
    """The tables themselves keep seconds, which rules compare."""
    assert run.polars()["scalars"]["time"][0].isoformat() == "2027-01-15T08:00:00+00:00"
    assert run.tables["scalars"]["time"][0] == 1_800_000_000.0


def test_an_empty_path_is_not_the_current_directory() -> None:
    """As an unset variable is one."""
    with pytest.raises(UsageError, match="a path is empty"):
        analyze("")


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"redaction": "topologie"}, UsageError, "redaction is 'topologie'; choose secrets or topology"),
        ({"rules": "my-rules"}, TypeError, "rules is to be a tuple of paths"),
        ({"budget": "5s"}, TypeError, "budget is to be Limits"),
        ({"packs": "no"}, TypeError, "packs is 'no'; give True or False"),
        ({"xprof_seconds": "5s"}, TypeError, "xprof_seconds is '5s'; give a number of seconds"),
        ({"warm_up": 1}, TypeError, "warm_up is 1; give a function or None"),
    ],
)  # fmt: skip
def test_a_wrong_option_is_refused(options: dict[str, Any], error: type[Exception], words: str) -> None:
    """A misspelt redaction would let names of machines leave the company."""
    with pytest.raises(error, match=words):
        analyze("run", options=AnalysisOptions(**options))


def test_rules_that_are_not_there_are_refused(tmp_path: Path) -> None:
    """Without them a known failure would be an unknown one."""
    for folder, words in ((tmp_path / "nope", "no such directory"), (tmp_path, r"holds no rule \(\*.yaml\)")):
        with pytest.raises(RuleError, match=f"^{folder}: {words}$"):
            analyze("run", options=AnalysisOptions(rules=(folder,)))


@pytest.mark.runs
def test_an_error_names_the_field_and_nothing_else(tmp_path: Path) -> None:
    """No option of the command, and no chain of what was raised before it."""
    (tmp_path / "worker-0.log").write_text("step 1 loss 0.5\n", "utf-8")
    nope = tmp_path / "nope"
    with pytest.raises(UsageError, match=f"^against: {nope}: no such file") as raised:
        analyze(tmp_path, options=AnalysisOptions(against=(nope,), packs=False))
    with pytest.raises(NothingReadable, match="no such file") as missing:
        analyze(nope)
    for error in (raised.value, missing.value):
        assert error.__suppress_context__
        assert len(traceback.extract_tb(error.__traceback__)) == 2


def test_help_explains_each_option() -> None:
    """As the notebook's page promises."""
    for field in AnalysisOptions._fields:
        assert "Alias for field" not in str(inspect.getdoc(getattr(AnalysisOptions, field)))


def test_options_are_no_mapping() -> None:
    """As they are for other libraries."""
    mapping: Any = {"redaction": "topology"}
    with pytest.raises(TypeError, match="options is a dict: pass AnalysisOptions"):
        analyze("run", options=mapping)
