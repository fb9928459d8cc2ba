#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times torch's operators on "npu" beside the same operators on "cpu", in one process, in turns.

    python -m advance_step.torch_npu torch_operators.py --json FILE

An operator on "npu" runs until torch.npu.synchronize() returns, except in the row of the caller,
where the time ends when the operator has returned while earlier work holds up the stream. A captured
graph is timed beside the same operators one by one, a layer of llama by an engine's operators beside
one by torch's, and a training step under the sanitizer, in a process of its own, beside the step without.
"""

import argparse
import ctypes
import json
import os
import subprocess
import sys
import time

import torch
import torch_npu  # noqa: F401

SMALL = 16  # floats
LARGE = 1024  # rows and columns of a matrix
GRAPH_OPERATORS = 100
# A layer of llama: requests of a step of decoding, their tokens, and sizes of the layer.
REQUESTS, TOKENS, BLOCK = 8, 512, 128
HEADS, HEAD, FEED = 8, 128, 2816


def others_seconds():
    """Core seconds that other programs and the host have taken."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(each) for each in file.readline().split()[1:9]]
    own = os.times()
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK") - own.user - own.system


def batch(run, runs, finish=lambda: None):
    """Nanoseconds of a run."""
    begin = time.perf_counter_ns()
    for _ in range(runs):
        run()
        finish()
    return (time.perf_counter_ns() - begin) / runs


def interleave(library, baseline, seconds, runs):
    """The series of both sides: functions that time a batch of so many runs."""
    library(runs[0]), baseline(runs[1])
    series = ([], [])
    others, begin = others_seconds(), time.monotonic()
    while len(series[0]) < 9 or time.monotonic() < begin + seconds:
        series[0].append(library(runs[0]))
        series[1].append(baseline(runs[1]))
    taken = time.monotonic() - begin
    return {"other_cores": max(0.0, others_seconds() - others) / taken,
            "library_ns": series[0], "library_runs": runs[0],
            "baseline_ns": series[1], "baseline_runs": runs[1]}


def pairs(device, *shape):
    torch.manual_seed(1)
    return [torch.randn(*shape).to(device) for _ in range(2)]


def elementwise():
    (a, b), (c, d) = pairs("npu", SMALL), pairs("cpu", SMALL)
    return interleave(lambda runs: batch(lambda: a + b, runs, torch.npu.synchronize),
                      lambda runs: batch(lambda: c + d, runs), 2, (100, 1000))


def caller():
    """The operators are queued behind a host function, as in a program that runs ahead."""
    (a, b), (c, d) = pairs("npu", SMALL), pairs("cpu", SMALL)
    libc, acl = ctypes.CDLL(None), ctypes.CDLL("libascendcl.so")
    semaphore = ctypes.create_string_buffer(64)  # a sem_t
    libc.sem_init(semaphore, 0, 0)
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)

    def held(runs):
        if acl.aclrtLaunchHostFunc(stream, libc.sem_wait, semaphore) != 0:
            raise RuntimeError("aclrtLaunchHostFunc failed")
        try:
            return batch(lambda: a + b, runs)
        finally:
            libc.sem_post(semaphore)
            torch.npu.synchronize()

    return interleave(held, lambda runs: batch(lambda: c + d, runs), 2, (100, 1000))


def matmul():
    (a, b), (c, d) = pairs("npu", LARGE, LARGE), pairs("cpu", LARGE, LARGE)
    assert torch.equal((a @ b).cpu(), c @ d)
    return interleave(lambda runs: batch(lambda: a @ b, runs, torch.npu.synchronize),
                      lambda runs: batch(lambda: c @ d, runs), 4, (4, 4))


def graph():
    total = torch.zeros(SMALL, device="npu")

    def body():
        for _ in range(GRAPH_OPERATORS):
            total.add_(1)

    captured = torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(captured):
        body()
    captured.replay()
    assert total.cpu().tolist() == [GRAPH_OPERATORS] * SMALL
    return interleave(lambda runs: batch(captured.replay, runs, torch.npu.synchronize),
                      lambda runs: batch(body, runs, torch.npu.synchronize), 2, (20, 10))


