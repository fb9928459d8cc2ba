# SPDX-License-Identifier: Apache-2.0
"""The table of operators of LLM engines: its decorator, and the registrations with torch.

They are in three namespaces: `npu` of torch_npu, `atb` of its library for ATB, and `_C_ascend`, the
custom operators of vllm-ascend. A name without a namespace is one of `npu`.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .. import _aclnn_operators

Function = Callable[..., Any]

# Modules whose functions `define` puts into the table.
_MODULES = ("formats", "casts", "norms", "rotary", "gated", "scatter", "infer", "flash", "fusion", "fusion_grad",
            "plain", "optimizers", "dropout", "moe", "quant", "weights", "lora", "latent", "sparse_attention",
            "kronecker", "indexer", "sampling", "cache", "blocks", "drafts", "ngram", "delta_rule", "convolution",
            "quant_swiglu", "sign_bits", "atb")
NAMESPACES = ("npu", "atb", "_C_ascend")
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

_OWNERS = {"npu": ("torch_npu", "npu_rms_norm"), "atb": ("torch_npu", "atb::_npu_rotary_embedding"),
           "_C_ascend": ("vllm-ascend", "_C_ascend::npu_add_rms_norm_bias")}

_COMPOSITE = "CompositeImplicitAutograd"

# The user's functions and those of this package, by "namespace::name" or "namespace::name.overload".
# The interpreter's lock guards it; calls look into torch's own table only.
_functions: dict[str, Function] = {}
_users: list[str] = []  # names that the user has defined before their namespace was there
_there: set[str] = set()  # namespaces that are registered
_composites: set[str] = set()  # operators that are called by _COMPOSITE
_torch: list[Any] = []  # torch, once the operators are registered
_libraries: list[Any] = []  # a registration ends with its library


def define(*names: str) -> Callable[[Function], Function]:
    """Returns a decorator: the function defines these operators, unless the user has defined them."""
    def put(function: Function) -> Function:
        for name in names:
            _functions.setdefault(full_name(name), function)
        return function
    return put


def full_name(name: str) -> str:
    """npu_rms_norm -> npu::npu_rms_norm"""
    return name if name.partition("::")[0] in NAMESPACES and "::" in name else f"npu::{name}"


def operator(name: str) -> Callable[[Function], Function]:
    """Returns a decorator: the function defines an operator for "npu" tensors: one of torch_npu by its
    name, or one of "atb::" or "_C_ascend::" (vllm-ascend's) by its name with the namespace.

        @advance_step.torch_npu.operator("npu_mish")
        def mish(input):
            return input * torch.tanh(torch.nn.functional.softplus(input))

    The function gets the arguments of the operator's schema and calls torch's operations, which run in
    the order of the stream and are captured in graphs. It replaces an earlier definition. A name may
    have an overload ("npu_format_cast.Tensor"). In the namespaces other than npu the function is also
    called with tensors of "meta", for their shapes. With ADVANCE_STEP_HOST_OPERATORS=0 nothing is
    registered. ValueError: there is no such operator, or an aclnn function computes it. TypeError:
    the name is no str, or the definition no function.
    """
    if not isinstance(name, str):
        raise TypeError(f"operator: name is of type {type(name).__name__}; expected a str")
    full = full_name(name)

    def put(function: Function) -> Function:
        if not callable(function):
            raise TypeError(f"operator: the definition of {full.removeprefix('npu::')} is of type "
                            f"{type(function).__name__}; expected a function")
        if full.partition("::")[0] in _there:
            _register(_torch[0], full, function)
        else:
            _users.append(full)
        _functions[full] = function
        return function
    return put


def _line(full: str) -> str:
    return f'@advance_step.torch_npu.operator("{full.removeprefix("npu::")}")'


def _plain(name: str) -> str:
    """fused_infer_attention_score_v2 -> fusedinferattentionscore"""
    joined = name.replace("_", "").lower()
    head, _, version = joined.rpartition("v")
    return head if head and version.isdigit() else joined


def has_pair(name: str) -> bool:
    """Returns whether an aclnn function, ours or the user's, computes the operator of torch_npu."""
    base = name.removeprefix("npu::").partition(".")[0]
    if "::" in base:
        return False
    wanted = _PAIRS.get(base) or _plain(base.lstrip("_").removeprefix("npu_"))
    return base in _aclnn_operators.npu_table() or wanted in {_plain(pair) for pair in _pairs()}


def _pairs(found: dict[str, set[str]] = {}) -> set[str]:  # noqa: B006  read once
    if not found:
        found["names"] = _aclnn_operators.names()
    return found["names"]


def _library(torch: Any, namespace: str) -> Any:
    library = torch.library.Library(namespace, "IMPL")
    _libraries.append(library)
    return library


def _overload(torch: Any, full: str) -> Any:
    namespace, _, name = full.partition("::")
    base, _, overload = name.partition(".")
    try:
        packet = getattr(getattr(torch.ops, namespace), base)
        return getattr(packet, overload or "default")
    except AttributeError:
        known = sorted(n for n in torch._C._dispatch_get_all_op_names()
                       if n == f"{namespace}::{base}" or n.startswith(f"{namespace}::{base}."))
        owner, one = _OWNERS[namespace]
        raise ValueError(f"{owner} has no operator {full}; "
                         + (f"expected one of {', '.join(known)}" if known else
                            f"expected the name of one, such as {one}")) from None


def _kernel(torch: Any, name: str, function: Function) -> Function:
    """Returns the function below autocast, which has done its part for the arguments."""
    autocast = torch._C.DispatchKeySet(torch._C.DispatchKey.AutocastPrivateUse1)
    guard = torch._C._ExcludeDispatchKeyGuard

    def kernel(*arguments: Any, **options: Any) -> Any:
        with guard(autocast):
            return function(*arguments, **options)

    kernel.__name__ = kernel.__qualname__ = name
    return kernel


def _shapes(torch: Any, full: str, function: Function) -> Function:
    """Returns the function for tensors without data: nothing happens to an operator that returns
    nothing."""
    return function if _overload(torch, full)._schema.returns else lambda *_, **__: None


def _missing(full: str) -> Function:
    def kernel(*_: Any, **__: Any) -> Any:
        raise NotImplementedError(
            f"{full} is not there: no aclnn function computes it, and nothing defines it in "
            f"torch's operations. This line above a function defines it: {_line(full)}")

    return kernel


def _register(torch: Any, full: str, function: Function) -> None:
    overload = _overload(torch, full)
    namespace = full.partition("::")[0]
    if has_pair(full):
        raise ValueError(f"{full} is computed by an aclnn function, which is not replaced")
    key = _COMPOSITE if full in _composites else "PrivateUse1"
    library = _library(torch, namespace)
    library.impl(overload, _kernel(torch, full, function), key, allow_override=True)
    if namespace != "npu":
        library.impl(overload, _shapes(torch, full, function), "Meta", allow_override=True)


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
        arguments = _overload(torch, full)._schema.arguments
        if not any("Tensor" in str(argument.type) for argument in arguments):
            names.append(full)
    return names


def _register_npu(torch: Any) -> None:
    """Replaces the kernels that torch_npu has registered."""
    library = _library(torch, "npu")
    kept = _aclnn_operators.in_every_mode()
    for full in torch._C._dispatch_get_registrations_for_dispatch_key("PrivateUse1"):
        if not full.startswith("npu::"):
            continue
        base = full[len("npu::"):].partition(".")[0]
        if base in _TORCH_NPUS and full not in _functions or base in kept or has_pair(full):
            continue
        function = _functions.get(full)
        kernel = _kernel(torch, full, function) if function else _missing(full)
        library.impl(full, kernel, "PrivateUse1", allow_override=True)
    _composites.update(_of_the_compiler(torch))
    for full in _composites:
        function = _functions.get(full)
        library.impl(full, _kernel(torch, full, function) if function else _missing(full),
                     _COMPOSITE, allow_override=True)


def _register_others(torch: Any, namespace: str) -> None:
    """Registers kernels and shapes for all operators of a namespace that are declared."""
    library = _library(torch, namespace)
    for full in torch._C._dispatch_get_all_op_names():
        if full.startswith(f"{namespace}::"):
            function = _functions.get(full)
            kernel = _kernel(torch, full, function) if function else _missing(full)
            library.impl(full, kernel, "PrivateUse1", allow_override=True)
            if function or not torch._C._dispatch_has_kernel_for_dispatch_key(full, "Meta"):
                shapes = _shapes(torch, full, function) if function else kernel
                library.impl(full, shapes, "Meta", allow_override=True)


def _register_namespace(torch: Any, namespace: str) -> None:
    """Registers what the table has of a namespace whose operators are declared, and the message of the
    others."""
    if namespace == "npu":
        _register_npu(torch)
    else:
        _register_others(torch, namespace)
    _there.add(namespace)
    for full in _users:
        if full.startswith(f"{namespace}::"):
            _register(torch, full, _functions[full])
    _users[:] = [full for full in _users if not full.startswith(f"{namespace}::")]


def declared(torch: Any, namespace: str) -> None:
    """Registers what the table has of a namespace whose operators have been declared, now or with those
    of torch_npu."""
    if _torch:
        _register_namespace(torch, namespace)


def register(torch: Any) -> None:
    """Registers the operators of torch_npu, and those of other namespaces that are declared."""
    for module in _MODULES:
        importlib.import_module(f"{__package__}.{module}")
    _torch.append(torch)
    names = torch._C._dispatch_get_all_op_names()
    for namespace in NAMESPACES:
        if any(name.startswith(f"{namespace}::") for name in names):
            _register_namespace(torch, namespace)
