"""What a rule says of a run reads as a sentence: its number agrees, and TensorFlow's own marks are gone."""

import pytest

from analyzer.engine.placeholder_texts import LONGEST_VALUE, fill, headline


@pytest.mark.parametrize(
    ("subject", "count", "said"),
    [
        ("worker:1", 1, "worker:1 was killed; the others lost it."),
        ("worker:1 and worker:2", 2, "worker:1 and worker:2 were killed; the others lost them."),
        ("one of the workers", 1, "one of the workers was killed; the others lost it."),
    ],
)
def test_words_agree_with_the_number_of_workers(subject: str, count: int, said: str) -> None:
    """In number, and nobody counts as one."""
    text = "{subject} {was|were} killed; the others lost {it|them}."
    assert fill(text, {"subject": subject, "subjects": {"count": count}}) == said


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "{{function_node __wrapped__SaveV2_dtypes_15_device_/job:worker/replica:0/task:1/device:CPU:0}} "
            "checkpoints/step-20_temp; No space left on device [Op:SaveV2]",
            "checkpoints/step-20_temp; No space left on device",
        ),
        ("Graph execution error:\n\nReceived a label value of 396", "Received a label value of 396"),
        (
            "/mnt/data.tfrecord; Stale file handle [Op:IteratorGetNext] name: ",
            "/mnt/data.tfrecord; Stale file handle",
        ),
        (
            "corrupted record at 6720\n\t [[{{node IteratorGetNext}}]]\n\t [[RemoteCall]] [Op:__inference_train_1]",
            "corrupted record at 6720",
        ),
        ("label 10 [[node loss/Sum (defined at train.py:12) ]]", "label 10"),
        ("expected [[1 2] [3 4]]", "expected [[1 2] [3 4]]"),
        (
            "2026-11-21 01:40:37.500100: W tensorflow/core/nccl/nccl_manager.cc:775] NCCL: unhandled error",
            "NCCL: unhandled error",
        ),
        ("E0000 00:00:1795225733.936031   13266 add_port.cc:83] Failed to add port", "Failed to add port"),
        ("lost at 2026-11-21 01:40:37.5: E x.cc:7] it", "lost at 2026-11-21 01:40:37.5: E x.cc:7] it"),
        ("[Op:", "[Op:"),
        ("a: {b|c} {{d}} {subject}", "a: {b|c} {{d}} {subject}"),
    ],
)
def test_what_tensorflow_writes_for_itself_is_left_out(message: str, said: str) -> None:
    """And nothing that a message holds is taken for a placeholder."""
    assert fill("{raised.message}", {"raised": {"message": message}, "subject": "worker:1"}) == said


def test_a_long_value_is_cut_between_words() -> None:
    """A headline is read at night: it is no place for a stack of labels."""
    said = fill("{raised.message}", {"raised": {"message": "label " * 100}})
    assert said.endswith("label…")
    assert len(said) <= LONGEST_VALUE + 1
    assert len(fill("{raised.message}", {"raised": {"message": "x" * 1000}})) == LONGEST_VALUE + 1


@pytest.mark.parametrize(
    ("message", "said"),
    [
        (
            "Graph execution error:\n\nFrom /job:worker/replica:0/task:1:\ntruncated record at 8925\n"
            "\t [[{{node IteratorGetNext}}]]\nRecent warning and error logs:\n  Input of",
            "truncated record at 8925",
        ),
        (
            "3 root error(s) found.\n  (0) Data loss: corrupted record at 0\n  (1) Cancelled: it",
            "Data loss: corrupted record at 0",
        ),
        (
            "Received a label of 396, outside [0, 16). Label values: 7 3",
            "Received a label of 396, outside [0, 16).",
        ),
        (
            "Detected at node 'X'\n<stack traces unavailable>\ncorrupted record at 12",
            "corrupted record at 12",
        ),
        ("No module named 'einops'", "No module named 'einops'"),
        ("a " * 30, "a " * 19 + "a…"),
    ],
)
def test_a_headline_has_the_first_statement_of_an_error(message: str, said: str) -> None:
    """Without what TensorFlow prints before it; the evidence has the rest."""
    assert headline("It raised: {raised.message}", {"raised": {"message": message}}) == f"It raised: {said}"


def test_a_headline_names_only_workers_that_failed() -> None:
    """Of a log alone nobody knows whether the other workers failed."""
    text, alone = (
        "{subject} crashed; {victims} failed after losing it.",
        {"subject": "worker:1", "victims": ""},
    )
    assert headline(text, alone) == "worker:1 crashed."
    both = alone | {"victims": "worker:0 and worker:2"}
    assert headline(text, both) == "worker:1 crashed; worker:0 and worker:2 failed after losing it."


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("factor", 8.001, "8"),
        ("after", 0.123456, "0.123"),
        ("seconds", 59.97, "60"),
        ("seconds", 3614.26, "3,614"),
        ("seconds", 999.7, "1,000"),
        ("growth", 1.8e19, "1.8e+19"),
        ("last_value", 0.69314, "0.6931"),
        ("jump_to", 2.30259, "2.303"),
        ("steps", 12345, "12345"),
    ],
)
def test_numbers_are_rounded(name: str, value: float, said: str) -> None:
    """To three significant digits, and those of a metric to four: losses that differ must not look equal."""
    assert fill(f"{{row.{name}}}", {"row": {name: value}}) == said


@pytest.mark.parametrize(
    ("text", "place", "said"),
    [
        ("it ended at {left.place}", "step 4", "it ended at step 4"),
        ("it ended at {left.place}", None, "it ended"),
        ("it stopped on its own, at {left.place}.", None, "it stopped on its own."),
        ("it got no further than {left.place}", None, "it got no further than unknown"),
        ("it was last seen at {left.place}", None, "it was last seen at unknown"),
        ("it ended at {left.line}", None, "it ended at unknown"),
    ],
)
def test_an_unknown_place_is_left_out(text: str, place: str | None, said: str) -> None:
    """But not where the sentence says nothing without it."""
    assert fill(text, {"left": {"place": place, "line": None}}) == said
