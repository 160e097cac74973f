"""Logs come out of pastes as their programs printed them."""

from __future__ import annotations

import pytest

from analyzer.ingest.logs.collectors.sections import below_headings
from analyzer.ingest.logs.collectors.streams import split_streams
from analyzer.ingest.logs.pastes.markdown import begins_output, fenced, style_of_paste, unmarked

LOG = "2026-11-21 01:40:37.754266: E tensorflow/core/common_runtime/ring_alg.cc:290] Aborting RingReduce"


@pytest.mark.parametrize(
    ("pasted", "log"),
    [
        ("> step 5 loss 0.5", "step 5 loss 0.5"),
        (">step 5 loss 0.5", "step 5 loss 0.5"),
        (">> step 5 loss 0.5", "step 5 loss 0.5"),
        ("> > step 5 loss 0.5", "step 5 loss 0.5"),
        ("`step 5 loss 0.5`", "step 5 loss 0.5"),
        ("> `step 5 loss 0.5", "step 5 loss 0.5"),
        ("`ValueError: `handle` is not available here.`", "ValueError: `handle` is not available here."),
        ("`lr` is deprecated, use `rate`", "`lr` is deprecated, use `rate`"),
        ("\N{NO-BREAK SPACE}\N{NO-BREAK SPACE}step 5", "step 5"),
        ("  |   |   | 2026-11-17 12:30:37 | step 5 loss 0.5", "step 5 loss 0.5"),
        ("| 2026-11-17 12:30:37.120 | ERROR | step 5 loss 0.5 |", "step 5 loss 0.5"),
        ("  | 02-01 21:57:21.770 | step 5 loss 0.5 |  ", "step 5 loss 0.5"),
        ("| 0  Tesla T4  On | 00000000:00:04.0 Off |", "| 0  Tesla T4  On | 00000000:00:04.0 Off |"),
        (
            "2026-11-22 17:14:19.123 | ERROR | __main__:f:6 - bad",
            "2026-11-22 17:14:19.123 | ERROR | __main__:f:6 - bad",
        ),
        ("```text", "```text"),
        ("`fit` runs `step`", "`fit` runs `step`"),
        ("`lr` is deprecated", "`lr` is deprecated"),
        (">>> import keras", ">>> import keras"),
        ('> File "/srv/train.py", line 41, in main', '> File "/srv/train.py", line 41, in main'),
    ],
)
def test_a_line_is_read_without_marks(pasted: str, log: str) -> None:
    """Unlike fences, prompts of Python and loguru's frames, which begin alike."""
    assert unmarked([pasted]) == [log]


def test_a_quotation_goes_on_without_its_sign() -> None:
    """Up to a blank line, as in Markdown: so are lines of a quotation that an editor broke."""
    pasted = [
        "> tensorflow.python.framework.errors_impl.InvalidArgumentError: No OpKernel was",
        "registered to support Op 'NcclReduce' used by {{node sum_of_losses/red}} with",
        "these attrs: [num_devices=2]",
        "",
        "on Windows",
    ]
    assert unmarked(pasted)[0] == " ".join(pasted[:3]).removeprefix("> ")
    apart = [*pasted[:1], "", *pasted[1:]]
    assert unmarked(apart)[0] == pasted[0].removeprefix("> ")


def test_a_log_that_is_indented_as_a_whole_is_moved_to_the_margin() -> None:
    """What is indented further stays so."""
    assert unmarked(["  step=0", "", "      loss = 1"]) == ["step=0", "", "    loss = 1"]


def test_an_indented_block_that_begins_like_a_log_is_moved_to_the_margin() -> None:
    """Up to the next line at the margin."""
    pasted = ["It says:", "", f"    {LOG}", "    \t [[node]]", "", "    step 5", "Why?"]
    assert unmarked(pasted) == ["It says:", "", LOG, "\t [[node]]", "", "step 5", "Why?"]


def test_an_indented_block_that_holds_lines_of_a_logger_is_moved_to_the_margin() -> None:
    """A program prints before TensorFlow logs."""
    pasted = ["It says:", "", "    shape (12, 3)", f"    {LOG}", "    ValueError: bad", "", "        more"]
    assert unmarked(pasted) == ["It says:", "", "shape (12, 3)", LOG, "ValueError: bad", "", "    more"]


