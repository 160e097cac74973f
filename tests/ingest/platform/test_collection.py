"""`collected_at.txt`, and `not_collected.txt`, which `mwms-collect` leaves where logs are missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

NAME = "not_collected.txt"
LOST = (
    "gpu22:/scratch/bert\tssh: connect to host gpu22 port 22: No route to host\n"
    "bert-worker-1.log\tError from server (NotFound): pods not found\n"
)


def test_what_is_missing_is_one_fact(tables_of: Callable[[Mapping[str, str]], Tables]) -> None:
    """With the names of three logs at most, and the first error."""
    more = "".join(f"bert-worker-{n}.log\tgone\n" for n in range(2, 5))
    facts = tables_of({NAME: LOST + more, "worker-0.log": "step 1 loss 0.5\n"})["facts"]
    assert facts.filter(key="not_collected")["value"].to_list() == [
        "gpu22:/scratch/bert, bert-worker-1.log, bert-worker-2.log and 2 more "
        "(ssh: connect to host gpu22 port 22: No route to host)"
    ]


def test_a_line_that_is_no_entry_is_damage(tables_of: Callable[[Mapping[str, str]], Tables]) -> None:
    """And the others are read."""
    tables = tables_of({NAME: f"{LOST}\nsomething else\n", "worker-0.log": "step 1 loss 0.5\n"})
    assert tables["damage"].select("source", "line").rows() == [(NAME, 4)]
    assert tables["facts"].filter(key="not_collected").height == 1


def test_a_pod_that_no_longer_exists_is_told(tables_of: Callable[[Mapping[str, str]], Tables]) -> None:
    """In the words of kubectl, or in those of mwms-collect; a forbidden one exists."""
    lines = [
        'worker-1.log\tError from server (NotFound): pods "b-1-x7k2p" not found',
        "b-2.log\t1 of 3 pods of job/b exist; deleted, or never created: b-2",
        'b-0.log\tError from server (Forbidden): pods "b-0" is forbidden',
    ]
    facts = tables_of({NAME: "\n".join(lines), "worker-0.log": "step 1 loss 0.5\n"})["facts"]
    assert facts.filter(key="pod_gone")["value"].to_list() == ["b-1-x7k2p", "b-2"]


@pytest.mark.parametrize(
    ("stated", "known"),
    [
        ("2026-11-26T07:41:31+00:00/2026-11-26T07:41:40+00:00", True),
        ("2026-11-26T07:41:31/2026-11-26T07:41:40", False),
        ("2026-11-26T07:41:31+00:00", False),
        ("yesterday", False),
    ],
)
def test_the_time_of_a_collection_is_an_interval_with_zones(
    stated: str, known: bool, tables_of: Callable[[Mapping[str, str]], Tables]
) -> None:
    """Anything else is damage."""
    tables = tables_of({"collected_at.txt": f"{stated}\n", "worker-0.log": "step 1 loss 0.5\n"})
    assert tables["facts"].filter(key="collected_at")["value"].to_list() == [stated] * known
    assert (tables["damage"].height == 0) is known


def test_where_the_run_is_from_is_a_fact(tables_of: Callable[[Mapping[str, str]], Tables]) -> None:
    """Of hosts and of clouds, whose other files do not tell it."""
    notes = "ssh\nnode=1\tnode-1.lab\n"
    facts = tables_of({"collected_from.txt": notes, "worker-0.log": "step 1 loss 0.5\n"})["facts"]
    assert facts.filter(key="collected_from")["value"].to_list() == ["ssh"]
    assert facts.filter(key="folder_host")["value"].to_list() == ["node=1\tnode-1.lab"]
