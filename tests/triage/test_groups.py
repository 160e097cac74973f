"""A group is resolved, and recurs, only where its base rate makes the absence news."""

from __future__ import annotations

from random import Random

from analyzer.triage.groups import status

NIGHTS = [f"{month:02d}-{day:02d}" for month in range(1, 13) for day in range(1, 31)]


def states(seen: list[int], until: int) -> list[str]:
    """The state on each night from the first failure on."""
    counts = {NIGHTS[night]: 1 for night in seen}
    return [
        status({night: 1 for night in counts if night <= NIGHTS[now]}, NIGHTS[: now + 1]).state
        for now in range(seen[0], until)
    ]


def test_a_frequent_failure_is_gone_once_and_comes_back_once() -> None:
    """A week after its last night at the earliest; then it is away."""
    found = states([*range(6), 40, 41], 42)
    assert found[:6] == ["new", *["known"] * 5]
    assert found.count("gone") == 1
    assert 12 <= found.index("gone") < 20
    assert set(found[found.index("gone") + 1 : 40]) == {"away"}
    assert found[40:] == ["regressed", "known"]


def test_a_failure_that_was_seen_once_is_neither_gone_nor_back() -> None:
    """Nobody knows how often it comes."""
    assert states([0, 50], 60) == ["new", *["known"] * 59]


def test_a_rare_failure_is_given_more_time() -> None:
    """Every six nights is its way; half a year is not."""
    assert set(states([0, 6, 12, 18, 30, 36], 60)[1:]) == {"known"}
    assert "gone" in states([0, 6, 12, 18, 24, 30, 36, 42], 200)


def test_chance_makes_no_news() -> None:
    """Of 240 groups with rates from 1 in 2 to 1 in 30 nights, in 60 nights, one at most is ever gone or back."""
    chance, news = Random(1), 0
    for group in range(240):
        rate = 1 / (2 + group % 29)
        if seen := [night for night in range(60) if chance.random() < rate]:
            found = states(seen, 60)
            news += found.count("regressed") + found.count("gone")
    assert news <= 2
