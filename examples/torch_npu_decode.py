# SPDX-License-Identifier: Apache-2.0
"""Decodes 200 requests with a small Llama on a paged KV cache in device memory, by torch_npu.

    python -m advance_step.torch_npu examples/torch_npu_decode.py [--wrong-slot]

The weights are random. Each decode step runs eagerly, then as a captured graph, and must give the
tokens of a plain loop with a contiguous cache on "cpu". Then one slot of the mapping is made wrong on
purpose: the tokens diverge, and a check against the block table names the row. With --wrong-slot only
that is shown. The exit status is 1 if tokens differ, also with --wrong-slot.
"""

import argparse
import math
import sys

import torch
import torch_npu  # noqa: F401

REQUESTS, BATCH, STEPS = 200, 50, 12  # requests, of which so many at a time make so many tokens each
LAYERS, HIDDEN, HEADS, KV_HEADS, SIZE, INNER, WORDS = 2, 64, 4, 2, 16, 96, 160
BLOCK, LONGEST = 8, 40  # tokens of a block, and of a request
COLUMNS = LONGEST // BLOCK
TEMPERATURE = 0.7
TRIANGLE = torch.ones(2048, 2048, dtype=torch.bool).triu(1)  # the mask of sparse mode 3


def make_weights():
    def matrix(*shape):
        return torch.randn(shape) / math.sqrt(shape[-1])

    angles = torch.arange(LONGEST)[:, None] / 100 ** (torch.arange(SIZE // 2) / (SIZE // 2))
    angles = torch.cat((angles, angles), -1)
    return {"words": torch.randn(WORDS, HIDDEN), "cos": angles.cos(), "sin": angles.sin(),
            "head": matrix(WORDS, HIDDEN), "norm": 1 + torch.randn(HIDDEN) / 10, "layers": [{
                "norm": 1 + torch.randn(HIDDEN) / 10, "norm2": 1 + torch.randn(HIDDEN) / 10,
                "q": 3 * matrix(HEADS * SIZE, HIDDEN), "k": matrix(KV_HEADS * SIZE, HIDDEN),
                "v": matrix(KV_HEADS * SIZE, HIDDEN), "o": matrix(HIDDEN, HEADS * SIZE),
                "up": matrix(2 * INNER, HIDDEN), "down": matrix(HIDDEN, INNER)}
                for _ in range(LAYERS)]}


def to_npu(weights):
    if isinstance(weights, dict):
        return {name: to_npu(value) for name, value in weights.items()}
    return [to_npu(value) for value in weights] if isinstance(weights, list) else weights.npu()


# The plain loop on "cpu": one request at a time, its keys and values in a row.

def plain_request(weights, prompt, noise):
    caches = [[torch.empty(0, KV_HEADS, SIZE)] * 2 for _ in range(LAYERS)]
    tokens, made = prompt, []
    for step in range(STEPS):
        made.append(plain_forward(weights, tokens, caches, noise[step]))
        tokens = made[-1:]
    return made


def plain_forward(weights, tokens, caches, noise):
    begin = len(caches[0][0])
    positions = torch.arange(begin, begin + len(tokens))
    cos, sin = weights["cos"][positions][:, None], weights["sin"][positions][:, None]

    def norm(x, gamma):
        return x * (x.square().mean(-1, keepdim=True) + 1e-6).rsqrt() * gamma

    def turn(x):
        return x * cos + torch.cat((-x[..., SIZE // 2:], x[..., :SIZE // 2]), -1) * sin

    x = weights["words"][torch.tensor(tokens)]
    for layer, cache in zip(weights["layers"], caches):
        y = norm(x, layer["norm"])
        q = turn((y @ layer["q"].T).view(-1, HEADS, SIZE))
        cache[0] = torch.cat((cache[0], turn((y @ layer["k"].T).view(-1, KV_HEADS, SIZE))))
        cache[1] = torch.cat((cache[1], (y @ layer["v"].T).view(-1, KV_HEADS, SIZE)))
        k, v = (c.repeat_interleave(HEADS // KV_HEADS, 1).transpose(0, 1) for c in cache)
        scores = q.transpose(0, 1) @ k.transpose(1, 2) / math.sqrt(SIZE)
        scores.masked_fill_(torch.arange(k.shape[1]) > positions[:, None], -math.inf)
        x = x + (scores.softmax(-1) @ v).transpose(0, 1).flatten(1) @ layer["o"].T
        first, second = (norm(x, layer["norm2"]) @ layer["up"].T).chunk(2, -1)
        x = x + (torch.nn.functional.silu(first) * second) @ layer["down"].T
    logits = norm(x[-1], weights["norm"]) @ weights["head"].T
    return int((logits / TEMPERATURE + noise).argmax())


# The same on "npu", all requests of a batch at a time, their keys and values in blocks.

class Batch:
    """The state of a batch on the device, and its block table on the host beside it."""

    def __init__(self, weights, prompts, noise):
        self.weights, self.prompts, self.noise = weights, prompts, noise.npu()
        count = len(prompts)
        free = torch.randperm(count * COLUMNS).tolist()  # blocks are given in any order
        used = [-(-(len(prompt) + STEPS) // BLOCK) for prompt in prompts]
        self.table = [[free.pop() if column < columns else 0 for column in range(COLUMNS)]
                      for columns in used]
        shape = (count * COLUMNS, BLOCK, KV_HEADS, SIZE)
        self.caches = [(torch.zeros(shape, device="npu"), torch.zeros(shape, device="npu"))
                       for _ in range(LAYERS)]
        self.lengths = [len(prompt) for prompt in prompts]
        # AdvanceStep wants padding: a row without a request is at the end of its tensors.
        self.padded = [torch.tensor(values).npu() for values in (
            [0] * (count + 1), [length - 1 for length in self.lengths] + [0], self.lengths + [0],
            [0] * (count + 1), self.table + [[0] * COLUMNS])]
        self.input_tokens, self.positions, self.seq_lens, self.slots, self.block_tables = (
            tensor[:count] for tensor in self.padded)
        self.sampled = torch.zeros(count, 1, dtype=torch.int64, device="npu")
        self.step_noise = torch.zeros(count, WORDS, device="npu")

    def slot(self, row, position):
        """Returns the slot that the block table gives a position."""
        return self.table[row][position // BLOCK] * BLOCK + position % BLOCK

    def forward(self, tokens, positions, slots, attend):
        weights = self.weights
        cos, sin = (weights[name][positions][None, :, None] for name in ("cos", "sin"))

        def heads(y, matrix, count):
            return (y @ matrix.T).view(1, -1, count, SIZE)

        x = weights["words"][tokens]
        delta = torch.zeros_like(x)
        for layer, (keys, values) in zip(weights["layers"], self.caches):
            y, _, x = torch_npu.npu_add_rms_norm(x, delta, layer["norm"])
            q = torch_npu.npu_rotary_mul(heads(y, layer["q"], HEADS), cos, sin)[0]
            k = torch_npu.npu_rotary_mul(heads(y, layer["k"], KV_HEADS), cos, sin)[0]
            v = heads(y, layer["v"], KV_HEADS)[0]
            torch_npu.npu_scatter_pa_kv_cache(k, v, keys, values, slots, cache_mode="Norm")
            delta = attend(q, keys.flatten(2), values.flatten(2)).flatten(1) @ layer["o"].T
            y, _, x = torch_npu.npu_add_rms_norm(x, delta, layer["norm2"])
            delta = torch_npu.npu_swiglu(y @ layer["up"].T) @ layer["down"].T
        return torch_npu.npu_add_rms_norm(x, delta, weights["norm"])[0] @ weights["head"].T

    def attention(self, q, keys, values, **options):
        return torch_npu.npu_fused_infer_attention_score(
            q, keys, values, num_heads=HEADS, num_key_value_heads=KV_HEADS, block_size=BLOCK,
            scale=1 / math.sqrt(SIZE), block_table=self.block_tables, **options)[0]

    def sample(self, logits):
        self.sampled.copy_((logits / TEMPERATURE + self.step_noise).argmax(-1, keepdim=True))

    def prefill(self):
        ends = torch.tensor(self.lengths).cumsum(0).tolist()
        places = [(row, place) for row, length in enumerate(self.lengths) for place in range(length)]
        slots = torch.tensor([self.slot(*place) for place in places]).npu()
        triangle = TRIANGLE.npu()
        logits = self.forward(
            torch.tensor(sum(self.prompts, [])).npu(), torch.tensor([p for _, p in places]).npu(), slots,
            lambda q, *cache: self.attention(
                q, *cache, input_layout="TND", actual_seq_lengths=ends, sparse_mode=3,
                actual_seq_lengths_kv=self.lengths, atten_mask=triangle))
        self.sample(logits[torch.tensor(ends) - 1])

    def advance(self):
        input_tokens, *others = self.padded
        torch_npu.npu_advance_step_flashattn(input_tokens, self.sampled, *others, len(self.prompts) + 1,
                                             len(self.prompts), BLOCK)

    def decode(self, lengths):
        """One step. `lengths`: the tokens of each request, or None to take them from the device, as a
        graph must: then a mask hides what is behind them."""
        options = {"actual_seq_lengths_kv": lengths}
        if lengths is None:
            hidden = torch.arange(LONGEST, device="npu") >= self.seq_lens[:, None]
            options = {"actual_seq_lengths_kv": [LONGEST] * len(self.prompts), "atten_mask": hidden}
        self.sample(self.forward(
            self.input_tokens, self.positions, self.slots,
            lambda q, *cache: self.attention(q.unsqueeze(1), *cache, input_layout="BSND", **options)))

    def check_slots(self, step):
        """Compares the slots of a step with the block table; returns a line for each wrong one."""
        lines = []
        for row, (slot, position) in enumerate(zip(self.slots.tolist(), self.positions.tolist())):
            expected = self.slot(row, position)
            if slot != expected:
                lines.append(f"step {step}: row {row} has slot {slot}, expected {expected} (position "
                             f"{position}: block {expected // BLOCK}, offset {expected % BLOCK})")
        return lines


def run(batch, graph=None, wrong=None):
    """Returns the tokens of each request, and what check_slots found. `wrong`: step, row and slot."""
    found = []
    batch.step_noise.copy_(batch.noise[0])
    batch.prefill()
    made = [batch.sampled.cpu()]
    for step in range(1, STEPS):
        batch.step_noise.copy_(batch.noise[step])
        if graph is not None:
            if step == 1:
                torch.npu.synchronize()
                with torch.npu.graph(graph):
                    batch.advance()
                    batch.decode(None)
            graph.replay()
        else:
            batch.advance()
            if wrong is not None:
                if step == wrong[0]:
                    batch.slots[wrong[1]] = wrong[2]
                found += batch.check_slots(step)
            batch.decode([length + step for length in batch.lengths])
        made.append(batch.sampled.cpu())
    return torch.cat(made, 1).tolist(), found


def differences(found, wanted):
    return [(row, place) for row, (one, other) in enumerate(zip(found, wanted))
            for place in range(STEPS) if one[place] != other[place]]


def show_wrong_slot(batch, wanted):
    """Gives row 7 the slot of another request's token at step 4. Returns whether it was found."""
    wrong = (4, 7, batch.slot(3, 0))
    found, lines = run(batch, wrong=wrong)
    different = differences(found, wanted)
    print(f"wrong slot: row {wrong[1]} got slot {wrong[2]} at step {wrong[0]}; {len(different)} tokens "
          f"differ, the first in row {different[0][0]}, token {different[0][1]}" if different else
          "wrong slot: no token differs")
    for line in lines:
        print("  " + line)
    expected = batch.slot(wrong[1], batch.lengths[wrong[1]] + wrong[0] - 1)
    return bool(different) and len(lines) == 1 and lines[0].startswith(
        f"step {wrong[0]}: row {wrong[1]} has slot {wrong[2]}, expected {expected} ")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wrong-slot", action="store_true", help="only show a wrong slot")
    only_wrong = parser.parse_args().wrong_slot
    torch.manual_seed(7)
    weights = make_weights()
    on_npu = to_npu(weights)
    lengths = torch.randint(1, LONGEST - STEPS + 1, (REQUESTS,)).tolist()
    prompts = [torch.randint(WORDS, (length,)).tolist() for length in lengths]
    noise = -torch.empty(STEPS, REQUESTS, WORDS).exponential_().log()  # of Gumbel: argmax then samples
    right = True
    with torch.no_grad():
        for begin in range(0, BATCH if only_wrong else REQUESTS, BATCH):
            part = slice(begin, begin + BATCH)
            wanted = [plain_request(weights, prompt, noise[:, begin + row])
                      for row, prompt in enumerate(prompts[part])]
            fresh = lambda: Batch(on_npu, prompts[part], noise[:, part])  # noqa: E731, B023
            if only_wrong:
                show_wrong_slot(fresh(), wanted)
                return 1
            for name, graph in (("eager", None), ("graph", torch.npu.NPUGraph())):
                different = differences(run(fresh(), graph)[0], wanted)
                right = right and not different
                print(f"requests {begin} to {begin + BATCH - 1}, {name}: {BATCH * STEPS} tokens, "
                      f"{len(different)} differ from cpu")
            if begin == 0:
                right = show_wrong_slot(fresh(), wanted) and right
    print("all tokens are those of cpu, and the wrong slot was found" if right else "failed")
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
