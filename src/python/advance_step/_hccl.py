# SPDX-License-Identifier: Apache-2.0
"""The backend "hccl" of torch.distributed: torch's own Gloo on the memory of "npu" tensors.

The backend itself is C++ (torch_kernels/ranks), because collectives end on threads of Gloo, which must
not need the interpreter's lock.

torch_npu's own backend has methods beyond those of torch's class of backends, which torch_npu.distributed
and programs call. The class is torch's, which the backends of other devices share, so the methods are
found on backends of this name alone. Those that need torch_npu's communication library are refused by
name.
"""

from __future__ import annotations

import functools
import importlib
import os
from typing import Any

from . import _parts

_NAME = "hccl"
_PUBLIC = {  # of methods that raise NotImplementedError: the function that calls them
    "_delete_tcpstore_key": "torch_npu.distributed.reinit_process_group",
    "abort_hccl_comm": "torch_npu.distributed.reinit_process_group",
    "resume_hccl_comm": "torch_npu.distributed.reinit_process_group",
    "_set_switch_nic_comm": "torch_npu.distributed.distributed_c10d._comm_switch_nic",
}


def by_library() -> bool:
    """Returns whether torch_npu's own backend runs, on libhccl of the prefix (docs/hccl.md)."""
    chosen = os.environ.get("ADVANCE_STEP_HCCL", "")
    if chosen not in ("", "gloo", "c"):
        raise ValueError(f"ADVANCE_STEP_HCCL is {chosen!r}; expected 'gloo', the default, or 'c'")
    return chosen == "c"


def default_devices() -> None:
    """Makes a device for each LOCAL_RANK of torchrun, unless the number of devices is set."""
    if by_library():
        # torch_npu's queue would begin groups of operators in another thread than it ends them.
        os.environ.setdefault("TASK_QUEUE_ENABLE", "0")
    ranks = os.environ.get("LOCAL_WORLD_SIZE", "")
    if ranks.isdecimal() and int(ranks) > 2:  # the default of the runtime
        os.environ.setdefault("ADVANCE_STEP_DEVICES", ranks)


class _Method:
    """A method of the backends with the name "hccl" alone."""

    def __init__(self, name: str, function: Any) -> None:
        self._name, self._function = name, function

    def __get__(self, backend: Any, owner: Any) -> Any:
        if backend is None or backend.name() != _NAME:
            raise AttributeError(f"type object {owner.__name__!r} has no attribute {self._name!r}")
        return functools.partial(self._function, backend)


def _rows(call: str, name: str, tensor: Any, sizes: list[int], ranks: int) -> Any:
    """Returns the parts of the ranks."""
    rows = tensor.shape[0] if tensor.dim() else 0
    if len(sizes) != ranks or min(sizes) < 0 or sum(sizes) != rows:
        raise ValueError(f"{_NAME} {call}: {name}_split_sizes is {sizes}; expected a number of rows "
                         f"for each of {ranks} ranks, {rows} in all as in the {name}")
    return list(tensor.split(sizes))


def _all_gather(backend: Any, output: Any, input: Any, output_split_sizes: Any = (),
                *options: Any) -> Any:
    if not output_split_sizes:
        return backend._allgather_base(output, input, *options)
    parts = _rows("all_gather_into_tensor_uneven", "output", output, list(output_split_sizes),
                  backend.size())
    return backend.allgather([parts], [input], *options)


def _reduce_scatter(backend: Any, output: Any, input: Any, input_split_sizes: Any = (),
                    *options: Any) -> Any:
    if not input_split_sizes:
        return backend._reduce_scatter_base(output, input, *options)
    parts = _rows("reduce_scatter_tensor_uneven", "input", input, list(input_split_sizes),
                  backend.size())
    return backend.reduce_scatter([output], [parts], *options)


