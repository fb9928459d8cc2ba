# SPDX-License-Identifier: Apache-2.0
"""The lightning indexer: which tokens of the context a query attends to.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import TYPES, random
from llm_custom import ops

from advance_step import _host_operators

native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")
HEADS, SIZE, BLOCK = 3, 8, 4
QUERIES, KEYS = (2, 3), (9, 5)  # of two requests
TABLE = [[4, 1, 5], [2, 0, 3]]


def chosen(query, key, weights, count, causal=True):
    """Of one request: the columns of the largest scores of each query, and the scores."""
    found = []
    for row in range(len(query)):
        seen = len(key) - (len(query) - 1 - row if causal else 0)
        scores = [sum(w * max(float(q @ key[column]), 0) for q, w in zip(query[row], weights[row]))
                  for column in range(seen)]
        order = sorted(range(seen), key=lambda column: -scores[column])[:count]
        found.append((order + [-1] * (count - len(order)), [scores[column] for column in order]))
    return [columns for columns, _ in found], [scores for _, scores in found]


class Case:
    """Queries, keys and weights of the requests; the keys in blocks."""

    def __init__(self, dtype=torch.float32):
        self.query = [random(length, HEADS, SIZE, seed=row, dtype=dtype) for row, length in enumerate(QUERIES)]
        self.key = [random(length, SIZE, seed=10 + row, dtype=dtype) for row, length in enumerate(KEYS)]
        self.weights = [random(length, HEADS, seed=20 + row, dtype=dtype) for row, length in enumerate(QUERIES)]

    def blocks(self, keys):
        cache = torch.full((6, BLOCK, 1, SIZE), float("nan"), dtype=keys[0].dtype)
        for request, row in zip(keys, TABLE):
            for place, token in enumerate(request):
                cache[row[place // BLOCK], place % BLOCK, 0] = token
        return cache

    def paged(self, device="npu", **options):
        given = {"query": torch.cat(self.query), "key": self.blocks(self.key), "weights": torch.cat(self.weights),
                 "actual_seq_lengths_query": torch.tensor(np.cumsum(QUERIES), dtype=torch.int32),
                 "actual_seq_lengths_key": torch.tensor(KEYS, dtype=torch.int32),
                 "block_table": torch.tensor(TABLE, dtype=torch.int32), **options}
        return {**{name: each.to(device) if torch.is_tensor(each) else each for name, each in given.items()},
                "layout_query": "TND", "layout_key": "PA_BSND"}

    def wanted(self, count, causal=True):
        parts = [chosen(q.double().numpy(), k.double().numpy(), w.double().numpy(), count, causal)
                 for q, k, w in zip(self.query, self.key, self.weights)]
        return [sum((part[which] for part in parts), []) for which in (0, 1)]


@pytest.mark.parametrize("operator", (torch_npu.npu_lightning_indexer, ops.npu_lightning_indexer))
@pytest.mark.parametrize("mode", (0, 3))
def test_it_chooses_the_largest_scores(operator, mode):
    for dtype in TYPES:
        case = Case(dtype)
        columns, values = operator(**case.paged(sparse_count=4, sparse_mode=mode, return_value=True))
        wanted, scores = case.wanted(4, mode == 3)
        assert columns.dtype == torch.int32 and columns.shape == (5, 1, 4) and values.dtype == dtype
        assert columns[:, 0].tolist() == wanted
        for row, expected in zip(values[:, 0].float().cpu().numpy(), scores):
            np.testing.assert_allclose(row[:len(expected)], expected, rtol=TYPES[dtype], atol=TYPES[dtype])


def test_what_is_missing_is_minus_one():
    case = Case()
    columns, values = ops.npu_lightning_indexer(**case.paged(sparse_count=20))
    assert columns[:, 0].tolist() == case.wanted(20)[0] and values.shape == (0,)
    padded = case.paged(sparse_count=3)
    padded["query"], padded["weights"] = (torch.cat((t, t[:1])) for t in (padded["query"], padded["weights"]))
    columns, _ = ops.npu_lightning_indexer(**padded)  # a row of padding behind the last request
    assert columns[:, 0].tolist() == [*case.wanted(3)[0], [-1] * 3]


def test_layouts():
    case = Case()
    given = {name: each for name, each in case.paged().items() if name not in ("block_table", "key")}
    wanted = case.wanted(4)[0]
    given.update(layout_key="TND", key=torch.cat(case.key).unsqueeze(1).npu(), sparse_count=4,
                 actual_seq_lengths_key=torch.tensor(np.cumsum(KEYS)).npu())
    assert ops.npu_lightning_indexer(**given)[0][:, 0].tolist() == wanted
    longest = max(QUERIES), max(KEYS)
    query, weights, key = (torch.stack([torch.cat((part, torch.zeros(length - len(part), *part.shape[1:])))
                                        for part in parts])
                           for parts, length in ((case.query, longest[0]), (case.weights, longest[0]),
                                                 (case.key, longest[1])))
    columns, _ = ops.npu_lightning_indexer(
        query.npu(), key.unsqueeze(2).npu(), weights.npu(), actual_seq_lengths_query=torch.tensor(QUERIES).npu(),
        actual_seq_lengths_key=torch.tensor(KEYS).npu(), sparse_count=4)
    assert columns.shape == (2, 3, 1, 4)
    assert columns[0, :2, 0].tolist() + columns[1, :, 0].tolist() == wanted
    assert columns[0, 2, 0].tolist() == [-1] * 4


def test_quantized():
    case = Case()
    generator = torch.Generator().manual_seed(3)

    def numbers(*shape):
        return torch.randint(-127, 128, shape, dtype=torch.int8, generator=generator)

    query, scales = numbers(5, HEADS, SIZE), random(5, HEADS, seed=30).abs()
    cache, cache_scales = numbers(6, BLOCK, 1, SIZE), random(6, BLOCK, 1, seed=31).abs()
    given = case.paged(query=query, key=cache, query_dequant_scale=scales, key_dequant_scale=cache_scales)
    found = ops.npu_lightning_indexer_quant(**given, sparse_count=4)
    wide, keys = query.double() * scales.double().unsqueeze(2), cache.double() * cache_scales.double().unsqueeze(3)
    case.query = list(wide.split(QUERIES))
    case.key = [torch.stack([keys[row[place // BLOCK], place % BLOCK, 0] for place in range(length)])
                for row, length in zip(TABLE, KEYS)]
    assert found[:, 0].tolist() == case.wanted(4)[0]


@native
def test_a_graph_is_replayed_with_other_lengths():
    case = Case()
    given = case.paged(sparse_count=6)
    given["actual_seq_lengths_key"].copy_(torch.tensor((3, 3)))
    graph = torch.npu.NPUGraph()
    with torch.npu.graph(graph):
        columns, _ = ops.npu_lightning_indexer(**given)
    given["actual_seq_lengths_key"].copy_(torch.tensor(KEYS))
    graph.replay()
    assert columns[:, 0].tolist() == case.wanted(6)[0]


def test_shapes_without_data():
    columns, values = ops.npu_lightning_indexer(**Case().paged("meta", sparse_count=7, return_value=True))
    assert columns.shape == values.shape == (5, 1, 7) and columns.dtype == torch.int32


@pytest.mark.parametrize("change, text", (
    ({"layout_key": "BSND"}, "layout_key is 'BSND'; expected 'PA_BSND', or 'TND'"),
    ({"sparse_mode": 4}, "sparse_mode is 4"),
    ({"sparse_count": 0}, "sparse_count is 0"),
    ({"weights": torch.ones(5, 2)}, "weights is a float32 tensor of shape .5, 2."),
    ({"block_table": None}, "block_table is None"),
    ({"actual_seq_lengths_key": None}, "actual_seq_lengths_key is None"),
    ({"query": torch.ones(5, HEADS, 4)}, "key is"),
))
def test_wrong_arguments_are_named(change, text):
    given = {**Case().paged(**{k: v for k, v in change.items() if not k.startswith("layout")}),
             **{k: v for k, v in change.items() if k.startswith("layout")}}
    with pytest.raises(ValueError, match=f"^npu_lightning_indexer: {text}"):
        ops.npu_lightning_indexer(**given)
