"""Which logs are of one process, by their names."""

import pytest

from analyzer.model.log_layout import process_of


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("tessa/web-stdout---supervisor-k2x9.log", "tessa/web-stderr---supervisor-q7ab.log"),
        ("train.out.log", "train.err.log"),
        ("hilda_stdout.txt", "hilda_stderr.txt.1.gz"),
        ("run/stdout", "run/stderr.log"),
        ("bert.o73110", "bert.e73110"),
        ("fit.log", "fit.err"),
        ("out/node7", "err/node7"),
        ("run3/stdout/10.0.0.7", "run3/stderr/10.0.0.7"),
    ],
)
def test_both_streams_of_a_process_share_a_path(first: str, second: str) -> None:
    """A launcher names the stream by a word at the end, by a suffix, or by the file's whole name."""
    assert process_of(first) == process_of(second)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("tessa/web-stdout---supervisor-k2x9.log", "milo/web-stderr---supervisor-q7ab.log"),
        ("train.out.log", "serve.err.log"),
        ("checkout.log", "checkerr.log"),
        ("out-of-memory.log", "err-of-memory.log"),
        ("bert.o73110", "bert.e73111"),
        ("out/node7", "err/node8"),
        ("run3/stdout/node7", "run4/stderr/node7"),
        ("checkout/node7", "err/node7"),
        ("all.log#rank-0-out", "all.log#rank-0-err"),
    ],
)
def test_logs_of_two_processes_share_no_path(first: str, second: str) -> None:
    """Words that only end like a stream's name, or stand in the middle, name none; nor do labels in a joined log."""
    assert process_of(first) != process_of(second)
