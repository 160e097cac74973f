"""The middles of logs, endless, one style of printing each; step follows step, twenty a second."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import count

Lines = Callable[[int], Iterator[str]]
"""Worker → its lines, or parts of them."""

_CPP = (
    "2026-11-21 {clock}: I tensorflow/core/framework/local_rendezvous.cc:405] Local rendezvous is aborting "
    "with status: OUT_OF_RANGE: End of sequence\n\t [[{{{{node IteratorGetNext}}}}]]\n"
)
_CAUGHT = """\
Traceback (most recent call last):
  File "/workspace/train.py", line 88, in read_shard
    record = next(shard)
  File "/workspace/data/shards.py", line 41, in __next__
    raise ConnectionResetError(104, "Connection reset by peer")
ConnectionResetError: [Errno 104] Connection reset by peer
"""


def clock(step: int, mark: str = ".") -> str:
    """The time of day of a step, to the microsecond."""
    second, part = divmod(step, 20)
    return f"{1 + second // 3600 % 20:02d}:{second // 60 % 60:02d}:{second % 60:02d}{mark}{part * 50_000:06d}"


def _loss(step: int) -> float:
    return 1 / (1 + step % 1000) + 0.1


def chatty(worker: int) -> Iterator[str]:
    """A loop of the user's own: one line a step, with its time."""
    for step in count():
        yield (
            f"2026-11-21 {clock(step)} worker {worker} epoch {step // 100_000} step {step} "
            f"loss {_loss(step):.6f} accuracy 0.9123 examples/sec 1234.5\n"
        )


def bars(_worker: int) -> Iterator[str]:
    """Keras: an epoch is one line, drawn anew at every step."""
    for epoch in count(1):
        yield f"Epoch {epoch}/100000\n"
        for step in range(1, 501):
            done = step * 29 // 500
            bar = "=" * done + ">" + "." * (29 - done)
            loss = 1 / (epoch + step / 500)
            yield f"\r{step:3d}/500 [{bar}] - ETA: {500 - step}s - loss: {loss:.4f} - accuracy: 0.9123"
        yield "\n"


def quiet(_worker: int) -> Iterator[str]:
    """Keras with `verbose=2`: two lines an epoch."""
    for epoch in count(1):
        loss = 1 / epoch + 0.1
        yield f"Epoch {epoch}/10000000\n500/500 - 12s - loss: {loss:.4f} - accuracy: 0.9123 - 12s/epoch\n"


def cpp(worker: int) -> Iterator[str]:
    """The chatty loop, and a harmless message of TensorFlow's C++ code every seventh line."""
    for step, line in enumerate(chatty(worker)):
        yield line if step % 7 else _CPP.format(clock=clock(step)) + line


def python_logging(worker: int) -> Iterator[str]:
    """Python's `logging` with its usual format."""
    for step in count():
        yield (
            f"2026-11-21 {clock(step, ',')[:12]} - trainer.worker{worker} - INFO - "
            f"step {step} loss {_loss(step):.6f} accuracy 0.9123\n"
        )


def cloud(worker: int) -> Iterator[str]:
    """Entries of Google Cloud Logging, one JSON object a line."""
    labels = {"pod_name": f"train-worker-{worker}", "namespace_name": "ml", "container_name": "tensorflow"}
    entry = json.dumps({"resource": {"type": "k8s_container", "labels": labels}, "severity": "INFO"})
    for step in count():
        yield (
            f'{entry[:-1]}, "timestamp": "2026-11-21T{clock(step)}Z", "insertId": "{step:016x}", '
            f'"textPayload": "step {step} loss {_loss(step):.6f} accuracy 0.9123"}}\n'
        )


def structlog(worker: int) -> Iterator[str]:
    """JSON of the package structlog."""
    for step in count():
        yield (
            f'{{"worker": {worker}, "step": {step}, "loss": {_loss(step):.6f}, "event": "step done", '
            f'"level": "info", "timestamp": "2026-11-21T{clock(step)}Z"}}\n'
        )


def repeated_error(worker: int) -> Iterator[str]:
    """The chatty loop, and the same error every other line."""
    for line in chatty(worker):
        yield line + "ERROR:trainer:could not refresh the credentials: deadline exceeded, trying again\n"


def caught(worker: int) -> Iterator[str]:
    """The chatty loop, and a traceback that the script catches every 200th step."""
    for step, line in enumerate(chatty(worker)):
        yield line if step % 200 else line + _CAUGHT


def absl(worker: int) -> Iterator[str]:
    """The prefix of absl and glog."""
    for step in count():
        yield (
            f"I1121 {clock(step)} 14073{worker:04d} train.py:88] step {step} loss {_loss(step):.6f} "
            "accuracy 0.9123\n"
        )


def tqdm(_worker: int) -> Iterator[str]:
    """A bar of tqdm, drawn anew ten times a second."""
    for epoch in count(1):
        for step in range(1, 501):
            bar = "█" * (step // 50) + " " * (10 - step // 50)
            done = f"{step // 5:3d}%|{bar}| {step}/500 [00:12<00:34, 10.02it/s"
            yield f"\rEpoch {epoch}: {done}, loss={1 / (epoch + step / 500):.3f}]"
        yield "\n"


def non_ascii(worker: int) -> Iterator[str]:
    """The chatty loop of somebody who writes in German and Japanese."""
    for step in count():
        yield (
            f"2026-11-21 {clock(step)} Arbeiter {worker} – Größe 128 · 学習 step {step} "
            f"loss {_loss(step):.6f} Genauigkeit ≈ 0.9123 ✓\n"
        )


def long_lines(worker: int) -> Iterator[str]:
    """Lines of 2 to 20 kB: a loop that prints its weights."""
    weights = ", ".join(f"{number / 7919:.6f}" for number in range(2_000))
    for step, line in enumerate(chatty(worker)):
        yield f"{line[:-1]} weights [{weights[: 2_000 + step * 977 % 18_000]}]\n"


STYLES: Mapping[str, Lines] = {
    "chatty": chatty, "bars": bars, "quiet": quiet, "cpp": cpp, "python logging": python_logging,
    "cloud": cloud, "structlog": structlog, "repeated error": repeated_error, "caught tracebacks": caught,
    "absl": absl, "tqdm": tqdm, "non-ASCII": non_ascii, "long lines": long_lines,
}  # fmt: skip
