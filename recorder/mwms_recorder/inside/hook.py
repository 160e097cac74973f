"""Defines the hook, which records the events of one Python process."""

from __future__ import annotations

import atexit
import faulthandler
import os
import platform
import signal
import sys
import threading
import time
from types import ModuleType
from typing import Any, Callable

from mwms_recorder import progress
from mwms_recorder.inside import data, endings, strategies
from mwms_recorder.inside.finite import OwnLoss
from mwms_recorder.inside.ticks import BatchEnd, Functions, Ticker
from mwms_recorder.inside.watch import watch, wrap
from mwms_recorder.inside.weights import Weights
from mwms_recorder.journal import Journal, masked_command
from mwms_recorder.settings import Settings


class Hook:
    """Records events and progress of this process; inactive in processes forked from it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.journal = Journal(os.path.join(settings.directory, f"process-{os.getpid()}.jsonl"))
        self.words = progress.create(os.path.join(settings.pages, f"{os.getpid()}.page"))
        self.words[progress.MAIN_THREAD] = threading.main_thread().ident or 0
        self.active, self.failed = True, False
        self.ticker = Ticker(self)
        self.functions = Functions(self)
        self.weights = Weights(self)
        self.own_loss = OwnLoss(self)
        self._stacks: Any = None
        os.register_at_fork(after_in_child=self._forget)

    def install(self, module: ModuleType, seconds: float) -> None:
        """Start to record what TensorFlow or Keras does; `seconds` is the duration of the import."""
        with self.guarded(module.__name__):
            if module.__name__ == "tensorflow":
                self._install_tensorflow(module, seconds)
            else:
                self._install_keras(module)

    def _install_tensorflow(self, tf: Any, seconds: float) -> None:
        self.words[progress.STARTED] = time.monotonic_ns()
        self.note("process", **process_facts(tf, seconds))
        if self.settings.records("stacks"):
            self._answer_with_stacks()
        parts: list[Callable[[Hook, Any], None]] = [
            *(strategies.install, strategies.install_seeds, data.install, endings.install),
            *(self.functions.install, self.weights.install, self.own_loss.install),
        ]
        for part in parts:
            with self.guarded(part.__module__):
                part(self, tf)
        if type(vars(tf).get("keras")) is ModuleType:  # before 2.6, Keras is a part of TensorFlow
            self._install_keras(tf.keras)
        atexit.register(self._finish)

    def _install_keras(self, keras: Any) -> None:
        """Watch the public functions of Keras 2 or 3 for batches, saves and seeds."""
        callbacks = keras.callbacks.CallbackList
        self.own_loss.install_keras(callbacks)
        watch(callbacks, "on_train_begin", BatchEnd(callbacks, self).begin)
        for name in ("save", "save_weights"):
            watch(keras.Model, name, strategies.saving(self, f"Model.{name}"))
        wrap(keras.utils, "set_random_seed", strategies.noting(self, "keras.utils.set_random_seed"))

    def _answer_with_stacks(self) -> None:
        """Register faulthandler for an unused signal, by which the observer requests all stacks."""
        number = free_signal()
        if number:
            path = os.path.join(self.settings.pages, f"{os.getpid()}.stacks")
            self._stacks = open(path, "w")  # noqa: SIM115 - stays open
            faulthandler.register(number, file=self._stacks, all_threads=True)
            self.words[progress.STACK_SIGNAL] = number

    def note(self, event: str, **values: Any) -> None:
        """Append an event to the journal; does nothing in forked processes."""
        if self.active:
            self.journal.append(event, **values)

    def guarded(self, part: str) -> Guard:
        """Return a context manager that swallows exceptions of a part and reports them with `fail`."""
        return Guard(self, part)

    def fail(self, part: str, error: BaseException) -> None:
        """Record the first failure of any part, and print it to stderr; ignore later ones."""
        if not self.failed:
            self.failed = True
            self.note("recorder_failed", part=part, error=repr(error))
            sys.stderr.write(f"mwms-recorder: {part} is not recorded: {error!r}\n")

    def _forget(self) -> None:
        """Deactivate the hook in a forked process, because files and counters belong to the parent."""
        self.active = False
        self.words = memoryview(bytearray(progress.PAGE_BYTES)).cast("Q")

    def _finish(self) -> None:
        path = os.path.join(self.settings.pages, f"{os.getpid()}.page")
        self.ticker.finish()
        with self.guarded("own loss"):
            self.own_loss.finish()
        with self.guarded("finish"):
            page = progress.read(path) if self.active else None
            self.note("finished", steps=page.steps() if page else 0)


class Guard:
    """Context manager that passes exceptions to `Hook.fail` and swallows them."""

    def __init__(self, hook: Hook, part: str) -> None:
        self.hook, self.part = hook, part

    def __enter__(self) -> None:
        """Do nothing on entry."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        """Pass an `Exception` to the hook, and return True to swallow it."""
        if isinstance(error, Exception):
            self.hook.fail(self.part, error)
        return isinstance(error, Exception)


_HOOKS: dict[int, Hook] = {}
"""The hooks by process ID, because a forked process inherits that of its parent."""


def hook_of(settings: Settings) -> Hook:
    """Return the `Hook` of this process; the first call in a process creates it."""
    return _HOOKS.get(os.getpid()) or _HOOKS.setdefault(os.getpid(), Hook(settings))


def process_facts(tf: Any, seconds: float) -> dict[str, Any]:
    """Return what the event `process` holds: versions, arguments and packages."""
    return {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "tensorflow": tf.__version__,
        "arguments": masked_command(sys.argv),
        "main_thread": hex(threading.main_thread().ident or 0),
        "packages": installed(),
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "import_seconds": round(seconds, 3),
    }


def installed() -> dict[str, str]:
    """Return versions of installed distributions by name, read from directory names only."""
    found: dict[str, str] = {}
    for path in reversed(sys.path):
        names = os.listdir(path) if os.path.isdir(path) else []
        parts = (name[:-10].rpartition("-") for name in names if name.endswith(".dist-info"))
        found.update({part[0].lower().replace("_", "-"): part[2] for part in parts})
    return dict(sorted(found.items()))


def free_signal() -> int:
    """Return the number of a real-time signal that this process does not handle; 0 if none."""
    for number in range(signal.SIGRTMAX - 2, signal.SIGRTMIN, -1):
        if signal.getsignal(number) == signal.SIG_DFL:
            return number
    return 0
