"""How full the disks are, as df prints it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from analyzer.model.run import Tables

TablesOf = Callable[[Mapping[str, str]], Tables]
LOG = {"worker-1.log": "step 1 loss 0.5\n"}
NAME = "df-worker-1.txt"

HUMAN = """\
Filesystem      Size  Used Avail Use% Mounted on
overlay         194G   71G  123G  37% /
tmpfs            16G     0   16G   0% /dev/shm
/dev/nvme1n1    1.8T  1.8T     0 100% /scratch
"""
TYPED = """\
Filesystem     Type      Size  Used Avail Use% Mounted on
/dev/sda1      ext4       20G   19G  600M  97% /
/dev/loop3     squashfs   64M   64M     0 100% /snap/core20/1974
"""
POSIX = """\
Filesystem                1024-blocks       Used  Available Capacity Mounted on
nfs.example:/export/jobs  2147483648  2126008811  21474837      99% /mnt/job one
"""
INODES = """\
Filesystem       Inodes   IUsed    IFree IUse% Mounted on
/dev/vda       16777216 1203413 15573803    8% /
/dev/vdb          65536   65536        0  100% /data
efivarfs              0       0        0     - /sys/firmware/efi/efivars
"""
WRAPPED = """\
Filesystem            Size  Used Avail Use% Mounted on
storage.cluster.example.com:/volumes/training/checkpoints
                      2.0T  2.0T     0 100% /mnt/checkpoints
/dev/sda1              20G   11G  8.1G  58% /
"""
ROOM = """\
Filesystem      Size  Used Avail Use% Mounted on
/dev/vda        252G   51G   52G  50% /
/dev/vda        252G   51G   52G  50% /
"""


def fullest(tables: Tables) -> list[tuple[str, str, int]]:
    """Worker, value and line of each fact."""
    facts = tables["facts"]
    return facts.filter(facts["key"] == "fullest_mount").select("worker", "value", "line").rows()


def readings(tables: Tables) -> list[tuple[str, float]]:
    """Tags and values."""
    return tables["scalars"].filter(tables["scalars"]["source"] == NAME).select("tag", "value").rows()


@pytest.mark.parametrize(
    ("text", "mount", "percent", "line"),
    [
        (HUMAN, "/scratch", 100, 4),
        (TYPED, "/", 97, 2),
        (POSIX, "/mnt/job one", 99, 2),
        (WRAPPED, "/mnt/checkpoints", 100, 3),
        (ROOM, "/", 50, 2),
    ],
)
def test_forms_of_df(text: str, mount: str, percent: int, line: int, tables_of: TablesOf) -> None:
    """With and without types, a device on a line of its own; images are full by their nature."""
    tables = tables_of({**LOG, NAME: text})
    assert fullest(tables) == [("worker:1", mount, line)]
    assert readings(tables) == [("disk_used_percent", float(percent))]
    assert tables["damage"].height == 0


@pytest.mark.parametrize(
    "name", ["worker-1/df.txt", "worker-1/disk-usage.log", "disk_space-worker-1.out", "df_h-worker-1.txt"]
)
def test_names(name: str, tables_of: TablesOf) -> None:
    """However such a file may be called."""
    assert fullest(tables_of({**LOG, name: HUMAN})) == [("worker:1", "/scratch", 4)]


def test_a_log_is_a_log(tables_of: TablesOf) -> None:
    """Whatever the job may be called."""
    tables = tables_of({"disk-full-worker-1.log": "step 1 loss 0.5\n"})
    assert tables["sources"]["kind"].to_list() == ["log"]


def test_inodes(tables_of: TablesOf) -> None:
    """`df -h; df -i` tells both; what has no inodes is not full of them."""
    tables = tables_of({**LOG, NAME: ROOM + INODES})
    assert fullest(tables) == [
        ("worker:1", "/", 2),
        ("worker:1", "/data", 6),
    ]
    assert readings(tables) == [("disk_used_percent", 50.0), ("disk_inodes_percent", 100.0)]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("df: /mnt/job: Stale file handle\n" + ROOM, 1),
        (HUMAN + "and so on\n" + ROOM, 5),
        ("nothing of the kind\n", 1),
        (ROOM + "first\n  second\n", 4),
    ],
)
def test_what_is_no_table_is_named(text: str, line: int, tables_of: TablesOf) -> None:
    """With its line; the tables around it are read all the same."""
    tables = tables_of({**LOG, NAME: text})
    assert len(fullest(tables)) == text.count("Filesystem")
    assert tables["damage"]["line"].to_list() == [line]
