"""An attacker plants every kind of secret, whole and divided: none reaches an output, and nothing else is masked."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from analyzer.cli.triage import main
from analyzer.pipeline import analyze
from analyzer.redact import redact
from analyzer.redact.secrets import Secrets
from docs.masking import share_masked
from tests.hostile.planting import PLACEMENTS, Kind, kinds, leaks, planted
from tests.recordings import ROOT
from tests.redact.planted import document_with, excerpts, outputs, traceback_with, unescaped

pytestmark = pytest.mark.slow

MakeRun = Callable[[Mapping[str, str]], Path]

OUT_OF_REACH = frozenset({"password of a login"})
"""Kinds that are not masked; one that is masked again is removed here, none is added without a reason."""

SPLIT: Mapping[str, Callable[[str], str]] = {
    "zero-width space": lambda secret: f"{secret[:9]}\u200b{secret[9:]}",
    "word joiner": lambda secret: f"{secret[:9]}\u2060{secret[9:]}",
    "soft hyphen": lambda secret: f"{secret[:9]}\xad{secret[9:]}",
    "C1 line end": lambda secret: f"{secret[:9]}\x85{secret[9:]}",
    "C1 control": lambda secret: f"{secret[:9]}\x90{secret[9:]}",
    "NUL": lambda secret: f"{secret[:9]}\0{secret[9:]}",
    "color": lambda secret: f"{secret[:9]}\x1b[0m{secret[9:]}",
    "newline and indent": lambda secret: f"{secret[: len(secret) // 2]}\n    {secret[len(secret) // 2 :]}",
    "carriage return": lambda secret: f"{secret[: len(secret) // 2]}\r{secret[len(secret) // 2 :]}",
    "escapes of JSON": lambda secret: "".join(f"\\u{ord(char):04x}" for char in secret),
    "escapes of Python": lambda secret: "".join(f"\\x{ord(char):02x}" for char in secret),
    "escapes of HTML": lambda secret: "".join(f"&#{ord(char)};" for char in secret),
    "escapes of a URL": lambda secret: "".join(f"%{ord(char):02X}" for char in secret),
}
"""Ways to write a secret that a plain search does not find."""
OFTEN = (
    "AWS access key id",
    "GitHub personal token",
    "GitLab personal token",
    "Slack bot token",
    "Google API key",
    "Hugging Face token",
    "JSON web token",
)


def _named(names: Sequence[str]) -> Iterator[Kind]:
    return (kind for kind in kinds() if kind.name in names)


@pytest.mark.parametrize("placement", PLACEMENTS)
def test_every_kind_is_masked(placement: str) -> None:
    """In exceptions, errors, source lines and JSON logs, in every output format."""
    every = {kind: kind.secret(placement) for kind in kinds()}
    document = redact(
        document_with(*(planted(kind.text(secret), placement) for kind, secret in every.items()))
    )
    shown = "\n".join(map(unescaped, [*excerpts(document), *outputs(document).values()]))
    leaked = {kind.name for kind, secret in every.items() if leaks(secret, shown)}
    assert leaked == OUT_OF_REACH


def test_there_are_enough_kinds() -> None:
    """The share that the documentation states is one of many kinds, no name twice."""
    every = [(kind.group, kind.name) for kind in kinds()]
    assert len(set(every)) == len(every) >= 270
    assert share_masked(kinds()) >= 0.99


@pytest.mark.parametrize("way", SPLIT)
def test_a_split_secret_is_masked(way: str, make_run: MakeRun) -> None:
    """Escapes, invisible characters and line breaks divide it; no output holds it, nor a part."""
    every = {kind: kind.secret(way) for kind in _named(OFTEN)}
    files = {
        f"worker-{n}.log": traceback_with(kind.text(SPLIT[way](secret)))
        for n, (kind, secret) in enumerate(every.items())
    }
    document = analyze([make_run(files)]).document
    for output, text in {**outputs(document), "document": json.dumps(document)}.items():
        assert not [kind.name for kind, secret in every.items() if leaks(secret, _joined(text))], output


def _joined(text: str) -> str:
    """Return the text without what divides a secret, as a reader who wants to have it would."""
    plain = re.sub(
        r"\\+(?:u|x)([0-9a-f]{4}|[0-9a-f]{2})|%([0-9A-F]{2})",
        lambda match: chr(int(match[1] or match[2], 16)),
        unescaped(text),
    )
    plain = re.sub(r"\[U\+[0-9A-F]{4}\]|[\u2400-\u2424]|\x1b?\[\d+m| ?⏎ *|\n +", "", plain)
    return re.sub(r"[^\x20-\x7e]", "", plain)


@pytest.mark.parametrize("place", ["role", "exception", "directory", "peer"])
def test_a_secret_in_place_of_a_name_is_masked(place: str, make_run: MakeRun) -> None:
    """A role of TF_CONFIG, the type of an exception, a directory, a peer's job name."""
    for kind in _named(OFTEN):
        secret = kind.secret(place)
        document = analyze([make_run(_files_named(place, secret))]).document
        for output, text in {**outputs(document), "document": json.dumps(document)}.items():
            assert not leaks(secret, unescaped(text)), (kind.name, output)


