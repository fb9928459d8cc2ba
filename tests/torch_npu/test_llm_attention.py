# SPDX-License-Identifier: Apache-2.0
"""npu_fused_infer_attention_score and its forms against plain loops.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import contextlib
import re

import llm_reference as reference
import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import HEADS, SCALE, SIZE, TRIANGLE, TYPES, Case, near

from advance_step import _host_operators

native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")


@pytest.fixture(params=TYPES, ids=lambda dtype: str(dtype).replace("torch.", ""))
def dtype(request):
    return request.param

@pytest.mark.parametrize("layout", ("BSH", "BSND", "BNSD", "BNSD_BSND", "BSH_NBSD", "BSND_NBSD"))
@pytest.mark.parametrize("kv_heads", (1, 2, 4))
def test_layouts(layout, kv_heads):
    for dtype in TYPES:
        case = Case(kv_heads=kv_heads, dtype=dtype)
        mask = torch.rand(2, 1, 5, 7, generator=torch.Generator().manual_seed(3)) < 0.4
        wanted, lse = case.expected(lambda request, _, row, column: mask[request, 0, row, column])
        out, found = case.infer(layout, atten_mask=mask.npu(), softmax_lse_flag=True)
        near(out, reference.in_layout(wanted, layout.rpartition("_")[2]), dtype)
        near(found, np.stack(lse).transpose(0, 2, 1)[..., None])
        near(case.infer(layout)[0], reference.in_layout(case.expected()[0], layout.rpartition("_")[2]),
             dtype)


@pytest.mark.parametrize("shape", ((5, 7), (8, 16), (1, 5, 7), (2, 1, 5, 7), (1, 1, 5, 7), (2, 4, 5, 7)))
@pytest.mark.parametrize("kind", (torch.bool, torch.int8, torch.uint8))
def test_masks(shape, kind):
    case = Case()
    mask = torch.rand(shape, generator=torch.Generator().manual_seed(1)) < 0.5
    whole = mask.reshape((1,) * (4 - len(shape)) + shape).expand(2, HEADS, *shape[-2:])
    near(case.infer(atten_mask=mask.to(kind).npu())[0], np.stack(
        case.expected(lambda *place: whole[place])[0]))


@pytest.mark.parametrize("mode, hides", (
    (2, lambda row, column: column > row), (3, lambda row, column: column > row + 2),
    (4, lambda row, column: not -3 <= column - row - 2 <= 1)))
@pytest.mark.parametrize("shape", ((2048, 2048), (1, 2048, 2048), (1, 1, 2048, 2048)))
def test_sparse_modes(mode, hides, shape):
    case = Case()
    found = case.infer(atten_mask=TRIANGLE.reshape(shape).npu(), sparse_mode=mode, pre_tokens=3,
                       next_tokens=1)[0]
    near(found, np.stack(case.expected(lambda _, __, row, column: hides(row, column))[0]))


def test_tokens_before_and_after_of_a_mask():
    case, mask = Case(), torch.zeros(5, 7, dtype=torch.bool, device="npu")
    near(case.infer(atten_mask=mask, pre_tokens=2, next_tokens=1)[0], np.stack(
        case.expected(lambda _, __, row, column: not -2 <= column - row <= 1)[0]))
    near(case.infer(pre_tokens=2, next_tokens=1)[0], np.stack(case.expected()[0]))  # without one: none


def test_lengths():
    case = Case()
    wanted, lse = case.expected(lambda request, _, row, column: column >= (4, 7)[request]
                                or row >= (5, 3)[request])
    out, found = case.infer(actual_seq_lengths=[5, 3], actual_seq_lengths_kv=[4, 7], softmax_lse_flag=True)
    near(out, np.stack(wanted))
    near(found, np.stack(lse).transpose(0, 2, 1)[..., None])
    near(case.infer(actual_seq_lengths_kv=[3])[0], np.stack(case.expected(seen=(3, 3))[0]))
    near(case.infer(actual_seq_lengths_kv=[0, 2])[0], np.stack(case.expected(seen=(0, 2))[0]))
    mask = TRIANGLE.npu()
    near(case.infer(actual_seq_lengths_kv=[6, 7], atten_mask=mask, sparse_mode=3)[0], np.stack(
        case.expected(lambda r, _, row, column: column > row + (1, 2)[r], seen=(6, 7))[0]))


def test_one_query_token():
    """Its sparse mode has no meaning, and a mask may be [B, Sk]."""
    case = Case(queries=(1, 1))
    mask = torch.rand(2, 7, generator=torch.Generator().manual_seed(1)) < 0.5
    near(case.infer("BNSD", atten_mask=mask.npu())[0], np.stack(
        case.expected(lambda r, _, __, column: mask[r, column])[0]).transpose(0, 2, 1, 3))
    near(case.infer("BSH", atten_mask=TRIANGLE.npu(), sparse_mode=3, actual_seq_lengths_kv=[7, 2])[0],
         reference.in_layout(case.expected(seen=(7, 2))[0], "BSH"))


@pytest.mark.parametrize("mode", (0, 3))
def test_requests_of_different_lengths(mode):
    case = Case((2, 0, 5, 1), (4, 3, 6, 1), kv_heads=1)
    options = {"atten_mask": TRIANGLE.npu(), "sparse_mode": 3} if mode else {}
    wanted, lse = case.expected(lambda r, _, row, column: mode and column > row + (2, 3, 1, 0)[r])
    out, found = case.infer("TND", actual_seq_lengths=[2, 2, 7, 8], actual_seq_lengths_kv=[4, 7, 13, 14],
                            softmax_lse_flag=True, **options)
    near(out, np.concatenate(wanted))
    near(found, np.concatenate(lse)[..., None])


class Paged(Case):
    """Keys and values in blocks of 4, with garbage behind the lengths and in unused columns."""

    lengths = (7, 4, 1)
    table = [[5, 2, -1], [0, 99, 99], [3, 1 << 30, 0]]

    def __init__(self, queries=(1, 1, 1), dtype=torch.float32):
        super().__init__(queries, self.lengths, 2, dtype)
        self.caches = [torch.tensor(reference.blocks_of([t.float().numpy() for t in tensors], 4,
                                                        self.table, 6)).to(dtype).npu()
                       for tensors in self.tensors[1:]]

    def infer(self, layout, caches, table=None, **options):
        query = torch.tensor(np.ascontiguousarray(reference.in_layout(
            [t.float().numpy() for t in self.tensors[0]], layout))).to(self.dtype).npu()
        table = torch.tensor(table or self.table, dtype=torch.int32).npu()
        return torch_npu.npu_fused_infer_attention_score(
            query, *caches, num_heads=HEADS, num_key_value_heads=2, input_layout=layout, scale=SCALE,
            block_table=table, block_size=4, actual_seq_lengths_kv=self.lengths, **options)


@pytest.mark.parametrize("layout", ("BSH", "BSND", "BNSD"))
@pytest.mark.parametrize("queries", ((1, 1, 1), (2, 2, 2)))
def test_paged(dtype, layout, queries):
    case = Paged(queries, dtype)
    wanted = reference.in_layout(case.expected()[0], layout)
    flat = [cache.flatten(2) for cache in case.caches]
    near(case.infer(layout, flat)[0], wanted, dtype)
    by_head = [cache.transpose(1, 2).contiguous() for cache in case.caches]
    near(case.infer(layout, by_head)[0], wanted, dtype)
    if layout == "BSND":
        near(case.infer(layout, case.caches)[0], wanted, dtype)


def test_paged_requests_of_different_lengths():
    case = Paged((3, 1, 1))
    wanted = np.concatenate(case.expected(lambda r, _, row, column: column > row + (4, 3, 0)[r])[0])
    found = case.infer("TND", [cache.flatten(2) for cache in case.caches], actual_seq_lengths=[3, 4, 5],
                       atten_mask=TRIANGLE.npu(), sparse_mode=3)[0]
    near(found, wanted)


def test_a_wrong_block_is_named():
    case = Paged()
    with pytest.raises((RuntimeError, IndexError), match=(
            "block_table of npu_fused_infer_attention_score: row 0, column 1 has block 6; expected 0 <= block < 6"
            "|blockTable has 6 in row 0, column 1; expected a block of 0 to 5")):
        case.infer("BSH", [cache.flatten(2) for cache in case.caches],
                   table=[[5, 6, 0], [0, 0, 0], [3, 0, 0]])
        torch.npu.synchronize()
    with contextlib.suppress(RuntimeError):  # the failure of a launch may have come before
        torch.npu.synchronize()
    near(case.infer("BSH", [cache.flatten(2) for cache in case.caches])[0],
         reference.in_layout(case.expected()[0], "BSH"))


@pytest.mark.skipif(_host_operators.form() == "python", reason="the extension has the operator")
@pytest.mark.parametrize("lengths", ([3], [3, 5], [3, -1]), ids=("few", "long", "negative"))
def test_the_table_is_not_read_beyond_its_end(lengths):
    cache = torch.ones(2, 4, 1, 8).npu()
    with pytest.raises(ValueError, match="gather_blocks"):
        torch.ops.advance_step.gather_blocks(cache, cache, torch.zeros(2, 1).int().npu(), lengths)


def test_other_forms():
    case = Case()
    wanted = np.stack(case.expected()[0])
    out = [torch.empty(2, 5, HEADS, SIZE, device="npu"), torch.empty(2, HEADS, 5, 1, device="npu")]
    tensors = case.in_layout("BSND")
    options = {"num_heads": HEADS, "num_key_value_heads": 2, "input_layout": "BSND"}
    result = torch_npu.npu_fused_infer_attention_score.out(*tensors, **options, scale=SCALE,
                                                           softmax_lse_flag=True, out=out)
    near(out[0], wanted)
    assert result[0].data_ptr() == out[0].data_ptr()
    near(torch_npu.npu_fused_infer_attention_score_v2(
        *tensors, num_query_heads=HEADS, num_key_value_heads=2, input_layout="BSND",
        softmax_scale=SCALE)[0], wanted)
    near(torch_npu.npu_prompt_flash_attention(*tensors, **options, scale_value=SCALE), wanted)
    one = Case(queries=(1, 1))
    near(torch_npu.npu_incre_flash_attention(*one.in_layout("BSND"), **options, scale_value=SCALE,
                                             actual_seq_lengths=[5, 2]),
         np.stack(one.expected(seen=(5, 2))[0]))


@native
def test_infer_in_a_graph():
    case, graph = Paged(), torch.npu.NPUGraph()
    mask = torch.zeros(3, 7, dtype=torch.bool, device="npu")
    flat = [cache.flatten(2) for cache in case.caches]
    query = torch.zeros(3, 1, HEADS * SIZE, device="npu")
    table = torch.tensor(case.table, dtype=torch.int32).npu()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        out = torch_npu.npu_fused_infer_attention_score(
            query, *flat, num_heads=HEADS, num_key_value_heads=2, scale=SCALE, block_table=table,
            block_size=4, actual_seq_lengths_kv=case.lengths, atten_mask=mask)[0]
    query.copy_(torch.tensor(reference.in_layout([t.numpy() for t in case.tensors[0]], "BSH")))
    for first in (0, 1):
        mask[:, :first] = True
        graph.replay()
        near(out, reference.in_layout(case.expected(lambda _, __, ___, column: column < first)[0], "BSH"))


@native
@pytest.mark.parametrize("version", ("", "_v2"))
def test_a_graph_takes_new_lengths(version):
    """As NPUGraph.update and engines do: the attention is the launch of a task group, and an update
    records it once more. Each replay waits for an update of its own."""
    attention = getattr(torch_npu, f"npu_fused_infer_attention_score{version}")
    heads, lengths = ("num_query_heads", "actual_seq_kvlen") if version else ("num_heads", "actual_seq_lengths_kv")
    options = {heads: HEADS, "input_layout": "BSND", "num_key_value_heads": 2,
               "softmax_scale" if version else "scale": SCALE}
    case, graph = Case(queries=(1, 1)), torch.npu.NPUGraph()
    tensors = case.in_layout("BSND")
    torch.npu.synchronize()
    with torch.npu.graph(graph, auto_dispatch_capture=True):
        out = attention(*tensors, **options, **{lengths: [5, 2]})[0]
    for seen in ((5, 2), (1, 7), (7, 3), (2, 2)):
        graph.update(cpu_update_input=[{lengths: list(seen)}])
        graph.replay()
        near(out, np.stack(case.expected(seen=seen)[0]))


@native
def test_a_task_group_takes_the_attention_with_what_an_engine_passes():
    """graph_task_group_begin and its kin, with a workspace, outputs and a stream of its own for updates."""
    case, graph = Paged(), torch.npu.NPUGraph()
    flat = [cache.flatten(2) for cache in case.caches]
    query = torch.tensor(reference.in_layout([t.numpy() for t in case.tensors[0]], "BSH")).npu()
    table = torch.tensor(case.table, dtype=torch.int32).npu()
    options = {"num_heads": HEADS, "num_key_value_heads": 2, "scale": SCALE, "block_table": table, "block_size": 4}
    out, lse = torch.empty_like(query), torch.empty(1, device="npu")
    workspace = torch_npu._npu_fused_infer_attention_score_get_max_workspace(
        query, *flat, **options, actual_seq_lengths_kv=[1, 1, 1])
    updates, ready = torch.npu.Stream(), torch.npu.ExternalEvent()

    def attend(lengths):
        torch_npu.npu_fused_infer_attention_score.out(query, *flat, **options, actual_seq_lengths_kv=lengths,
                                                      workspace=workspace, out=[out, lse])

    torch.npu.synchronize()
    with torch.npu.graph(graph):
        stream = torch.npu.current_stream()
        ready.wait(stream)
        ready.reset(stream)
        torch.npu.graph_task_group_begin(stream)
        attend([1, 1, 1])
        group = torch.npu.graph_task_group_end(stream)
    for lengths in (case.lengths, (4, 4, 1), (2, 3, 1)):
        graph.replay()
        with torch.npu.stream(updates):
            torch.npu.graph_task_update_begin(updates, group)
            attend(list(lengths))
            torch.npu.graph_task_update_end(updates)
            ready.record(updates)
        torch.npu.synchronize()
        near(out, reference.in_layout(case.expected(seen=lengths)[0], "BSH"))


@pytest.mark.parametrize("name, value", (
    ("pse_shift", torch.zeros(1)), ("quant_scale1", torch.ones(1)), ("key_antiquant_scale", torch.ones(1)),
    ("key_shared_prefix", torch.ones(1)), ("key_rope_antiquant_scale", torch.ones(1)),
    ("query_padding_size", torch.ones(1)), ("sparse_mode", 9),
    ("sparse_mode", 5), ("num_key_value_heads", 3), ("num_heads", 8), ("input_layout", "SBH"),
    ("atten_mask", torch.zeros(3, 3, dtype=torch.bool)), ("atten_mask", torch.zeros(5, 7)),
    ("actual_seq_lengths_kv", [8, 1]),
    ("block_table", torch.zeros(3, 1, dtype=torch.int32)), ("block_size", None)))
def test_what_is_not_supported_is_named(name, value):
    options = {"input_layout": "BSND", "num_heads": HEADS, "num_key_value_heads": 2, name: value}
    if isinstance(value, torch.Tensor):
        options[name] = value.npu()
    if name == "block_size":
        options = {**options, name: 0, "actual_seq_lengths_kv": [1],
                   "block_table": torch.zeros(2, 1, dtype=torch.int32).npu()}
    with pytest.raises((ValueError, NotImplementedError, RuntimeError)) as error:
        torch_npu.npu_fused_infer_attention_score(*Case().in_layout("BSND"), **options)
    text = str(error.value)
    if "aclnnFusedInferAttentionScore" not in text:  # the composition of the Python form, or torch_npu's own check
        assert text.startswith(f"npu_fused_infer_attention_score: {name} is ") or name == "input_layout", text
        return
    # In brackets behind it are all tensors of the call.
    argument = re.sub("_(.)", lambda match: match.group(1).upper(), name)  # num_heads -> numHeads
    assert re.search(rf"^aclnnFusedInfer\w+GetWorkspaceSize: [^(]*{argument}", text, flags=re.MULTILINE), text
