"""No secret reaches any output, and what only looks like one stays."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import analyzer.redact
from analyzer.model.options import Redaction
from analyzer.pipeline import analyze
from analyzer.redact import redact
from tests.recordings import Recordings
from tests.redact.planted import (
    KEY_BODY,
    LOOK_ALIKES,
    PEM,
    PLANTED,
    document_with,
    excerpts,
    letters,
    outputs,
    parts,
    traceback_with,
    unescaped,
)

LONG = 300_000
MakeRun = Callable[[Mapping[str, str]], Path]


@pytest.mark.parametrize("name", PLANTED)
def test_each_planted_secret_is_masked(name: str) -> None:
    """Whatever the dialect; the words around it stay."""
    line, secret = PLANTED[name]
    (masked,) = excerpts(redact(document_with(line)))
    assert "[secret:" in masked
    for part in parts(secret):
        assert part not in masked
    before, _, after = line.partition(secret)
    assert masked.startswith(before[:4])
    assert masked.endswith(after[-4:])


@pytest.mark.runs
def test_no_planted_secret_is_in_any_output_of_a_run(make_run: MakeRun, tmp_path: Path) -> None:
    """Logs, TF_CONFIG and the name of a file: no format holds one of them, nor does the terminal."""
    lines = [line for line, _ in PLANTED.values()]
    config = {
        "cluster": {"worker": ["ml:" + PLANTED["github"][1] + "@a:1", "b:1"]},
        "task": {"type": "worker", "index": 0},
    }
    files = {f"worker-{n}.log": traceback_with(line) for n, line in enumerate(lines)}
    files["worker-0-" + PLANTED["hugging face"][1] + ".log"] = "step 1 loss 0.5\nstep 2 loss nan\n"
    files["tf_config-0.json"] = json.dumps(config)
    files["exit_codes.txt"] = "".join(f"worker-{n} 1\n" for n in range(len(lines)))
    document = analyze([make_run(files)]).document
    assert int(document["made_with"]["options"]["masked"]) > 10
    for output, text in outputs(document).items():
        plain = unescaped(text)
        left = [n for n, (_, secret) in PLANTED.items() if any(part in plain for part in parts(secret))]
        assert left == [], output


def test_there_are_enough_planted_and_look_alikes() -> None:
    """At least thirty secrets of fifteen kinds, and as many that only look like one."""
    kinds = {
        token.split(":")[1]
        for line, _ in PLANTED.values()
        for text in excerpts(redact(document_with(line)))
        for token in re.findall(r"\[secret:[a-z-]+:", text)
    }
    assert len(PLANTED) >= 30
    assert len(kinds) >= 15
    assert len(LOOK_ALIKES) >= 30


def test_look_alikes_reach_every_output_unmasked() -> None:
    """Whatever a format does to them, it does not mask them."""
    for output, text in outputs(document_with(*LOOK_ALIKES)).items():
        assert "[secret:" not in text, output


@pytest.mark.runs
def test_the_planted_are_quoted_without_the_mask(make_run: MakeRun, monkeypatch: pytest.MonkeyPatch) -> None:
    """So the test above tests something: unmasked, most of them would have been in the document."""
    monkeypatch.setattr(analyzer.redact, "redact", lambda document, *_: document)
    files = {f"worker-{n}.log": traceback_with(line) for n, (line, _) in enumerate(PLANTED.values())}
    text = json.dumps(analyze([make_run(files)]).document, ensure_ascii=False)
    quoted = [name for name, (_, secret) in PLANTED.items() if json.dumps(parts(secret)[-1])[1:-1] in text]
    assert len(quoted) >= 30


@pytest.mark.parametrize("line", LOOK_ALIKES)
def test_look_alikes_stay(line: str) -> None:
    """Hashes, ids, shapes, names, places, and words that only speak of tokens and passwords."""
    document = document_with(line, f"2026-01-01 10:00:05 E x.cc:1] {line}", f"  {line}")
    assert redact(document) == document


def test_the_sample_runs_are_as_they_were(sample_run: Path, recordings: Recordings) -> None:
    """No recorded run holds a secret, so nothing is masked in any."""
    document = recordings.document(sample_run)
    assert "masked" not in document["made_with"]["options"]
    assert redact(document) == document


def test_equal_secrets_become_equal_tokens() -> None:
    """Whatever gave them away, and also where nothing does; others become others."""
    secret, other = letters("same", 24), letters("other", 24)
    made = excerpts(
        redact(
            document_with(
                f"DB_PASSWORD={secret}",
                f"postgres://ml:{secret}@db/x",
                f"tried {secret} thrice",
                f"DB_PASSWORD={other}",
            )
        )
    )
    tokens = [text[text.index("[secret:") : text.index("]") + 1] for text in made]
    assert tokens[0] == tokens[1] == tokens[2] != tokens[3]
    assert made[2] == f"tried {tokens[0]} thrice"


def test_what_was_masked_is_counted_and_shown() -> None:
    """Different secrets, in the document, on the page and in the text."""
    document = redact(document_with("password=abc123", "password=abc123", "--token xyz-789-abc"))
    assert document["made_with"]["options"]["masked"] == "2"
    made = outputs(document)
    assert "masked=2" in made["html"]
    assert "Secrets masked: 2" in made["text"]


def test_tokens_mean_nothing_outside_their_document() -> None:
    """The same secret in another document gets another token; in the same, always the same bytes."""
    one, other = (document_with("password=hunter2hunter2", name=name) for name in ("one", "other"))
    assert json.dumps(redact(one)) == json.dumps(redact(copy.deepcopy(one)))
    assert excerpts(redact(one)) != excerpts(redact(other))


def test_nothing_is_masked_twice() -> None:
    """A redacted document is left as it is."""
    document = redact(document_with(*(line for line, _ in PLANTED.values())))
    assert redact(document) == document


def test_redaction_changes_nothing_that_it_was_given() -> None:
    """It is a function."""
    document = document_with(*(line for line, _ in PLANTED.values()))
    before = copy.deepcopy(document)
    redact(document, "topology")
    assert document == before


@pytest.mark.parametrize("whole", [PEM[: len(PEM) // 2], PEM[len(PEM) // 2 :], "\n".join(KEY_BODY[1:3]),
                                   PEM[:90] + " … 900 characters cut … "])  # fmt: skip
def test_a_private_key_that_was_cut_is_masked(whole: str) -> None:
    """At either end, or at both."""
    (made,) = excerpts(redact(document_with(f"key:\n{whole}")))
    assert not [
        line for line in whole.splitlines()[1:] if len(line) > 8 and "-----" not in line and line in made
    ]


def test_a_private_key_that_spans_context_and_excerpt_is_masked() -> None:
    """The context is the lines before the excerpt."""
    document = document_with("x")
    *context, excerpt = PEM.splitlines()
    document["findings"][0]["evidence"][0].update(
        context=[[n, line] for n, line in enumerate(["loaded", *context], 7)],
        excerpt=f"{excerpt}\nValueError",
    )
    made = redact(document)["findings"][0]["evidence"][0]
    assert made["context"][0] == [7, "loaded"]
    assert made["excerpt"].endswith("ValueError")
    assert len(made["context"]) == len(context) + 1
    assert not any(line in json.dumps(made) for line in KEY_BODY)


@pytest.mark.runs
def test_last_words_are_masked_too(make_run: MakeRun) -> None:
    """Of a run that no rule explains, lines are quoted that no rule chose."""
    log = "step 1 loss 0.5\nodd: password=hunter2hunter2\nbye\n"
    made = analyze([make_run({"worker-0.log": log, "exit_codes.txt": "worker-0 7\n"})]).document
    assert [each["excerpt"] for each in made["last_words"]] == ["bye"]
    assert "hunter2" not in json.dumps(made)
    assert [number for number, _ in made["last_words"][0]["context"]] == [2]


def test_marks_still_mark_the_same_words() -> None:
    """Those that a mask shifted, and those around it; words that are masked are no longer marked."""
    text = "Cancelled: login with password=hunter2hunter2 to worker:1 was refused"
    document = document_with(text)
    words = ("Cancelled", "hunter2", "worker:1", "refused")
    marks = [[text.index(word), text.index(word) + len(word)] for word in words]
    whole = [0, len(text)]
    document["findings"][0]["evidence"][0]["marks"] = [*marks, whole]
    made = redact(document)["findings"][0]["evidence"][0]
    shown = [made["excerpt"][start:end] for start, end in made["marks"]]
    assert shown == ["Cancelled", "worker:1", "refused", made["excerpt"]]


_REDACTIONS: st.SearchStrategy[Redaction] = st.sampled_from(["secrets", "topology"])
_KEYS = st.sampled_from(["excerpt", "context", "marks", "host", "workers", "made_with", "options"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS | st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
_PIECES = ["password", "=", ":", " ", '"', "'", "\\", "\n", "token", "ghp_", "-----BEGIN PRIVATE KEY-----", "://", "@",
           "a1B2c3D4e5F6g7H8i9J0", "eyJ", ".", "example.com", "/home/", "10.0.0.1", "sig", "Cookie", "Bearer", "(", ",", "…"]  # fmt: skip


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(_KEYS | st.text(max_size=9), JSON, max_size=4), _REDACTIONS)
def test_it_takes_every_document(document: dict[str, Any], redaction: Redaction) -> None:
    """Also one that keeps no contract."""
    redact(document, redaction)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(_PIECES) | st.text(), max_size=30).map("".join), _REDACTIONS)
def test_no_text_grows_without_bound(text: str, redaction: Redaction) -> None:
    """A token is short, whatever it stands for; and marks stay within the text."""
    document = {
        "findings": [{"excerpt": text, "context": [], "marks": [[0, len(text)], [len(text) // 2, len(text)]]}]
    }
    (made,) = redact(document, redaction)["findings"]
    assert len(made["excerpt"]) <= 16 * len(text)
    assert all(0 <= start <= end <= len(made["excerpt"]) for start, end in made["marks"])


@pytest.mark.slow
@pytest.mark.parametrize("piece", [*_PIECES, "A" * 40, "password=", "-----BEGIN PRIVATE KEY-----\n", "a@", "http://a:", "key: '", "eyJ-.", "curl "])  # fmt: skip
def test_no_pattern_goes_back_over_what_it_has_read(piece: str) -> None:
    """One that did would not be done before the time limit of a test."""
    redact({"why": [piece * (LONG // len(piece)) + " password"]}, "topology")