def _files_named(place: str, secret: str) -> Mapping[str, str]:
    files = {"worker-0.log": traceback_with("lost"), "worker-1.log": "step 1 loss 0.5\nstep 2 loss 0.4\n"}
    if place == "role":
        cluster = {secret: ["a:1", "b:1"], "worker": ["c:1", "d:1"]}
        return {
            **files,
            "tf_config-0.json": json.dumps({"cluster": cluster, "task": {"type": secret, "index": 0}}),
        }
    if place == "exception":
        return {**files, "worker-0.log": traceback_with("lost").replace("ValueError", secret)}
    if place == "directory":
        return {**files, f"{secret}/worker-2.log": traceback_with("lost")}
    return {
        **files,
        "worker-0.log": traceback_with(f"/job:{secret}/replica:0/task:1 seems down, retrying 1/3"),
    }


def test_no_page_of_triage_holds_a_secret(tmp_path: Path) -> None:
    """Neither index, report, JSON, feed nor metrics of a night; the runs ended a day ago."""
    every = {kind: kind.secret("triage") for kind in _named(OFTEN)}
    for number, (kind, secret) in enumerate(every.items()):
        log = tmp_path / "runs" / f"job-{number}" / "worker-0.log"
        log.parent.mkdir(parents=True)
        log.write_text(traceback_with(kind.text(secret)), encoding="utf-8")
        os.utime(log, (time.time() - 90_000,) * 2)
    assert main([str(tmp_path / "runs"), "-o", str(tmp_path / "out")]) == 1
    pages = [file for file in (tmp_path / "out").rglob("*") if file.is_file()]
    assert any(file.suffix == ".html" for file in pages)
    for file in pages:
        shown = unescaped(file.read_bytes().decode("utf-8", "replace"))
        assert not [kind.name for kind, secret in every.items() if leaks(secret, shown)], file


@pytest.mark.recordings
def test_the_recordings_hold_no_secret() -> None:
    """No line of any recorded run is masked: tensors, devices, digests, addresses and checkpoints stay."""
    lines = {line for file in _logs() for line in file.read_text(encoding="utf-8").splitlines()}
    every = sorted(lines)
    for at in range(0, len(every), 500):
        text = "\n".join(every[at : at + 500])
        assert not [text[each.start : each.end] for each in Secrets([text]).replacements(text)]


def _logs() -> Iterator[Path]:
    named = (ROOT / "sample_runs").glob("*/run/**/*")
    yield from (
        file
        for file in named
        if file.suffix in {".log", ".out", ".txt", ".json"} and file.stat().st_size < 2e6
    )
