"""Watches a process that called `mwms_recorder.start()`; its arguments are the settings and a process id."""

from __future__ import annotations

import json
import os
import sys

from mwms_recorder.outside.observer import Observer
from mwms_recorder.outside.recording import remove_pages
from mwms_recorder.settings import Settings


def main() -> None:
    """Detach, so that the process gets no child to wait for, and watch it until its end."""
    if os.fork():
        os._exit(0)
    settings, pid = Settings(**json.loads(sys.argv[1])), int(sys.argv[2])
    Observer(settings, pid).watch()
    remove_pages(settings.pages)


if __name__ == "__main__":
    main()
