# SPDX-License-Identifier: Apache-2.0
"""The operators of LLM engines of the namespace `npu`, in torch's own operations on "npu" tensors.

`table` knows which function defines which operator; the other modules have the definitions. They are
imported after torch and torch_npu only.
"""
