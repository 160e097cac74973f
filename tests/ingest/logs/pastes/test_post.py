"""Of a post, only what programs printed is read."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.pastes.markdown import unmarked

LOG = "2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting RingReduce"
ASKED = "Does anybody know what this means?"
CODE = ["import tensorflow as tf", "def train():", "    raise tf.errors.UnavailableError", "train()"]


@pytest.mark.parametrize(
    "said",
    [
        "I ruled out NCCL, and `Connection refused` is gone.",
        "The nodes had no OOM, and the pods were not Killed.",
        "- another card: same, but without CUDA_ERROR_ILLEGAL_ADDRESS",
        "Un colega dice que es un Connection refused de la red.",
        "Tom: did it end with Segmentation fault (core dumped)?",
    ],
)
def test_prose_around_a_log_is_emptied(said: str) -> None:
    """Each line keeps its number."""
    assert unmarked([said, "", LOG, "", ASKED]) == ["", "", LOG, "", ""]


@pytest.mark.parametrize("log", [["step 1 loss 0.5", LOG], ["Killed"], [LOG, "It failed to load the data."]])
def test_what_nobody_speaks_of_stays(log: list[str]) -> None:
    """A worker's own log holds sentences as well."""
    sentence = "The worker failed to load its data, and gives up."
    assert unmarked([LOG, "", sentence, "", *log]) == [LOG, "", sentence, "", *log]


LSF_REPORT = [
    "Sender: LSF System <lsfadmin@n07>",
    "Subject: Job 4812[2]: <train> in cluster <prod> Exited",
    "",
    "Job <train> was submitted from host <login1> by user <anna> in cluster <prod> at Fri Nov 20 08:58:00 2026",
    "Your job looked like:",
    "",
    "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit.",
    "",
    "The output (if any) follows:",
]


@pytest.mark.parametrize("log", [[LOG, *LSF_REPORT], LSF_REPORT, ["-" * 60, *LSF_REPORT, "", LOG]])
def test_the_report_of_lsf_is_no_mail_of_a_person(log: list[str]) -> None:
    """LSF writes it below what a job printed, or above it."""
    assert unmarked(log) == log


def test_why_lsf_ended_a_job_is_said_by_a_program() -> None:
    """Also where the report lost its head."""
    why = "TERM_MEMLIMIT: job killed after reaching LSF memory usage limit."
    assert unmarked([why, LOG, "", ASKED]) == [why, LOG, "", ""]


def test_a_post_that_quotes_the_report_of_lsf_stays_one() -> None:
    """Whoever speaks first has written the post."""
    asked = ["Hello, my job was killed with `Connection refused`.", "", *LSF_REPORT]
    assert unmarked(asked)[0] == ""


def test_sentences_within_and_below_a_log_were_printed() -> None:
    """Programs print sentences too; above a log they are somebody's introduction."""
    within = "Primary job terminated normally, but one process returned"
    below = "The worker failed to load its data, giving up"
    pasted = ["This is what the job says here", LOG, within, LOG, below, "", ASKED]
    assert unmarked(pasted) == ["", LOG, within, LOG, below, "", ""]


@pytest.mark.parametrize(
    "log",
    [
        [f"Process {number} of the job ended with status code 134." for number in range(3)],
        ["The replica ran out of memory and was ended. To find out more about why, please check the logs."],
        [f"worker-{number}> perdida de la epoca {number}: no esta en el catalogo" for number in (1, 2)],
        [
            *(f"{number}: \r에폭 1/1:   0%|  | 0/24 [00:00<?, ?it/s]" for number in (0, 1)),
            "0: 학습이 끝났습니다",
        ],
        ["bert-worker-0 tensorflow the shards of this epoch are read again from the start"] * 3,
    ],
    ids=["alike but for numbers", "one message", "labelled", "labelled by srun", "labelled by stern"],
)
def test_sentences_of_programs_alone_are_no_post(log: list[str]) -> None:
    """In any language."""
    assert unmarked(log) == log


def test_a_numbered_list_is_labelled_by_nobody() -> None:
    """Only a label on every line is a collector's."""
    listed = ["1: I ruled out NCCL.", "2: I do not see Connection refused either.", ASKED, LOG]
    assert unmarked(listed) == ["", "", "", LOG]
    told = ["bert-worker-0 hangs since noon, and I see no error.", *listed[1:]]
    assert unmarked(told) == ["", "", "", LOG]


def test_what_a_colon_announces_was_printed() -> None:
    """Unless it is a paragraph, as below a template's `Description:`."""
    message = "The kernel appears to have died in the end"
    paragraph = "The job was Killed again. It is no duplicate of the older ticket."
    assert unmarked([ASKED, "The last line:", "", message]) == ["", "The last line:", "", message]
    assert unmarked([ASKED, "Description:", paragraph]) == ["", "Description:", ""]


