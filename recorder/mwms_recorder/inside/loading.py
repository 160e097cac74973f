"""Installs the hook once the imports of TensorFlow and Keras are complete."""

from __future__ import annotations

import os
import sys
import time
from types import ModuleType
from typing import TYPE_CHECKING, Any, Callable, Sequence

from mwms_recorder.inside.watch import End, Watched
from mwms_recorder.settings import Settings, decoded

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec

Installer = Callable[[ModuleType, float], None]
KERAS = ("keras", "tf_keras")


def load_from_environment() -> None:
    """Install the hook if the environment has settings of a supervisor."""
    settings = decoded(os.environ)
    if settings:
        load(settings)


def load(settings: Settings) -> None:
    """Install the hook into TensorFlow and Keras, now if they are imported, else after their import.

    If its files cannot be written, for example by another user, one line on stderr says so.
    """
    failed: list[OSError] = []

    def install(module: ModuleType, seconds: float) -> None:
        from mwms_recorder.inside.hook import hook_of

        try:
            hook_of(settings).install(module, seconds)
        except OSError as error:
            if not failed:
                sys.stderr.write(f"mwms-recorder: the program is not recorded from inside: {error}\n")
            failed.append(error)

    waiting: dict[str, Installer] = {}
    for name in ("tensorflow", *KERAS):
        module = sys.modules.get(name)
        if module is None:
            waiting[name] = install
        else:
            install(module, 0.0)
    if waiting:
        sys.meta_path.insert(0, ImportWatch(waiting))


class ImportWatch:
    """Import finder that calls an installer after the import of each module in `waiting`."""

    def __init__(self, waiting: dict[str, Installer]) -> None:
        self.waiting = waiting

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Return the spec of a module in `waiting`, whose loader calls the installer; else None."""
        if name not in self.waiting:
            return None
        specs = (finder.find_spec(name, path, target) for finder in sys.meta_path if finder is not self)
        spec = next(filter(None, specs), None)
        if spec and spec.loader and name in self.waiting:
            self._watch(spec.loader, name)
        return spec

    def _watch(self, loader: Any, name: str) -> None:
        """Make a loader's `exec_module` call the installer when the module has been executed."""
        kind = type(loader)

        def begin(_loader: Any) -> End:
            started = time.monotonic()

            def end() -> None:
                module = sys.modules.get(name)
                if hasattr(module, "__version__") and name in self.waiting:
                    loader.__class__ = kind
                    self.waiting.pop(name)(module, time.monotonic() - started)  # type: ignore[arg-type]

            return end

        watched = {"exec_module": Watched(kind.exec_module, begin), "__module__": kind.__module__}
        loader.__class__ = type(kind.__name__, (kind,), watched)
