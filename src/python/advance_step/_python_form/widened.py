# SPDX-License-Identifier: Apache-2.0
"""Calls that torch's kernels for "cpu" refuse for their dtypes, and an NPU's do not.

Half precision is computed in float32, and indices and labels of int32 are cast to int64. The casts are
operators on "npu".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

# Arguments that have indices, and never values.
INDICES = frozenset(("batch_sizes", "index", "indices", "labels", "offsets", "repeats", "target",
                     "targets"))


def _tensors(torch: Any, value: Any) -> Iterator[Any]:
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for element in value:
            yield from _tensors(torch, element)


def _mapped(torch: Any, value: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(_mapped(torch, element, change) for element in value)
    return change(value) if isinstance(value, (torch.Tensor, torch.dtype)) else value


def _refuses_types(refusal: Exception) -> bool:
    text = str(refusal).lower()
    return any(words in text for words in ("type", "not implemented for", "long tensor"))


def _narrow(torch: Any, given: dict[str, Any]) -> Any:
    """Returns the dtype of all floating point tensors, if that is one of half precision."""
    dtypes = {tensor.dtype for tensor in _tensors(torch, list(given.values()))
              if tensor.is_floating_point() or tensor.is_complex()}
    dtypes |= {value for value in given.values()
               if isinstance(value, torch.dtype) and value.is_floating_point}
    return next(iter(dtypes)) if len(dtypes) == 1 and dtypes <= {torch.float16, torch.bfloat16} else None


def _results(torch: Any, given: dict[str, Any], wide: dict[str, Any], results: Any,
             narrow: Any) -> Any:
    def change(value: Any) -> Any:
        for key, tensor in wide.items():
            if tensor is value:
                return given[key]
        is_wide = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        return value.to(narrow) if is_wide and narrow is not None else value

    if isinstance(results, (list, tuple)):
        return tuple(_mapped(torch, result, change) for result in results)
    return _mapped(torch, results, change)


def call(torch: Any, op: Any, given: dict[str, Any], written: set[str], refusal: Exception) -> Any:
    """Calls the operator in wider types. Raises the refusal if it is not for dtypes, or if there are no
    wider ones that help."""
    narrow = _narrow(torch, given)

    def widen(key: str) -> Callable[[Any], Any]:
        def change(value: Any) -> Any:
            if isinstance(value, torch.dtype):
                return torch.float32 if value == narrow else value
            if narrow is not None and value.dtype == narrow:
                return value.float()
            is_index = value.dtype == torch.int32 and key in INDICES and key not in written
            return value.long() if is_index else value
        return change

    with torch._C._AutoDispatchBelowADInplaceOrView():
        wide = {key: _mapped(torch, value, widen(key)) for key, value in given.items()}
        tensors = list(_tensors(torch, list(given.values())))
        if not _refuses_types(refusal) or all(one is other for one, other in zip(
                tensors, _tensors(torch, list(wide.values())))) and narrow is None:
            raise refusal
        try:
            results = op(**wide)
        except (RuntimeError, IndexError) as second:
            raise refusal if _refuses_types(second) else second from None
        for key in written:
            for to, made in zip(_tensors(torch, given[key]), _tensors(torch, wide[key])):
                if to is not made:
                    if to.shape != made.shape:
                        to.resize_(made.shape)
                    to.copy_(made)
        return _results(torch, given, wide, results, narrow)
