"""Returns memory that is no longer used to the operating system."""

import ctypes
from contextlib import suppress


def return_free_memory() -> None:
    """Return what the C library holds of freed memory, where it can: glibc keeps it for later requests."""
    with suppress(AttributeError, OSError):
        ctypes.CDLL(None).malloc_trim(0)
