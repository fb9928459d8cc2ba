# SPDX-License-Identifier: Apache-2.0
"""The table of what is special about operators of torch, as both forms read it."""

import pytest
import torch
from advance_step._torch_operators import FLAGS, OPERATORS, flags_of


def test_each_name_fits_an_operator_that_torch_has():
    names = [name.removeprefix("aten::").partition(".")
             for name in torch._C._dispatch_get_all_op_names() if name.startswith("aten::")]
    bases = {base for base, _, _ in names}
    overloads = {f"{base}.{overload or 'default'}" for base, _, overload in names}
    for name in OPERATORS:
        assert (any(base.startswith(name[:-1]) for base in bases) if name.endswith("*")
                else name in bases | overloads), name


def test_each_flag_is_described_and_used():
    assert {flag for flags in OPERATORS.values() for flag in flags.split()} == set(FLAGS)


@pytest.mark.parametrize("name, flags", (
    ("aten::index", {"trial_if_strided", "mask_indices"}), ("aten::index_add", set()),
    ("aten::mode.values", {"trial", "names_devices"}), ("aten::mode", set()),
    ("aten::kaiser_window", {"trial", "names_devices"}), ("aten::kaiser_window.out", {"trial"}),
    ("aten::lu_solve.out", {"matrices", "no_trial_of_dtypes"}),
    ("aten::linalg_eig", {"matrices", "trial"}), ("aten::add.Tensor", set()),
    ("aten::_foreach_copy_.out", {"default_dtype", "takes_cpu_tensors"})))
def test_flags_of_overloads_and_beginnings(name, flags):
    assert flags_of(name) == flags


def test_the_extension_refuses_a_flag_that_it_does_not_know(program):
    text = """
from advance_step import _native, _torch_operators
import torch
_torch_operators.OPERATORS["add"] = "unheard_of"
library = _native.load(torch, False)
try:
    _native.register(torch, library)
except ImportError as error:
    print(error)
"""
    done = program.code(text, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
    assert "operator add has the flag unheard_of, which the extension does not know" in done.stdout
