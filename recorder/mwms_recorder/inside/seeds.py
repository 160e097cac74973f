"""Records every random seed that the program sets."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Callable

from mwms_recorder.inside.watch import caller, wrap

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook


def install(hook: Hook, tf: Any) -> None:
    """Wrap the functions that set seeds in TensorFlow, Python and, if imported, NumPy."""
    import random

    for module in (tf.random, tf.compat.v2.random):
        wrap(module, "set_seed", noting(hook, "tf.random.set_seed"))
    wrap(tf.compat.v1, "set_random_seed", noting(hook, "tf.compat.v1.set_random_seed"))
    wrap(random, "seed", noting(hook, "random.seed"))
    if "numpy" in sys.modules:
        wrap(sys.modules["numpy"].random, "seed", noting(hook, "numpy.random.seed"))


def noting(hook: Hook, function: str) -> Callable[..., Any]:
    """Return a callback for `wrap` that records the seed given to a function."""

    def note(result: Any, *arguments: Any, **named: Any) -> Any:
        with hook.guarded(function):
            value = next(iter([*arguments, *named.values()]), None)
            plain = value if value is None or isinstance(value, int) else str(value)[:200]
            hook.note("seed", function=function, value=plain, at=caller())
        return result

    return note
