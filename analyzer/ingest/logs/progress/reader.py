"""Progress lines → scalars: Keras bars, `verbose=2`, Estimator, tqdm, and custom training loops.

A value is *global* if TensorFlow has reduced it over all replicas (everything that `fit` prints), *local* if
its name says so, and *unknown* for all other values of custom loops.
"""

from analyzer.ingest.logs.progress.counters import Counters, counter_layout
from analyzer.ingest.logs.progress.layouts import NOT_PROGRESS, layout_of, with_names
from analyzer.ingest.logs.progress.metrics import has_known, metrics
from analyzer.ingest.logs.progress.points import ProgressPoint, count_of, values_of, zero_digits


class ProgressReader:
    """Reads the progress lines of one source in order, keeping the epoch that a bar belongs to."""

    def __init__(self) -> None:
        """Create for a source of which no line has been read."""
        self.epoch: int | None = None
        self.epochs: int | None = None
        self._heading: ProgressPoint | None = None
        """The step of a line without metrics, which may follow on the lines below."""
        self.has_steps = False
        """Whether a line has named its step or epoch."""
        self._counters = Counters()

    def points(self, text: str) -> list[ProgressPoint]:
        """Return the values of one progress line; empty for any other line.

        A bar that still shows `ETA` at its last step does not end its epoch: validation may follow.
        """
        text = with_names(text)
        layout = layout_of(zero_digits(text))
        if layout is None:
            return []
        origin, self.has_steps = layout.origin, True
        epoch, epochs, step, steps = (match and count_of(text[slice(*match)]) for match in layout.position)
        if origin == "epoch":
            self.epoch, self.epochs = epoch, epochs
            return [ProgressPoint("epoch", epoch, epochs, 0, None, float(epoch or 0), "global", "fit")]
        if origin == "checkpoint":
            place = (None, None, step, None, float(step or 0))
            return [ProgressPoint("checkpoint_step", *place, "global", "estimator")] if step else []
        if origin == "end of epoch":
            base = ProgressPoint("epoch", self.epoch, self.epochs, None, None, 0.0, "global", "fit")
            return list(values_of(text, layout, base)) if self.epoch else []
        if origin == "fit":
            epoch, epochs = self.epoch, self.epochs
            steps = None if step == steps and "ETA" in text else steps
        scope = "global" if origin == "fit" else "unknown"
        printer = "estimator" if origin == "evaluation" else origin
        base = ProgressPoint("step", epoch, epochs, step, steps, float(step or 0), scope, printer)
        values = list(values_of(text, layout, base))
        self._heading = None if values else base
        return [base, *values]

    def points_counted(self, text: str) -> list[ProgressPoint]:
        """Return the values of a line like `round 12: bce 0.31`, once its counter has grown twice in a row.

        Empty if the log has steps or epochs by one of their usual names.
        """
        found = None if self.has_steps else counter_layout(zero_digits(text))
        if found is None:
            return []
        key, layout = found
        step, steps = (match and count_of(text[slice(*match)]) for match in layout.position[2:])
        if not self._counters.counts_steps(key, step or 0):
            return []
        base = ProgressPoint("step", None, None, step, steps, float(step or 0), "unknown", "loop")
        return [base, *values_of(text, layout, base)]

    def points_below(self, text: str) -> list[ProgressPoint]:
        """Return the metrics in an indented line below one that only names its step."""
        if self._heading is None:
            return []
        if text and text[0] not in " \t":
            self._heading = None
            return []
        if not has_known(text) or NOT_PROGRESS.search(text):
            return []
        found = ((*metric.read(text), metric.scope) for metric in metrics(text))
        return [self._heading._replace(tag=tag, value=value, scope=scope) for tag, value, scope in found]
