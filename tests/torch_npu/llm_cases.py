# SPDX-License-Identifier: Apache-2.0
"""Tensors of the tests of LLM engines' operators, and their comparison with plain numbers."""

import llm_reference as reference
import numpy as np
import torch
import torch_npu

TYPES = {torch.float32: 1e-5, torch.bfloat16: 2e-2, torch.float16: 2e-3}  # and their tolerance
HEADS, SIZE, SCALE = 4, 8, 0.3
TRIANGLE = torch.ones(2048, 2048, dtype=torch.bool).triu(1)


def random(*shape, dtype=torch.float32, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def near(npu, wanted, dtype=torch.float32):
    assert npu.device.type == "npu" and npu.dtype == dtype
    assert tuple(npu.shape) == np.shape(wanted)
    np.testing.assert_allclose(npu.detach().cpu().double().numpy(), wanted, rtol=TYPES[dtype],
                               atol=TYPES[dtype])


class Case:
    """Queries, keys and values of some requests, and what a plain loop expects of them."""

    def __init__(self, queries=(5, 5), keys=(7, 7), kv_heads=2, dtype=torch.float32):
        shapes = [(queries, HEADS), (keys, kv_heads), (keys, kv_heads)]
        self.dtype = dtype
        self.tensors = [[random(length, heads, SIZE, dtype=dtype, seed=10 * place + row)
                         for row, length in enumerate(lengths)]
                        for place, (lengths, heads) in enumerate(shapes)]

    def expected(self, hidden=lambda *_: False, seen=None):
        """hidden(request, head, row, column); `seen`: how many keys each request has."""
        pairs = [reference.attend(q.float(), k.float()[:seen[row] if seen else None],
                                  v.float()[:seen[row] if seen else None], SCALE,
                                  lambda *place, row=row: hidden(row, *place))
                 for row, (q, k, v) in enumerate(zip(*self.tensors))]
        return [out for out, _ in pairs], [lse for _, lse in pairs]

    def in_layout(self, layout, numbers=None):
        arrays = numbers or [[t.float().numpy() for t in tensors] for tensors in self.tensors]
        return [torch.tensor(np.ascontiguousarray(reference.in_layout(array, layout))).to(self.dtype)
                .npu() for array in arrays]

    def infer(self, layout="BSND", operator=torch_npu.npu_fused_infer_attention_score, **options):
        first, _, _ = layout.partition("_")
        return operator(*self.in_layout(first), num_heads=HEADS, input_layout=layout, scale=SCALE,
                        num_key_value_heads=self.tensors[1][0].shape[1], **options)