def test_what_keras_tells_below_a_layer_was_printed() -> None:
    """A sentence of its own, between blank lines, as people write them."""
    sentence = (
        "The kernel of this layer was called while defining a new graph. It may not be called so, sadly."
    )
    layer = "ValueError: Exception encountered when calling Dense.call()."
    assert unmarked([ASKED, LOG, layer, "", sentence, ""]) == ["", LOG, layer, "", sentence, ""]
    assert unmarked([ASKED, LOG, "ValueError: bad", "", sentence, ""]) == [
        "",
        LOG,
        "ValueError: bad",
        "",
        "",
        "",
    ]


def test_the_subject_of_a_mail_tells_that_people_speak() -> None:
    """A line of a program in such a form is alone."""
    said = [
        "Subject: [INC-7] network broken?",
        "",
        "Dear team, our job of 4 nodes shows errors, please look:",
        "",
    ]
    assert unmarked([*said, LOG, LOG]) == ["", "", "", "", LOG, LOG]
    assert unmarked(["Subject: step 1", LOG, LOG]) == ["Subject: step 1", LOG, LOG]


def test_blocks_of_code_hold_what_was_printed() -> None:
    """Around them, few words are prose already."""
    pasted = ["no OOM here", "```", "Killed by the system, it seems so", "```", "thanks all"]
    assert unmarked(pasted) == ["", *pasted[1:4], ""]


def test_the_source_of_the_program_is_emptied() -> None:
    """What it handles did not occur; the output below it did, and so did a traceback's own lines."""
    assert unmarked([ASKED, "```", *CODE, "", LOG, "```"]) == ["", "```", "", "", "", "", "", LOG, "```"]
    frame = ['  File "train.py", line 3, in <module>', "    raise tf.errors.UnavailableError", "KeyError: 1"]
    assert unmarked([ASKED, "```", *frame, "```"]) == ["", "```", *frame, "```"]


def test_headings_of_workers_stay() -> None:
    """They part the post into logs."""
    pasted = ["### worker 0", "```", LOG, "```", "### worker 1", "```", "Killed", "```", ASKED]
    assert unmarked(pasted) == [*pasted[:-1], ""]


def test_a_message_counts_where_a_post_shows_no_log() -> None:
    """If a single sentence quotes one, and does not doubt it."""
    plain = "The error code is DataLossError: corrupted record at 15458974733"
    doubted = "It is not DataLossError: corrupted record at 15458974733"
    around = "The job starts, but the log of the cloud shows `ImportError: No module named absl` there."
    assert unmarked([ASKED, plain]) == ["", plain]
    assert unmarked([ASKED, doubted]) == ["", ""]
    assert unmarked([ASKED, around]) == ["", "ImportError: No module named absl"]
    assert unmarked([ASKED, plain, plain]) == ["", "", ""]
    assert unmarked([ASKED, plain, "", LOG]) == ["", "", "", LOG]


def test_lines_with_a_label_of_a_new_form_are_no_post() -> None:
    """Whatever a program says behind it; people have no numbers."""
    said = ["I am going to wait for my peers now.", "Does anybody answer?", LOG, "no one does", LOG, LOG]
    labelled = [f"gpu{n % 2}-1: python train.py (47{n % 2}1): error > {text}" for n, text in enumerate(said)]
    assert unmarked(labelled) == labelled
    talk = [f"{'anna' if n % 2 else 'bob'}: {text}" for n, text in enumerate(said)]
    assert unmarked(talk) != talk


def test_a_title_may_repeat_the_message_of_the_text() -> None:
    """Another message there leaves open which of the two ended the job, and so does a doubt."""
    quoted = "The replica master 0 ran out-of-memory and exited with a non-zero status of 9(SIGKILL)"
    other = "# The replica master 0 exited with a non-zero status of 1"
    assert unmarked([f"# ML Engine: {quoted}", "", ASKED, "", f"> {quoted}"]) == ["", "", "", "", quoted]
    assert unmarked([other, "", ASKED, "", f"> {quoted}"]) == [""] * 5
    assert unmarked([f"# Solved: {quoted}", "", ASKED, "", f"> {quoted}"]) == [""] * 5


def test_what_should_happen_was_not_printed() -> None:
    """A line of a log below that heading stays, and so does what is below the next one."""
    error = "ValueError: `handle` is not available outside the replica context"
    heading = "**Describe the expected behavior**"
    said, other = "`train_on_batch` should work", "tensorflow-gpu 1.12"
    assert unmarked([ASKED, "", error, "", heading, said]) == ["", "", error, "", "", ""]
    assert unmarked([ASKED, "", heading, said, "", LOG]) == [*[""] * 5, LOG]
    assert unmarked([ASKED, "", heading, said, "", "**Other info**", other])[-1] == other
    assert unmarked([LOG, "", "the expected behavior", said])[-1] == said
