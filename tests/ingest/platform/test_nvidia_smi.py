"""What nvidia-smi prints, in the forms that people keep."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
LOG = {"worker-1.log": "step 1 loss 0.5\n"}
NAME = "nvidia-smi-worker-1.txt"

TABLE = """\
Sat Nov 21 02:08:30 2026
+-----------------------------------------------------------------------------------------+
| NVIDIA-SMI 550.54.15              Driver Version: 550.54.15      CUDA Version: 12.4     |
|-----------------------------------------+------------------------+----------------------+
| GPU  Name                 Persistence-M | Bus-Id          Disp.A | Volatile Uncorr. ECC |
| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage | GPU-Util  Compute M. |
|                                         |                        |               MIG M. |
|=========================================+========================+======================|
|   0  NVIDIA A100-SXM4-40GB          On  |   00000000:3B:00.0 Off |                    0 |
| N/A   34C    P0              52W / 400W |    1024MiB /  40960MiB |     37%      Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+
|   1  NVIDIA A100-SXM4-40GB          On  |   00000000:5E:00.0 Off |                    0 |
|ERR!   ERR! ERR!             ERR! / ERR! |    2048MiB /  40960MiB |     ERR!     Default |
|                                         |                        |             Disabled |
+-----------------------------------------+------------------------+----------------------+

+-----------------------------------------------------------------------------------------+
| Processes:                                                                              |
|  GPU   GI   CI        PID   Type   Process name                              GPU Memory |
|        ID   ID                                                               Usage      |
|=========================================================================================|
|    0   N/A  N/A      7326      C   /opt/venv/bin/python                         1016MiB |
+-----------------------------------------------------------------------------------------+
"""
OLD_TABLE = """\
+-----------------------------------------------------------------------------+
| NVIDIA-SMI 418.87.00    Driver Version: 418.87.00    CUDA Version: 10.1     |
|-------------------------------+----------------------+----------------------+
| GPU  Name        Persistence-M| Bus-Id        Disp.A | Volatile Uncorr. ECC |
| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | GPU-Util  Compute M. |
|===============================+======================+======================|
|   0  Tesla V100-SXM2...  Off  | 00000000:00:1E.0 Off |                    0 |
| N/A   41C    P0    39W / 300W |    305MiB / 16130MiB |      5%      Default |
+-------------------------------+----------------------+----------------------+

+-----------------------------------------------------------------------------+
| Processes:                                                       GPU Memory |
|  GPU       PID   Type   Process name                             Usage      |
|=============================================================================|
|    0      9613      C   python                                       295MiB |
+-----------------------------------------------------------------------------+
"""
QUERY = """\
timestamp, index, name, driver_version, utilization.gpu [%], memory.used [MiB], power.draw [W]
2026/11/21 02:08:30.123, 0, NVIDIA H200, 550.54.15, 37 %, 1024 MiB, 98.31 W
2026/11/21 02:08:30.125, 1, NVIDIA H200, 550.54.15, [N/A], 1 MiB, [Unknown Error]
2026/11/21 02:08:35.123, 0, NVIDIA H200, 550.54.15, 99 %, 2048 MiB, 98.31 W
"""
WITHOUT_UNITS = """\
uuid, utilization.gpu [%], memory.used [MiB]
GPU-b1, 37, 1024
GPU-c2, 38, 1025
GPU-b1, 39, 1026
"""
DMON = """\
#Date       Time        gpu    pwr  gtemp  mtemp     sm    mem    enc    dec     fb
#YYYYMMDD   HH:MM:SS    Idx      W      C      C      %      %      %      %     MB
 20261121   02:08:30      0     52     34      -     37     12      0      0   1024
 20261121   02:08:31      0     53      -      -     38     12      0      0   1025
"""
DETAILS = """\

==============NVSMI LOG==============

Timestamp                                 : Sat Nov 21 02:08:30 2026
Driver Version                            : 550.54.15
CUDA Version                              : 12.4

