"""Collects facts on host and environment at the start; environment variables come from an allow-list."""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import os
import re
import resource
from typing import Any, Iterator

from mwms_recorder.host import cgroup, gpus, proc
from mwms_recorder.journal import masked
from mwms_recorder.settings import Settings

PREFIXES = tuple(
    """
    TF_CPP_ TF_CPU_ TF_GPU_ TF_XLA_ TF_CUDNN_ TF_CUDA_ TF_NUM_ TF_ENABLE_ TF_DISABLE_ TF_FORCE_ TF_USE_
    TF_DETERMINISTIC_ TF_GRPC_ TF_DUMP_ NCCL_ OMP_ KMP_ MALLOC_ SLURM_MEM_PER_ PYTHONHASH PYTHONUNBUF
    PYTHONFAULT
    """.split()  # noqa: SIM905 - a table
)
NAMES = frozenset(
    """
    XLA_FLAGS KERAS_BACKEND GRPC_VERBOSITY GRPC_TRACE GRPC_DNS_RESOLVER GRPC_FAIL_FAST
    GRPC_POLL_STRATEGY CUDA_VISIBLE_DEVICES CUDA_LAUNCH_BLOCKING CUDA_DEVICE_ORDER CUDA_HOME
    CUDA_VERSION CUDNN_VERSION NVIDIA_VISIBLE_DEVICES NVIDIA_DRIVER_CAPABILITIES LD_LIBRARY_PATH
    LD_PRELOAD PYTHONPATH TZ LANG LC_ALL TMPDIR MKL_NUM_THREADS OPENBLAS_NUM_THREADS http_proxy
    https_proxy no_proxy all_proxy HTTP_PROXY HTTPS_PROXY NO_PROXY SLURM_JOB_ID SLURM_JOB_NAME
    SLURM_JOB_NODELIST SLURM_JOB_NUM_NODES SLURM_NNODES SLURM_NODEID SLURM_NTASKS SLURM_PROCID
    SLURM_LOCALID SLURM_RESTART_COUNT SLURM_CPUS_PER_TASK SLURM_STEP_ID SLURM_STEP_NODELIST
    SLURM_JOB_PARTITION SLURM_JOB_GPUS SLURM_GPUS_ON_NODE OMPI_COMM_WORLD_RANK OMPI_COMM_WORLD_SIZE
    OMPI_COMM_WORLD_LOCAL_RANK PMI_RANK PMI_SIZE JOB_COMPLETION_INDEX RANK WORLD_SIZE LOCAL_RANK
    MASTER_ADDR MASTER_PORT HOSTNAME POD_NAME POD_NAMESPACE NODE_NAME KUBERNETES_SERVICE_HOST
    """.split()  # noqa: SIM905 - a table
)
"""Names that, with `PREFIXES` and TF_CONFIG, are the only environment variables written, masked."""
LIMITS = ("AS", "CORE", "CPU", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "NPROC", "RSS", "STACK")


def facts(settings: Settings, pid: int) -> dict[str, Any]:
    """Return all facts except TF_CONFIG; parts that cannot be read are left out."""
    return {
        "environment": {name: masked(value) for name, value in os.environ.items() if allowed(name)},
        "limits": {f"RLIMIT_{name}": _limit(name) for name in LIMITS},
        "cgroup": cgroup.read(),
        "disks": disks(settings.directory),
        "machine": _machine(),
        "clock": clock(),
        **_script(pid),
        **(_gpus() if settings.records("gpus") else {}),
    }


def allowed(name: str) -> bool:
    """Return True if an environment variable may be written."""
    return name in NAMES or name.startswith(PREFIXES)


def _limit(name: str) -> int | None:
    soft = resource.getrlimit(getattr(resource, f"RLIMIT_{name}"))[0]
    return None if soft == resource.RLIM_INFINITY else soft


def disks(directory: str) -> list[dict[str, Any]]:
    """Return sizes of the file systems of the recording, /tmp, /dev/shm, this directory and those below."""
    below = [row[1] for row in _mounts() if row[1].startswith(os.path.join(os.getcwd(), ""))]
    return list(_disks([os.getcwd(), directory, "/tmp", "/dev/shm", *below]))  # noqa: S108 - only measured


