"""The message of an exception is told without what AutoGraph and Keras put around it."""

from __future__ import annotations

import pytest

from tests.derive.logs import derived, raised

_FRAMES = (
    '    File "/lib/keras/engine/training.py", line 1249, in train_function  *\n        return step(self)\n'
)


@pytest.mark.parametrize(
    "ending",
    [
        f"ValueError: in user code:\n\n{_FRAMES}\n    ValueError: bad cell\n    in row 3\n",
        "ValueError: in user code:\n\n    /w/train.py:12 step  *\n        f(x)\n\n    ValueError: bad cell\n    in row 3",
        'ValueError: Exception encountered when calling layer "enc" (type Enc).\n\nbad cell\nin row 3\n\n'
        'Call arguments received by layer "enc" (type Enc):\n  • inputs=tf.Tensor(shape=(64, 512))\n',
        "ValueError: Exception encountered when calling Enc.call().\n\n\x1b[1mbad cell\nin row 3\x1b[0m\n\n"
        "Arguments received by Enc.call():\n  • args=()",
        f"ValueError: in user code:\n\n{_FRAMES}\n"
        '    ValueError: Exception encountered when calling layer "enc" (type Enc).\n    \n    in user code:\n    \n'
        f"{_FRAMES.replace('    ', '        ')}    \n        ValueError: bad cell\n        in row 3\n    \n"
        '    Call arguments received by layer "enc" (type Enc):\n      • inputs=tf.Tensor(shape=(64, 512))\n',
    ],
    ids=["AutoGraph", "AutoGraph of TensorFlow 2.1", "Keras 2", "Keras 3", "both, within one another"],
)
def test_a_message_is_what_the_exception_said_before_autograph_and_keras_quoted_it(ending: str) -> None:
    """They add where it was raised; the type is that of the exception."""
    (found,) = derived({"worker-0.log": [raised(ending)]})["exceptions"].to_dicts()
    assert (found["type"], found["message"]) == ("ValueError", "bad cell\nin row 3")


def test_a_message_that_keras_did_not_quote_stays() -> None:
    """Nothing but frames may have been kept of what AutoGraph quoted."""
    for message in ("in user code:\n\n" + _FRAMES.rstrip(), "Exception encountered when calling home"):
        tables = derived({"worker-0.log": [raised(f"ValueError: {message}")]})
        assert tables["exceptions"]["message"].to_list() == [message]