class LlamaLayer:
    """A step of decoding of one layer, in plain operators of torch over a contiguous cache."""

    def __init__(self, dtype, device):
        torch.manual_seed(1)
        width = HEADS * HEAD

        def made(*shape, scale=1.0):
            return (torch.randn(*shape) * scale).to(dtype).to(device)

        self.norms = [made(width) for _ in range(2)]
        self.qkv, self.output = made(3 * width, width, scale=0.03), made(width, width, scale=0.03)
        self.gate_up, self.down = made(2 * FEED, width, scale=0.03), made(width, FEED, scale=0.03)
        self.keys, self.values = (made(REQUESTS, TOKENS, HEADS, HEAD) for _ in range(2))
        self.hidden = made(REQUESTS, width)
        angle = TOKENS * 10000 ** -(torch.arange(0, HEAD, 2) / HEAD)
        self.cos, self.sin = (f(torch.cat([angle, angle])).to(dtype).to(device) for f in (torch.cos, torch.sin))

    def norm(self, hidden, weight):
        return torch.nn.functional.rms_norm(hidden, weight.shape, weight, 1e-6)

    def rotated(self, heads):
        first, second = heads.chunk(2, -1)
        return heads * self.cos + torch.cat([-second, first], -1) * self.sin

    def attention(self, query, key, value):
        self.keys[:, -1], self.values[:, -1] = key, value
        return torch.nn.functional.scaled_dot_product_attention(
            query.unsqueeze(2), self.keys.transpose(1, 2), self.values.transpose(1, 2)).reshape(REQUESTS, -1)

    def gated(self, both):
        gate, up = both.chunk(2, -1)
        return torch.nn.functional.silu(gate) * up

    def step(self):
        linear = torch.nn.functional.linear
        query, key, value = linear(self.norm(self.hidden, self.norms[0]), self.qkv).reshape(
            REQUESTS, 3, HEADS, HEAD).unbind(1)
        hidden = self.hidden + linear(self.attention(self.rotated(query), self.rotated(key), value), self.output)
        return hidden + linear(self.gated(linear(self.norm(hidden, self.norms[1]), self.gate_up)), self.down)


class NpuLlamaLayer(LlamaLayer):
    """The same by the operators of an engine, over a cache of blocks in another order."""

    def __init__(self, dtype):
        super().__init__(dtype, "npu")
        count = REQUESTS * TOKENS // BLOCK
        self.table = torch.randperm(count).to(torch.int32).reshape(REQUESTS, -1).npu()
        caches = []
        for cache in (self.keys, self.values):
            blocks = torch.empty(count, BLOCK, HEADS * HEAD, dtype=dtype, device="npu")
            blocks[self.table.flatten().long()] = cache.reshape(count, BLOCK, -1)
            caches.append(blocks)
        self.keys, self.values = caches
        self.slots = self.table[:, -1].long() * BLOCK + BLOCK - 1
        self.lengths = [TOKENS] * REQUESTS

    def norm(self, hidden, weight):
        return torch_npu.npu_rms_norm(hidden, weight, 1e-6)[0]

    def rotated(self, heads):
        shape = (1, 1, 1, HEAD)
        return torch_npu.npu_rotary_mul(heads.unsqueeze(1), self.cos.reshape(shape), self.sin.reshape(shape)).squeeze(1)

    def attention(self, query, key, value):
        for cache, new in ((self.keys, key), (self.values, value)):
            cache.reshape(-1, HEADS * HEAD).index_copy_(0, self.slots, new.reshape(REQUESTS, -1))
        return torch_npu.npu_fused_infer_attention_score(
            query.reshape(REQUESTS, 1, -1), self.keys, self.values, num_heads=HEADS, scale=HEAD ** -0.5,
            input_layout="BSH", block_table=self.table, block_size=BLOCK,
            actual_seq_lengths_kv=self.lengths)[0].reshape(REQUESTS, -1)

    def gated(self, both):
        return torch_npu.npu_swiglu(both)


def llama_layer(dtype):
    """A step of decoding of a layer, with a paged cache on "npu" and a contiguous one on "cpu"."""
    npu, cpu = NpuLlamaLayer(dtype), LlamaLayer(dtype, "cpu")
    difference = (npu.step().cpu().float() - cpu.step().float()).abs().max().item()
    assert difference < (1e-3 if dtype == torch.float32 else 0.1), difference
    return interleave(lambda runs: batch(npu.step, runs, torch.npu.synchronize),
                      lambda runs: batch(cpu.step, runs), 4, (4, 4))


def training():
    """A function that times so many training steps."""
    torch.manual_seed(1)
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.LayerNorm(512), torch.nn.GELU(),
                                torch.nn.Dropout(0.1), torch.nn.Linear(512, 256)).to("npu")
    optimizer = torch.optim.AdamW(model.parameters())
    values, wanted = pairs("npu", 128, 256)

    def step():
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(values), wanted).backward()
        optimizer.step()

    return lambda runs: batch(step, runs, torch.npu.synchronize)


def serve_training():
    """Times as many training steps as each line of the standard input says."""
    timed = training()
    for line in sys.stdin:
        print(timed(int(line)), flush=True)


def sanitized():
    environment = {**os.environ, "ADVANCE_STEP_SANITIZE": "all"}
    with subprocess.Popen([sys.executable, "-m", "advance_step.torch_npu", __file__, "--training"],
                          env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        def library(runs):
            process.stdin.write(f"{runs}\n")
            process.stdin.flush()
            return float(process.stdout.readline())

        return interleave(library, training(), 4, (10, 10))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--json")
    mode.add_argument("--training", action="store_true", help="time training steps for another process")
    options = parser.parse_args()
    if options.training:
        serve_training()
        return
    rows = {"torch_elementwise": elementwise(), "torch_elementwise_caller": caller(),
            "torch_matmul": matmul(), "torch_graph": graph(),
            "torch_llama_layer": llama_layer(torch.float32),
            "torch_llama_layer_bf16": llama_layer(torch.bfloat16), "torch_sanitized": sanitized()}
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main()
