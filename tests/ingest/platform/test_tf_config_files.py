"""TF_CONFIG as files hold it: JSON by itself, or a line for a shell."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

GOOD = '{"cluster": {"worker": ["h:1", "h:2"]}, "task": {"type": "worker", "index": 1}}'
BAD = '{\n  "cluster": {"worker": ["h:1",]},\n  "task": {}\n}\n'

TablesOf = Callable[[Mapping[str, str]], Tables]


def facts(tables: Tables) -> dict[str, tuple[int, str]]:
    """Line and value of each fact of the file."""
    own = tables["facts"].filter(tables["facts"]["source"] == "tf_config-1.json")
    return {key: (line, value) for key, line, value in own.select("key", "line", "value").iter_rows()}


@pytest.mark.parametrize(
    ("before", "behind", "line"),
    [("", "", 1), ("\n\n", "\n", 3), ("export TF_CONFIG='", "'\n", 1), ("\nTF_CONFIG=\n", "\n", 3)],
)
def test_a_config_is_read_where_it_stands(before: str, behind: str, line: int, tables_of: TablesOf) -> None:
    """Whatever a shell wants around it."""
    found = facts(tables_of({"tf_config-1.json": before + GOOD + behind}))
    assert found["tf_config"] == (line, GOOD)
    assert found["task"] == (line, "worker:1")
    assert "tf_config_error" not in found


@pytest.mark.parametrize(("before", "line"), [("", 2), ("\n\n", 4), ("export TF_CONFIG='", 2)])
def test_an_error_is_on_the_line_of_the_file(before: str, line: int, tables_of: TablesOf) -> None:
    """Blank lines before it count."""
    found = facts(tables_of({"tf_config-1.json": before + BAD}))
    assert found["tf_config_error"] == (line, '  "cluster": {"worker": ["h:1",]},')


@pytest.mark.parametrize(
    ("text", "what", "line"),
    [
        (GOOD[:-9], "is not JSON: ", 1),
        ("", "is not JSON: Expecting", 1),
        (BAD, "is not JSON: ", 2),
        ('{"task": ' + "[" * 99_999, "is not JSON: its brackets go too deep", 1),
        ('{"task": ' + "9" * 9_999 + "}", "is not JSON: it holds an endless number", 1),
    ],
)
def test_a_config_that_breaks_off_is_damage(text: str, what: str, line: int, tables_of: TablesOf) -> None:
    """Nothing of it was understood; what a worker was told so is said with it."""
    tables = tables_of({"tf_config-1.json": text, "worker-0.log": "step 1 loss 0.5\n"})
    ((source, found, said),) = tables["damage"].select("source", "line", "what").rows()
    assert (source, found, said[: len(what)]) == ("tf_config-1.json", line, what)


def test_a_folder_named_so_holds_them(tables_of: TablesOf) -> None:
    """Each file by the worker that it is named after; a document elsewhere is none."""
    tables = tables_of({"tf_config/worker-1.json": GOOD, "configs/worker-1.json": GOOD})
    own = tables["facts"].filter(tables["facts"]["key"] == "task")
    assert own.select("source", "value").rows() == [("tf_config/worker-1.json", "worker:1")]
