# ruff: noqa: T201
"""Reports progress in the style of the command line."""

from __future__ import annotations

import logging

log = logging.getLogger("train")


class Reporter:
    """Tells the progress in the manner that was asked for."""

    def __init__(self, style: str, which: str) -> None:
        self.style, self.which = style, which

    def say(self, message: str) -> None:
        """One line, as a sentence."""
        if self.style == "logging":
            log.info(message)
        else:
            print(message)

    def batch(self, step: int, size: int) -> None:
        """Say that a batch has been read."""
        self.say(f"step {step}: batch of {size} ready")

    def step(self, step: int, loss: float, local: float, seconds: float) -> None:
        """Say what a step gave."""
        losses = {"loss": loss, "local_loss": local}
        if self.which != "both":
            losses = {key: losses[key] for key in losses if key == self.which}
        joint = "=" if self.style == "key_value" else " "
        told = " ".join(f"{key}{joint}{value:.4f}" for key, value in losses.items())
        self.say(f"step{joint}{step} {told} time{joint}{seconds:.3f}")
