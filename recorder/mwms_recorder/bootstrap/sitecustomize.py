"""Loads the recorder's hook when Python starts, then the user's own `sitecustomize`."""

import os
import sys


def _load_hook() -> None:
    """Import the hook from this file's package, which may not be installed for the interpreter."""
    import importlib.util

    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    if "mwms_recorder" not in sys.modules:
        where = os.path.join(package, "__init__.py")
        spec = importlib.util.spec_from_file_location(
            "mwms_recorder", where, submodule_search_locations=[package]
        )
        if spec and spec.loader:
            sys.modules["mwms_recorder"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules["mwms_recorder"])
    from mwms_recorder.inside.loading import load_from_environment

    load_from_environment()


def _load_next() -> None:
    """Import the user's own `sitecustomize`, if any, after removing this directory from `sys.path`."""
    own = sys.modules.pop(__name__, None)
    here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != here]
    try:
        import sitecustomize  # type: ignore[import-not-found]  # noqa: F401
    except ImportError as error:
        if error.name != "sitecustomize":
            raise
    finally:
        if own is not None:
            sys.modules.setdefault(__name__, own)


try:
    _load_hook()
except Exception as error:  # noqa: BLE001 - whatever it is, the program goes on without the hook
    sys.stderr.write(f"mwms-recorder: recording from outside only: {error!r}\n")
_load_next()
