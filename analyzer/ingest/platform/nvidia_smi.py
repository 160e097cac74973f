"""Output of nvidia-smi → GPU readings, driver and model facts, and matches.

The default table, `--query-gpu=… --format=csv` with a header, `dmon`, and parts of `-q` and `-L`; each
printed once or repeatedly.
"""

import re
from collections import Counter
from collections.abc import Mapping

from analyzer.ingest.logs.gauges import add_gauge, size
from analyzer.ingest.logs.prefixes.time_formats import MONTHS, calendar_time, seconds
from analyzer.ingest.matcher import Matcher
from analyzer.ingest.reader_output import SourceRows
from analyzer.ingest.text_reader import read_lines, searched_text

_VERSIONS = re.compile(r"(?P<what>Driver|CUDA) Version\s*:\s*(?P<value>\d[\w.]*)")
_ROW = re.compile(
    r"\|\s*(?P<index>\d{1,3})\s+(?P<name>\S.*?)\s+(?:On|Off|N/A)?\s*\|\s*[0-9A-Fa-f]{8,16}:[0-9A-Fa-f.:]+\s"
)
_USAGE = re.compile(
    r"\|.*?(?:(\d+)C\s.*?)?(?:(\d+)W\s*/[^|]*)?\|\s*(\d+)MiB\s*/\s*(\d+)MiB\s*\|(?:\s*(\d+)%)?"
)
_USAGE_COLUMNS = ("temperature.gpu", "power.draw", "memory.used", "memory.total", "utilization.gpu")
_PROCESS = re.compile(
    r"\|\s*(?P<gpu>\d{1,3})\s+(?:(?:N/A|\d+)\s+(?:N/A|\d+)\s+)?(?P<pid>\d+)\s+[CGM+]{1,3}\s+(?P<name>\S.*?)\s+"
    r"(?P<memory>\d+MiB|N/A)\s*\|"
)
_LISTED = re.compile(r"GPU (?P<index>\d{1,3}): (?P<name>.+?)(?: \(UUID: .*)?$")
_DATE = re.compile(rf"\w{{3}} ({'|'.join(MONTHS)}) +(\d\d?) (\d\d:\d\d:\d\d) (?:[A-Z]{{2,5}} )?(\d{{4}})\s*$")
_FAULT = re.compile(
    r"ERR!|Unknown Error|GPU is lost|GPU requires reset|Failed to initialize NVML|No devices were found"
    r"|couldn't communicate with the NVIDIA driver|Unable to determine the device handle|infoROM is corrupted"
)
_BORDER = re.compile(r"[|+=\-\s]*$|\|.*\|\s*$|\+[-=+]+\+?\s*$|=+NVSMI LOG=+\s*$")
_DETAIL = re.compile(r"(?P<indent>\s*)(?P<name>[A-Za-z][\w ./()-]*?)\s*(?::\s*(?P<value>.*))?$")
_DEVICE = re.compile(r"GPU [0-9A-Fa-f]{8,16}:[0-9A-Fa-f:.]+\s*$")
_NUMBER = re.compile(r"(?P<number>-?\d{1,15}(?:\.\d{1,6})?)\s?(?P<unit>%|[KMGT]i?B|W|C)?$")

_MAX_TABLE_LINE_CHARS = 400
"""Longer lines are no table rows; rows of a CSV query can be longer."""
_COLUMNS: Mapping[str, tuple[str, str]] = {
    "utilization.gpu": ("utilization_percent", ""),
    "utilization.memory": ("memory_busy_percent", ""),
    "memory.used": ("memory_used_bytes", "MiB"),
    "memory.total": ("memory_total_bytes", "MiB"),
    "memory.free": ("memory_free_bytes", "MiB"),
    "temperature.gpu": ("temperature_celsius", ""),
    "power.draw": ("power_watts", ""),
    "ecc.errors.uncorrected.volatile.total": ("uncorrected_errors", ""),
    "pwr": ("power_watts", ""),
    "gtemp": ("temperature_celsius", ""),
    "temp": ("temperature_celsius", ""),
    "sm": ("utilization_percent", ""),
    "mem": ("memory_busy_percent", ""),
    "fb": ("memory_used_bytes", "MiB"),
}
"""Column of a query or of dmon → (tag, unit if none is printed)."""
_FACTS = {"driver_version": "gpu_driver", "cuda_version": "cuda"}
_DETAILS = {
    ("utilization", "gpu"): "utilization.gpu",
    ("fb memory usage", "used"): "memory.used",
    ("fb memory usage", "total"): "memory.total",
    ("temperature", "gpu current temp"): "temperature.gpu",
}
"""(Section, name) of a line of `-q` → the equivalent query column."""


def read(output: SourceRows, matcher: Matcher) -> None:
    """Read GPU readings, driver and CUDA versions, GPU models, and the matches of rules."""
    lines = _LineReader(output)
    text = searched_text(output, matcher)
    read_lines(output, text, lines.read_line, "no known output of nvidia-smi")
    lines.add_models()


