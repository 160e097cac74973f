"""A condition that the schema of a table takes can be evaluated."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from analyzer.engine.conditions import expression, operators
from analyzer.engine.loading.schemas import table_schema
from analyzer.model.schema import TABLES, Column
from analyzer.storage.yaml_document import Document
from analyzer.tables.builders import frame

_OPERANDS = st.sampled_from(
    [
        "x",
        "",
        "^a",
        "a(",
        0,
        9,
        2.5,
        -1,
        10**30,
        True,
        False,
        None,
        [],
        [1, 2],
        [1, 2.5],
        ["x"],
        ["x", 1],
        [[1]],
        "finished",
        ["finished", "signal"],
        ["training", "finished"],
    ]
)


@given(
    column=st.sampled_from(TABLES["lifetimes"]),
    condition=st.one_of(
        _OPERANDS,
        st.dictionaries(
            st.sampled_from(sorted({*operators("int"), *operators("text")})), _OPERANDS, max_size=2
        ),
    ),
)
def test_a_condition_that_is_taken_can_be_asked(column: Column, condition: object) -> None:
    """Of rows that hold something, and of rows that hold nothing."""
    row = (
        column.values[0]
        if column.values
        else {"text": "x", "bool": True, "int": 1, "number": 1.5, "time": 2.5}[column.type]
    )
    table = frame("lifetimes", [{column.name: row}, {}])
    if Document("x", {"where": {column.name: condition}}).check(table_schema("lifetimes"), ("where",)):
        assert table.select(expression({column.name: condition})).height == 2
