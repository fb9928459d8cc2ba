#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a decode step from Python with the same update in numpy and in torch, in one process.

    tests/benchmark/python_benchmark.py [rows]

It takes the library that ADVANCE_STEP_LIBRARY names, else that of the release preset. It needs numpy and
torch: build/torch_npu/bin/python of tests/torch_npu has both.
"""

import os
import pathlib
import statistics
import sys
import time

root = pathlib.Path(__file__).resolve().parents[2]
sources = root / "src" / "python"
os.environ.setdefault("ADVANCE_STEP_LIBRARY", str(root / "build/release/lib/libadvance_step.so"))
sys.path.insert(0, str(sources))
os.environ.setdefault("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")

import advance_step  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402

ROUNDS, REPEATS = 40, 500
COLUMNS, BLOCK_SIZE = 128, 1024  # so many steps fit a row


def numpy_step(tokens, sampled, positions, lengths, slots, table, rows, queries, size):
    place = lengths[:queries].copy()
    tokens[:queries] = sampled[:, 0]
    positions[:queries] = place
    lengths[:queries] = place + 1
    slots[:queries] = table[np.arange(queries), place // size] * size + place % size
    tokens[queries:] = 0
    positions[queries:] = 0
    slots[queries:] = -1


def torch_step(tokens, sampled, positions, lengths, slots, table, rows, queries, size):
    place = lengths[:queries].clone()
    tokens[:queries] = sampled[:, 0]
    positions[:queries] = place
    lengths[:queries] = place + 1
    blocks = table[torch.arange(queries), torch.div(place, size, rounding_mode="floor")]
    slots[:queries] = blocks * size + place % size
    tokens[queries:] = 0
    positions[queries:] = 0
    slots[queries:] = -1


def measure(function, arguments):
    """Nanoseconds of a call; the lengths begin again at 0."""
    arguments[3][:] = 0
    start = time.perf_counter_ns()
    for _ in range(REPEATS):
        function(*arguments)
    return (time.perf_counter_ns() - start) / REPEATS


def main():
    torch.set_num_threads(1)
    rows = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    queries = rows - 1
    shapes = (rows, (queries, 1), rows, rows, rows, (rows, COLUMNS))

    def arrays():
        return [np.random.default_rng(0).integers(0, 99, shape) for shape in shapes]

    sizes = (rows, queries, BLOCK_SIZE)
    host, tensors = arrays(), [torch.from_numpy(array) for array in arrays()]
    on_host, on_tensors = (advance_step.prepare_advance_step(*a, *sizes) for a in (host, tensors))
    ways = {
        "numpy": (numpy_step, host), "torch": (torch_step, tensors),
        "advance_step, numpy": (advance_step.advance_step, host),
        "advance_step, torch": (advance_step.advance_step, tensors),
        "prepared call, numpy": (lambda *_: on_host(), host),
        "prepared call, torch": (lambda *_: on_tensors(), tensors),
    }
    times = {name: [] for name in ways}
    for _ in range(ROUNDS):  # in turns, so that other work of the machine meets all of them
        for name, (function, a) in ways.items():
            times[name].append(measure(function, (*a, *sizes)))
    medians = {name: statistics.median(values) for name, values in times.items()}
    print(f"{'rows ' + str(rows):<22}{'ns':>8}{'numpy/x':>10}{'torch/x':>10}")
    for name, value in medians.items():
        ratios = [medians[base] / value for base in ("numpy", "torch")]
        print(f"{name:<22}{value:>8.0f}{ratios[0]:>10.1f}{ratios[1]:>10.1f}")


if __name__ == "__main__":
    main()
