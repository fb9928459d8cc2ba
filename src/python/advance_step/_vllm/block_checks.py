# SPDX-License-Identifier: Apache-2.0
"""Checks of vLLM's block tables and slots at each step of an engine (ADVANCE_STEP_VLLM_CHECKS).

After vLLM has computed the slots of a step, they are compared with the block tables, and the requests'
cache with what earlier steps wrote there. A wrong kernel, a table that was not copied, a block that was
given to two requests, and blocks that nothing has written are told by the request's name before attention
runs. The checks wait for the device, so a program's missing synchronisation may not show with them.
"""

from __future__ import annotations

import importlib
import os
from typing import Any

NAMES = ("slots", "blocks", "written")
_VARIABLE = "ADVANCE_STEP_VLLM_CHECKS"
_PADDING = -1  # the slot of no token
_UNKNOWN = -1  # the token that the host has not got yet, with asynchronous scheduling


def chosen() -> tuple[str, ...]:
    """Returns the checks that the variable names. ImportError: there is no such check."""
    given = os.environ.get(_VARIABLE, "")
    if given in ("", "off"):
        return ()
    if given == "all":
        return NAMES
    names = tuple(given.split(","))
    for name in names:
        if name not in NAMES:
            raise ImportError(f"{_VARIABLE} has {name!r}; expected all, off, or some of {', '.join(NAMES)} with "
                              "commas between them")
    return names


class Failure(RuntimeError):
    """What a check has found."""

    def __init__(self, check: str, text: str) -> None:
        super().__init__(f"advance_step.vllm: {check}: {text}")