def test_other_indented_blocks_stay() -> None:
    """AutoGraph indents the frames of an error, behind a blank line."""
    error = ["ValueError: in user code:", "", "    train.py:41 step  *", "        f(x)"]
    assert unmarked(error) == error
    assert unmarked([*error, "    ValueError: bad"]) == [*error, "    ValueError: bad"]


def test_an_indented_error_below_nothing_but_prose_is_moved_to_the_margin() -> None:
    """A post may quote no more than that; below frames or another error, it goes on with what stands there."""
    error = "NotFoundError: libhdfs.so: cannot open shared object file"
    assert unmarked(["On two nodes:", "", f"      {error}"]) == ["On two nodes:", "", error]
    for above in (LOG, "ValueError: in user code:", "```", '    File "train.py", line 3, in step  *'):
        assert unmarked(["See below.", above, "", f"      {error}"])[-1] == f"      {error}"


def test_only_what_stands_in_blocks_of_code_is_of_the_log() -> None:
    """Prose around them says nothing of the log's form."""
    assert fenced(["It says:", "```sh", "[worker 0] up", "```", "Why?"]) == ["[worker 0] up"]
    assert fenced(["[worker 0] up"]) == ["[worker 0] up"]


def test_headings_above_blocks_of_code_name_their_workers() -> None:
    """As in most reports of several workers."""
    pasted = ["### worker 0", "```", "step 1", "```", "", "### worker 1", "```", "step 2", "```"]
    assert style_of_paste(pasted) is below_headings
    parted = split_streams(list(enumerate(pasted, 1)), below_headings)
    assert [stream.key for stream in parted] == ["worker-0", "worker-1"]


def test_a_block_of_another_text_hides_no_writers() -> None:
    """A setting in a block of code, and then the log as it is."""
    pasted = ["```", "batch: 3", "```", *(f"[worker {n % 2}] step {n}" for n in range(6))]
    assert style_of_paste(pasted) is style_of_paste(pasted[3:]) is not None


@pytest.mark.parametrize(
    ("fence", "is_output"),
    [
        ("```", True),
        ("~~~console", True),
        ("```python", False),
        ("{noformat}", True),
        ("{code:python}", False),
        ("<pre><code>", True),
        ("step 5", False),
    ],
)
def test_the_language_of_a_block_tells_whether_a_program_printed_it(fence: str, is_output: bool) -> None:
    """None is as good as a shell."""
    assert begins_output(fence) is is_output


def test_code_behind_a_fence_does_not_turn_the_blocks_inside_out() -> None:
    """Markdown takes it for the name of a language; a trailing blank is none."""
    said = "A friend had CUDA_ERROR_OUT_OF_MEMORY, which is not what I have."
    pasted = ["```def main(argv):", "  run()", "```  ", said, "```", "KeyError: 1", "```", said]
    assert unmarked(pasted) == ["```", "  run()", "```  ", "", "```", "KeyError: 1", "```", ""]
    assert unmarked(["```never closed", "KeyError: 1"]) == ["```never closed", "KeyError: 1"]


@pytest.mark.parametrize("sign", ["'''", "´´´", "\N{RIGHT SINGLE QUOTATION MARK}" * 3])
def test_other_signs_that_an_author_takes_for_backticks_begin_and_end_code(sign: str) -> None:
    """Where they come in pairs, and the post has no fences."""
    assert unmarked([sign, "KeyError: 1", sign, LOG]) == ["```", "KeyError: 1", "```", LOG]
    assert unmarked([sign, "KeyError: 1", LOG]) == [sign, "KeyError: 1", LOG]
    assert unmarked(["```", sign, "KeyError: 1", sign, "```"]) == ["```", sign, "KeyError: 1", sign, "```"]


def test_signs_that_a_page_escapes_are_as_the_log_had_them() -> None:
    """As in the source of a page; an ampersand alone is the program's."""
    assert unmarked(['File "t.py", line 1, in &lt;module&gt;', "a &amp; b"]) == [
        'File "t.py", line 1, in <module>',
        "a &amp; b",
    ]
