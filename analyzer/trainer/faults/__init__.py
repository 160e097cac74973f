"""Lists the faults that a scenario can name; each has its own module, and must be listed here."""

from analyzer.trainer.faults.arguments import Arguments
from analyzer.trainer.faults.bad_value import BadValue
from analyzer.trainer.faults.broken_library import BrokenLibrary
from analyzer.trainer.faults.busy_lock import BusyLock
from analyzer.trainer.faults.busy_machine import BusyMachine
from analyzer.trainer.faults.catalogue_service import CatalogueService
from analyzer.trainer.faults.clock_limit import ClockLimit
from analyzer.trainer.faults.come_back_later import ComeBackLater
from analyzer.trainer.faults.damaged_schedule import DamagedSchedule
from analyzer.trainer.faults.data_file import DataFile
from analyzer.trainer.faults.delay import Delay
from analyzer.trainer.faults.edit_file import EditFile
from analyzer.trainer.faults.environment import Environment
from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.faults.feed import Feed
from analyzer.trainer.faults.gpu_hang import GpuHang
from analyzer.trainer.faults.gpu_memory import GpuMemory
from analyzer.trainer.faults.hold_lock import HoldLock
from analyzer.trainer.faults.hold_port import HoldPort
from analyzer.trainer.faults.kernel_lines import KernelLines
from analyzer.trainer.faults.late_start import LateStart
from analyzer.trainer.faults.learning_rate import LearningRate
from analyzer.trainer.faults.limit import Limit
from analyzer.trainer.faults.memory_group import MemoryGroup
from analyzer.trainer.faults.missing_module import MissingModule
from analyzer.trainer.faults.network_rule import NetworkRule
from analyzer.trainer.faults.never_start import NeverStart
from analyzer.trainer.faults.old_checkpoint import OldCheckpoint
from analyzer.trainer.faults.owner import Owner
from analyzer.trainer.faults.peer_list import PeerList
from analyzer.trainer.faults.pin import Pin
from analyzer.trainer.faults.request_stop import RequestStop
from analyzer.trainer.faults.restart import Restart
from analyzer.trainer.faults.send_signal import SendSignal
from analyzer.trainer.faults.shared_folder import SharedFolder
from analyzer.trainer.faults.shared_memory import SharedMemory
from analyzer.trainer.faults.slurm import Slurm
from analyzer.trainer.faults.small_disk import SmallDisk
from analyzer.trainer.faults.stale_events import StaleEvents
from analyzer.trainer.faults.supervised import Supervised
from analyzer.trainer.faults.tf_config import TfConfig
from analyzer.trainer.faults.throttle import Throttle
from analyzer.trainer.faults.time_limit import TimeLimit
from analyzer.trainer.faults.unsharded import Unsharded
from analyzer.trainer.faults.wrong_checkpoint import WrongCheckpoint

__all__ = ["EXTERNAL", "FAULTS", "Fault"]

FAULTS: dict[str, type[Fault]] = {
    "none": Fault,
    "arguments": Arguments,
    "bad_value": BadValue,
    "broken_library": BrokenLibrary,
    "busy_lock": BusyLock,
    "busy_machine": BusyMachine,
    "catalogue_service": CatalogueService,
    "clock_limit": ClockLimit,
    "come_back_later": ComeBackLater,
    "damaged_schedule": DamagedSchedule,
    "data_file": DataFile,
    "delay": Delay,
    "edit_file": EditFile,
    "environment": Environment,
    "feed": Feed,
    "gpu_hang": GpuHang,
    "gpu_memory": GpuMemory,
    "hold_lock": HoldLock,
    "hold_port": HoldPort,
    "kernel_lines": KernelLines,
    "late_start": LateStart,
    "learning_rate": LearningRate,
    "limit": Limit,
    "memory_group": MemoryGroup,
    "missing_module": MissingModule,
    "network_rule": NetworkRule,
    "never_start": NeverStart,
    "old_checkpoint": OldCheckpoint,
    "owner": Owner,
    "peer_list": PeerList,
    "pin": Pin,
    "request_stop": RequestStop,
    "restart": Restart,
    "send_signal": SendSignal,
    "shared_memory": SharedMemory,
    "shared_folder": SharedFolder,
    "slurm": Slurm,
    "small_disk": SmallDisk,
    "stale_events": StaleEvents,
    "supervised": Supervised,
    "tf_config": TfConfig,
    "throttle": Throttle,
    "time_limit": TimeLimit,
    "unsharded": Unsharded,
    "wrong_checkpoint": WrongCheckpoint,
}

EXTERNAL = tuple(name for name, kind in FAULTS.items() if kind.fits_any_program or kind is Fault)
"""Faults that can strike any program."""