class Step:
    """What a step of the engine computes, in arrays of the host."""

    def __init__(self, requests: list[str], starts: Any, positions: Any, table: Any, block: int,
                 tokens: Any) -> None:
        """starts: where each request's tokens begin in positions, and their end; table: a row of blocks for each
        request; block: the tokens of a block; tokens: those of each request by position."""
        self.requests, self.starts, self.positions = requests, starts, positions
        self.table, self.block, self.tokens = table, block, tokens

    def rows(self) -> Any:
        """Yields row, name, the places of its tokens in positions, and these positions."""
        for row, name in enumerate(self.requests):
            begin, end = int(self.starts[row]), int(self.starts[row + 1])
            yield row, name, slice(begin, end), self.positions[begin:end]

    def slots(self, row: int, positions: Any) -> Any:
        """Returns the slots of a request's positions by its row."""
        return self.table[row, positions // self.block].astype("int64") * self.block + positions % self.block

    def where(self, row: int, position: int) -> str:
        slot = int(self.slots(row, position))
        return f"slot {slot}, in block {slot // self.block}, entry {position // self.block} of the row"

    def length(self, row: int) -> int:
        """Returns how many tokens of a request attention reads in this step."""
        begin, end = int(self.starts[row]), int(self.starts[row + 1])
        return int(self.positions[begin:end].max()) + 1 if end > begin else 0

    def blocks(self, row: int) -> list[int]:
        """Returns the blocks that these tokens take."""
        return [int(block) for block in self.table[row, :-(-self.length(row) // self.block)]]


def check_slots(step: Step, slots: Any) -> None:
    """Compares the slots with the tables."""
    for row, name, places, positions in step.rows():
        wrong = (slots[places] != step.slots(row, positions)).nonzero()[0]
        if len(wrong):
            place = places.start + int(wrong[0])
            position = int(step.positions[place])
            raise Failure("slots", f"request {name} (row {row}): its token of position {position} has slot "
                          f"{int(slots[place])} in slot_mapping[{place}]; expected {step.where(row, position)}")
    end = int(step.starts[len(step.requests)])
    wrong = (slots[end:] != _PADDING).nonzero()[0]
    if len(wrong):
        place = end + int(wrong[0])
        raise Failure("slots", f"slot_mapping[{place}] is slot {int(slots[place])}, behind the {end} tokens of the step; "
                      f"expected {_PADDING}")


def _same(one: Any, other: Any) -> bool:
    known = (one != _UNKNOWN) & (other != _UNKNOWN)
    return bool((one[known] == other[known]).all())


def check_blocks(step: Step) -> None:
    """Two requests may share a block if all tokens up to its end are the same."""
    owners: dict[int, tuple[int, int]] = {}  # row and column of the first request with a block
    for row, name, _, _ in step.rows():
        for column, block in enumerate(step.blocks(row)):
            first = owners.setdefault(block, (row, column))
            if first == (row, column):
                continue
            if first[0] == row:
                raise Failure("blocks", f"request {name} (row {row}) has block {block} twice, in entries {first[1]} "
                              f"and {column} of its row; expected blocks of its own")
            end = (column + 1) * step.block
            whole = min(end, step.length(row), step.length(first[0])) == end
            if not (first[1] == column and whole and _same(step.tokens[row][:end], step.tokens[first[0]][:end])):
                raise Failure("blocks", f"block {block} is entry {first[1]} of request {step.requests[first[0]]} (row "
                              f"{first[0]}) and entry {column} of request {name} (row {row}), which share no prefix "
                              f"of {end} tokens; expected a block of its own for each")


class Cache:
    """What the slots of a cache hold: a position and a token for each, or nothing.

    One thread of the engine's worker uses it.
    """

    def __init__(self) -> None:
        self._numpy: Any = importlib.import_module("numpy")
        self._positions = self._numpy.zeros(0, dtype=self._numpy.int64)  # a position + 1, or 0
        self._tokens = self._numpy.zeros(0, dtype=self._numpy.int64)

    def _reach(self, slots: int) -> None:
        missing = slots - len(self._positions)
        if missing > 0:
            more = self._numpy.zeros(max(missing, len(self._positions)), dtype=self._numpy.int64)
            self._positions = self._numpy.concatenate([self._positions, more])
            self._tokens = self._numpy.concatenate([self._tokens, more])

    def write(self, step: Step, slots: Any) -> None:
        """Notes what the step writes."""
        for row, _, places, positions in step.rows():
            written = slots[places]
            if len(written):
                self._reach(int(written.max()) + 1)
            kept = written >= 0
            self._positions[written[kept]] = positions[kept] + 1
            self._tokens[written[kept]] = step.tokens[row][positions[kept]]

    def check(self, step: Step) -> None:
        """Attention reads slots of a request that were written with its tokens."""
        for row, name, _, _ in step.rows():
            positions = self._numpy.arange(step.length(row))
            slots, tokens = step.slots(row, positions), step.tokens[row][:len(positions)]
            if len(slots):
                self._reach(int(slots.max()) + 1)
            other = ((self._tokens[slots] != tokens) & (tokens != _UNKNOWN) & (self._tokens[slots] != _UNKNOWN))
            wrong = ((self._positions[slots] != positions + 1) | other).nonzero()[0]
            if len(wrong):
                position = int(wrong[0])
                raise Failure("written", f"request {name} (row {row}) reads position {position} from "
                              f"{step.where(row, position)}, {self._content(step, row, position)}")

    def _content(self, step: Step, row: int, position: int) -> str:
        slot = int(step.slots(row, position))
        if not self._positions[slot]:
            return "which nothing has written; expected a step before that has"
        return (f"which has token {self._tokens[slot]} of position {self._positions[slot] - 1}; expected token "
                f"{step.tokens[row][position]} of its own, or of a request with the same prefix")


def _array(tensor: Any) -> Any:
    return tensor.cpu().numpy() if hasattr(tensor, "cpu") else tensor


class _Checked:
    """The checks of one block table."""

    def __init__(self, names: tuple[str, ...]) -> None:
        self._names, self._cache = names, Cache()

    def run(self, table: Any, batch: Any, count: int, starts: Any, positions: Any) -> None:
        numpy: Any = importlib.import_module("numpy")
        # The host's token of a step that is not there yet is 0 or of the step before.
        tokens = [numpy.where(numpy.arange(batch.token_ids_cpu.shape[1]) < batch.num_tokens_no_spec[row],
                              batch.token_ids_cpu[row], _UNKNOWN) for row in range(count)]
        step = Step(list(batch.req_ids[:count]), _array(starts), _array(positions), table.block_table.np,
                    table.block_size, tokens)
        slots = _array(table.slot_mapping.gpu)[:table.max_num_batched_tokens]
        if "slots" in self._names:
            check_slots(step, slots)
        if "blocks" in self._names:
            check_blocks(step)
        if "written" in self._names:
            self._cache.write(step, slots)
            self._cache.check(step)


def _is_checked(table: Any) -> bool:
    """Returns whether a table is that of a cache whose blocks one rank has whole."""
    return not table.is_mamba_group and table.pcp_world_size * table.dcp_world_size == 1


def extend_batch(module: Any) -> None:
    """Lets the tables of vllm_ascend.worker.npu_input_batch know the requests."""
    names = chosen()
    if not names:
        return
    plain = module.NPUInputBatch.__init__

    def create(self: Any, *arguments: Any, **options: Any) -> None:
        plain(self, *arguments, **options)
        tables = self.block_table
        compute = tables.compute_slot_mapping
        checks = [_Checked(names) for _ in tables.block_tables]

        def compute_and_check(count: int, starts: Any, positions: Any, *others: Any, **more: Any) -> None:
            compute(count, starts, positions, *others, **more)
            if any(others) or any(more.values()):
                return  # a compressed cache has other positions
            for check, table in zip(checks, tables.block_tables):
                if _is_checked(table):
                    check.run(table, self, count, starts, positions)

        tables.compute_slot_mapping = compute_and_check

    module.NPUInputBatch.__init__ = create
