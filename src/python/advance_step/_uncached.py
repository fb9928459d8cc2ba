# SPDX-License-Identifier: Apache-2.0
"""Tensors that live until the end of a process whose allocator caches nothing.

With PYTORCH_NO_NPU_MEMORY_CACHING, torch_npu frees the memory of a tensor when the tensor ends. At the
end of a process it first ends the runtime, which takes all memory of the devices away, and then frees
that of the remaining tensors once more; the error of that call would end the process by abort().
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import os
from typing import Any


def register(torch: Any) -> None:
    """Lets the tensors that are left at the end of the process stay."""
    if "PYTORCH_NO_NPU_MEMORY_CACHING" in os.environ:
        atexit.register(_keep_tensors, torch.Tensor)  # it runs before torch_npu's own


def _keep_tensors(kind: type) -> None:
    gc.unfreeze()  # else the collector does not list what was frozen
    tensors = [thing for thing in gc.get_objects() if issubclass(type(thing), kind)]
    # A reference that nobody gives back: the memory has gone with its device.
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(tensors))
