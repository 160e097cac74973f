"""What was handed over becomes sources: each named once, and none passed over without a word."""

from __future__ import annotations

import gzip
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path

import pytest

from analyzer.discover import discover
from analyzer.model.errors import NothingReadable
from analyzer.model.source_kinds import Kind
from analyzer.pipeline import analyze
from tests.recordings import ROOT

DESCRIBED = "Name:             bert-0\nNamespace:        ml\nStatus:           Failed\n"
EXCEPTION = ROOT / "sample_runs" / "worker-exception" / "run"


def write(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Files below a directory."""
    for name, content in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
    return folder


def zipped(archive: Path, files: Mapping[str, str]) -> Path:
    """A zip archive of some texts."""
    with zipfile.ZipFile(archive, "w") as packed:
        for name, text in files.items():
            packed.writestr(name, text)
    return archive


def names(*paths: Path) -> list[str]:
    """The names of the sources of some inputs."""
    return [source.name for source in discover(paths).sources]


def test_files_of_one_name_stay_apart(tmp_path: Path) -> None:
    """They are named from the directory that holds them all."""
    write(tmp_path, {"worker-0/stdout.txt": "step 1 loss 0.5\n", "worker-1/stdout.txt": "step 1 loss 0.5\n"})
    inputs = [tmp_path / "worker-0/stdout.txt", tmp_path / "worker-1/stdout.txt"]
    assert names(*inputs) == ["worker-0/stdout.txt", "worker-1/stdout.txt"]
    assert names(tmp_path / "worker-0", tmp_path / "worker-1") == names(*inputs)
    assert [source.worker for source in discover(inputs).sources] == ["worker:0", "worker:1"]


def test_an_input_that_is_given_twice_is_read_once(tmp_path: Path) -> None:
    """By itself and as part of its directory."""
    write(tmp_path, {"worker-0.log": "a", "worker-1.log": "b"})
    assert names(tmp_path, tmp_path / "worker-0.log") == ["worker-0.log", "worker-1.log"]
    assert names(tmp_path / "worker-0.log", tmp_path / "worker-0.log") == ["worker-0.log"]


def test_archives_with_equal_members_stay_apart(tmp_path: Path) -> None:
    """Whether they are given one by one or lie in one directory."""
    a, b = (zipped(tmp_path / f"{name}.zip", {"worker-0.log": name}) for name in ("a", "b"))
    assert names(a, b) == names(tmp_path) == ["a.zip/worker-0.log", "b.zip/worker-0.log"]
    assert names(a) == ["worker-0.log"]


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_name_that_an_archive_holds_twice_gives_two_sources(tmp_path: Path) -> None:
    """Zip allows it."""
    with zipfile.ZipFile(tmp_path / "run.zip", "w") as packed:
        packed.writestr("worker-0.log", "step 1 loss 0.5\n")
        packed.writestr("worker-0.log", "step 2 loss 0.5\n")
    assert names(tmp_path / "run.zip") == ["worker-0.log", "worker-0.log (2)"]


@pytest.mark.recordings
def test_the_right_worker_is_blamed_when_logs_have_one_name(tmp_path: Path) -> None:
    """As schedulers lay them out: a directory a worker, and in each the same name."""
    folders = []
    for log in sorted(EXCEPTION.glob("worker-*.log")):
        folders.append(tmp_path / log.stem)
        write(folders[-1], {"stdout.txt": log.read_bytes()})
    logs = [folder / "stdout.txt" for folder in folders]
    whole = analyze([EXCEPTION]).document["culprits"]
    assert analyze(folders).document["culprits"] == analyze(logs).document["culprits"] == whole


@pytest.mark.runs
def test_names_that_are_no_utf_8_can_be_reported(tmp_path: Path) -> None:
    """Of the run, of a file, and of two files whose names then look the same."""
    folder = tmp_path / os.fsdecode(b"job-\xff")
    write(folder, {os.fsdecode(b"worker-0-\xfe.log"): "a", os.fsdecode(b"worker-0-\xff.log"): "b"})
    run = discover([folder])
    assert (run.name, names(folder)) == ("job-?", ["worker-0-?.log", "worker-0-?.log (2)"])
    assert analyze([folder]).document["run"]["name"] == "job-?"


def test_a_link_that_is_named_itself_is_followed(tmp_path: Path) -> None:
    """A person who names a link means the file; it keeps the name by which it was called."""
    write(tmp_path, {"pods/uid/0.log": "step 1 loss 0.5\n"})
    link = tmp_path / "containers" / "job-worker-3.log"
    link.parent.mkdir()
    link.symlink_to(tmp_path / "pods/uid/0.log")
    (source,) = discover([link]).sources
    assert (source.name, source.worker, source.skip) == ("job-worker-3.log", "worker:3", "")


def test_a_directory_behind_a_link_is_said(tmp_path: Path) -> None:
    """It is not followed, for it may lead anywhere, itself included."""
    write(tmp_path, {"job/worker-0.log": "a", "elsewhere/worker-1.log": "b"})
    (tmp_path / "job" / "worker-1").symlink_to(tmp_path / "elsewhere")
    skipped = {source.name: source.skip for source in discover([tmp_path / "job"]).sources}
    assert skipped == {"worker-0.log": "", "worker-1": "a link to a directory, which is not followed"}


def test_an_empty_directory_in_the_place_of_a_log_is_a_log_that_cannot_be_read(tmp_path: Path) -> None:
    """A container runtime makes one where the file to mount is missing; other empty directories are nothing."""
    write(tmp_path, {"worker-0.log": "step 1\n", "worker-2.log/stderr.txt": "step 1\n"})
    for folder in ("worker-1.log", "checkpoints"):
        (tmp_path / folder).mkdir()
    found = {source.name: source for source in discover([tmp_path]).sources}
    assert {*found} == {"worker-0.log", "worker-1.log", "worker-2.log/stderr.txt"}
    assert (found["worker-1.log"].kind, found["worker-1.log"].worker) == (Kind.LOG, "worker:1")
    assert found["worker-1.log"].skip == "cannot be read: it is an empty directory"


def lock(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Make a directory one that this process may not list; root may list any."""
    listed = os.scandir

    def scandir(path: Path) -> object:
        if Path(path) == folder:
            raise PermissionError(13, "Permission denied", str(path))
        return listed(path)

    monkeypatch.setattr(os, "scandir", scandir)


def test_a_directory_that_cannot_be_listed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A part of the run is missing then."""
    write(tmp_path, {"worker-0.log": "a", "worker-1/stdout.log": "b"})
    lock(monkeypatch, tmp_path / "worker-1")
    skipped = {source.name: source.skip for source in discover([tmp_path]).sources}
    assert skipped == {
        "worker-0.log": "",
        "worker-1": "the directory cannot be listed: permission denied",
    }


def test_an_input_that_cannot_be_listed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not called empty."""
    lock(monkeypatch, tmp_path)
    with pytest.raises(NothingReadable, match=r"permission denied$"):
        discover([tmp_path])


def test_a_text_that_is_given_alone_is_a_log(tmp_path: Path) -> None:
    """Whatever its name, as on standard input; what is not text is not, nor one of several files."""
    write(tmp_path, {"output of bert": "step 1 loss 0.5\n", "model.h5": b"\x89HDF\0\0"})
    kinds = [
        [each.kind for each in discover([tmp_path / name]).sources] for name in ("output of bert", "model.h5")
    ]
    assert kinds == [[Kind.LOG], [Kind.OTHER]]
    assert [each.kind for each in discover([tmp_path]).sources] == [Kind.OTHER, Kind.OTHER]


def test_a_path_that_is_not_there_is_named(tmp_path: Path) -> None:
    """In one line."""
    with pytest.raises(NothingReadable, match=r"missing: no such file or directory$"):
        discover([tmp_path / "missing"])


@pytest.mark.parametrize(
    ("name", "text", "kind"),
    [
        (
            "paste.md",
            "```\n2026-11-21 01:40:37.754266: E tensorflow/core/x.cc:290] Aborting\n```\n",
            Kind.LOG,
        ),
        ("job.e4711", "anything\n", Kind.LOG),
        ("events.json", '{"events": [{"timestamp": 1795224703000, "message": "step 1"}]}\n', Kind.LOG),
        ("events.json", '{"apiVersion": "v1", "items": [{"message": "Killing"}]}\n', Kind.PODS),
        (
            "pods.json",
            '{"items": [{"status": {"containerStatuses": [{"state": {"waiting": {"message": "Back-off"}}}]}}]}\n',
            Kind.PODS,
        ),
        ("pods.json", '{"items": [{"containers": ["w"], "message": "step 1"}]}\n', Kind.LOG),
        ("worker-0.rc", "137\n", Kind.EXIT_CODES),
        ("status", "worker_0: 1\nworker_1: 1\nworker_2: 137\n", Kind.EXIT_CODES),
        ("ended.txt", "rank 0 = 1\nrank 1 = -9\n", Kind.EXIT_CODES),
        ("ranks.txt", "worker-0 0\nworker-1 1\nworker-2 2\n", Kind.LOG),
        ("steps.txt", "worker-0 120\nworker-1 120\n", Kind.LOG),
        ("last.txt", "worker-0 137\nworker-1 stopped at step 3\n", Kind.LOG),
        ("trace", "KeyError      Traceback (most recent call last)\n", Kind.LOG),
        ("why.txt", DESCRIBED, Kind.PODS),
        (
            "status.txt",
            "NAME      READY  STATUS  RESTARTS  AGE\nbert-0    0/1    Error   0         5m\n",
            Kind.PODS,
        ),
        (
            "mpijob.yaml",
            "# kubectl get mpijob\nstatus:\n  conditions:\n  - reason: MPIJobEvicted\n",
            Kind.PODS,
        ),
        (
            "bert.yaml",
            "apiVersion: kubeflow.org/v1\nkind: TFJob\nspec: {}\nstatus:\n  conditions: []\n",
            Kind.PODS,
        ),
        ("job.txt", "JobID|JobName|State|ExitCode\n7|bert|FAILED|1:0\n", Kind.SACCT),
        ("job.txt", "       JobID    JobName      State ExitCode \n----- ---- ---- ----\n", Kind.SACCT),
        ("paste.txt", DESCRIBED + "\nERROR:tensorflow:it failed\n", Kind.LOG),
        ("paste.txt", "the job failed with state and exit code\n", Kind.LOG),
        ("README.md", "# How to train\n", Kind.OTHER),
        ("tfjob.yaml", "apiVersion: kubeflow.org/v1\nkind: TFJob\nspec: {}\n", Kind.OTHER),
        ("values.yaml", "status:\n  port: 9090\n", Kind.OTHER),
        ("train.py", "print('Traceback (most recent call last):')\n", Kind.OTHER),
    ],
)
def test_what_a_file_begins_with_decides_its_kind(tmp_path: Path, name: str, text: str, kind: Kind) -> None:
    """Logs as people paste them, and what commands print; programs and texts are neither."""
    (tmp_path / name).write_text(text, encoding="utf-8")
    assert [source.kind for source in discover([tmp_path]).sources] == [kind]


@pytest.mark.parametrize(
    ("name", "worker"),
    [
        ("48213-1_7", "worker:1"),
        ("train.gpu21", None),
        ("gpu21", None),
        ("out.2", "worker:2"),
        ("stdoutfile.0", "worker:0"),
    ],
)
def test_a_text_without_a_suffix_or_with_a_host_as_suffix_is_a_log(
    name: str, worker: str | None, tmp_path: Path
) -> None:
    """As schedulers name the output of a host."""
    (source,) = discover([write(tmp_path, {name: "step 1 loss 0.5\nstep 2 loss 0.4\n"})]).sources
    assert (source.kind, source.worker) == (Kind.LOG, worker)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("part-00001", "1,2\n3,4\n"),
        ("checkpoint_1", "model_checkpoint_path\n"),
        ("launch_2", "#!/bin/bash\nsrun x\n"),
        ("weights_2", "\0\1\2\n"),
        ("model.sha256", "e3b0c442 model\n"),
        ("notes", "a line\n"),
    ],
)
def test_other_files_without_a_known_suffix_are_no_logs(name: str, content: str, tmp_path: Path) -> None:
    """Data, scripts, binary files and checksums."""
    (source,) = discover([write(tmp_path, {name: content})]).sources
    assert source.kind is Kind.OTHER


