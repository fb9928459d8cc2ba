# SPDX-License-Identifier: Apache-2.0
"""Attention of inference against torch's own, request by request."""

import ctypes

import pytest
import torch

import aclnn

HEADS, KEY_HEADS, SIZE = 4, 2, 16
UNLIMITED = 2147483647


def attend(q, k, v, scale, hidden=None):
    """[N, S, D] of one request."""
    k, v = (one.repeat_interleave(q.shape[0] // one.shape[0], 0) for one in (k, v))
    visible = None if hidden is None else ~hidden
    return torch.nn.functional.scaled_dot_product_attention(q[None], k[None], v[None], visible, scale=scale)[0]


def ordered(name, values):
    """The arguments of a call, those that are not given as null, 0 or false."""
    arguments = []
    for argument in aclnn.functions()[name]["arguments"]:
        word = argument["name"]
        fallback = 0 if argument["kind"] in ("kInt", "kReal") else False if argument["kind"] == "kFlag" else None
        arguments.append(values.get(word, values.get(word.removesuffix("Optional"), fallback)))
    return arguments


def call(device, name, out, lse=None, **given):
    values = {"numHeads": HEADS, "numKeyValueHeads": KEY_HEADS, "scaleValue": SIZE ** -0.5, "preTokens": UNLIMITED,
              "nextTokens": UNLIMITED, "softmaxLseFlag": lse is not None, "attentionOut": out, "softmaxLse": lse, **given}
    aclnn.call(device, name, *ordered(name, values))
    return out


def triangle():
    return torch.ones(2048, 2048, dtype=torch.bool).triu(1)


@pytest.mark.parametrize("layout", ["BSH", "BSND", "BNSD", "BNSD_BSND"])
def test_layouts_and_masks(device, layout):
    torch.manual_seed(1)
    q, k, v = (torch.randn(2, heads, 5, SIZE) for heads in (HEADS, KEY_HEADS, KEY_HEADS))
    hidden = torch.rand(2, 1, 5, 5) > 0.7
    hidden[..., 0] = False

    def laid(tensor, to):
        tokens = tensor.transpose(1, 2)
        return {"BSH": tokens.flatten(2), "BSND": tokens, "BNSD": tensor}[to].contiguous()

    source, _, target = layout.partition("_")
    wanted = torch.stack([attend(q[one], k[one], v[one], SIZE ** -0.5, hidden[one]) for one in range(2)])
    out = torch.zeros_like(laid(wanted, target or source))
    call(device, "aclnnFusedInferAttentionScoreV2", out, query=laid(q, source), key=[laid(k, source)],
         value=[laid(v, source)], attenMask=hidden, inputLayout=layout)
    torch.testing.assert_close(out, laid(wanted, target or source))


@pytest.mark.parametrize("name", ["aclnnFusedInferAttentionScore", "aclnnFusedInferAttentionScoreV3",
                                  "aclnnFusedInferAttentionScoreV4"])
def test_requests_of_a_paged_cache(device, name):
    torch.manual_seed(2)
    block, queries, keys = 8, [1, 3, 2], [9, 17, 4]
    cache = [torch.randn(10, block, KEY_HEADS * SIZE) for _ in range(2)]
    table = torch.tensor([[3, 7, -1], [0, 9, 4], [5, -1, -1]], dtype=torch.int32)
    q = torch.randn(sum(queries), HEADS, SIZE)
    out, lse = torch.zeros_like(q), torch.zeros(sum(queries), HEADS, 1)
    ends = [sum(queries[:place + 1]) for place in range(3)]
    call(device, name, out, lse, query=q, key=[cache[0]], value=[cache[1]], attenMask=triangle(), sparseMode=3,
         actualSeqLengths=ends, actualSeqLengthsKv=keys, blockTable=table, blockSize=block, inputLayout="TND")
    begin = 0
    for row, (count, length) in enumerate(zip(queries, keys)):
        k, v = (one[table[row, :(length + block - 1) // block].long()].reshape(-1, KEY_HEADS, SIZE)[:length]
                .transpose(0, 1) for one in cache)
        hidden = torch.arange(length) > torch.arange(count)[:, None] + length - count
        one = q[begin:begin + count].transpose(0, 1)
        torch.testing.assert_close(out[begin:begin + count].transpose(0, 1),
                                   attend(one, k, v, SIZE ** -0.5, hidden))
        scores = (one @ k.repeat_interleave(2, 0).mT * SIZE ** -0.5).masked_fill(hidden, float("-inf"))
        torch.testing.assert_close(lse[begin:begin + count, :, 0].t(), scores.logsumexp(-1))
        begin += count


class Decode:
    """A step of decoding over a paged cache: one call of FusedInferAttentionScoreV4 for given requests."""

    BLOCK, LENGTHS = 16, [700, 1, 33, 0, 612]

    def __init__(self, form, key_heads, size, dtype, queries=1):
        torch.manual_seed(5)
        self.form, self.key_heads, self.size, self.queries = form, key_heads, size, queries
        columns = 700 // self.BLOCK + 1
        self.table = torch.randperm(5 * columns).reshape(5, columns).to(torch.int32)
        self.query = torch.randn(5, queries, HEADS, size).to(dtype)
        self.caches = [torch.randn(5 * columns, self.BLOCK, key_heads, size).to(dtype) for _ in range(2)]

    def arguments(self, requests, out):
        laid = {"BSH": lambda cache: cache.flatten(2), "BSND": lambda cache: cache,
                "BNSD": lambda cache: cache.transpose(1, 2).contiguous(),
                "view": lambda cache: torch.cat([cache, cache], -1)[..., self.size:]}[self.form]
        given = {"query": self.query[requests].contiguous(), "attentionOut": out, "numHeads": HEADS,
                 "key": [laid(self.caches[0])], "value": [laid(self.caches[1])], "scaleValue": 0.25,
                 "actualSeqLengthsKv": [self.LENGTHS[request] for request in requests], "inputLayout": "BSND",
                 "blockTable": self.table[requests].contiguous(), "blockSize": self.BLOCK,
                 "numKeyValueHeads": self.key_heads}
        if self.form == "BNSD":
            given |= {"query": given["query"].transpose(1, 2).contiguous(), "inputLayout": "BNSD"}
        return ordered("aclnnFusedInferAttentionScoreV4", given)

    def run(self, device, requests):
        out = torch.full_like(self.query[requests], 7)
        out = out.transpose(1, 2).contiguous() if self.form == "BNSD" else out
        aclnn.call(device, "aclnnFusedInferAttentionScoreV4", *self.arguments(requests, out))
        return out.transpose(1, 2) if self.form == "BNSD" else out

    def wanted(self, request):
        """[queries, heads, size] in float64."""
        k, v = (cache[self.table[request].long()].flatten(0, 1)[:self.LENGTHS[request]].transpose(0, 1).double()
                for cache in self.caches)
        if self.LENGTHS[request] == 0:
            return torch.zeros(self.queries, HEADS, self.size, dtype=torch.float64)
        return attend(self.query[request].double().transpose(0, 1), k, v, 0.25).transpose(0, 1)


@pytest.mark.parametrize("form", ["BSH", "BSND", "BNSD", "view"])
@pytest.mark.parametrize("key_heads, size, queries", [(4, 64, 1), (2, 24, 1), (1, 48, 1), (2, 16, 3), (1, 32, 5)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_step_of_decoding(device, form, key_heads, size, queries, dtype):
    decode = Decode(form, key_heads, size, dtype, queries)
    out = decode.run(device, list(range(5)))
    for request in range(5):
        torch.testing.assert_close(out[request], decode.wanted(request).to(dtype))
        # Threads share requests, or heads if there are few requests.
        assert torch.equal(decode.run(device, [request])[0], out[request])


def test_a_captured_step_of_decoding_has_equal_bits(device):
    decode = Decode("BSH", 2, 64, torch.float32)
    eager, out = decode.run(device, [0, 4]), torch.zeros(2, 1, HEADS, 64)
    name = "aclnnFusedInferAttentionScoreV4"
    with aclnn.Call(device, name, decode.arguments([0, 4], out)) as made:
        model = ctypes.c_void_p()
        device.check(device.acl.aclmdlRICaptureBegin(device.stream, 1))
        device.check(getattr(device.operators, name)(None, ctypes.c_uint64(0), made.phase_one(), device.stream))
        device.check(device.acl.aclmdlRICaptureEnd(device.stream, ctypes.byref(model)))
        device.check(device.acl.aclmdlRIExecuteAsync(model, device.stream))
        device.synchronize()
        made.read()
        device.check(device.acl.aclmdlRIDestroy(model))
    assert torch.equal(out, eager)


def test_a_block_that_is_none_is_named(device):
    out = torch.full((1, 1, HEADS * SIZE), 7.0)
    table = torch.tensor([[1, 12]], dtype=torch.int32)
    with pytest.raises(aclnn.Failed, match="blockTable has 12 in row 0, column 1; expected a block of 0 to 3"):
        call(device, "aclnnIncreFlashAttentionV4", out, query=torch.randn(1, 1, HEADS * SIZE),
             key=[torch.randn(4, 8, KEY_HEADS * SIZE)], value=[torch.randn(4, 8, KEY_HEADS * SIZE)],
             actualSeqLengths=[9], blocktable=table, blockSize=8, inputLayout="BSH")
    assert (out == 7).all()


def test_sinks_take_their_share(device):
    torch.manual_seed(3)
    q, k, v = (torch.randn(1, heads, 3, SIZE) for heads in (HEADS, KEY_HEADS, KEY_HEADS))
    sinks = torch.randn(HEADS)
    out = call(device, "aclnnFusedInferAttentionScoreV4", torch.zeros_like(q), query=q, key=[k], value=[v],
               learnableSink=sinks, inputLayout="BNSD")
    scores = (q[0] @ k[0].repeat_interleave(2, 0).mT) * SIZE ** -0.5
    weights = torch.softmax(torch.cat([scores, sinks[:, None, None].expand(-1, 3, 1)], -1), -1)[..., :-1]
    torch.testing.assert_close(out[0], weights @ v[0].repeat_interleave(2, 0))


Q = torch.ones(1, 2, HEADS * SIZE)
K = torch.ones(1, 2, HEADS * SIZE, dtype=torch.int8)
REFUSED = [
    ({"deqScale1Optional": torch.ones(1)}, "deqScale1 is not null; expected null"),
    ({"query": K}, "deqScale1 is null; expected one number, as query is INT8"),
    ({"key": [K]}, "key has a tensor of Char; expected floats, as there are no antiquant scales"),
    ({"antiquantScale": torch.ones(2)}, "key has a tensor of Float; expected INT8, INT4, or INT32 with eight"),
    ({"key": [K], "value": [K], "keyAntiquantScale": torch.ones(1)}, "keyAntiquantScale or valueAntiquantScale, or one of their offsets, is null"),
    ({"key": [K], "value": [K], "keyAntiquantScale": torch.ones(3), "valueAntiquantScale": torch.ones(3)},
     "keyAntiquantScale has shape \\[3\\]; expected one number, or one for each of the 4 x 16 channels"),
    ({"key": [K], "value": [K], "antiquantScale": torch.ones(2), "antiquantMode": 2}, "antiquantMode is 2; expected 0 to 1"),
    ({"key": [K], "value": [K], "antiquantScale": torch.ones(2, 1, 1), "antiquantMode": 1},
     "antiquantScale has shape \\[1, 1\\]; expected \\[requests, tokens\\] with at least 2 tokens for request 0"),
    ({"key": [K], "value": [K], "keyAntiquantMode": 5, "keyAntiquantScale": torch.ones(1, 4, 2),
      "valueAntiquantScale": torch.ones(1, 4, 2)}, "keyAntiquantScale has numbers for blocks; expected a block table"),
    ({"queryRope": Q}, "one of queryRope and keyRope is null; expected both or none"),
    ({"keySharedPrefix": Q}, "one of keySharedPrefix and valueSharedPrefix is null; expected both or none"),
    ({"keySharedPrefix": Q, "valueSharedPrefix": Q, "actualSharedPrefixLen": [3]},
     "actualSharedPrefixLen is \\[3\\]; expected one number of 0 to 2"),
    ({"quantScale2": torch.ones(1)}, "quantScale2 is not null; expected a tensor if attentionOut is INT8, and null"),
    ({"pseShiftOptional": torch.ones(1)}, "pseShift is \\[1\\]; expected 2 x 2 positions"),
    ({"inputLayout": "HSB"}, "inputLayout is HSB; expected BSH"),
]


@pytest.mark.parametrize("changes, text", REFUSED, ids=[str(place) for place in range(len(REFUSED))])
def test_what_is_not_computed_is_refused_by_name(device, changes, text):
    out = torch.full_like(Q, 7)
    given = {"query": Q, "key": [Q], "value": [Q], "numKeyValueHeads": HEADS, "inputLayout": "BSH"} | changes
    with pytest.raises(aclnn.Failed, match=text) as info:
        call(device, "aclnnFusedInferAttentionScoreV4", out, **given)
    assert info.value.code == 161002
    assert (out == 7).all()


@pytest.mark.parametrize("groups", [1, 2])
def test_products_with_quantised_weights(device, groups):
    torch.manual_seed(4)
    x, weight = torch.randn(3, 8), torch.randint(-8, 8, (8, 5), dtype=torch.int8)
    scale = torch.rand(groups, 5)
    offset = torch.randint(-2, 2, (groups, 5)).float()
    size = 8 // groups if groups > 1 else 0
    out = torch.zeros(3, 5)
    aclnn.call(device, "aclnnWeightQuantBatchMatmulV2", x, weight, scale, offset, None, None, None, size, out)
    rows = scale.repeat_interleave(8 // groups, 0)
    torch.testing.assert_close(out, x @ ((weight + offset.repeat_interleave(8 // groups, 0)) * rows))
