# SPDX-License-Identifier: Apache-2.0
"""The formats of tensors: a name that a cast has given, while shape and values stay those of ND.

torch_npu would move the elements of a tensor that it knows to have a format of the hardware, by kernels
that are not there. So it never knows: a cast copies the tensor, and the format of the new storage is
noted here.
"""

from __future__ import annotations

import importlib
from typing import Any

from .table import define

torch: Any = importlib.import_module("torch")
_C: Any = importlib.import_module("torch_npu")._C
_StorageWeakRef: Any = importlib.import_module("torch.multiprocessing.reductions").StorageWeakRef

# Formats that every tensor may have: NCHW, NHWC, ND, HWCN, NDHWC, NCDHW, NC, NCL.
_PLAIN = frozenset((0, 1, 2, 16, 27, 30, 35, 47))
_KEYS = torch._C.DispatchKeySet(torch._C.DispatchKey.PrivateUse1)
_torch_npus = torch.library.get_kernel(torch.ops.npu.get_npu_format.default, "PrivateUse1")

# By the address of a storage. A weak reference keeps the address from another storage. The
# interpreter's lock guards each step; no step needs more than one.
_noted: dict[int, tuple[Any, int]] = {}
_MOST = 1024  # entries, before those of storages that have ended are removed
_limit = [_MOST]


@define("get_npu_format")
def format_of(input: Any) -> int:
    reference, noted = _noted.get(input.untyped_storage()._cdata, (None, 0))
    if reference is not None and not reference.expired():
        return noted
    return int(_torch_npus.call_boxed(_KEYS, input))


def _note(tensor: Any, acl_format: int) -> None:
    if len(_noted) >= _limit[0]:
        for address, (reference, _) in list(_noted.items()):
            if reference.expired():
                _noted.pop(address, None)
        _limit[0] = max(_MOST, 2 * len(_noted))
    storage = tensor.untyped_storage()
    _noted[storage._cdata] = (_StorageWeakRef(storage), acl_format)


def _allowed(acl_format: int) -> bool:
    """Returns whether tensors may have the format; torch.npu.config.allow_internal_format decides."""
    return acl_format in _PLAIN or _C._npu_getOption("ALLOW_INTERNAL_FORMAT") == b"enable"


def cast(input: Any, acl_format: int) -> Any:
    """Returns the tensor in the format: itself if it has it, or may not have it."""
    if acl_format == format_of(input) or not _allowed(acl_format):
        return input
    made = input.clone()
    _note(made, acl_format)
    return made


def cast_in_place(input: Any, acl_format: int) -> Any:
    """Gives the tensor the format, and so all tensors that share its storage."""
    if _allowed(acl_format):
        _note(input, acl_format)
    return input
