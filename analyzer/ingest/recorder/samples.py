"""Resource samples, every five seconds → readings of the machine in `scalars`."""

from collections.abc import Mapping
from operator import itemgetter

from analyzer.ingest.logs.gauges import add_gauge
from analyzer.ingest.platform.disks import note_fullest
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.recorder.event_reader import Event, EventReader

_TAGS: Mapping[str, str] = {
    "resident_bytes": "rss_bytes",
    "memory_available_bytes": "memory_available_bytes",
    "cgroup_bytes": "memory_used_bytes",
    "swap_used_bytes": "swap_used_bytes",
    "disk_free_bytes": "disk_free_bytes",
    "shared_memory_free_bytes": "shared_memory_free_bytes",
    "open_files": "open_files_count",
    "threads": "threads_count",
    "processes": "processes",
}
_GPU_TAGS: Mapping[str, str] = {
    "memory_used_bytes": "memory_used_bytes",
    "utilization_percent": "utilization_percent",
    "temperature_celsius": "temperature_celsius",
    "power_watts": "power_watts",
    "clock_sm_mhz": "clock_sm_mhz",
}
_COUNTERS: Mapping[str, tuple[str, float]] = {
    "cpu_seconds": ("cpu_percent", 100.0),
    "throttled_seconds": ("throttled_percent", 100.0),
    "retransmits": ("retransmits_per_second", 1.0),
}
"""Monotonic counter → the tag for its rate per second, and the factor for that rate."""
_FULL_PERCENT = 85
"""Use of a disk from which the next checkpoint, several times as large while it is written, may not fit."""
_SLOWING = frozenset({"hw_slowdown", "hw_thermal_slowdown", "sw_thermal_slowdown", "hw_power_brake_slowdown"})
"""Throttle reasons of heat and power supply; a power cap is left out, as a busy GPU runs at it."""


class SampleReader(EventReader):
    """Reads resource samples; counters become rates between two samples."""

    def __init__(self, output: SourceRows) -> None:
        super().__init__(output)
        self._before: Event = {}
        self._reported: set[str] = set()

    def _read_sample(self, number: int, event: Event) -> None:
        time = float(event["time"])
        for key, tag in _TAGS.items():
            if key in event:
                add_gauge(self._output, tag, float(event[key]), line=number, time=time)
        for kind, percent in event.get("pressure", {}).items():
            add_gauge(self._output, f"{kind}_pressure_percent", float(percent), line=number, time=time)
        self._add_rates(number, event, time)
        for gpu in event.get("gpus", ()):
            self._add_gpu(number, gpu, event)
        self._before = event

    def _read_disks(self, number: int, event: Event) -> None:
        disks = [disk for disk in event["disks"] if disk["total_bytes"]]
        used = [(_used_percent(disk), disk["path"], number) for disk in disks]
        note_fullest(self._output, "disk_used_percent", used)
        for disk in disks:
            self._add_fact(number, "disk", _disk(disk), event)
        smallest = min(disks, key=itemgetter("free_bytes"), default=None)
        if smallest and _used_percent(smallest) >= _FULL_PERCENT:
            self._add_fact(number, "full_disk", _disk(smallest), event)

    def _add_rates(self, number: int, event: Event, time: float) -> None:
        passed = float(event["monotonic"]) - float(self._before.get("monotonic", event["monotonic"]))
        for key, (tag, factor) in _COUNTERS.items():
            if passed > 0 and key in event and key in self._before:
                rate = factor * (float(event[key]) - float(self._before[key])) / passed
                add_gauge(self._output, tag, max(0.0, rate), line=number, time=time)

    def _add_gpu(self, number: int, gpu: Event, event: Event) -> None:
        name, time = f"gpu{int(gpu['index'])}", float(event["time"])
        for key, tag in _GPU_TAGS.items():
            if key in gpu:
                add_gauge(self._output, f"{name}/{tag}", float(gpu[key]), line=number, time=time)
        slowing = _SLOWING.intersection(gpu.get("throttle_reasons", ()))
        if "throttle_reasons" in gpu:
            slowed = 100.0 * bool(slowing)
            add_gauge(self._output, f"{name}/slowed_percent", slowed, line=number, time=time)
        for reason in sorted(slowing):
            self._report_once(number, "gpu_throttled", f"{name}: {reason}", event)
        if gpu.get("lost"):
            self._report_once(number, "gpu_error", f"GPU is lost: nvidia-smi no longer lists {name}", event)

    def _report_once(self, number: int, key: str, value: str, event: Event) -> None:
        if value not in self._reported:
            self._reported.add(value)
            self._add_fact(number, key, value, event)


def _used_percent(disk: Event) -> int:
    return round(100 - 100 * float(disk["free_bytes"]) / float(disk["total_bytes"]))


def _disk(disk: Event) -> str:
    """Format a file system: `/data (ext4, 1,000,000 bytes)`."""
    return f"{disk['path']} ({disk.get('type', 'unknown')}, {int(disk['total_bytes']):,} bytes)"
