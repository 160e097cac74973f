"""`mwms-analyze` as a person or a cron job calls it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from analyzer.cli.analyze import main
from analyzer.engine import Rule
from analyzer.engine.evaluate import evaluate
from analyzer.model.findings import Finding
from analyzer.render import FORMATS
from tests.recordings import ROOT

pytestmark = pytest.mark.recordings

KILLED = ROOT / "sample_runs" / "worker-killed" / "run"
HEALTHY = ROOT / "sample_runs" / "healthy-fit" / "run"
UNSHARDED = ROOT / "sample_runs" / "identical-local-losses" / "run"

MakeRun = Callable[[Mapping[str, str]], Path]


def digest(folder: Path) -> str:
    """Names, sizes, times and contents of everything in a directory."""
    whole = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        whole.update(f"{path} {path.stat().st_mtime_ns}".encode())
        whole.update(path.read_bytes() if path.is_file() else b"")
    return whole.hexdigest()


@pytest.mark.parametrize(
    ("run", "options", "status"),
    [(HEALTHY, [], 0), (KILLED, [], 1), (UNSHARDED, [], 1), (UNSHARDED, ["--fail-on", "failed"], 0),
     (KILLED, ["--fail-on", "failed"], 1)],
)  # fmt: skip
def test_the_exit_status_tells_the_verdict(
    run: Path, options: list[str], status: int, tmp_path: Path
) -> None:
    """0 healthy, 1 failed or degraded with a known cause; --fail-on moves the line."""
    assert main([str(run), "-o", str(tmp_path / "r.json"), *options]) == status


def test_an_unknown_failure_is_3(make_run: MakeRun, tmp_path: Path) -> None:
    """A job that failed for a reason that no rule explains."""
    run = make_run({"exit_codes.txt": "worker-0 3\n", "worker-0.log": "step 1 loss 0.5\nstep 2 loss 0.4\n"})
    assert main([str(run), "-o", str(tmp_path / "r.json")]) == 3
    assert json.loads((tmp_path / "r.json").read_text())["cause"] == "unknown"


def test_files_that_cannot_tell_are_3(make_run: MakeRun, tmp_path: Path) -> None:
    """One quiet log that ends in mid-training is inconclusive, not healthy."""
    run = make_run({"worker-0.log": "step 1 loss 0.5\nstep 2 loss 0.4\n"})
    assert main([str(run), "-o", str(tmp_path / "r.json")]) == 3
    assert json.loads((tmp_path / "r.json").read_text())["verdict"] == "inconclusive"


def test_nothing_readable_is_4(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """One line, no traceback."""
    (tmp_path / "picture.png").write_bytes(b"\x89PNG")
    assert main([str(tmp_path / "missing")]) == 4
    assert main([str(tmp_path)]) == 4
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 2
    assert "no such file or directory" in lines[0]
    assert "nothing in it could be read" in lines[1]


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"worker-0.log": ""}, "the file is empty"),
        ({"worker-0.log": "", "worker-1.log": "", "events.out.tfevents.1.w": ""}, "all 3 files are empty"),
        ({"worker-0.log": "", "a.png": ""}, "of its 2 files, only 1 could be read, and nothing is in them"),
    ],
)
def test_empty_files_are_4(
    files: Mapping[str, str], says: str, make_run: MakeRun, capsys: pytest.CaptureFixture[str]
) -> None:
    """They say nothing about the job, and a report on nothing would look like one on something."""
    assert main([str(make_run(files))]) == 4
    assert capsys.readouterr().err == f"mwms-analyze: job-17: {says}\n"


@pytest.mark.parametrize("given", [b"", b"\n \r\n"])
def test_an_empty_standard_input_is_4(
    given: bytes, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a command that failed before the pipe."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(given)))
    assert main(["-"]) == 4
    assert capsys.readouterr().err == "mwms-analyze: standard input was empty\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["--format", "docx"],
        ["-o", "-", "--format", "html,json"],
        ["--rules", "nowhere"],
        ["-o", "@/inside.html"],
        ["-o", "@/new/"],
        ["-o", "@/new/deep.html"],
        ["-o", "report.pdf"],
        ["-o", "@/exit_codes.txt/"],
        ["-o", "@/exit_codes.txt/x.html"],
    ],
)
def test_wrong_usage_is_2(
    arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line that says what is wrong, before anything is read or made."""
    before = digest(KILLED)
    monkeypatch.setattr("analyzer.cli.analyze.analyze", lambda *_, **_named: pytest.fail("it was read"))
    given = [each.replace("@", str(KILLED)) for each in arguments]
    assert main([str(KILLED), *given]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1
    assert digest(KILLED) == before


def test_a_suffix_that_names_no_format_is_refused_with_those_that_do(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """HTML in a file `x.pdf` helps nobody; a file without a suffix holds HTML, as one without a name does."""
    assert main([str(KILLED), "-o", "x.pdf"]) == 2
    assert (
        "no format has the suffix .pdf; there are .github.txt, .gitlab.json, .html" in capsys.readouterr().err
    )


@pytest.mark.parametrize(
    ("output", "files"),
    [
        ("sub/dir/x.json", ["sub/dir/x.json"]),
        ("a.b/", ["a.b/mwms-report-worker-killed.html"]),
        ("plain", ["plain"]),
    ],
)
def test_missing_directories_are_made(
    output: str, files: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of a file as those of a directory."""
    monkeypatch.chdir(tmp_path)
    assert main([str(KILLED), "-o", output]) == 1
    assert [path.relative_to(tmp_path).as_posix() for path in tmp_path.rglob("*") if path.is_file()] == files


def test_a_device_is_written_to_and_never_replaced(tmp_path: Path) -> None:
    """`-o /dev/null`, or a pipe that a shell made, stays what it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with (tmp_path / "read.json").open("w") as copy:
        reader = subprocess.Popen(["cat", str(pipe)], stdout=copy)
    assert main([str(KILLED), "-o", str(pipe), "--format", "json"]) == 1
    assert reader.wait() == 0
    assert json.loads((tmp_path / "read.json").read_text())["cause"] == "peer.killed"
    assert pipe.is_fifo()


def test_a_rule_that_fails_is_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The diagnosis stands, and somebody should know."""

    def wrong(rule: Rule, *others: Any) -> Finding:
        if rule.id == "straggler":
            raise ZeroDivisionError("by nothing")
        return evaluate(rule, *others)

    monkeypatch.setattr("analyzer.engine.evaluate.evaluate", wrong)
    assert main([str(KILLED), "-o", "-"]) == 1
    assert capsys.readouterr().err == "mwms-analyze: rule straggler failed: ZeroDivisionError: by nothing\n"


def test_the_rules_of_the_package_may_be_named_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """In a checkout, `--rules rules` is a natural thing to say; and so is a part of them."""
    monkeypatch.chdir(ROOT)
    assert main([str(KILLED), "-o", "-", "--rules", "rules", "--rules", "rules/peer"]) == 1


def test_a_wrong_rule_is_named_with_file_and_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The fault is the user's to mend, so it is a line and not a traceback."""
    (tmp_path / "mine.yaml").write_text("id: mine\ntitle: Mine\nrole: kause\n", encoding="utf-8")
    assert main([str(KILLED), "--rules", str(tmp_path), "-o", "-"]) == 2
    assert "mine.yaml:1: `signals` is missing" in capsys.readouterr().err


def test_nothing_is_written_into_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not even when the command is called from inside it; the report then goes to the temporary directory."""
    before = digest(KILLED)
    monkeypatch.chdir(KILLED)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert main(["."]) == 1
    assert digest(KILLED) == before
    assert [path.name for path in tmp_path.iterdir()] == ["mwms-report-worker-killed.html"]


def test_nor_when_its_logs_are_named_one_by_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory that they lie in is the run; an archive lies anywhere."""
    run, temporary = tmp_path / "job", tmp_path / "temporary"
    shutil.copytree(KILLED, run)
    temporary.mkdir()
    monkeypatch.chdir(run)
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    before = digest(run)
    assert main(["worker-0.log", "worker-1.log"]) == 1
    assert digest(run) == before
    assert [path.name for path in temporary.iterdir()] == ["mwms-report-job.html"]
    monkeypatch.chdir(tmp_path)
    shutil.make_archive(str(tmp_path / "packed"), "zip", run)
    assert main(["packed.zip"]) == 1
    assert (tmp_path / "mwms-report-packed.html").is_file()


def test_a_log_that_is_given_alone_is_the_whole_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The directory that it lies in, often a home or a download folder, is none."""
    shutil.copy(KILLED / "worker-0.log", tmp_path / "D.log")
    monkeypatch.chdir(tmp_path)
    main(["D.log"])
    assert (tmp_path / "mwms-report-D.log.html").is_file()


def test_the_report_goes_to_the_current_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """And its path is printed last."""
    monkeypatch.chdir(tmp_path)
    main([str(KILLED)])
    assert (tmp_path / "mwms-report-worker-killed.html").is_file()
    assert capsys.readouterr().out.splitlines()[-1].endswith("mwms-report-worker-killed.html")


def test_reports_of_masked_names_do_not_overwrite_each_other(tmp_path: Path) -> None:
    """Each run has a name of its own, the same one each time; a file that `-o` names keeps its name."""
    for name in ("fraud-7", "acme-3", "fraud-7"):
        shutil.copytree(KILLED, tmp_path / "runs" / name, dirs_exist_ok=True)
        main([str(tmp_path / "runs" / name), "--redact", "topology", "-o", f"{tmp_path}/out/"])
    written = [path.name for path in (tmp_path / "out").iterdir()]
    assert len(written) == 2
    assert all(re.fullmatch(r"mwms-report-dir-1-[0-9a-f]{8}\.html", name) for name in written)
    main([str(KILLED), "--redact", "topology", "-o", str(tmp_path / "named.html")])
    assert (tmp_path / "named.html").is_file()


def test_several_formats_go_to_a_directory(tmp_path: Path) -> None:
    """One file a format, of one name."""
    main([str(KILLED), "--format", ",".join(FORMATS), "-o", str(tmp_path / "out")])
    written = {path.name.removeprefix("mwms-report-worker-killed") for path in (tmp_path / "out").iterdir()}
    assert written == {renderer.suffix for renderer in FORMATS.values()}


@pytest.mark.parametrize(("name", "begins"), [("r.xml", "<?xml"), ("r.sarif", "{"), ("r.gitlab.json", "[")])
def test_a_suffix_names_its_format(name: str, begins: str, tmp_path: Path) -> None:
    """For CI servers and code hosts; the exit status is the verdict's, whatever the format."""
    assert main([str(KILLED), "-o", str(tmp_path / name)]) == 1
    assert (tmp_path / name).read_text("utf-8").startswith(begins)


def test_the_terminal_leads_with_the_decision(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Verdict and culprit in the first line, then what may be done."""
    main([str(KILLED), "-o", str(tmp_path / "r.html")])
    first, *rest = capsys.readouterr().out.splitlines()
    assert "FAILED" in first
    assert "worker:2" in first
    assert any("Restart as is?" in line for line in rest)


def test_standard_output_holds_the_document_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    """So that it can be piped into another program."""
    main([str(KILLED), "--format", "json", "-o", "-"])
    assert json.loads(capsys.readouterr().out)["cause"] == "peer.killed"


def test_a_single_file_several_files_and_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What people have at hand is taken: one log, some logs, a pipe."""
    logs = sorted(str(path) for path in KILLED.glob("worker-*.log"))
    assert main([*logs, "--format", "json", "-o", "-"]) == 1
    assert json.loads(capsys.readouterr().out)["culprits"] == ["worker:2"]
    assert main([logs[0], "--format", "json", "-o", "-"]) in {1, 3}
    one = json.loads(capsys.readouterr().out)
    assert [source["name"] for source in one["sources"]] == [Path(logs[0]).name]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(Path(logs[0]).read_bytes())))
    assert main(["-", "--format", "json", "-o", "-"]) in {1, 3}
    piped = json.loads(capsys.readouterr().out)
    assert piped["cause"] == one["cause"]
    assert piped["made_with"]["command"] == "mwms-analyze -"


@pytest.mark.processes
def test_neither_tensorflow_nor_pandas_is_imported() -> None:
    """An analyzer that answers at once cannot wait for them."""
    code = (
        "import sys; from analyzer.cli.analyze import main; main(sys.argv[1:]);"
        "print(sorted({'tensorflow', 'pandas', 'keras', 'tensorboard'} & sys.modules.keys()), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(KILLED), "-o", "-"], capture_output=True, text=True, check=False
    )
    assert done.stderr.strip() == "[]"


def test_a_mistake_of_ours_is_70_and_an_interruption_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """They are told apart from what the run and the user did."""

    def broken(*_: object, **_named: object) -> None:
        raise RuntimeError("ours")

    def interrupted(*_: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("analyzer.cli.analyze.analyze", broken)
    assert main([str(KILLED)]) == 70
    assert "please report it" in capsys.readouterr().err
    monkeypatch.setattr("analyzer.cli.analyze.analyze", interrupted)
    assert main([str(KILLED)]) == 130
