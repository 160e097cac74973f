"""Watches a process that called `mwms_recorder.start()`; arguments: settings as JSON, process ID."""

from __future__ import annotations

import json
import os
import sys

from mwms_recorder.outside.observer import Observer
from mwms_recorder.outside.recording import remove_pages
from mwms_recorder.settings import Settings


def main() -> None:
    """Detach from the process given in the arguments, and watch it until its end."""
    if os.fork():
        os._exit(0)
    settings, pid = Settings(**json.loads(sys.argv[1])), int(sys.argv[2])
    Observer(settings, pid).watch()
    remove_pages(settings.pages)


if __name__ == "__main__":
    main()
