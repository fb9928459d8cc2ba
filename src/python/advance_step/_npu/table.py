# SPDX-License-Identifier: Apache-2.0
"""The table of `npu` operators: its decorator, and the registrations with torch."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .. import _aclnn_operators

Function = Callable[..., Any]

# Modules whose functions `define` puts into the table.
_MODULES = ("formats", "casts", "norms", "rotary", "gated", "scatter", "infer", "flash", "fusion", "fusion_grad",
            "plain", "dropout")
# The operators that torch_npu computes without a kernel of the device.
_TORCH_NPUS = {"copy_memory_", "get_npu_format", "get_storage_size", "npu_change_data_ptr",
               "set_op_timeout_ms", "super_kernel_scope_begin", "super_kernel_scope_end",
               "print_npugraph_tensor", "save_npugraph_tensor", "npu_prefetch",
               "_npu_distribute_barrier", "_amp_foreach_non_finite_check",
               "_npu_fused_infer_attention_score_infer_output",
               "_npu_fused_infer_attention_score_v2_infer_output",
               "_npu_fusion_attention_v3_infer_output", "_npu_fusion_attention_grad_v3_infer_output",
               "empty_with_format", "unsafe_empty_with_format", "empty_with_swapped_memory"}
# The aclnn name, in small letters, where it is not that of the operator.
_PAIRS = {"npu_advance_step_flashattn": "advancestep", "npu_rotary_mul": "rotarypositionembedding",
          "npu_rotary_mul_backward": "rotarypositionembeddinggrad",
          "npu_rms_norm_backward": "rmsnormgrad", "npu_swiglu_backward": "swiglugrad",
          "npu_geglu_grad": "gegluv3backward",
          "npu_add_rms_norm_v2": "inplaceaddrmsnorm", "npu_fusion_attention": "flashattentionscore",
          "npu_fusion_attention_grad": "flashattentionscoregrad", "_npu_format_cast": "npuformatcast"}

_COMPOSITE = "CompositeImplicitAutograd"

# The user's functions and those of this package, by "name" or "name.overload". The interpreter's lock
# guards it; calls look into torch's own table only.
_functions: dict[str, Function] = {}
_users: list[str] = []  # names that the user has defined before torch was there
_composites: set[str] = set()  # operators that are called by _COMPOSITE
_torch: list[Any] = []  # torch, once the operators are registered
_libraries: list[Any] = []  # a registration ends with its library


def define(*names: str) -> Callable[[Function], Function]:
    """Returns a decorator: the function defines these operators, unless the user has defined them."""
    def put(function: Function) -> Function:
        for name in names:
            _functions.setdefault(name, function)
        return function
    return put


def operator(name: str) -> Callable[[Function], Function]:
    """Returns a decorator: the function defines the operator `name` of torch_npu for "npu" tensors.

        @advance_step.torch_npu.operator("npu_fast_gelu")
        def fast_gelu(input):
            return input * torch.sigmoid(1.702 * input)

    The function gets the arguments of the operator's schema and calls torch's operations, which run in
    the order of the stream and are captured in graphs. It replaces an earlier definition. A name may
    have an overload ("npu_format_cast.Tensor"). With ADVANCE_STEP_HOST_OPERATORS=0 nothing is
    registered. ValueError: torch_npu has no such operator, or an aclnn function computes it. TypeError:
    the name is no str, or the definition no function.
    """
    if not isinstance(name, str):
        raise TypeError(f"operator: name is of type {type(name).__name__}; expected a str")
    short = name.removeprefix("npu::")

    def put(function: Function) -> Function:
        if not callable(function):
            raise TypeError(f"operator: the definition of {short} is of type "
                            f"{type(function).__name__}; expected a function")
        if _torch:
            _register(_torch[0], short, function)
        else:
            _users.append(short)
        _functions[short] = function
        return function
    return put


def _line(name: str) -> str:
    return f'@advance_step.torch_npu.operator("{name}")'


def _plain(name: str) -> str:
    """fused_infer_attention_score_v2 -> fusedinferattentionscore"""
    joined = name.replace("_", "").lower()
    head, _, version = joined.rpartition("v")
    return head if head and version.isdigit() else joined


def has_pair(name: str) -> bool:
    """Returns whether an aclnn function, ours or the user's, computes the operator."""
    base = name.partition(".")[0]
    wanted = _PAIRS.get(base) or _plain(base.lstrip("_").removeprefix("npu_"))
    return base in _aclnn_operators.npu_table() or wanted in {_plain(pair) for pair in _pairs()}


