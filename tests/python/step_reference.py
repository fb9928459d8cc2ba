# SPDX-License-Identifier: Apache-2.0
"""Step as plain loops, written from docs/operators/step.md, for states that are consistent. A state
is a dict of lists with the parameter names; tables are lists of rows."""

import copy


class NoProgress(Exception):
    """More blocks are needed than exist."""


class _Run:
    def __init__(self, state, block_size, exact):
        self.s = copy.deepcopy(state)
        self.block_size = block_size
        self.exact = exact
        self.batch = len(state["seq_lens_this_time"])
        self.width = len(state["input_ids"][0])

    def push_dynamic(self, slot):
        s = self.s
        begin = s["encoder_block_lens"][slot]
        row = s["block_tables"][slot]
        for column in range(begin, begin + s["used_list_len"][slot]):
            s["free_list"][s["free_list_len"][0]] = row[column]
            s["free_list_len"][0] += 1
            row[column] = -1

    def pop(self):
        self.s["free_list_len"][0] -= 1
        return self.s["free_list"][self.s["free_list_len"][0]]

    def collect(self):
        s = self.s
        needs = []
        for slot in range(self.batch):
            if s["stop_flags"][slot] and not s["is_block_step"][slot]:
                s["first_token_ids"][slot] = -1
                if s["used_list_len"][slot] > 0:
                    self.push_dynamic(slot)
                    s["encoder_block_lens"][slot] = s["used_list_len"][slot] = 0
            elif s["seq_lens_this_time"][slot] != 0:
                if s["block_tables"][slot][s["seq_lens_decoder"][slot] // self.block_size] == -1:
                    needs.append(slot)
        return needs

    def preempt(self, needs):
        s = self.s
        longest = self.width // self.block_size
        exempt = True
        while len([slot for slot in needs if slot >= 0]) > s["free_list_len"][0]:
            candidates = [slot for slot in range(self.batch) if not s["is_block_step"][slot]
                          and not (exempt and s["used_list_len"][slot] == longest)]
            victim = max(candidates, key=lambda slot: (s["used_list_len"][slot], -slot),
                         default=None)
            if victim is None or s["used_list_len"][victim] == 0:
                if not exempt:
                    raise NoProgress
                exempt = False
                continue
            self.push_dynamic(victim)
            s["step_block_list"][s["step_lens"][0]] = victim
            s["step_lens"][0] += 1
            if victim in needs:
                needs[needs.index(victim)] = -1
            s["stop_flags"][victim] = s["is_block_step"][victim] = 1
            s["seq_lens_this_time"][victim] = s["seq_lens_decoder"][victim] = 0

    def dispatch(self, needs):
        s = self.s
        for entry, slot in enumerate(needs):
            if slot >= 0 and not s["stop_flags"][slot]:
                column = s["seq_lens_decoder"][slot] // self.block_size
                s["block_tables"][slot][column] = self.pop()
                s["used_list_len"][slot] += 1
            s["need_block_list"][entry] = -1

    def choose(self):
        s = self.s
        chosen = []
        budget = s["free_list_len"][0]
        depth = s["step_lens"][0]
        first = s["step_block_list"][depth - 1] if depth else None
        while depth:
            slot = s["step_block_list"][depth - 1]
            used = s["used_list_len"][slot]
            if self.exact:
                limit = self.width // self.block_size - s["encoder_block_lens"][first]
            else:
                limit = max(used, -(-self.width // self.block_size) - s["encoder_block_lens"][slot])
            grant = min(used + 1, limit)
            if budget < grant:
                break
            s["recover_block_list"][len(chosen)] = slot
            chosen.append(slot)
            s["is_block_step"][slot] = 0
            s["used_list_len"][slot] = grant
            budget -= grant
            depth -= 1
            s["step_block_list"][depth] = -1
        s["step_lens"][0] = depth
        return chosen

    def recover(self, chosen):
        s = self.s
        for slot in chosen:
            prompt, generated = s["ori_seq_lens_encoder"][slot], s["step_idx"][slot]
            s["seq_lens_this_time"][slot] = s["seq_lens_encoder"][slot] = prompt + generated
            s["stop_flags"][slot] = 0
            ids = s["input_ids"][slot]
            ids[prompt + generated - 1] = s["next_tokens"][slot]
            ids[0] = s["first_token_ids"][slot]
            begin = s["encoder_block_lens"][slot]
            for column in range(begin, begin + s["used_list_len"][slot]):
                s["block_tables"][slot][column] = self.pop()
            for i in range(generated - 1):
                ids[prompt + i] = s["pre_ids"][slot][i + 1]


def step(state, block_size, exact=False):
    """The state after Step."""
    run = _Run(state, block_size, exact)
    needs = run.collect()
    run.preempt(needs)
    run.dispatch(needs)
    run.recover(run.choose())
    return run.s
