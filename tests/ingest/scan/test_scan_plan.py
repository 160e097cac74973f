"""Which logs are worth a process of their own."""

from pathlib import Path

from analyzer.ingest.scan.scan_plan import LARGE_LOG_BYTES, log_groups
from analyzer.model.run import Source
from analyzer.model.source_kinds import Kind


def _groups(*sizes: int) -> list[list[int]]:
    """The sizes of the logs of each group."""
    logs = [Source(str(size), Path(str(size)), Kind.LOG) for size in sizes]
    return [[int(log.name) for log in group] for group in log_groups(logs, lambda log: int(log.name))]


def test_large_logs_are_read_alone_and_small_ones_in_groups() -> None:
    """A group takes as long as a large log; what does not make a group stays with the caller."""
    large, half = LARGE_LOG_BYTES, LARGE_LOG_BYTES // 2
    assert _groups(large, half, large + 1, half, half) == [[large], [large + 1], [half, half]]
    assert _groups(1, 2, 3) == []


def test_many_logs_make_groups_however_small_they_are() -> None:
    """To open and to read one takes time of its own."""
    groups = _groups(*[0] * 1_000)
    assert len(groups) > 10
    assert len({len(group) for group in groups}) == 1
