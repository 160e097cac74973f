"""Reads checksums of weights and batches, values that were not finite, and which peers were reachable."""

from analyzer.ingest.logs.text import storable
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.recorder.event_reader import Event, EventReader


class CheckReader(EventReader):
    """Reads checksums into `checksums` and probes of addresses into `reach`."""

    def __init__(self, output: SourceRows) -> None:
        super().__init__(output)
        self._first_dataset = True

    def _read_weights(self, number: int, event: Event) -> None:
        kind = "saved_weights" if event.get("saved") else "weights"
        for variable in event["variables"]:
            if "crc32" in variable:
                shape = ", ".join(map(str, variable["shape"]))
                name = f"{variable['name']} [{shape}]"
                self._add(number, event, kind, int(event["step"]), name, str(variable["crc32"]))

    def _read_batch(self, number: int, event: Event) -> None:
        name = f"iterator {event.get('iterator', 0)}"
        self._add(number, event, "batch", int(event["index"]), name, event["sha256"])

    def _read_nonfinite_batch(self, number: int, event: Event) -> None:
        name = f"iterator {event['iterator']}"
        self._add(number, event, "nonfinite_batch", int(event["index"]), name, event["value"])

    def _read_own_loss(self, number: int, event: Event) -> None:
        name = f"epoch {int(event['epoch'])}, batch {int(event['batch'])}"
        self._add(number, event, "own_loss", int(event["step"]), name, event["value"])

    def _read_dataset(self, number: int, event: Event) -> None:
        """Add rows on how a process shards and shuffles its training data: its first distributed dataset.

        An unsharded pipeline becomes a checksum, to compare between workers, and a fact; elements sharded in
        an unseeded order become a fact.
        """
        pipeline, policy = event.get("pipeline", {}), event.get("auto_shard_policy")
        first, self._first_dataset = self._first_dataset, False
        if first and policy == "OFF" and "graph_sha256" in pipeline:
            at = event.get("at", {})
            name = f"dataset distributed at {at.get('file')}:{at.get('line')}"
            self._add(number, event, "pipeline", 0, name, pipeline["graph_sha256"])
            reads = "files" if pipeline["reads_files"] else "memory"
            order = "each in an order of its own" if pipeline["unseeded"] else "in the same order"
            self._add_fact(number, f"unsharded_from_{reads}", order, event)
        by_element = policy == "DATA" or (policy == "AUTO" and pipeline.get("reads_files") is False)
        if first and by_element and pipeline.get("unseeded"):
            self._add_fact(number, "sharded_in_own_order", policy, event)

    def _add(self, number: int, event: Event, kind: str, step: int, name: str, digest: str) -> None:
        self._output.add(
            "checksums", line=number, time=float(event["time"]), kind=kind, step=step,
            name=storable(name)[:400], digest=storable(digest),
        )  # fmt: skip

    def _read_reach(self, number: int, event: Event) -> None:
        for target in event["targets"]:
            self._output.add(
                "reach", line=number, time=float(event["time"]), reason=storable(event["reason"]),
                peer=storable(target["task"]), address=storable(target["address"]),
                outcome=storable(target["outcome"]), own=bool(target.get("own")),
                seconds=None if target.get("answer_seconds") is None else float(target["seconds"]),
                silent="answer_seconds" in target and target["answer_seconds"] is None,
            )  # fmt: skip