def test_a_number_is_a_rank_unless_it_counts_rotated_parts(tmp_path: Path) -> None:
    """Which stand beside the log that is still being written."""
    text = "step 1 loss 0.5\n"
    ranks = discover([write(tmp_path / "ranks", {"stdout.0": text, "stdout.1": text})]).sources
    parts = discover(
        [write(tmp_path / "parts", {"stdout": text, "stdout.1": text, "stdout.2.gz": text})]
    ).sources
    assert [source.worker for source in ranks] == ["worker:1", "worker:0"]
    assert [source.worker for source in parts] == [None, None, None]


LINE = "2026-11-21 00:05:01.083826: I tensorflow/core/util/port.cc:113] oneDNN is on.\n"


@pytest.mark.parametrize(
    ("text", "kind"), [(f"EVENTS\t1\t{LINE}", Kind.LOG), ("NAME READY STATUS RESTARTS AGE\n", Kind.PODS)]
)
@pytest.mark.parametrize("name", ["events.txt", "pods.txt"])
def test_logs_may_have_the_name_of_what_kubectl_prints(
    name: str, text: str, kind: Kind, tmp_path: Path
) -> None:
    """What the file holds decides."""
    (source,) = discover([write(tmp_path, {name: text})]).sources
    assert source.kind is kind


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("I tensorflow/core/distributed_runtime/rpc/grpc_channel.cc:200] Initialize", Kind.LOG),
        ("nohup: ignoring input\nW tensorflow/core/platform/cpu_feature_guard.cc:45] No SSE3", Kind.LOG),
        ("tensorflow/core/util/port.cc:113] oneDNN", Kind.OTHER),
        ("see tensorflow/core/util/port.cc", Kind.OTHER),
    ],
)
def test_lines_of_tensorflow_1_make_a_log_of_any_name(line: str, kind: Kind, tmp_path: Path) -> None:
    """They bear no time."""
    (source,) = discover([write(tmp_path, {"worker-0.log": LINE, "log_cnn.ps": f"{line}\n"})]).sources[:1]
    assert (source.name, source.kind) == ("log_cnn.ps", kind)


