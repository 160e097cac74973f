"""Records the strategies and communication options that are created, the resolved cluster, and saves."""

from __future__ import annotations

import time
from _thread import get_ident
from typing import TYPE_CHECKING, Any

from mwms_recorder.inside.watch import Begin, End, caller, watch
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
            watch(
                getattr(module, name, object),
                "__init__",
                _options(hook, f"tf.distribute.experimental.{name}"),
            )
    for kind, name in (
        (tf.train.Checkpoint, "save"),
        (tf.train.Checkpoint, "write"),
        (tf.train.CheckpointManager, "save"),
    ):
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
                seconds = round(time.monotonic() - started, 6)
                hook.note(
                    "strategy", **{"class": kind}, made=True, seconds=seconds, at=at, **described(strategy)
                )

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
    return (
        value
        if value is None or isinstance(value, (bool, int, float, str))
        else getattr(value, "name", str(value))
    )


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

        return end

    return begin
