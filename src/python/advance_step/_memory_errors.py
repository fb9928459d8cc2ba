# SPDX-License-Identifier: Apache-2.0
"""torch.OutOfMemoryError says where the memory of a device comes from.

torch_npu tells the memory of the device alone, which may be free although the host's is short.
"""

from __future__ import annotations

import os
from typing import Any


def _host_gib() -> float:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / (1 << 30)


def register(torch: Any) -> None:
    """Adds a line to the errors that torch_npu raises."""
    plain = torch.OutOfMemoryError.__str__

    def text(error: Any) -> str:
        told: str = plain(error)
        if not told.startswith("NPU out of memory"):
            return told
        setting = os.environ.get("ADVANCE_STEP_MEMORY") or "not set: what the host has available"
        return (f"{told}\nThe memory of an emulated device is the host's, which has {_host_gib():.1f} GiB in all; "
                f"ADVANCE_STEP_MEMORY, the size of each device, is {setting}")

    torch.OutOfMemoryError.__str__ = text
