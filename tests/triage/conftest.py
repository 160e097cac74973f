"""Small runs, and calls of the command."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from analyzer.cli.triage import main
from analyzer.triage.night_summary import NightSummary
from tests.triage.planted import sixty_nights, told

NOW = "2026-11-21T06:00:00"
STEPS = "".join(f"2026-11-20 10:00:{n:02d} step {n} loss 0.5\n" for n in range(1, 10))
RAISED = 'Traceback (most recent call last):\n  File "train.py", line 7, in <module>\n{what}\n'


Summaries = Callable[[int], NightSummary]


class Desk(NamedTuple):
    """A root with runs, and a directory for what comes out."""

    runs: Path
    out: Path

    def write(self, name: str, what: str = "", end: str = "training finished\n") -> Path:
        """A run of two workers; the second one raises `what`, if that is given."""
        last = RAISED.format(what=what) if what else end
        for worker, text in enumerate((STEPS + end, STEPS + last)):
            path = self.runs / name / f"worker-{worker}.log"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            os.utime(path, (1_800_000_000, 1_800_000_000))
        return self.runs / name

    def call(self, *more: str, now: str = NOW) -> int:
        """`mwms-triage` on the root; its exit status."""
        return main(
            [str(self.runs), "-o", str(self.out), "--now", now, "--processes", "1", "--wait", "0", *more]
        )


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    """An empty root."""
    (tmp_path / "runs").mkdir()
    return Desk(tmp_path / "runs", tmp_path / "out")


@pytest.fixture(scope="session")
def after_sixty_nights(tmp_path_factory: pytest.TempPathFactory) -> Summaries:
    """Seed → how things stand after its sixty nights, which take a second to write."""
    return cache(lambda seed: told(tmp_path_factory.mktemp("history"), list(sixty_nights(seed))))


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An S3 server on the loopback; its address."""
    import s3fs
    from moto.server import ThreadedMotoServer  # its import takes longer than that of any test

    s3fs.S3FileSystem.clear_instance_cache()
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name, value in (
        ("AWS_ACCESS_KEY_ID", "nobody"),
        ("AWS_SECRET_ACCESS_KEY", "nothing"),
        ("AWS_DEFAULT_REGION", "us-east-1"),
        ("AWS_ENDPOINT_URL", f"http://{host}:{port}"),
    ):
        monkeypatch.setenv(name, value)
    yield f"http://{host}:{port}"
    server.stop()


Write = Callable[..., Path]
