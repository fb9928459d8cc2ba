# SPDX-License-Identifier: Apache-2.0
"""The random numbers of "npu" generators: those that torch's generator for "cpu" draws.

The offset of an "npu" generator is 16 times the 32-bit numbers drawn since its seed, plus 4 if a normal
sample is kept for the next call. So seed and offset are the whole state, also in a saved one.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

import numpy as np

_WORDS = 624
_LEFT, _NEXT, _KEYS, _KEPT = 8, 16, 24, 24 + _WORDS * 8 + 24  # places in the state of "cpu"


class HostGenerators:
    """The generators on "cpu" that draw for those of "npu"."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.engines: dict[int, list[Any]] = {}  # by generator: that on "cpu", seed, offset

    def _numpy(self, generator: Any) -> Any:
        """Returns numpy's generator in the state of torch's."""
        state = generator.get_state().numpy().tobytes()
        left = int.from_bytes(state[_LEFT:_LEFT + 4], "little")
        drawn = int.from_bytes(state[_NEXT:_NEXT + 8], "little")
        key = np.frombuffer(state, np.uint64, _WORDS, _KEYS).astype(np.uint32)
        made = np.random.MT19937()
        made.state = {"bit_generator": "MT19937",
                      "state": {"key": key, "pos": _WORDS if left == 1 else drawn}}
        return made

    def _skip(self, generator: Any, count: int) -> None:
        if count == 0:
            return
        engine = self._numpy(generator)
        while count:
            part = min(count, 1 << 20)
            engine.random_raw(part)
            count -= part
        state = generator.get_state()
        place, now = state.numpy(), engine.state["state"]
        place[_KEYS:_KEYS + _WORDS * 8] = np.frombuffer(now["key"].astype(np.uint64).tobytes(),
                                                        np.uint8)
        place[_NEXT:_NEXT + 8] = np.frombuffer(np.uint64(now["pos"]).tobytes(), np.uint8)
        place[_LEFT:_LEFT + 4] = np.frombuffer(np.int32(_WORDS + 1 - now["pos"]).tobytes(), np.uint8)
        generator.set_state(state)

    def _count(self, before: Any, after: Any) -> int:
        """Returns how many numbers lie between two states of one engine."""
        end, count = after.state["state"], 0
        while not np.array_equal(before.state["state"]["key"], end["key"]):
            part = _WORDS - before.state["state"]["pos"] + 1
            before.random_raw(part)
            count += part
        return count + int(end["pos"]) - int(before.state["state"]["pos"])

    def _seek(self, engine: list[Any], seed: int, offset: int) -> None:
        if engine[1:] == [seed, offset]:
            return
        generator, draws = engine[0], offset // 16
        generator.manual_seed(seed)
        kept = bool(offset & 4) and draws >= 4
        self._skip(generator, draws - 4 if kept else draws)
        if kept:
            self.torch.empty(1, dtype=self.torch.float64).normal_(generator=generator)

    @contextlib.contextmanager
    def of(self, given: Any, device: Any) -> Iterator[Any]:
        """Yields the generator on "cpu" that draws for the given "npu" generator (None: that of the
        device), and then advances the offset of the "npu" generator."""
        torch = self.torch
        if given is not None and given.device.type != "npu":
            raise RuntimeError("Expected a 'npu' device type for generator but found "
                               f"'{given.device.type}'")
        if given is not None and given.device.index not in (None, device.index):
            raise RuntimeError(f"Expected a '{device}' generator device but found '{given.device}'")
        npu = given if given is not None else torch.npu.default_generators[device.index]
        engine = self.engines.setdefault(id(npu), [torch.Generator(), None, None])
        self._seek(engine, npu.initial_seed(), npu.get_offset())
        before = self._numpy(engine[0])
        try:
            yield engine[0]
        finally:
            kept = bool(engine[0].get_state()[_KEPT])
            draws = npu.get_offset() // 16 + self._count(before, self._numpy(engine[0]))
            npu.set_offset(draws * 16 + 4 * kept)
            engine[1:] = [npu.initial_seed(), npu.get_offset()]
