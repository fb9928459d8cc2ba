# SPDX-License-Identifier: Apache-2.0
"""Batches of npu_advance_step_flashattn on a device, and the state that a plain loop expects."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

import reference  # noqa: E402
import torch  # noqa: E402
import torch_npu  # noqa: E402
from batches import NAMES, V2_NAMES, as_torch, batch  # noqa: E402


class Decode:
    """A batch on a device beside its expected state."""

    def __init__(self, seed=1, device="npu:0", **sizes):
        self.state, *self.sizes = batch(seed, **sizes)
        self.tensors = as_torch(self.state, NAMES, device)

    @classmethod
    def steady(cls, seed=1, device="npu:0", steps=64):
        """A batch that stays legal for so many launches."""
        made = cls(seed, "cpu", num_seqs=12, num_queries=9, block_size=4, columns=(steps + 7) // 4)
        made.state["seq_lens"] = [3] * 12
        made.tensors = as_torch(made.state, NAMES, device)
        return made

    def launch(self, operator=torch_npu.npu_advance_step_flashattn):
        operator(*self.tensors, *self.sizes)
        self.expect_one_more()

    def check_replays(self, times=3):
        """Captures the operator in a graph, replays it so often, and checks the batch."""
        graph = torch.npu.NPUGraph()
        torch.npu.synchronize()
        with torch.npu.graph(graph):
            torch_npu.npu_advance_step_flashattn(*self.tensors, *self.sizes)
        for _ in range(times):
            graph.replay()
            self.expect_one_more()
        self.check()

    def expect_one_more(self, **conformance):
        self.state = reference.advance(self.state, *self.sizes, **conformance)

    def check(self):
        """Reads the tensors, which waits for the current stream of their device."""
        check(self.tensors, self.state, NAMES)


class SpeculativeDecode:
    """The same for the form with spec_token and accepted_num."""

    def __init__(self, device="npu:0", seqs=5, spec=2, block_size=8):
        rows = seqs * (spec + 1)
        self.sizes = (seqs, seqs, block_size)
        self.state = {
            "input_tokens": list(range(rows)),
            "sampled_token_ids": [[10 * r + j if j <= r % 3 else -1 for j in range(spec + 1)]
                                  for r in range(seqs)],
            "input_positions": [3 * i for i in range(rows)], "seq_lens": [3 * i + 1 for i in range(rows)],
            "slot_mapping": [0] * rows,
            "block_tables": [[100 * r + c for c in range(16)] for r in range(seqs)],
            "spec_token": [[r + 1, r + 2] for r in range(seqs)], "accepted_num": [r % 3 for r in range(seqs)]}
        self.tensors = as_torch(self.state, V2_NAMES, device)

    def launch(self, operator=torch_npu.npu_advance_step_flashattn):
        operator(*self.tensors[:6], *self.sizes, spec_token=self.tensors[6],
                 accepted_num=self.tensors[7])
        self.state = reference.advance_v2(self.state, self.sizes[0], self.sizes[2])

    def check(self):
        check(self.tensors, self.state, V2_NAMES)


def check(tensors, state, names):
    for tensor, name in zip(tensors, names):
        wanted = torch.tensor(state[name]).reshape(tensor.shape)
        assert torch.equal(tensor.cpu(), wanted), name
