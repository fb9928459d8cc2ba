# SPDX-License-Identifier: Apache-2.0
"""Attention of inference: arguments and references.

A maker draws queries, keys and values as [requests, heads, tokens, D], keeps them under names that no function has
("plainQuery" and so on) for the reference, and lays them out as a layout, a list or a paged cache has them."""

import math

import torch

import aclnn
from family_norms import draw
from loops import Near, half_even, saturated

HEADS, SIZE, REQUESTS, BLOCK = 2, 16, 2, 4
UNLIMITED = 2147483647
TRIANGLE = torch.ones(2048, 2048, dtype=torch.bool).triu(1)
KEYS = 6  # tokens of a request at most
TABLE = [[3, 0], [1, 4]]  # of five blocks
BLOCKS = 5


def laid(tensor, layout):
    """[B, N, S, D] in a layout of requests with a dim of their own."""
    tokens = tensor.transpose(1, 2)
    return {"BNSD": tensor, "BSND": tokens, "BSH": tokens.flatten(2), "NBSD": tensor.transpose(0, 1)}[layout].contiguous()


def joined(tensor, counts, layout):
    """The first tokens of requests, one behind the other: TND or NTD."""
    tokens = torch.cat([one[:, :count] for one, count in zip(tensor, counts)], 1)
    return (tokens if layout == "NTD" else tokens.transpose(0, 1)).contiguous()


