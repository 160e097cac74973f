"""Chats whose lines begin with nothing but a name."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.pastes.markdown import unmarked
from analyzer.ingest.logs.pastes.speakers import said_in_chat

LOG = "2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting RingReduce"
ERROR = "tensorflow.python.framework.errors_impl.InvalidArgumentError: Incompatible shapes: [64] vs. [32]"


def test_what_people_say_is_emptied_and_what_they_paste_is_read() -> None:
    """Without the name before it; each line keeps its number."""
    chat = [
        "anna: training stops after the first epoch",
        "ben: was it Killed, exit code 137?",
        f"anna: {LOG}",
        "ben: then maybe CUDA_ERROR_OUT_OF_MEMORY",
        "anna: no, only this below",
        ERROR,
    ]
    assert unmarked(chat) == ["", "", LOG, "", "", ERROR]


def test_names_may_have_two_words_and_small_letters() -> None:
    """As chats show them."""
    chat = ["Mara K: hi, it hangs", "olli (admin): did you see Segmentation fault", f"Mara K: {ERROR}"]
    assert unmarked(chat) == ["", "", ERROR]


@pytest.mark.parametrize(
    "log",
    [
        ["trainer: step 1 done", "loader: no cache, reading", "trainer: step 2 done", "loader: ok"],
        [LOG, "worker-0: did you set TF_CONFIG?", "worker-1: did you set TF_CONFIG?", LOG],
        ["slurmstepd: error: your job was cancelled", "srun: error: node1: task 0: Killed", "srun: ok"],
        ["INFO: you may want to rebuild", "WARNING: are you sure?", "INFO: done"],
        ["monitor: you may want to look at the dashboard", "monitor: step 1", "monitor: why: timeout"],
    ],
    ids=["services", "workers", "launchers", "levels", "one name"],
)
def test_labelled_lines_of_programs_are_no_chat(log: list[str]) -> None:
    """However they address their reader."""
    assert unmarked(log) == log


def test_what_stands_before_lines_of_tensorflow_is_no_person() -> None:
    """Argo labels lines so; a person may paste one behind the name."""
    began = "2026-11-21 05:00:00.053746: I tensorflow/core/util/port.cc:113] oneDNN is on. You may see other results."
    said = ["bert-x7-train-10", "bert-x7-train-20"]
    assert said_in_chat([f"{said[n % 2]}: {began}" for n in range(8)]) == {}
    chat = [f"anna: {began}", "bob: did you see that?", "anna: no, sorry"]
    assert said_in_chat(chat)[0] == began
