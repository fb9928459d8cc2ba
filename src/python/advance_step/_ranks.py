# SPDX-License-Identifier: Apache-2.0
"""The backend "hccl" of torch.distributed: torch's own Gloo on the memory of "npu" tensors.

The backend itself is C++ (torch_kernels/ranks.cpp), because collectives end on threads of Gloo,
which must not need the interpreter's lock.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

from . import _rank_calls


def default_devices() -> None:
    """Makes a device for each LOCAL_RANK of torchrun, unless the number of devices is set."""
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    if ranks.isdecimal() and int(ranks) > 2:  # the default of the runtime
        os.environ.setdefault("ADVANCE_STEP_DEVICES", ranks)


def register(torch: Any) -> None:
    """Takes the place of torch_npu's backend, whose communication library needs real devices."""
    dist = torch.distributed
    if not dist.is_available():
        return

    def create(options: Any, _backend_options: Any) -> Any:
        # A group that is made again in the same store must not meet the addresses of the old one.
        joined = options.store.add("advance_step/joined", 1)
        store = dist.PrefixStore(f"{(joined - 1) // options.group_size}", options.store)
        arguments = store, options.group_rank, options.group_size
        group = dist.ProcessGroup(*arguments)
        group._register_backend(torch.device("cpu"), dist.ProcessGroup.BackendType.GLOO,
                                dist.ProcessGroupGloo(*arguments, timeout=options.timeout))
        torch.ops.advance_step.add_hccl(group.boxed())
        return group._get_backend(torch.device("npu"))

    dist.Backend.register_backend("hccl", create, extended_api=True, devices=["npu"])
    own = importlib.import_module("torch_npu._C._distributed_c10d").ProcessGroupHCCL
    _rank_calls.register(torch, list(vars(own)))
