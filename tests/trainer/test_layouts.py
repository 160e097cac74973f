"""Layouts turn the lines of several workers into the files that a collector would leave."""

from __future__ import annotations

import json
import re

from analyzer.trainer.layouts import WRAPPED, Chunk, Job, files_of, lines_of

CHUNKS = [
    Chunk(0, "worker-0", 1_795_300_000.25, b"one\ntw"),
    Chunk(1, "worker-1", 1_795_300_000.5, b'{"event": "step", "step": 3}\n'),
    Chunk(0, "worker-0", 1_795_300_001.0, b"o\nthree\n"),
    Chunk(1, "worker-1", 1_795_300_002.0, b"unfinished"),
]
LINES = lines_of(CHUNKS)


def files(layout: str) -> dict[str, str]:
    """The files of a layout as text."""
    return {name: content.decode() for name, content in files_of(layout, LINES, Job())}


def test_a_line_arrives_with_its_end() -> None:
    """Lines are whole, in the order in which they ended; an unfinished one is kept."""
    assert [(line.task, line.text) for line in LINES] == [
        (0, b"one"), (1, b'{"event": "step", "step": 3}'), (0, b"two"), (0, b"three"), (1, b"unfinished"),
    ]  # fmt: skip
    assert LINES[2].time == 1_795_300_001.0


def test_every_layout_keeps_every_line() -> None:
    """No layout loses a line of a worker."""
    for layout in WRAPPED:
        whole = "".join(files(layout).values())
        assert all(word in whole for word in ("one", "two", "three", "step", "unfinished")), layout


def test_kubectl_names_the_pod_before_each_line() -> None:
    """One pod after the other, as `kubectl logs -l` prints them."""
    (text,) = files("kubectl").values()
    pods = [line.split("/")[1][: len("mnist-worker-0")] for line in text.splitlines()]
    assert pods == ["mnist-worker-0"] * 3 + ["mnist-worker-1"] * 2


def test_docker_keeps_one_json_object_a_line() -> None:
    """Each container has a file of its own, and each line its time."""
    made = files("docker_json")
    assert [name.split("/")[0] for name in made] == ["worker-0", "worker-1"]
    first = json.loads(next(iter(made.values())).splitlines()[0])
    assert first == {"log": "one\n", "stream": "stderr", "time": "2026-11-21T22:26:40.250000000Z"}


def test_cloud_logging_parses_structured_lines() -> None:
    """A line that is a JSON object becomes the payload; the newest entry comes first."""
    entries = json.loads(files("cloud_logging")["cloud-logging.json"])
    assert [entry["timestamp"] for entry in entries] == sorted(
        (e["timestamp"] for e in entries), reverse=True
    )
    assert [entry["jsonPayload"] for entry in entries if "jsonPayload" in entry] == [
        {"event": "step", "step": 3}
    ]


def test_journald_writes_time_host_and_process() -> None:
    """Workers are told apart by the host and the identifier."""
    first = files("journald")["journal.txt"].splitlines()[0]
    assert first == "2026-11-21T22:26:40.250000+0000 node-11 mnist-worker-0[4711]: one"


def test_rotated_parts_are_compressed_but_for_the_newest() -> None:
    """The higher the number, the older; `hand_over` compresses what is called so."""
    made = files("rotated")
    assert made["worker-0.log.2.gz"] == "one\n"
    assert made["worker-0.log"] == "three\n"
    assert list(made) == [
        "worker-0.log", "worker-0.log.1.gz", "worker-0.log.2.gz", "worker-1.log", "worker-1.log.1.gz",
    ]  # fmt: skip


def test_a_job_has_its_own_name_number_and_hosts() -> None:
    """And no layout then shows those of another."""
    job = Job("leaf-id", 1190442, ("wn031", "wn057"))
    made = {name: [*files_of(name, LINES, job)] for name in WRAPPED}
    assert [name for name, _ in made["slurm_tasks"]] == ["slurm-1190442-0.out", "slurm-1190442-1.out"]
    assert b" wn057 leaf-id-worker-1[" in made["journald"][0][1]
    assert b"[pod/leaf-id-worker-0-" in made["kubectl"][0][1]
    whole = b"".join(name.encode() + content for files in made.values() for name, content in files)
    assert not re.search(rb"mnist|48213|node-1", whole)
