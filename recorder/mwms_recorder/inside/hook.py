"""The hook of one process: what it writes to, and the parts that it consists of."""

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
from mwms_recorder.inside import data, endings, keras, seeds, strategies
from mwms_recorder.inside.functions import Functions
from mwms_recorder.inside.weights import Weights
from mwms_recorder.journal import Journal
from mwms_recorder.masking import masked_command
from mwms_recorder.settings import Settings


class Hook:
    """Notes what happens in this process; does nothing in processes that are forked from it."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.journal = Journal(os.path.join(settings.directory, f"process-{os.getpid()}.jsonl"))
        self.words = progress.create(os.path.join(settings.pages, f"{os.getpid()}.page"))
        self.words[progress.MAIN_THREAD] = threading.main_thread().ident or 0
        self.active, self.failed = True, False
        self.functions = Functions(self)
        self.weights = Weights(self)
        self._stacks: Any = None
        os.register_at_fork(after_in_child=self._forget)

    def install(self, module: ModuleType, seconds: float) -> None:
        """Note what a module does from now on: TensorFlow or Keras."""
        with self.guarded(module.__name__):
            if module.__name__ == "tensorflow":
                self._install_tensorflow(module, seconds)
            else:
                keras.install(self, module)

    def _install_tensorflow(self, tf: Any, seconds: float) -> None:
        self.words[progress.STARTED] = time.monotonic_ns()
        self.note("process", **process_facts(tf, seconds))
        if self.settings.records("stacks"):
            self._answer_with_stacks()
        parts: list[Callable[[Hook, Any], None]] = [
            *(strategies.install, seeds.install, data.install, endings.install),
            *(self.functions.install, self.weights.install),
        ]
        for part in parts:
            with self.guarded(part.__module__):
                part(self, tf)
        atexit.register(self._finish)

    def _answer_with_stacks(self) -> None:
        """Have faulthandler write all stacks when the observer sends a signal that nobody uses."""
        number = free_signal()
        if number:
            path = os.path.join(self.settings.pages, f"{os.getpid()}.stacks")
            self._stacks = open(path, "w")  # noqa: SIM115 - stays open
            faulthandler.register(number, file=self._stacks, all_threads=True)
            self.words[progress.STACK_SIGNAL] = number

    def note(self, event: str, **values: Any) -> None:
        """Write an event."""
        if self.active:
            self.journal.append(event, **values)

    def guarded(self, part: str) -> Guard:
        """Return a context in which a failure ends with one line on stderr."""
        return Guard(self, part)

    def fail(self, part: str, error: BaseException) -> None:
        """Say once that a part failed."""
        if not self.failed:
            self.failed = True
            self.note("recorder_failed", part=part, error=repr(error))
            sys.stderr.write(f"mwms-recorder: {part} is not recorded: {error!r}\n")

    def _forget(self) -> None:
        """Stop in a forked process: files and counters are its parent's."""
        self.active = False
        self.words = memoryview(bytearray(progress.PAGE_BYTES)).cast("Q")
        self.functions.forget()

    def _finish(self) -> None:
        path = os.path.join(self.settings.pages, f"{os.getpid()}.page")
        with self.guarded("finish"):
            page = progress.read(path) if self.active else None
            self.note("finished", steps=page.steps() if page else 0)


class Guard:
    """A context in which exceptions are told to the hook, and go no further."""

    def __init__(self, hook: Hook, part: str) -> None:
        self.hook, self.part = hook, part

    def __enter__(self) -> None:
        """Begin."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        """Tell the hook of an exception."""
        if isinstance(error, Exception):
            self.hook.fail(self.part, error)
        return isinstance(error, Exception)


_HOOKS: dict[int, Hook] = {}
"""The hook of this process, by its id: a forked process has another."""


def hook_of(settings: Settings) -> Hook:
    """Return the one hook of this process."""
    return _HOOKS.get(os.getpid()) or _HOOKS.setdefault(os.getpid(), Hook(settings))


def process_facts(tf: Any, seconds: float) -> dict[str, Any]:
    """Return what is said of a process when it has imported TensorFlow."""
    packages = installed()
    return {
        "pid": os.getpid(),
        "parent": os.getppid(),
        "python": platform.python_version(),
        "executable": sys.executable,
        "tensorflow": tf.__version__,
        **({"keras": packages["keras"]} if "keras" in packages else {}),
        "arguments": masked_command(sys.argv),
        "main_thread": hex(threading.main_thread().ident or 0),
        "packages": packages,
        "import_seconds": round(seconds, 3),
    }


def installed() -> dict[str, str]:
    """Return installed distributions and versions by the names of their metadata directories; opens none."""
    found: dict[str, str] = {}
    for path in reversed(sys.path):
        names = os.listdir(path) if os.path.isdir(path) else []
        parts = (name[:-10].rpartition("-") for name in names if name.endswith(".dist-info"))
        found.update({part[0].lower().replace("_", "-"): part[2] for part in parts})
    return dict(sorted(found.items()))


def free_signal() -> int:
    """Return a real-time signal that this process does not handle, else 0."""
    for number in range(signal.SIGRTMAX - 2, signal.SIGRTMIN, -1):
        if signal.getsignal(number) == signal.SIG_DFL:
            return number
    return 0
