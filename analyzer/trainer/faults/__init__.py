"""The faults a scenario can name. One file each; to add one, write it and name it here."""

from analyzer.trainer.faults.bad_value import BadValue
from analyzer.trainer.faults.damaged_schedule import DamagedSchedule
from analyzer.trainer.faults.fault import Fault
from analyzer.trainer.faults.hold_lock import HoldLock
from analyzer.trainer.faults.hold_port import HoldPort
from analyzer.trainer.faults.never_start import NeverStart
from analyzer.trainer.faults.send_signal import SendSignal
from analyzer.trainer.faults.unsharded import Unsharded

__all__ = ["FAULTS", "Fault"]

FAULTS: dict[str, type[Fault]] = {
    "none": Fault,
    "bad_value": BadValue,
    "damaged_schedule": DamagedSchedule,
    "hold_lock": HoldLock,
    "hold_port": HoldPort,
    "never_start": NeverStart,
    "send_signal": SendSignal,
    "unsharded": Unsharded,
}
