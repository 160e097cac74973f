"""Records strategies, communication options, the resolved cluster, random seeds and saves."""

from __future__ import annotations

import sys
import time
from _thread import get_ident
from typing import TYPE_CHECKING, Any, Callable

from mwms_recorder.inside.watch import Begin, End, caller, watch, wrap
from mwms_recorder.progress import MAIN_THREAD, PHASES, SAVE

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook

STRATEGIES = (
    *("MirroredStrategy", "MultiWorkerMirroredStrategy", "ParameterServerStrategy"),
    *("OneDeviceStrategy", "TPUStrategy", "CentralStorageStrategy"),
)
OPTIONS = ("CommunicationOptions", "CollectiveHints")


def install(hook: Hook, tf: Any) -> None:
    """Watch the constructors of strategies and options, and the saving of checkpoints."""
    for module in (tf.distribute, tf.distribute.experimental):
        for name in STRATEGIES:
            watch(getattr(module, name, object), "__init__", _strategy(hook, name))
        for name in OPTIONS:
            full = f"tf.distribute.experimental.{name}"
            watch(getattr(module, name, object), "__init__", _options(hook, full))
    for kind in (tf.train.Checkpoint, tf.train.CheckpointManager):
        for name in ("save", "write"):
            watch(kind, name, saving(hook, f"{kind.__name__}.{name}"))


def _strategy(hook: Hook, kind: str) -> Begin:
    making = set()

    def begin(strategy: Any) -> End | None:
        if id(strategy) in making:  # the constructor of a subclass calls that of its base
            return None
        making.add(id(strategy))
        at, started = caller(), time.monotonic()
        hook.note("strategy", **{"class": kind}, made=False, at=at)

        def end() -> None:
            making.discard(id(strategy))
            with hook.guarded("strategy"):
                known = {"seconds": round(time.monotonic() - started, 6), **described(strategy)}
                hook.note("strategy", **{"class": kind}, made=True, at=at, **known)

        return end

    return begin


def described(strategy: Any) -> dict[str, Any]:
    """Return replicas and cluster of a strategy; empty if its constructor failed."""
    if not hasattr(strategy, "num_replicas_in_sync"):
        return {}
    resolver = strategy.cluster_resolver
    known = {"replicas": strategy.num_replicas_in_sync}
    if resolver is None:
        return known
    task = {"task_type": resolver.task_type, "task_id": resolver.task_id, "resolver": type(resolver).__name__}
    return {**known, **task, "cluster": resolver.cluster_spec().as_dict()}


def _options(hook: Hook, name: str) -> Begin:
    def begin(options: Any) -> End:
        def end() -> None:
            values = {key: _plain(value) for key, value in vars(options).items() if not key.startswith("_")}
            hook.note("options", **{"class": name}, values=values)

        return end

    return begin


def _plain(value: Any) -> Any:
    plain = value is None or isinstance(value, (bool, int, float, str))
    return value if plain else getattr(value, "name", str(value))


def saving(hook: Hook, function: str) -> Begin:
    """Return a `begin` callback for `watch` that sets the phase and records the duration of a call."""

    def begin(_instance: Any) -> End | None:
        if get_ident() != hook.words[MAIN_THREAD] or hook.ticker.saving:
            return None
        hook.ticker.saving, started = True, time.monotonic()

        def end() -> None:
            hook.ticker.saving = False
            seconds = round(time.monotonic() - started, 6)
            hook.note("span", phase=PHASES[SAVE], seconds=seconds, function=function)
            with hook.guarded("weights"):
                hook.weights.see_save()

        return end

    return begin


def install_seeds(hook: Hook, tf: Any) -> None:
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
