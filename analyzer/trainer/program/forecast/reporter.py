"""Reports training progress in the log style of the command line."""

from __future__ import annotations

from .styles import WRITERS, write_plain


class Reporter:
    """Writes sentences, batches and steps; `which` selects the losses: loss, local_loss or both."""

    def __init__(self, style: str, which: str, steps: int = 0) -> None:
        self.style, self.which, self.steps = style, which, steps
        self.write = WRITERS[style]() if style in WRITERS else write_plain

    def say(self, message: str) -> None:
        """Report a sentence."""
        self.write(message, {})

    def batch(self, step: int, size: int) -> None:
        """Report that a batch has been read."""
        self.say(f"step {step}: batch of {size} ready")

    def step(self, step: int, loss: float, local: float, seconds: float) -> None:
        """Report the losses and the duration (in seconds) of a step."""
        losses = {"loss": loss, "local_loss": local}
        if self.which != "both":
            losses = {key: losses[key] for key in losses if key == self.which}
        joint = "=" if self.style == "key_value" else " "
        shown = " ".join(f"{key}{joint}{value:.4f}" for key, value in losses.items())
        values = {"event": "train_step", "step": step, **losses, "sec_per_step": round(seconds, 4)}
        if self.style == "tqdm":
            values["of"] = self.steps
        self.write(f"step{joint}{step} {shown} time{joint}{seconds:.3f}", values)