class _LineReader:
    """Reads lines in order, keeping the current header, GPU and time."""

    def __init__(self, output: SourceRows) -> None:
        self.output = output
        self.time: float | None = None
        self.gpu = ""
        self.section = ""
        self.header: list[str] = []
        self.separator: str | None = ","
        self.gpu_numbers: dict[str, str] = {}
        self.models: dict[str, tuple[str, int]] = {}
        self.added: set[tuple[str, str]] = set()

    def read_line(self, number: int, line: str) -> bool:
        """Read one line, False if it is not understood; an error reported for a GPU also becomes a fact."""
        line = line.rstrip("\r")
        if fault := _FAULT.search(line):
            self._add_fact(number, "gpu_error", line.strip(" |")[:400], repeated=True)
        is_short = len(line) <= _MAX_TABLE_LINE_CHARS
        return bool(
            (is_short and self._table(number, re.sub(r"\s{3,}", "  ", line)))
            or self._csv(number, line)
            or self._dmon(number, line)
            or (is_short and self._detail(number, line))
            or fault
        )

    def add_models(self) -> None:
        """Add the number of GPUs of each model."""
        if self.models:
            counted = Counter(name for name, _ in self.models.values())
            models = ", ".join(f"{count} x {name}" for name, count in sorted(counted.items()))
            line = min(line for _, line in self.models.values())
            self._add_fact(line, "gpu_model", models)

    def _table(self, number: int, line: str) -> bool:
        if date := _DATE.match(line):
            self.time = calendar_time(*date.groups())
            self.output.observe_time(self.time)
            return True
        for version in _VERSIONS.finditer(line):
            self._add_fact(number, _FACTS[f"{version['what'].lower()}_version"], version["value"])
        if process := _PROCESS.match(line):
            description = f"{process['gpu']}: {process['name']} (pid {process['pid']}), {process['memory']}"
            self._add_fact(number, "gpu_process", description)
        elif row := _ROW.match(line):
            self.gpu = row["index"]
            self.models.setdefault(self.gpu, (re.sub(r"\s+(?:On|Off)$", "", row["name"]), number))
        elif self.gpu and "MiB" in line and (usage := _USAGE.match(line)):
            for column, cell in zip(_USAGE_COLUMNS, usage.groups(), strict=True):
                self._add_gauge(number, column, cell)
        elif listed := _LISTED.match(line):
            self.models.setdefault(listed["index"], (listed["name"], number))
        else:
            return bool(_BORDER.match(line))
        return True

    def _csv(self, number: int, line: str) -> bool:
        cells = [cell.strip() for cell in line.split(",")]
        names = [cell.partition("[")[0].strip().lower() for cell in cells]
        if any(name in _COLUMNS or name in _FACTS for name in names) and not any(map(_NUMBER.match, cells)):
            self.header, self.separator = names, ","
            return True
        if self.separator != "," or not self.header or len(cells) != len(self.header):
            return False
        self._row(number, dict(zip(self.header, cells, strict=True)))
        return True

    def _dmon(self, number: int, line: str) -> bool:
        words = line.lstrip("# ").split()
        if line.startswith("#"):
            if any(word.lower() in {"gpu", "sm", "pwr", "fb"} for word in words):
                self.header, self.separator = [word.lower() for word in words], None
            return bool(self.header)
        if self.separator is not None or len(words) != len(self.header):
            return False
        cells = dict(zip(self.header, words, strict=True))
        day = cells.get("date", "")
        if len(day) == 8 and day.isdigit():
            cells["timestamp"] = f"{day[:4]}-{day[4:6]}-{day[6:]} {cells.get('time', '')}"
        self._row(number, {"index": cells.get("gpu", "")} | cells)
        return True

    def _row(self, number: int, cells: Mapping[str, str]) -> None:
        if stamp := cells.get("timestamp"):
            self.time = seconds(stamp)
            self.output.observe_time(self.time)
        self.gpu = self._gpu_index(cells)
        if name := cells.get("name") or cells.get("gpu_name"):
            self.models.setdefault(self.gpu, (name, number))
        for column, cell in cells.items():
            if column in _FACTS and re.match(r"\d", cell):
                self._add_fact(number, _FACTS[column], cell)
            elif column in _COLUMNS:
                self._add_gauge(number, column, cell)

    def _gpu_index(self, cells: Mapping[str, str]) -> str:
        """Return the GPU's index; if only a bus id or UUID is printed, number them in order."""
        if cells.get("index", "").isdigit():
            return cells["index"]
        ids = ("pci.bus_id", "gpu_bus_id", "uuid", "gpu_uuid")
        named = next((cells[key] for key in ids if key in cells), "")
        return self.gpu_numbers.setdefault(named, str(len(self.gpu_numbers))) if named else ""

    def _detail(self, number: int, line: str) -> bool:
        """Read a line of `-q`, which has sections of name–value pairs."""
        if _DEVICE.match(line):
            self.gpu = self.gpu_numbers.setdefault(line.strip(), str(len(self.gpu_numbers)))
            return True
        detail = _DETAIL.match(line)
        if not detail or (detail["value"] is None and not detail["indent"]):
            return False
        name, value = detail["name"].lower(), (detail["value"] or "").strip()
        if detail["value"] is None:
            self.section = name
        elif name == "product name":
            self.models.setdefault(self.gpu, (value, number))
        elif column := _DETAILS.get((self.section, name)):
            self._add_gauge(number, column, value)
        return True

    def _add_gauge(self, number: int, column: str, cell: str | None) -> None:
        found = _NUMBER.match(cell or "")
        if not found:
            return
        tag, unit = _COLUMNS[column]
        value = size(found["number"], found["unit"] or unit) if unit else float(found["number"])
        add_gauge(self.output, f"gpu{self.gpu}/{tag}", value, line=number, time=self.time)

    def _add_fact(self, line: int, key: str, value: str, *, repeated: bool = False) -> None:
        """Add a fact once, or each time if `repeated`."""
        if repeated or (key, value) not in self.added:
            self.added.add((key, value))
            self.output.add("facts", line=line, time=self.time, key=key, value=value)
