"""Records the phase of the main thread (input, save, …) during watched calls."""

from __future__ import annotations

import time
from _thread import get_ident
from typing import TYPE_CHECKING, Any

from mwms_recorder.inside.watch import Begin, End
from mwms_recorder.progress import EVALUATION, MAIN_THREAD, OTHER, PHASE, PHASES, SAVE

if TYPE_CHECKING:
    from mwms_recorder.inside.hook import Hook

RECORDED = {SAVE, EVALUATION}
"""Phases whose durations are written to the journal; the others are too frequent."""


def phase(hook: Hook, number: int, function: str) -> Begin:
    """Return a `begin` callback for `watch` that sets the main thread's phase during a call."""

    def begin(_instance: Any) -> End | None:
        words = hook.words
        before = words[PHASE]
        if get_ident() != words[MAIN_THREAD] or before == number:
            return None
        words[PHASE], started = number, time.monotonic()

        def end() -> None:
            hook.words[PHASE] = before or OTHER
            if number in RECORDED:
                seconds = round(time.monotonic() - started, 6)
                hook.note("span", phase=PHASES[number], seconds=seconds, function=function)

        return end

    return begin
