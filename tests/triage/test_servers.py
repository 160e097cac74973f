"""The real things beyond one machine: an object store, a database server, a cluster. Each test starts its own."""

from __future__ import annotations

import os
import pwd
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from threading import Timer
from typing import Any

import psutil
import pytest
from sqlalchemy import func, select

from analyzer.trainer.free_ports import free_ports
from analyzer.triage.database.history import default_history_url, open_history
from analyzer.triage.database.schema import RUNS
from analyzer.triage.locks import WaitPolicy
from tests.recordings import ROOT, SAMPLE_RUNS, expected
from tests.triage.conftest import NOW, Desk
from tests.triage.planted import told_files
from tests.triage.test_kill import remembered

pytestmark = [pytest.mark.processes, pytest.mark.xdist_group("servers")]


def verdicts(url: str) -> dict[str, tuple[str | None, str | None, str]]:
    """Verdict, cause and problem by place."""
    with open_history(url) as history:
        rows = history.rows(select(RUNS).where(RUNS.c.latest))
    return {row["place"]: (row["verdict"], row["cause"], row["problem"]) for row in rows}


@pytest.mark.usefixtures("store")
def test_runs_of_an_object_store_are_examined(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """As on a disk: new ones, changed ones, none twice; a key that would lead out of the directory does not."""
    import s3fs

    system = s3fs.S3FileSystem(anon=False, skip_instance_cache=True)
    system.mkdir("nightly")
    sample = next(each for each in SAMPLE_RUNS if each.name == "worker-killed")
    system.put(str(sample / "run"), "nightly/runs/worker-killed", recursive=True)
    system.pipe("nightly/runs/odd/worker-0.log", b"step 1 loss 0.5\n")
    system.pipe("nightly/runs/odd/../../escaped.log", b"step 1 loss 0.5\n")
    url = "s3://nightly/runs"
    arguments = desk._replace(runs=Path("unused"))
    call = [url, "-o", str(arguments.out), "--processes", "1", "--settle", "0"]
    from analyzer.cli.triage import main

    assert main(call) == 1
    found = verdicts(default_history_url(desk.out))
    truth = expected(sample)
    assert found[f"{url}/worker-killed"] == ("failed", truth["cause"], "")
    assert {*found} == {f"{url}/worker-killed", f"{url}/odd"}
    assert "worker-killed" in (desk.out / "index.html").read_text(encoding="utf-8")
    capsys.readouterr()
    see_that_one_run_is_analyzed(f"{url}/worker-killed", desk.out.parent, capsys)
    assert main(call) == 0
    assert " 0 examined" in capsys.readouterr().out
    system.pipe("nightly/runs/odd/worker-0.log", b"step 1 loss 0.5\nstep 2 loss 0.4\n")
    main(call)
    assert " 1 examined" in capsys.readouterr().out
    see_that_quiet_runs_are_listed_weekly(call, system, capsys)
    assert main(["s3://nobody-has-this/runs", *call[1:]]) == 4
    assert main(["nosuch://bucket/runs", *call[1:]]) == 2


def see_that_quiet_runs_are_listed_weekly(
    call: list[str], system: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """What is written to a run that was quiet for two days is seen a week after the last full listing, or sooner."""
    from analyzer.cli.triage import main

    seen = []
    for days, more in ((3, []), (3, []), (3, ["--relist"]), (11, [])):
        main([*call, *more, "--now", str(time.time() + days * 86_400)])
        seen.append(re.findall(r", (\d) examined", capsys.readouterr().out))
        system.pipe("nightly/runs/odd/worker-0.log", b"step 1 loss 0.5\n" * len(seen))
    assert seen == [["0"], ["0"], ["1"], ["1"]]


def see_that_one_run_is_analyzed(url: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`mwms-analyze` takes the same URL, and a single log of it; the copy is gone afterwards."""
    from analyzer.cli.analyze import main

    assert main([url, "-o", str(folder / "one.html")]) == 1
    assert "FAILED" in capsys.readouterr().out
    assert "s3://" not in (folder / "one.html").read_text(encoding="utf-8")
    assert main([f"{url}/worker-0.log", "-o", "-"]) in {1, 3}
    assert main(["s3://nobody-has-this/run"]) == 4
    assert capsys.readouterr().err.splitlines()[-1].startswith("mwms-analyze: s3://nobody-has-this/run: ")


def _binaries() -> Path | None:
    """Where a PostgreSQL server lies."""
    homes = sorted(Path("/usr/lib/postgresql").glob("*/bin/postgres"))
    named = shutil.which("postgres")
    return homes[-1].parent if homes else Path(named).resolve().parent if named else None


@pytest.fixture
def postgres(tmp_path: Path) -> Iterator[str]:
    """A PostgreSQL server of its own, in the test's directory, on the loopback; the URL of its database."""
    binaries = _binaries()
    if binaries is None:
        pytest.skip("no PostgreSQL server is installed here; .ci/run installs one")
    home, port = tmp_path / "postgres", free_ports(1)[0]
    home.mkdir()
    runner: list[str] = []
    if os.geteuid() == 0:  # the server refuses to run as root
        runner = ["runuser", "-u", "nobody", "--"]
        os.chown(home, pwd.getpwnam("nobody").pw_uid, -1)
        for folder in (home, *home.parents)[:-1]:
            if folder.stat().st_uid == 0 and not folder.stat().st_mode & 1:
                folder.chmod(folder.stat().st_mode | 0o011)
    data = home / "data"
    initdb = [
        *runner,
        str(binaries / "initdb"),
        "-D",
        str(data),
        "-U",
        "triage",
        "-A",
        "trust",
        "-N",
        "-E",
        "UTF8",
    ]
    made = subprocess.run(initdb, check=False, capture_output=True, text=True, cwd="/")
    assert made.returncode == 0, made.stderr
    options = ["-D", str(data), "-h", "127.0.0.1", "-p", str(port), "-k", str(home), "-F"]
    with subprocess.Popen(
        [*runner, str(binaries / "postgres"), *options], stderr=subprocess.PIPE, cwd="/"
    ) as server:
        url = f"postgresql+psycopg://triage@127.0.0.1:{port}/postgres"
        _answers(url, server)
        yield url
        server.terminate()


def _answers(url: str, server: subprocess.Popen[bytes]) -> None:
    import psycopg

    for _ in range(300):
        assert server.poll() is None
        try:
            psycopg.connect(url.replace("+psycopg", "")).close()
        except psycopg.OperationalError:
            time.sleep(0.1)
        else:
            return
    pytest.fail("the server does not answer")


def test_a_database_server_keeps_the_same_history(
    desk: Desk, postgres: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The outputs are those of SQLite, byte by byte; two directories that share it do not write at once."""
    desk.write("good")
    desk.write("bad", "KeyError: 'label'")
    desk.write("null", "ValueError: \0 and \\u0000")
    (desk.runs / "broken").mkdir()
    (desk.runs / "broken" / "worker-0.log").touch()
    beside_it = desk._replace(out=desk.out.parent / "sqlite")
    assert beside_it.call() == 1
    assert desk.call("--history", postgres) == 1
    assert told_files(desk.out) == told_files(beside_it.out)
    assert desk.call("--history", postgres) == 0
    with open_history(postgres) as history:
        assert history.rows(select(func.count().label("n")).select_from(RUNS)) == [{"n": 4}]
        with history.exclusive(WaitPolicy()):
            assert desk._replace(out=desk.out.parent / "third").call("--history", postgres) == 2
        assert "another mwms-triage" in capsys.readouterr().err
        with ExitStack() as held:
            held.enter_context(history.exclusive(WaitPolicy()))
            Timer(1.0, held.close).start()
            waiting = desk._replace(out=desk.out.parent / "fourth")
            assert waiting.call("--history", postgres, "--wait", "1m") == 0
        assert "waiting up to 60 s" in capsys.readouterr().err
    assert not (desk.out / "history.sqlite").exists()


def test_a_cluster_that_loses_a_worker_ends_all_the_same(desk: Desk) -> None:
    """Two worker processes; one is killed while it examines, and nothing is missing or told twice."""
    for number in range(12):
        desk.write(f"run-{number}", f"KeyError: {number % 3}" if number % 2 else "")
    alone = desk._replace(out=desk.out.parent / "alone")
    assert alone.call() == 1
    address = f"tcp://127.0.0.1:{free_ports(1)[0]}"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": ROOT}
    scheduler = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    worker = [
        sys.executable,
        "-m",
        "distributed.cli.dask_worker",
        address,
        "--nthreads",
        "1",
        "--no-dashboard",
        "--no-nanny",
    ]
    command = [sys.executable, "-m", "analyzer.cli.triage", str(desk.runs), "-o", str(desk.out), "--now", NOW]
    started = [subprocess.Popen(scheduler, **quiet)]  # type: ignore[call-overload]
    try:
        started += [subprocess.Popen(worker, **quiet) for _ in range(2)]  # type: ignore[call-overload]
        call = subprocess.Popen([*command, "--scheduler", address], **quiet)  # type: ignore[call-overload]
        started.append(call)
        while len(list((desk.out / "reports").glob("*.html"))) < 3:
            assert call.poll() is None
            time.sleep(0.05)
        started[1].kill()
        assert call.wait(120) == 1
    finally:
        for each in started:
            for child in psutil.Process(each.pid).children(recursive=True) if each.poll() is None else []:
                child.kill()
            each.kill()
            each.wait()
    assert remembered(desk.out) == remembered(alone.out)
    assert told_files(desk.out) == told_files(alone.out)


def test_a_scheduler_that_is_not_there_is_told(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """As wrong usage, and nothing is recorded."""
    desk.write("bad", "KeyError: 1")
    assert desk.call("--scheduler", "nonsense://x") == 2
    assert "--scheduler" in capsys.readouterr().err


def test_a_scheduler_without_workers_is_told_at_once(desk: Desk, capsys: pytest.CaptureFixture[str]) -> None:
    """No run is counted as broken, and the command that starts a worker is named."""
    desk.write("bad", "KeyError: 1")
    address = f"tcp://127.0.0.1:{free_ports(1)[0]}"
    command = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--host", address, "--no-dashboard"]
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=quiet, stderr=quiet, cwd=ROOT) as scheduler:
        try:
            assert desk.call("--scheduler", address) == 2
        finally:
            scheduler.kill()
    assert "it has no workers; start one with: dask worker" in capsys.readouterr().err


@pytest.mark.usefixtures("store")
def test_outputs_go_to_an_object_store(desk: Desk, postgres: str) -> None:
    """Pages, reports and lines, with their content types; the history lies in the database."""
    import s3fs

    system = s3fs.S3FileSystem(anon=False, skip_instance_cache=True)
    system.mkdir("pages")
    desk.write("bad", "KeyError: 1")
    from analyzer.cli.triage import main

    call = [
        str(desk.runs),
        "-o",
        "s3://pages/triage",
        "--history",
        postgres,
        "--now",
        NOW,
        "--processes",
        "1",
    ]
    assert main(call) == 1
    assert main(call) == 0
    written = {key.removeprefix("pages/triage/") for key in system.find("pages/triage")}
    (report,) = {name for name in written if name.startswith("reports/")}
    assert {"index.html", "digest.md", "runs.jsonl", "metrics.prom", "nights/2026-11-21.html"} <= written
    assert f'href="{report}"' in system.cat_file("pages/triage/index.html").decode()
    system.invalidate_cache()
    assert system.info("pages/triage/index.html")["ContentType"].startswith("text/html")
    assert not Path("s3:").exists()