@pytest.mark.parametrize(
    ("name", "printed", "kind"),
    [
        ("nvsmi.txt", "| N/A   41C    P0    62W / 300W |   1024MiB / 16280MiB |\n", Kind.NVIDIA_SMI),
        ("conda.txt", "numpy==1.26.4\ntensorflow==2.15.1\n", Kind.PACKAGES),
        ("df.txt", "Filesystem 1K-blocks Used Available Use% Mounted on\n", Kind.DISKS),
    ],
)
def test_a_post_may_have_the_name_of_the_command_that_it_is_about(
    name: str, printed: str, kind: Kind, tmp_path: Path
) -> None:
    """Lines of TensorFlow or a traceback show that it is more than what the command printed."""
    alone = discover([write(tmp_path / "alone", {name: printed})]).sources
    post = discover([write(tmp_path / "post", {name: f"it fails\n{LINE}{printed}"})]).sources
    assert [source.kind for source in (*alone, *post)] == [kind, Kind.LOG]


def test_hidden_directories_count_where_there_is_nothing_else(tmp_path: Path) -> None:
    """PM2 keeps its logs in `.pm2`; beside other logs, tools keep their own things there."""
    write(tmp_path, {".pm2/logs/worker-0-out.log": LINE, ".git/logs/HEAD": "a"})
    assert names(tmp_path) == [".pm2/logs/worker-0-out.log"]
    assert names(write(tmp_path, {"worker-0.log": LINE})) == ["worker-0.log"]


def test_the_first_bytes_of_a_compressed_file_show_its_kind(tmp_path: Path) -> None:
    """CloudWatch exports files that are called `000000.gz`; data files are none."""
    files = {
        "ash/000000.gz": gzip.compress(f"2026-11-21T00:05:01.090Z {LINE}".encode()),
        "ash/data.gz": gzip.compress(b"\0\1" * 99),
    }
    assert [source.kind for source in discover([write(tmp_path, files)]).sources] == [Kind.LOG, Kind.OTHER]