def _all_to_all(backend: Any, output: Any, input: Any, send_count_matrix: Any,
                *options: Any) -> Any:
    """Takes a matrix [from][to] of numbers of elements, row by row."""
    ranks, rank = backend.size(), backend.rank()
    counts = list(send_count_matrix)
    if len(counts) != ranks * ranks or min(counts) < 0:
        raise ValueError(f"{_NAME} all_to_all_vc: send_count_matrix is {counts}; expected "
                         f"{ranks} rows of {ranks} counts")
    sent, got = counts[rank * ranks:(rank + 1) * ranks], counts[rank::ranks]
    for name, tensor, parts in (("input", input, sent), ("output", output, got)):
        if not tensor.is_contiguous() or tensor.numel() != sum(parts):
            raise ValueError(f"{_NAME} all_to_all_vc: the {name} has shape {list(tensor.shape)} and "
                             f"strides {list(tensor.stride())}; expected a contiguous tensor of "
                             f"{sum(parts)} elements, as send_count_matrix says of rank {rank}")
    return backend.alltoall_base(output.view(-1), input.view(-1), got, sent, *options)


def _comm_name(torch: Any, backend: Any, *_arguments: Any, **_options: Any) -> str:
    """Returns a name that the ranks of the group share, and no other group has."""
    def plain(backend: Any) -> Any:  # under TORCH_DISTRIBUTED_DEBUG=DETAIL torch has wrapped it
        return getattr(backend, "wrapped_pg", backend)

    npu = torch.device("npu")
    for group, name in list(torch.distributed.distributed_c10d._world.pg_names.items()):
        # While a wrapper of the backend is referred to, torch returns the same one for it.
        if npu in group._device_types and plain(group._get_backend(npu)) is plain(backend):
            return f"{_NAME}_{name}"
    raise RuntimeError(f"{_NAME} get_hccl_comm_name: the process group has been destroyed")


def _set_watchdog_status(torch: Any, _backend: Any, status: int) -> None:
    """Ends the collectives of the process, and begins none, from stop_device to restart_device, which
    call this for each group: 2, then 1."""
    if status not in (1, 2):
        raise ValueError(f"{_NAME} set_watchdog_status: status is {status}; expected 1 or 2")
    torch.ops.advance_step.stop_hccl(status == 2)


def _refuse(name: str) -> Any:
    raise NotImplementedError(f"{_PUBLIC.get(name, f'{_NAME} {name}')} is not emulated, because ranks "
                              "exchange on the host, by Gloo")


def _sequence_numbers(torch: Any) -> None:
    """Makes a group with this backend give the numbers of the backend, which torch asks of its own
    alone."""
    npu = torch.device("npu")

    def of_the_backend(name: str, before: Any) -> Any:
        @functools.wraps(before)
        def call(group: Any) -> Any:
            backend = group._get_backend(npu) if npu in group._device_types else None
            if backend is None or backend.name() != _NAME:
                return before(group)
            return getattr(backend, name)()

        return call

    names = "_set_sequence_number_for_group", "_get_sequence_number_for_group"
    _parts.wrap(torch.distributed.ProcessGroup,
                **{name: functools.partial(of_the_backend, name) for name in names})


def _add_methods(torch: Any, names: Any) -> None:
    """Adds the methods to torch's class. `names` are those of torch_npu's own class."""
    backends = torch._C._distributed_c10d.Backend
    methods = {"all_gather_into_tensor_uneven": _all_gather,
               "reduce_scatter_tensor_uneven": _reduce_scatter, "alltoallvc": _all_to_all,
               "get_hccl_comm_name": functools.partial(_comm_name, torch),
               "set_watchdog_status": functools.partial(_set_watchdog_status, torch),
               "clear_workmeta_list": lambda _backend: None,  # a stop leaves nothing behind
               "_set_default_timeout": lambda backend, timeout: backend.set_timeout(timeout)}
    for name in names:
        if name not in methods and name != "options" and not hasattr(backends, name):
            methods[name] = lambda _backend, *arguments, _name=name, **options: _refuse(_name)
    for name, function in methods.items():
        setattr(backends, name, _Method(name, function))
    _sequence_numbers(torch)


def register(torch: Any) -> None:
    """Takes the place of torch_npu's backend, whose communication library needs real devices."""
    dist = torch.distributed
    if not dist.is_available() or by_library():
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

    dist.Backend.register_backend(_NAME, create, extended_api=True, devices=["npu"])
    own = importlib.import_module("torch_npu._C._distributed_c10d").ProcessGroupHCCL
    _add_methods(torch, list(vars(own)))
