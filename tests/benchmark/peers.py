#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Times AdvanceStep beside numpy and torch making the same update, in Python.

    peers.py --libraries FOLDER --json FILE [--curves]

One call of the library is phase one, phase two and aclrtSynchronizeStream, all checks included, on
six tensors that live. It is made from Python as one function in C, which takes one pointer and keeps the
interpreter's lock: by an extension module, and by ctypes; and from C, as runtimes do. One call of a peer is
the same update in place, with vectorised indexing, on arrays that live. Batches of all in turns, in one
process. A peer that is not installed is said to be missing.
"""

import argparse
import ctypes
import importlib
import importlib.util
import json
import os
import sys
import time

BLOCK_SIZE = 16
STRIDE = 128  # block ids of a sequence
MOST_LENGTH = BLOCK_SIZE * STRIDE // 2  # at the start
MOST_STEPS = BLOCK_SIZE * STRIDE - MOST_LENGTH
BATCH_SECONDS = 2e-3
ROW_SIZE = 256
CURVE_SIZES = (8, 32, 128, 256, 512, 1024, 4096, 16384, 65536)

WAYS = ("", "_ctypes", "_from_c")  # suffixes of rows

INT64, FORMAT_ND = 9, 2
HOST_TO_DEVICE, DEVICE_TO_HOST = 1, 2


def first_lengths(size):
    """Mixed ones: with equal ones the block ids of a step share few sets of the caches."""
    return [17 + row * 7919 % (MOST_LENGTH - 17) for row in range(size)]


def extension_in(folder):
    """Returns the function of the module that is built where the headers of Python are, or None."""
    path = f"{folder}/advance_step_peer.abi3.so"
    if not os.path.exists(path):
        return None
    spec = importlib.util.spec_from_file_location("advance_step_peer", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.run


class Calls(ctypes.Structure):
    """AdvanceStepCalls of peer_calls.h."""

    _fields_ = (("runs", ctypes.c_int64), ("tensors", ctypes.c_void_p),
                ("num_seqs", ctypes.c_int64), ("block_size", ctypes.c_int64))


class Library:
    """aclnnAdvanceStep on a batch in device memory; the last row is padding."""

    def __init__(self, folder, size):
        self._lib = ctypes.CDLL(f"{folder}/libadvance_step.so")
        self._extension = extension_in(folder)
        self._from_c = ctypes.PyDLL(f"{folder}/libpeer_calls.so").RunAdvanceStepCalls
        self._from_c.argtypes = (ctypes.c_void_p,)
        self._lib.aclCreateTensor.restype = ctypes.c_void_p
        self._lib.aclGetRecentErrMsg.restype = ctypes.c_char_p
        self._size = size
        self._require(self._lib.aclrtSetDevice(0))
        values = ([0] * size, [7] * (size - 1), [0] * size, first_lengths(size), [0] * size,
                  range(size * STRIDE))
        shapes = ((size,), (size - 1, 1), (size,), (size,), (size,), (size, STRIDE))
        self._memory = [self._upload(each) for each in values]
        self._lengths = (ctypes.c_int64 * size)(*values[3])
        tensors = [self._tensor(*each) for each in zip(shapes, self._memory)]
        self._handles = (ctypes.c_void_p * len(tensors))(*(each.value for each in tensors))
        self._calls = Calls(1, ctypes.addressof(self._handles), size, BLOCK_SIZE)

    def _require(self, status):
        if status != 0:
            sys.exit(f"{status} {self._lib.aclGetRecentErrMsg()}")

    def _upload(self, values):
        host = (ctypes.c_int64 * len(values))(*values)
        memory = ctypes.c_void_p()
        size = ctypes.c_size_t(ctypes.sizeof(host))
        self._require(self._lib.aclrtMalloc(ctypes.byref(memory), size, 0))
        self._require(self._lib.aclrtMemcpy(memory, size, host, size, HOST_TO_DEVICE))
        return memory

    def _tensor(self, shape, memory):
        dims = (ctypes.c_int64 * len(shape))(*shape)
        rank = ctypes.c_uint64(len(shape))
        return ctypes.c_void_p(self._lib.aclCreateTensor(
            dims, rank, INT64, None, ctypes.c_int64(0), FORMAT_ND, dims, rank, memory))

    def has_extension(self):
        return self._extension is not None

    def run(self, runs):
        self._repeat(self._extension, runs)

    def run_by_ctypes(self, runs):
        self._repeat(self._from_c, runs)

    def _repeat(self, step, runs):
        once = ctypes.addressof(self._calls)
        for _ in range(runs):
            if step(once):
                self._require(1)

    def run_from_c(self, runs):
        calls = Calls(runs, self._calls.tensors, self._size, BLOCK_SIZE)
        self._require(self._from_c(ctypes.addressof(calls)))

    def restore(self):
        size = ctypes.c_size_t(ctypes.sizeof(self._lengths))
        self._require(self._lib.aclrtMemcpy(self._memory[3], size, self._lengths, size,
                                            HOST_TO_DEVICE))

    def state(self):
        """The four outputs but for the padding: tokens, positions, lengths, slots."""
        return [self._download(self._memory[index]) for index in (0, 2, 3, 4)]

    def _download(self, memory):
        host = (ctypes.c_int64 * self._size)()
        size = ctypes.c_size_t(ctypes.sizeof(host))
        self._require(self._lib.aclrtMemcpy(host, size, memory, size, DEVICE_TO_HOST))
        return list(host)[:-1]


class Peer:
    """The same update of the rows but for the padding, by numpy or torch, whose arrays do the same
    here."""

    def __init__(self, module, size):
        size -= 1
        self._arrays = [module.zeros(size, dtype=module.int64) for _ in range(4)]
        self._rows = module.arange(size)
        self._sampled = module.full((size, 1), 7, dtype=module.int64)
        self._tables = module.arange(size * STRIDE).reshape(size, STRIDE)
        self._first_lengths = module.asarray(first_lengths(size), dtype=module.int64)
        self.restore()

    def run(self, runs):
        tokens, positions, lengths, slots = self._arrays
        rows, sampled, tables = self._rows, self._sampled, self._tables
        for _ in range(runs):
            tokens[:] = sampled[:, 0]
            positions[:] = lengths
            blocks = tables[rows, positions // BLOCK_SIZE]
            slots[:] = blocks * BLOCK_SIZE + positions % BLOCK_SIZE
            lengths[:] += 1

    def restore(self):
        self._arrays[2][:] = self._first_lengths

    def state(self):
        return [array.tolist() for array in self._arrays]


def ways(library, peer):
    """By the suffix of their row, the sides and what runs them; the peer is the last."""
    found = {"": (library, library.run), "_ctypes": (library, library.run_by_ctypes),
             "_from_c": (library, library.run_from_c), "peer": (peer, peer.run)}
    if not library.has_extension():
        del found[""]
    return found


def require_same(library, peer):
    """All must make the same update, or the comparison says nothing."""
    states = []
    for side, run in ways(library, peer).values():
        side.restore()
        run(2 * BLOCK_SIZE)
        states.append(side.state())
    if any(state != states[-1] for state in states):
        sys.exit("the library and its peer do not come to the same")


def time_batch(side, run, runs):
    """Nanoseconds of a run."""
    side.restore()
    begin = time.perf_counter_ns()
    run(runs)
    return (time.perf_counter_ns() - begin) / runs


def runs_of(side, run):
    """Runs that fill a batch."""
    time_batch(side, run, 20)
    return max(1, min(MOST_STEPS, int(BATCH_SECONDS * 1e9 / time_batch(side, run, 20))))


def interleave(library, peer, seconds):
    """A series of each way."""
    sides = ways(library, peer)
    runs = {way: runs_of(*side) for way, side in sides.items()}
    series = {way: [] for way in sides}
    end = time.monotonic() + seconds
    while len(series["peer"]) < 9 or time.monotonic() < end:
        for way, side in sides.items():
            series[way].append(time_batch(*side, runs[way]))
    return series, runs


def others_seconds():
    """Core seconds that other programs and the host have taken."""
    with open("/proc/stat", encoding="ascii") as file:
        times = [int(each) for each in file.readline().split()[1:9]]
    own = os.times()
    return (sum(times) - times[3] - times[4]) / os.sysconf("SC_CLK_TCK") - own.user - own.system


def as_row(series, runs, way, other_cores):
    if way not in series:
        return {"why": "the build found no headers of Python"}
    return {"other_cores": other_cores,
            "library_ns": series[way], "library_runs": runs[way],
            "baseline_ns": series["peer"], "baseline_runs": runs["peer"]}


def median(values):
    return sorted(values)[len(values) // 2]


def measure(name, folder, curves):
    """The rows of this peer, and its curve."""
    try:
        module = importlib.import_module(name)
    except (ImportError, OSError):  # not there, or not able to load
        missing = {"why": f"{name} cannot be imported by {sys.executable}"}
        return dict.fromkeys(WAYS, missing), []
    library, peer = Library(folder, ROW_SIZE), Peer(module, ROW_SIZE)
    require_same(library, peer)
    begin, others = time.monotonic(), others_seconds()
    series, runs = interleave(library, peer, 2)
    other_cores = max(0.0, others_seconds() - others) / (time.monotonic() - begin)
    points = []
    for size in CURVE_SIZES if curves else ():
        here, _ = interleave(Library(folder, size), Peer(module, size), 0.3)
        points.append({"n": size, "peer_ns": median(here["peer"])})
    return {way: as_row(series, runs, way, other_cores) for way in WAYS}, points


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--libraries", required=True, help="the folder of libadvance_step.so")
    parser.add_argument("--json", required=True)
    parser.add_argument("--curves", action="store_true", help="at many sizes of the batch, too")
    options = parser.parse_args()
    results = {"curves": {}}
    for name in ("torch", "numpy"):
        rows, points = measure(name, options.libraries, options.curves)
        for way, row in rows.items():
            results[f"peer_{name}{way}"] = row
        results["curves"][name] = points
    with open(options.json, "w", encoding="utf-8") as file:
        json.dump(results, file)


if __name__ == "__main__":
    main()
