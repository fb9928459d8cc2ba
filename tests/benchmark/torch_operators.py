#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times torch's operators on "npu" beside the same operators on "cpu", in one process, in turns.

    python -m advance_step.torch_npu torch_operators.py --json FILE

An operator on "npu" runs until torch.npu.synchronize() returns, except in the row of the caller,
where the time ends when the operator has returned while earlier work holds up the stream. A captured
graph is timed beside the same operators one by one, and a training step under the sanitizer, in a
process of its own, beside the step without.
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
            "torch_matmul": matmul(), "torch_graph": graph(), "torch_sanitized": sanitized()}
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(rows, file)


if __name__ == "__main__":
    main()