def _pairs(found: dict[str, set[str]] = {}) -> set[str]:  # noqa: B006  read once
    if not found:
        found["names"] = _aclnn_operators.names()
    return found["names"]


def _library(torch: Any) -> Any:
    library = torch.library.Library("npu", "IMPL")
    _libraries.append(library)
    return library


def _overload(torch: Any, name: str) -> Any:
    base, _, overload = name.partition(".")
    try:
        packet = getattr(torch.ops.npu, base)
        return getattr(packet, overload or "default")
    except AttributeError:
        known = sorted(n for n in torch._C._dispatch_get_all_op_names()
                       if n == f"npu::{base}" or n.startswith(f"npu::{base}."))
        raise ValueError(f"torch_npu has no operator npu::{name}; "
                         + (f"expected one of {', '.join(known)}" if known else
                            "expected the name of one, such as npu_rms_norm")) from None


def _kernel(torch: Any, name: str, function: Function) -> Function:
    """Returns the function below autocast, which has done its part for the arguments."""
    autocast = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
    guard = torch._C._ExcludeDispatchKeyGuard

    def kernel(*arguments: Any, **options: Any) -> Any:
        with guard(autocast):
            return function(*arguments, **options)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


def _missing(name: str) -> Function:
    def kernel(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"npu::{name} is not there: no aclnn function computes it, and nothing defines it in "
            f"torch's operations. This line above a function defines it: {_line(name)}")

    return kernel


def _register(torch: Any, name: str, function: Function) -> None:
    overload = _overload(torch, name)
    if has_pair(name):
        raise ValueError(f"npu::{name} is computed by an aclnn function, which is not replaced")
    key = _COMPOSITE if name in _composites else "PrivateUse1"
    _library(torch).impl(overload, _kernel(torch, name, function), key, allow_override=True)


def _of_the_compiler(torch: Any) -> list[str]:
    """Returns the operators without a tensor among their arguments that have no kernel for the device:
    torch_npu calls them wherever they are called, and they run by their names, by the operator
    compiler. It fails in the thread of torch_npu's queue, which then ends: no event is recorded any
    more, and a wait for one never returns."""
    names = []
    for full in torch._C._dispatch_get_all_op_names():
        name = full.removeprefix("npu::")
        if (full == name or name.partition(".")[0] in _TORCH_NPUS
                or torch._C._dispatch_has_kernel_for_dispatch_key(full, "PrivateUse1")
                or not torch._C._dispatch_has_kernel_for_dispatch_key(full, _COMPOSITE)):
            continue
        arguments = _overload(torch, name)._schema.arguments
        if not any("Tensor" in str(argument.type) for argument in arguments):
            names.append(name)
    return names


def register(torch: Any) -> None:
    """Registers all operators of the table, and the message of the others."""
    for module in _MODULES:
        importlib.import_module(f"{__package__}.{module}")
    library = _library(torch)
    for full in torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1"):
        if not full.startswith("npu::"):
            continue
        name = full[len("npu::"):]
        if name.partition(".")[0] in _TORCH_NPUS and name not in _functions or has_pair(name):
            continue
        function = _functions.get(name)
        kernel = _kernel(torch, name, function) if function else _missing(name)
        library.impl(full, kernel, "PrivateUse1", allow_override=True)
    _composites.update(_of_the_compiler(torch))
    for name in _composites:
        function = _functions.get(name)
        library.impl(f"npu::{name}", _kernel(torch, name, function) if function else _missing(name),
                     _COMPOSITE, allow_override=True)
    for name in _users:
        _register(torch, name, _functions[name])
    _torch.append(torch)