def in_blocks(tensor, rest):
    """[B, N, S, D] as [blocks, N, BLOCK, D]; what no request has is `rest`."""
    cache = torch.full((BLOCKS, tensor.shape[1], BLOCK, tensor.shape[3]), rest, dtype=tensor.dtype)
    for request, row in enumerate(TABLE):
        for token in range(tensor.shape[2]):
            cache[row[token // BLOCK], :, token % BLOCK] = tensor[request, :, token]
    return cache


def packed(tensor):
    """Eight numbers of four bits in each int32."""
    eights = (tensor.long() & 15).unflatten(-1, (-1, 8))
    words = sum(eights[..., place] << 4 * place for place in range(8))
    return torch.where(words >= 1 << 31, words - (1 << 32), words).int()


class Maker:
    def __init__(self, dice, name):
        self.dice = dice
        self.has = {argument["name"].removesuffix("Optional") for argument in aclnn.functions()["aclnn" + name]["arguments"]}
        self.incremental, self.fused = name.startswith("Incre"), name.startswith("Fused")
        self.varlen = self.fused and dice.random() < 0.3
        self.layout = dice.choice(["TND", "NTD", "TND_NTD", "NTD_TND"] if self.varlen else
                                  ["BSH", "BSND", "BNSD"] + ["BNSD_BSND", "BSND_NBSD", "BSH_BNSD"] * self.fused)
        self.tokens = self.layout.partition("_")[0]
        self.paged = ("blockTable" in self.has or "blocktable" in self.has) and dice.random() < 0.4
        self.queries = 1 if self.incremental else dice.choice([1, 3])
        self.dtype = dice.choice([torch.float16, torch.bfloat16, torch.float32])
        self.whole = self.chosen_whole()
        self.key_heads = dice.choice([1, HEADS])
        self.arguments = {"numHeads": HEADS, "scaleValue": 0.3, "inputLayout": self.layout, "innerPrecise": 0,
                          "numKeyValueHeads": self.key_heads if self.key_heads != HEADS else dice.choice([0, HEADS]),
                          "preTokens": UNLIMITED, "nextTokens": UNLIMITED, "sparseMode": 0}

    def chosen_whole(self):
        """Chooses whether queries are of INT8, with scales of tensors or of tokens, and what goes with them."""
        if "dequantScaleQuery" in self.has and self.dice.random() < 0.35:
            self.dtype = torch.bfloat16
            return "token"
        if self.incremental or "quantScale1" not in self.has or self.dice.random() < 0.7:
            return None
        if self.varlen:
            self.varlen, self.layout, self.tokens = False, "BSND", "BSND"
        self.paged, self.queries, self.dtype = False, 3, torch.float16
        return "tensor"

    def put(self, word, value):
        """Sets an argument, whose name may end in "Optional"."""
        self.arguments[word] = self.arguments[word + "Optional"] = value

    def lengths(self):
        if self.varlen:
            self.query_counts = [self.queries, 2]
            self.put("actualSeqLengths", [self.queries, self.queries + 2])
        elif self.queries > 1 and self.dice.random() < 0.5:
            self.query_counts = [2, 3]
            self.put("actualSeqLengths", self.query_counts)
        else:
            self.query_counts = [self.queries] * REQUESTS
        self.key_counts = self.dice.choice([[3, KEYS], [5, 4]])
        given = [3, 3 + KEYS] if self.varlen and not self.paged else self.key_counts
        if self.varlen and not self.paged:
            self.key_counts = [3, KEYS]
        word = "actualSeqLengths" if self.incremental else "actualSeqLengthsKv"
        if word in self.has and (self.paged or self.varlen or self.dice.random() < 0.6):
            self.put(word, given)
        else:
            self.key_counts = [KEYS] * REQUESTS

    def antiquant(self):
        """Chooses how keys and values are whole numbers, if they are."""
        self.mode, self.form, self.bits = None, None, 8
        if self.whole is not None:
            self.mode, self.form = (0, "split") if self.whole == "token" else (None, None)
            return
        forms = [form for form, word in (("joint", "antiquantScale"), ("split", "keyAntiquantScale")) if word in self.has]
        if not forms or self.dice.random() < 0.3:
            return
        self.form = self.dice.choice(forms + forms[-1:] * 2)
        modes = [0, 2] if self.varlen and not self.paged else [0, 1, 2, 3] + [4, 5] * 2 * self.paged
        if self.form == "joint":
            modes = [mode for mode in modes if mode <= ("antiquantMode" in self.has)]
        self.mode, self.bits = self.dice.choice(modes), self.dice.choice([4, 8])

    def numbers(self, drawn):
        """Scales or offsets: [B or 1, N or 1, S or 1, D or 1], and as the call has them."""
        whole = self.mode == 0 and self.dice_whole
        shape = {0: (1, 1, 1, 1) if whole else (1, self.key_heads, 1, SIZE), 1: (REQUESTS, 1, KEYS, 1),
                 2: (1, self.key_heads, 1, 1), 3: (REQUESTS, self.key_heads, KEYS, 1), 4: (REQUESTS, 1, KEYS, 1),
                 5: (REQUESTS, self.key_heads, KEYS, 1)}[self.mode]
        plain = drawn(shape)
        if self.mode >= 4:
            blocks = in_blocks(plain, 7.0)[..., 0]
            return plain, blocks if self.mode == 5 else blocks[:, 0].contiguous()
        squeezed = {0: (-1,) if whole else (1, -1) if self.tokens == "BSH" else (1, self.key_heads, SIZE),
                    1: (1, REQUESTS, KEYS), 2: (-1,), 3: (REQUESTS, self.key_heads, KEYS)}[self.mode]
        return plain, plain.reshape(squeezed)

    def scales(self):
        if self.form is None:
            return
        self.dice_whole, both = self.dice.random() < 0.4, self.dice.random() < 0.6
        if self.whole == "token":
            self.dice_whole, both = True, False
        most = 2.0 ** (self.bits - 1)
        parts = {"Scale": lambda shape: (torch.rand(shape) + 0.5) / most}
        if both:
            parts["Offset"] = lambda shape: torch.randint(-3, 4, shape).float()
        for part, drawn in parts.items():
            made = [self.numbers(drawn) for _ in range(2)]
            for side, (plain, given) in zip(("key", "value"), made):
                self.arguments[f"plain{side}{part}"] = plain
                if self.form == "split":
                    self.put(f"{side}Antiquant{part}", given)
            if self.form == "joint":
                self.put(f"antiquant{part}", torch.stack([given.reshape(given.shape[1:]) for _, given in made]))
        for word in ("antiquantMode", "keyAntiquantMode", "valueAntiquantMode"):
            self.arguments[word] = self.mode

    def drawn(self, *shape):
        if self.form is None and self.whole is None:
            return draw(*shape, dtype=self.dtype)
        most = 1 << (self.bits - 1)
        return torch.randint(-most, most, shape, dtype=torch.int8)

    def given(self, plain):
        return packed(plain) if self.form is not None and self.bits == 4 else plain

    def side(self, word):
        plain = self.drawn(REQUESTS, self.key_heads, KEYS, SIZE)
        self.arguments["plain" + word] = plain
        given = self.given(plain)
        if self.paged:
            blocks = in_blocks(given, 7)
            forms = ["H"] + ["N"] * (self.tokens in ("BNSD", "TND", "NTD")) + ["NZ"] * (given.shape[-1] == SIZE)
            self.form_of_blocks = self.form_of_blocks if self.form_of_blocks in forms else self.dice.choice(forms)
            laid_out = {"H": lambda: blocks.transpose(1, 2).flatten(2), "N": lambda: blocks,
                        "NZ": lambda: blocks.unflatten(-1, (2, -1)).permute(0, 1, 3, 2, 4)}[self.form_of_blocks]()
            self.arguments[word] = [laid_out.contiguous()]
        elif self.varlen:
            self.arguments[word] = [joined(given, self.key_counts, self.tokens)]
        elif self.listed:
            self.arguments[word] = [laid(one[None, :, :count], self.tokens) for one, count in zip(given, self.key_counts)]
        else:
            self.arguments[word] = [laid(given, self.tokens)]
        if not self.fused and not self.incremental:
            self.arguments[word] = self.arguments[word][0]

    def query_like(self, size, word):
        tokens = 3 if self.varlen else self.queries
        plain = draw(REQUESTS, HEADS, tokens, size, dtype=self.dtype)
        if self.whole is not None and word == "Query":
            plain = torch.randint(-128, 128, plain.shape, dtype=torch.int8)
        self.arguments["plain" + word] = plain
        return joined(plain, self.query_counts, self.tokens) if self.varlen else laid(plain, self.tokens)

    def rope(self):
        self.arguments |= {"plainqueryRope": None, "plainkeyRope": None}
        if "queryRope" not in self.has or self.listed or self.whole == "tensor":
            return
        if self.whole is None and self.dice.random() < 0.5:
            return
        self.put("queryRope", self.query_like(4, "queryRope"))
        plain = draw(REQUESTS, self.key_heads, KEYS, 4, dtype=self.dtype)
        self.arguments["plainkeyRope"] = plain
        if self.paged:
            blocks = in_blocks(plain, 7)
            given = blocks if self.form_of_blocks == "N" else blocks.transpose(1, 2).flatten(2)
        else:
            given = joined(plain, self.key_counts, self.tokens) if self.varlen else laid(plain, self.tokens)
        self.put("keyRope", given.contiguous())

    def prefix(self):
        self.prefix_count = 0
        alone = not (self.paged or self.varlen or self.listed) and self.arguments["plainqueryRope"] is None
        if "keySharedPrefix" not in self.has or not alone or self.whole is not None or self.mode not in (None, 0, 2) or self.dice.random() < 0.5:
            return
        self.prefix_count = self.dice.choice([2, 3])
        for side in ("key", "value"):
            plain = self.drawn(1, self.key_heads, 3, SIZE)
            self.arguments[f"plain{side}Prefix"] = plain
            self.put(side + "SharedPrefix", laid(self.given(plain), self.tokens))
        self.put("actualSharedPrefixLen", [self.prefix_count] if self.prefix_count < 3 else None)

    def mask(self):
        modes = [None, 0, 1] + [2, 3, 4] * ("sparseMode" in self.has)
        mode, keys = self.dice.choice(modes), KEYS + self.prefix_count
        if mode is None:
            return
        if mode >= 2:
            self.put("attenMask", TRIANGLE)
            self.arguments |= {"sparseMode": mode, "preTokens": 1, "nextTokens": 1}
            return
        rows = max(self.query_counts)
        shapes = [(REQUESTS, 1, rows, keys)] + [(rows, keys), (1, rows, keys)] * (rows > 1) + [(REQUESTS, keys)] * (
            rows == 1 and not self.varlen)
        mask = torch.rand(self.dice.choice(shapes)) > 0.6
        self.put("attenMask", mask.to(self.dice.choice([torch.bool, torch.uint8, torch.int8])))
        if "sparseMode" in self.has:
            self.arguments["sparseMode"] = mode
        if "preTokens" in self.has:
            self.arguments |= {"preTokens": self.dice.choice([UNLIMITED, 1]), "nextTokens": self.dice.choice([UNLIMITED, 1])}

    def scales_of_query(self):
        if self.whole == "token":
            plain = torch.rand(REQUESTS, HEADS, 3 if self.varlen else self.queries, 1) / 16
            self.arguments["plainScaleQuery"] = plain
            given = joined(plain, self.query_counts, self.tokens) if self.varlen else laid(plain, self.tokens)
            self.put("dequantScaleQuery", given if self.tokens == "BSH" else given[..., 0])
            self.arguments["queryQuantMode"] = 3
        elif self.whole == "tensor":
            packed_scale = torch.tensor([119 << 23 | 1 << 46])  # 1 / 256 as 64 bits
            for word, scale in (("eqScale1", torch.tensor([1 / 4096])), ("eqScale2", self.dice.choice(
                    [torch.tensor([0.002]), packed_scale]))):
                self.put("d" + word, scale)
            self.put("quantScale1", torch.tensor([self.dice.choice([127.0, 100.0, 200.0])]))

    def rest(self):
        self.scales_of_query()
        if not self.varlen and self.whole != "token" and self.dice.random() < 0.3:
            shape = (self.dice.choice([1, REQUESTS]), HEADS, self.queries, KEYS + self.prefix_count)
            self.put("pseShift", draw(*shape, dtype=self.dtype))
        if "learnableSink" in self.has and self.whole != "tensor" and self.dice.random() < 0.5:
            self.put("learnableSink", draw(HEADS))
        if "quantScale2" in self.has and self.whole != "token" and self.dice.random() < 0.3:
            shape = self.dice.choice([(1,), (HEADS, SIZE), (HEADS * SIZE,)])
            self.put("quantScale2", torch.rand(shape) * 60 + 20)
            if self.dice.random() < 0.5:
                self.put("quantOffset2", torch.randint(-9, 9, shape).float())
        self.arguments["softmaxLseFlag"] = self.dice.random() < 0.5

    def made(self):
        self.lengths()
        self.antiquant()
        self.listed = self.whole != "token" and (self.fused or self.incremental) and not (self.paged or self.varlen) and self.dice.random() < 0.2
        self.form_of_blocks = None
        if self.paged:
            for word in ("blockTable", "blocktable"):
                self.put(word, torch.tensor(TABLE, dtype=torch.int32))
            self.arguments["blockSize"] = BLOCK
        self.arguments["query"] = self.query_like(SIZE, "Query")
        self.scales()
        self.side("key")
        self.side("value")
        self.rope()
        self.prefix()
        self.mask()
        self.rest()
        self.arguments |= {"queryCounts": self.query_counts, "keyCounts": self.key_counts, "prefixCount": self.prefix_count,
                           "whole": self.whole, "outType": self.dtype, "oneQuery": not self.varlen and self.queries == 1}
        return self.arguments


def maker(name):
    return lambda dice: Maker(dice, name).made()


def restored(a, side, number, request, head, token, d):
    """What a number of a key or a value stands for."""
    scale, offset = a.get(f"plain{side}Scale"), a.get(f"plain{side}Offset")

    def at(numbers):
        places = (request, head, token, d)
        return numbers[tuple(place if size > 1 else 0 for place, size in zip(places, numbers.shape))].item()
    if scale is not None:
        number = (number + (at(offset) if offset is not None else 0.0)) * at(scale)
    return number


def rows_of(a, side, request, head):
    """The keys or values of a request, its prefix in front."""
    rows = [(token, row) for token, row in enumerate(a["plain" + side][request, head].double().tolist()[:a["keyCounts"][request]])]
    rows = [[restored(a, side, number, request, head, token, d) for d, number in enumerate(row)] for token, row in rows]
    if a["prefixCount"]:
        prefix = a[f"plain{side}Prefix"][0, head].double().tolist()[:a["prefixCount"]]
        rows = [[restored(a, side, number, 0, head, 0, d) for d, number in enumerate(row)] for row in prefix] + rows
    if side == "key" and a["plainkeyRope"] is not None:
        factor = a["plainkeyScale"].item() if a["whole"] == "token" else 1.0
        ropes = [[factor * one for one in rope] for rope in a["plainkeyRope"][request, head].double().tolist()]
        rows = [row + rope for row, rope in zip(rows, ropes)]
    return rows


def is_hidden(a, request, query, key, queries, keys):
    mask, mode = a.get("attenMask"), a["sparseMode"]
    if mask is None:
        return False
    if mode >= 2:
        shift = 0 if mode == 2 else keys - queries
        before, after = (1, 1) if mode == 4 else (UNLIMITED, 0)
        return not a["oneQuery"] and not -before <= key - query - shift <= after
    if mask.shape == (REQUESTS, mask.shape[-1]) and a["oneQuery"]:
        there = mask[request, key]
    else:
        there = mask.reshape(-1, *mask.shape[-2:])[request if mask.dim() == 4 else 0, query, key]
    near = -a["preTokens"] <= key - query <= a["nextTokens"]
    return bool(there) or (mode == 0 and not near and not a["oneQuery"])


def attend(a, request, head, query, row):
    """The result and the log of the sum of a query."""
    key_head = head * a["plainkey"].shape[1] // HEADS
    keys, values = rows_of(a, "key", request, key_head), rows_of(a, "value", request, key_head)
    if a["plainqueryRope"] is not None:
        row = row + a["plainqueryRope"][request, head, query].double().tolist()
    if a["whole"] == "token":
        row = [number * a["plainScaleQuery"][request, head, query, 0].item() for number in row]
    pse, scores = a.get("pseShift"), []
    for key, other in enumerate(keys):
        score = sum(one * two for one, two in zip(row, other)) * a["scaleValue"]
        score *= a["deqScale1"].item() if a["whole"] == "tensor" else 1
        score += pse[min(request, pse.shape[0] - 1), head, query, key].item() if pse is not None else 0.0
        hides = is_hidden(a, request, query, key, a["queryCounts"][request], len(keys))
        scores.append(-math.inf if hides else score)
    sink = a["learnableSink"][head].item() if a.get("learnableSink") is not None else -math.inf
    most = max(scores + [sink])
    if most == -math.inf:
        return [0.0] * SIZE, -math.inf
    powers = [math.exp(score - most) for score in scores]
    total = sum(powers) + math.exp(sink - most)
    if a["whole"] == "tensor":
        powers = [saturated(half_even(power * a["quantScale1"].item())) for power in powers]
        scale = a["deqScale2"].item() if a["deqScale2"].dtype == torch.float32 else 1 / 256
        powers = [power * scale for power in powers]
    return [sum(power * value[d] for power, value in zip(powers, values)) / total for d in range(SIZE)], most + math.log(total)


def reference(a):
    queries = a["plainQuery"]
    out = torch.zeros(queries.shape, dtype=torch.float64)
    lse = torch.full((*queries.shape[:3], 1), -math.inf, dtype=torch.float64)
    scale, offset = a.get("quantScale2"), a.get("quantOffset2")
    for request in range(REQUESTS):
        for head in range(HEADS):
            for query in range(a["queryCounts"][request]):
                row, log = attend(a, request, head, query, queries[request, head, query].double().tolist())
                for d, number in enumerate(row):
                    place = head * SIZE + d if scale is not None and scale.numel() > 1 else 0
                    number *= scale.flatten()[place].item() if scale is not None else 1.0
                    out[request, head, query, d] = number + (offset.flatten()[place].item() if offset is not None else 0.0)
                lse[request, head, query] = log
    layout = a["inputLayout"].rpartition("_")[2]
    if layout in ("TND", "NTD"):
        out, lse = joined(out, a["queryCounts"], layout), joined(lse, a["queryCounts"], "TND")
    else:
        out = laid(out, layout)
    return {"attentionOut": Near(out) if scale is not None else out.to(a["outType"]),
            "softmaxLse": lse.float() if a["softmaxLseFlag"] else None}


NAMES = ("FusedInferAttentionScore", "FusedInferAttentionScoreV2", "FusedInferAttentionScoreV3",
         "FusedInferAttentionScoreV4", "PromptFlashAttention", "PromptFlashAttentionV2", "PromptFlashAttentionV3",
         "IncreFlashAttention", "IncreFlashAttentionV2", "IncreFlashAttentionV3", "IncreFlashAttentionV4")
CASES = {name: (maker(name), reference) for name in NAMES}
