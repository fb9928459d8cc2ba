#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Decodes text with a paged KV cache in torch, whose slots npu_advance_step_flashattn computes.

A toy model, one attention layer with fixed random weights, continues some prompts as a batch with
padding rows. Its K and V lie in shuffled blocks on device "npu". The same prompts are then decoded
one by one with a contiguous cache on the CPU, and both texts must be equal.

    ./examples/torch_decode.py [--tokens N] [--block-size N]

runs on the emulation of torch_npu that comes with the Python package, or on a torch_npu that is
installed. See docs/python.md.
"""

import argparse
import os
import pathlib
import sys

root = pathlib.Path(__file__).resolve().parents[1]
library = root / "build" / "release" / "lib" / "libadvance_step.so"
if library.is_file():
    os.environ.setdefault("ADVANCE_STEP_LIBRARY", str(library))
sys.path.append(str(root / "src" / "python"))

import torch  # noqa: E402

try:
    import torch_npu
except ImportError:
    import advance_step

    sys.path.append(advance_step.emulation_directory())
    import torch_npu

ALPHABET = " abcdefghijklmnopqrstuvwxyz."
PROMPTS = ("the cache is cut into blocks", "a block table", "position",
           "slots name the place of k and v", "one token", "padding rows go nowhere")
PADDING = 2  # rows behind the queries: the operator wants at least one
WIDTH = 32  # numbers in a key or a value


class ToyModel:
    """x = embedding + place; attention over all keys so far; logits over the alphabet."""

    def __init__(self, longest, device="cpu"):
        draw = torch.Generator().manual_seed(7)

        def weights(*size):
            return torch.randn(*size, generator=draw, dtype=torch.float64).to(device)

        self.embedding = weights(len(ALPHABET), WIDTH)
        self.places = weights(longest, WIDTH)
        self.query, self.key, self.value, self.out = (weights(WIDTH, WIDTH) for _ in range(4))

    def keys_and_values(self, tokens, positions):
        x = self.embedding[tokens] + self.places[positions]
        return x @ self.key, x @ self.value

    def logits(self, token, position, keys, values):
        x = self.embedding[token] + self.places[position]
        attention = torch.softmax(keys @ (x @ self.query) / WIDTH, dim=0)
        return self.embedding @ (x + attention @ values @ self.out)


def sample(logits, noise):
    """A token by its probability; the noise is the same for both caches."""
    return int(torch.argmax(logits.cpu() + noise))


def decode_paged(model, prompts, tokens, block_size, noise):
    """All prompts at once on device npu."""
    device = model.embedding.device
    num_queries, num_seqs = len(prompts), len(prompts) + PADDING
    longest = max(map(len, prompts)) + tokens
    max_blocks = -(-longest // block_size)
    order = torch.randperm(num_seqs * max_blocks, generator=torch.Generator().manual_seed(1))
    free_blocks = order.tolist()
    keys, values = (torch.zeros(len(order) * block_size, WIDTH, dtype=torch.float64, device=device)
                    for _ in range(2))

    def row(fill=0):
        return torch.full((num_seqs,), fill, dtype=torch.int64, device=device)

    input_tokens, input_positions, seq_lens, slot_mapping = row(), row(), row(), row(-1)
    block_tables = torch.zeros(num_seqs, max_blocks, dtype=torch.int64, device=device)
    places = torch.arange(longest, device=device)

    def slots_of(query, length):
        blocks = block_tables[query, places[:length] // block_size]
        return blocks * block_size + places[:length] % block_size

    def next_token(query, token, length, step):
        slots = slots_of(query, length)
        logits = model.logits(token, length - 1, keys[slots], values[slots])
        return sample(logits, noise[query][step])

    sampled = []
    for query, prompt in enumerate(prompts):  # prefill
        length = len(prompt)
        for column in range(-(-length // block_size)):
            block_tables[query, column] = free_blocks.pop()
        slots = slots_of(query, length)
        keys[slots], values[slots] = model.keys_and_values(torch.tensor(prompt, device=device),
                                                           places[:length])
        seq_lens[query] = length
        sampled.append(next_token(query, prompt[-1], length, 0))
    texts = [[token] for token in sampled]
    for step in range(1, tokens):
        for query, prompt in enumerate(prompts):  # the new token may be the first of a block
            column, first = divmod(len(prompt) + step - 1, block_size)
            if first == 0:
                block_tables[query, column] = free_blocks.pop()
        sampled_token_ids = torch.tensor(sampled, device=device).reshape(num_queries, 1)
        torch_npu.npu_advance_step_flashattn(input_tokens, sampled_token_ids, input_positions,
                                             seq_lens, slot_mapping, block_tables, num_seqs,
                                             num_queries, block_size)
        live = slot_mapping >= 0  # the padding rows have no slot
        keys[slot_mapping[live]], values[slot_mapping[live]] = model.keys_and_values(
            input_tokens[live], input_positions[live])
        sampled = [next_token(query, int(input_tokens[query]), int(seq_lens[query]), step)
                   for query in range(num_queries)]
        for text, token in zip(texts, sampled):
            text.append(token)
    return texts


def decode_contiguous(model, prompt, tokens, noise):
    """One prompt on the CPU."""
    keys, values = model.keys_and_values(torch.tensor(prompt), torch.arange(len(prompt)))
    text = [sample(model.logits(prompt[-1], len(prompt) - 1, keys, values), noise[0])]
    for step in range(1, tokens):
        position = len(prompt) + step - 1
        key, value = model.keys_and_values(torch.tensor([text[-1]]), torch.tensor([position]))
        keys, values = torch.cat([keys, key]), torch.cat([values, value])
        text.append(sample(model.logits(text[-1], position, keys, values), noise[step]))
    return text


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--tokens", type=int, default=48, help="tokens to decode per prompt")
    parser.add_argument("--block-size", type=int, default=4, help="tokens per block")
    options = parser.parse_args()
    prompts = [[ALPHABET.index(letter) for letter in prompt] for prompt in PROMPTS]
    draw = torch.Generator().manual_seed(3)
    uniform = torch.rand(len(prompts), options.tokens, len(ALPHABET), generator=draw,
                         dtype=torch.float64)
    noise = -torch.log(-torch.log(uniform)) * 4
    longest = max(map(len, prompts)) + options.tokens
    model = ToyModel(longest, "npu")
    paged = decode_paged(model, prompts, options.tokens, options.block_size, noise)
    model = ToyModel(longest)
    differ = 0
    for query, (prompt, text) in enumerate(zip(prompts, paged)):
        wanted = decode_contiguous(model, prompt, options.tokens, noise[query])
        differ += text != wanted
        print(PROMPTS[query] + " | " + "".join(ALPHABET[token] for token in text))
    print(f"{len(prompts)} texts from a paged and a contiguous cache: {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