def _disks(paths: list[str]) -> Iterator[dict[str, Any]]:
    """Yield mount and sizes of each distinct file system."""
    seen: set[int] = set()
    for path in paths:
        with contextlib.suppress(OSError):
            device, space = os.stat(path).st_dev, os.statvfs(path)
            if device not in seen:
                seen.add(device)
                total, free = (blocks * space.f_frsize for blocks in (space.f_blocks, space.f_bavail))
                size = {"total_bytes": total, "free_bytes": free, "free_inodes": space.f_favail}
                yield {"path": path, **_mount(path), **size}


def _mount(path: str) -> dict[str, str]:
    """Return type and source of a path's file system, by the longest mount point above it."""
    above = [row for row in _mounts() if f"{path}/".startswith(row[1].rstrip("/") + "/")]
    if not above:
        return {"type": "unknown"}
    source, _, kind = max(above, key=lambda row: len(row[1]))[:3]
    return {"type": kind, "source": masked(source)}


def _mounts() -> list[list[str]]:
    rows = [line.split() for line in proc.text_of("/proc/self/mounts").splitlines()]
    return [row for row in rows if len(row) > 2]


def _machine() -> dict[str, Any]:
    memory, system = proc.memory(), os.uname()
    model = re.search(r"^model name\s*: (.*)", proc.text_of("/proc/cpuinfo"), re.MULTILINE)
    return {
        "kernel": f"{system.sysname} {system.release}",
        "architecture": system.machine,
        "cpus": os.cpu_count() or 0,
        "cpus_allowed": len(os.sched_getaffinity(0)),
        "memory_bytes": memory.get("MemTotal", 0),
        "swap_bytes": memory.get("SwapTotal", 0),
        **({"cpu_model": model[1]} if model else {}),
        **_container(),
    }


def _container() -> dict[str, str]:
    marks = {"/.dockerenv": "docker", "/run/.containerenv": "podman", "/singularity": "singularity"}
    kinds = [kind for mark, kind in marks.items() if os.path.exists(mark)]
    kinds += ["kubernetes"] if "KUBERNETES_SERVICE_HOST" in os.environ else []
    return {"container": kinds[-1]} if kinds else {}


class _Timex(ctypes.Structure):
    """The first fields of the kernel's `struct timex`, and padding for the others."""

    _fields_ = [("modes", ctypes.c_uint), ("offset", ctypes.c_long), ("freq", ctypes.c_long)]
    _fields_ += [("maxerror", ctypes.c_long), ("esterror", ctypes.c_long), ("status", ctypes.c_int)]
    _fields_ += [("rest", ctypes.c_long * 40)]


def clock() -> dict[str, Any]:
    """Return from adjtimex whether the clock is synchronized, its offset and maximum error (s)."""
    state, nanoseconds = _Timex(), 0x2000
    try:
        code = ctypes.CDLL(None).adjtimex(ctypes.byref(state))
    except (OSError, AttributeError):
        return {}
    offset = state.offset / (1e9 if state.status & nanoseconds else 1e6)
    synchronized = code >= 0 and code != 5  # TIME_ERROR
    return {
        "synchronized": synchronized,
        "offset_seconds": offset,
        "error_seconds": state.maxerror / 1e6,
        "source": "adjtimex",
    }


def _script(pid: int) -> dict[str, Any]:
    """Return path, size and SHA-256 of the first Python file among the command's arguments, if any."""
    for argument in proc.text_of(f"/proc/{pid}/cmdline").split("\0"):
        if argument.endswith(".py") and os.path.isfile(argument):
            with contextlib.suppress(OSError), open(argument, "rb") as file:
                data = file.read()
                digest = hashlib.sha256(data).hexdigest()
                return {"script": {"path": os.path.abspath(argument), "sha256": digest, "bytes": len(data)}}
    return {}


def _gpus() -> dict[str, Any]:
    try:
        return {"gpus": gpus.fixed()}
    except OSError as error:
        return {"gpus": [], "gpu_error": str(error)}