Attached GPUs                             : 1
GPU 00000000:3B:00.0
    Product Name                          : NVIDIA H200
    FB Memory Usage
        Total                             : 143771 MiB
        Used                              : 1024 MiB
    Utilization
        Gpu                               : 37 %
        Memory                            : 2 %
    Temperature
        GPU Current Temp                  : 34 C
"""
MIB = 1024.0**2


def gauges(tables: Tables, name: str = NAME) -> list[tuple[str, float]]:
    """Tag and value of each reading of the file, all of them of its worker."""
    own = tables["scalars"].filter(tables["scalars"]["source"] == name)
    assert set(own["origin"].to_list()) <= {"gauge"}
    assert set(own["worker"].to_list()) <= {"worker:1"}
    return own.select("tag", "value").rows()


def facts(tables: Tables, name: str = NAME) -> list[tuple[str, str, int]]:
    """Key, value and line of each fact of the file."""
    own = tables["facts"].filter(tables["facts"]["source"] == name)
    return own.select("key", "value", "line").rows()


def damage(tables: Tables) -> list[tuple[int | None, str]]:
    """Line and words of all damage."""
    return tables["damage"].select("line", "what").rows()


def test_the_table(tables_of: TablesOf) -> None:
    """Readings of each GPU, versions, models, processes, and what is wrong."""
    tables = tables_of({**LOG, NAME: TABLE})
    assert gauges(tables) == [
        ("gpu0/temperature_celsius", 34),
        ("gpu0/power_watts", 52),
        ("gpu0/memory_used_bytes", 1024 * MIB),
        ("gpu0/memory_total_bytes", 40960 * MIB),
        ("gpu0/utilization_percent", 37),
        ("gpu1/memory_used_bytes", 2048 * MIB),
        ("gpu1/memory_total_bytes", 40960 * MIB),
    ]
    assert facts(tables) == [
        ("gpu_driver", "550.54.15", 3),
        ("cuda", "12.4", 3),
        (
            "gpu_error",
            "ERR!   ERR! ERR!             ERR! / ERR! |    2048MiB /  40960MiB |     ERR!     Default",
            14,
        ),
        ("gpu_process", "0: /opt/venv/bin/python (pid 7326), 1016MiB", 23),
        ("gpu_model", "2 x NVIDIA A100-SXM4-40GB", 9),
    ]
    assert damage(tables) == []
    own = tables["sources"].filter(tables["sources"]["source"] == NAME).row(0, named=True)
    assert own["first_time"] == 1795226910.0


def test_the_table_of_older_versions(tables_of: TablesOf) -> None:
    """Narrower, and its processes without instances; its names may be cut."""
    tables = tables_of({**LOG, NAME: OLD_TABLE})
    assert dict(gauges(tables))["gpu0/memory_used_bytes"] == 305 * MIB
    told = {key: value for key, value, _ in facts(tables)}
    assert told["gpu_model"] == "1 x Tesla V100-SXM2..."
    assert told["gpu_process"] == "0: python (pid 9613), 295MiB"
    assert damage(tables) == []


def test_rows_of_a_query(tables_of: TablesOf) -> None:
    """Every row has its time; what is not there is left out, and what is an error is said."""
    tables = tables_of({**LOG, NAME: QUERY})
    assert gauges(tables) == [
        ("gpu0/utilization_percent", 37),
        ("gpu0/memory_used_bytes", 1024 * MIB),
        ("gpu0/power_watts", 98.31),
        ("gpu1/memory_used_bytes", 1 * MIB),
        ("gpu0/utilization_percent", 99),
        ("gpu0/memory_used_bytes", 2048 * MIB),
        ("gpu0/power_watts", 98.31),
    ]
    assert tables["scalars"].filter(tables["scalars"]["line"] == 4)["time"][-1] == 1795226915.123
    assert [key for key, _, _ in facts(tables)] == ["gpu_driver", "gpu_error", "gpu_model"]
    assert damage(tables) == []


def test_rows_without_units_and_without_numbers_of_the_gpus(tables_of: TablesOf) -> None:
    """The header tells the units; GPUs are numbered as they come."""
    tables = tables_of({**LOG, NAME: WITHOUT_UNITS})
    assert [tag for tag, _ in gauges(tables)] == [
        f"gpu{gpu}/{what}" for gpu in (0, 1, 0) for what in ("utilization_percent", "memory_used_bytes")
    ]
    assert gauges(tables)[-1][1] == 1026 * MIB


def test_rows_without_a_header_are_not_guessed(tables_of: TablesOf) -> None:
    """What the numbers are is not known."""
    tables = tables_of({**LOG, NAME: "37, 1024\n38, 1025\n"})
    assert gauges(tables) == []
    assert damage(tables) == [(1, "2 lines that are no known output of nvidia-smi")]


def test_dmon(tables_of: TablesOf) -> None:
    """Device monitoring, with its date."""
    tables = tables_of({**LOG, NAME: DMON})
    assert gauges(tables)[:5] == [
        ("gpu0/power_watts", 52),
        ("gpu0/temperature_celsius", 34),
        ("gpu0/utilization_percent", 37),
        ("gpu0/memory_busy_percent", 12),
        ("gpu0/memory_used_bytes", 1024 * MIB),
    ]
    assert tables["scalars"]["time"].drop_nulls()[0] == 1795226910.0
    assert damage(tables) == []


def test_details(tables_of: TablesOf) -> None:
    """The essentials of `nvidia-smi -q`."""
    tables = tables_of({**LOG, NAME: DETAILS})
    assert gauges(tables) == [
        ("gpu0/memory_total_bytes", 143771 * MIB),
        ("gpu0/memory_used_bytes", 1024 * MIB),
        ("gpu0/utilization_percent", 37),
        ("gpu0/temperature_celsius", 34),
    ]
    assert [fact[:2] for fact in facts(tables)] == [
        ("gpu_driver", "550.54.15"),
        ("cuda", "12.4"),
        ("gpu_model", "1 x NVIDIA H200"),
    ]
    assert damage(tables) == []


@pytest.mark.parametrize(
    "words",
    [
        "Failed to initialize NVML: Driver/library version mismatch",
        "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot the system to recover this GPU",
        "No devices were found",
    ],
)
def test_what_nvidia_smi_says_is_wrong_is_a_fact(words: str, tables_of: TablesOf) -> None:
    """With its line."""
    assert facts(tables_of({**LOG, NAME: f"\n{words}\n"})) == [("gpu_error", words, 2)]


def test_a_table_says_nothing_of_the_training(tables_of: TablesOf) -> None:
    """Readings are no steps, and their times no sign of life."""
    quiet = tables_of({**LOG, "worker-0.log": "step 1 loss 0.5\n"})["lifetimes"]
    watched = tables_of({**LOG, "worker-0.log": "step 1 loss 0.5\n", NAME: TABLE + QUERY})["lifetimes"]
    assert watched.equals(quiet)


def test_a_file_of_another_name_is_known_by_its_header(tables_of: TablesOf) -> None:
    """Where its name tells nothing."""
    tables = tables_of({**LOG, "worker-1-gpus.csv": QUERY, "worker-1.mon": DMON})
    kinds = dict(tables["sources"].select("source", "kind").rows())
    assert kinds["worker-1-gpus.csv"] == kinds["worker-1.mon"] == "nvidia_smi"


@pytest.mark.parametrize(
    "text",
    [
        "\x00\xff|" * 5_000,
        "|" * 50_000,
        ", " * 50_000,
        "# gpu\n" + "9 " * 50_000,
        "a" * 99_999,
        "| 0 a" + " " * 99_999,
        "[ " * 50_000,
    ],
)
def test_rubbish_is_damage(text: str, tables_of: TablesOf) -> None:
    """And costs little time."""
    tables = tables_of({**LOG, NAME: text})
    assert "reader failed" not in "".join(tables["sources"]["reason"].to_list())
    assert gauges(tables) == []
