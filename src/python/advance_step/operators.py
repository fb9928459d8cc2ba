# SPDX-License-Identifier: Apache-2.0
"""The operators as functions on arrays.

All functions work in place: they write the arrays marked in/out, in their own memory. They accept
numpy arrays, torch tensors on the CPU, objects with ``__array_interface__`` and objects with the
buffer protocol. Arrays must be C-contiguous, except block_tables of AdvanceStep and AdvanceStepV2,
whose rows may be further apart.

A function that raises an error has written nothing. ArgumentError: a dtype, shape, layout or
attribute is not as documented, or an in/out array overlaps another one or is read-only. DataError:
the operator cannot process the data, for instance because a position is outside the block table;
the message names the query. docs/operators has conformances and formulas.
"""

from __future__ import annotations

import operator
from typing import Any, Mapping, Optional

from ._launch import PreparedCall, launch
from ._plan import Operator
from .stream import Stream

Array = Any  # a precise type would need numpy and torch

_ADVANCE = ("input_tokens*", "sampled_token_ids", "input_positions*", "seq_lens*", "slot_mapping*",
            "block_tables")
_SIZES = ("num_seqs", "num_queries", "block_size")
ADVANCE_STEP = Operator("AdvanceStep", _ADVANCE, _SIZES)
ADVANCE_STEP_V2 = Operator("AdvanceStepV2", (*_ADVANCE, "spec_token?", "accepted_num?"), _SIZES)
STEP = Operator("Step", (
    "stop_flags*", "seq_lens_this_time*", "ori_seq_lens_encoder", "seq_lens_encoder*",
    "seq_lens_decoder*", "block_tables*", "encoder_block_lens*", "is_block_step*",
    "step_block_list*", "step_lens*", "recover_block_list*", "recover_lens*", "need_block_list*",
    "need_block_len*", "used_list_len*", "free_list*", "free_list_len*", "input_ids*", "pre_ids",
    "step_idx", "next_tokens", "first_token_ids*"), ("block_size", "encoder_decoder_block_num"))

STATE_NAMES = STEP.tensors


def advance_step(input_tokens: Array, sampled_token_ids: Array, input_positions: Array,
                 seq_lens: Array, slot_mapping: Array, block_tables: Array, num_seqs: int,
                 num_queries: int, block_size: int, *, stream: Optional[Stream] = None,
                 wait: bool = True) -> None:
    """Moves every query of a decode batch one token forward: aclnnAdvanceStep.

    Rows [0, num_queries) are queries; the other rows are padding. With conformance standard and
    pos = seq_lens[q] before the call, a query q gets ::

        input_tokens[q]    = sampled_token_ids[q]
        input_positions[q] = pos
        seq_lens[q]        = pos + 1
        slot_mapping[q]    = block_tables[q][pos // block_size] * block_size + pos % block_size

    and a padding row gets token 0, position 0 and slot -1; its seq_lens is not changed.

    Args:
        input_tokens: in/out, int64 [num_seqs] or [num_seqs, 1].
        sampled_token_ids: int64 [num_queries, 1].
        input_positions: in/out, int64 [num_seqs] or [num_seqs, 1].
        seq_lens: in/out, int64 [num_seqs] or [num_seqs, 1]; conformance vllm also accepts int32.
        slot_mapping: in/out, int64 [num_seqs] or [num_seqs, 1]; conformance vllm also accepts
            int32.
        block_tables: int64 or int32 [num_seqs, max_blocks].
        num_seqs: rows, padding included.
        num_queries: rows that advance; less than num_seqs, or with conformance vllm equal to it.
        block_size: tokens per block, at least 1.
        stream: the stream of the run; None: the thread's current stream.
        wait: whether to return only after the run. If it is False a later synchronisation raises a
            failure on the device, and the arrays must not be used before it.

    Raises:
        ArgumentError, DataError, AdvanceStepError: see the module; nothing has been written.
    """
    launch(ADVANCE_STEP, (input_tokens, sampled_token_ids, input_positions, seq_lens, slot_mapping,
                          block_tables), (num_seqs, num_queries, block_size), stream, wait)


def prepare_advance_step(input_tokens: Array, sampled_token_ids: Array, input_positions: Array,
                         seq_lens: Array, slot_mapping: Array, block_tables: Array, num_seqs: int,
                         num_queries: int, block_size: int, *,
                         stream: Optional[Stream] = None) -> PreparedCall:
    """Checks and plans an advance_step once, and returns a call that runs it. Arguments as for
    advance_step."""
    return PreparedCall(
        ADVANCE_STEP, (input_tokens, sampled_token_ids, input_positions, seq_lens, slot_mapping,
                       block_tables), (num_seqs, num_queries, block_size), stream)


def advance_step_v2(input_tokens: Array, sampled_token_ids: Array, input_positions: Array,
                    seq_lens: Array, slot_mapping: Array, block_tables: Array, num_seqs: int,
                    num_queries: int, block_size: int, *, spec_token: Optional[Array] = None,
                    accepted_num: Optional[Array] = None, stream: Optional[Stream] = None,
                    wait: bool = True) -> None:
    """The advance_step for speculative decoding: aclnnAdvanceStepV2.

    k is the second dimension of spec_token, and w = k + 1. If spec_token and accepted_num are both
    None the call does the same as advance_step. docs/operators/advance_step_v2.md has the formulas.

    Args:
        input_tokens: in/out, int64 [num_seqs * w] or [num_seqs, w].
        sampled_token_ids: int64 [num_seqs, w]; negative from the first rejected token.
        input_positions: in/out, int64 [num_seqs * w] or [num_seqs, w].
        seq_lens: in/out, int64 [num_seqs * w] or [num_seqs, w].
        slot_mapping: in/out, int64 [num_seqs * w] or [num_seqs, w].
        block_tables: int64 or int32 [num_seqs, max_blocks].
        num_seqs: queries.
        num_queries: equal to num_seqs.
        block_size: tokens per block, at least 1.
        spec_token: int64 [num_seqs, k].
        accepted_num: int64 [num_seqs].
        stream: the stream of the run; None: the thread's current stream.
        wait: as advance_step.

    Raises:
        ArgumentError, DataError, AdvanceStepError: see the module; nothing has been written.
    """
    launch(ADVANCE_STEP_V2, (input_tokens, sampled_token_ids, input_positions, seq_lens,
                             slot_mapping, block_tables, spec_token, accepted_num),
           (num_seqs, num_queries, block_size), stream, wait)


def step_paddle(stop_flags: Array, seq_lens_this_time: Array, ori_seq_lens_encoder: Array,
                seq_lens_encoder: Array, seq_lens_decoder: Array, block_tables: Array,
                encoder_block_lens: Array, is_block_step: Array, step_block_list: Array,
                step_lens: Array, recover_block_list: Array, recover_lens: Array,
                need_block_list: Array, need_block_len: Array, used_list_len: Array,
                free_list: Array, free_list_len: Array, input_ids: Array, pre_ids: Array,
                step_idx: Array, next_tokens: Array, first_token_ids: Array, block_size: int,
                encoder_decoder_block_num: int = 1, *, stream: Optional[Stream] = None,
                wait: bool = True) -> None:
    """The housekeeping of a paged KV cache between two decode steps: aclnnStep, with the parameter
    names of FastDeploy's step_paddle. docs/operators/step.md describes the semantics.

    B is the batch, S >= B the number of slots, W the width of the block table, F the capacity of
    the free list, L and P the widths of input_ids and pre_ids. [S, 1] is accepted for [S].

    Args:
        stop_flags: in/out, bool [S]; the slot is not generating.
        seq_lens_this_time: in/out, int32 [B]; tokens fed to the next forward pass.
        ori_seq_lens_encoder: int32 [S]; prompt length.
        seq_lens_encoder: in/out, int32 [S]; tokens to prefill in the next forward pass.
        seq_lens_decoder: in/out, int32 [S]; tokens in the KV cache.
        block_tables: in/out, int32 [S, W]; block ids, -1 for none.
        encoder_block_lens: in/out, int32 [S]; leading columns owned by the host's allocator.
        is_block_step: in/out, bool [S]; the slot is preempted and waits for recovery.
        step_block_list: in/out, int32 [S]; stack of preempted slots, -1 above its top.
        step_lens: in/out, int32 [1]; depth of step_block_list.
        recover_block_list: in/out, int32 [S]; slots recovered by this call.
        recover_lens: in/out, int32 [1]; 0 on entry and on return.
        need_block_list: in/out, int32 [S]; used entries become -1.
        need_block_len: in/out, int32 [1]; 0 on entry and on return.
        used_list_len: in/out, int32 [S]; dynamic blocks of the slot.
        free_list: in/out, int32 [F]; stack of free block ids, top at the end.
        free_list_len: in/out, int32 [1]; depth of free_list.
        input_ids: in/out, int64 [S, L]; prompt token ids.
        pre_ids: int64 [S, P]; generated ids, pre_ids[k] is the k-th, from 1.
        step_idx: int64 [S]; number of generated tokens.
        next_tokens: int64 [S]; newest token, not yet in pre_ids.
        first_token_ids: in/out, int64 [S]; first prompt id, -1 if the slot is free.
        block_size: tokens per block, at least 1.
        encoder_decoder_block_num: accepted and not used, as in step_paddle.
        stream: the stream of the run; None: the thread's current stream.
        wait: as advance_step.

    Raises:
        NoProgressError: more blocks are needed than are free, and no slot is left to preempt.
        ArgumentError, DataError, AdvanceStepError: see the module.
        A call that raises has written nothing.
    """
    launch(STEP, (stop_flags, seq_lens_this_time, ori_seq_lens_encoder, seq_lens_encoder,
                  seq_lens_decoder, block_tables, encoder_block_lens, is_block_step,
                  step_block_list, step_lens, recover_block_list, recover_lens, need_block_list,
                  need_block_len, used_list_len, free_list, free_list_len, input_ids, pre_ids,
                  step_idx, next_tokens, first_token_ids), (block_size, encoder_decoder_block_num),
           stream, wait)


def _arrays_of(call: str, state: Any) -> tuple[Any, ...]:
    get: Any = operator.getitem if isinstance(state, Mapping) else getattr
    arrays = []
    for name in STATE_NAMES:
        try:
            arrays.append(get(state, name))
        except (KeyError, AttributeError) as failure:
            kind = KeyError if isinstance(failure, KeyError) else AttributeError
            raise kind(f"{call}: state has no {name}; expected the arrays of STATE_NAMES") from None
    return tuple(arrays)


def step(state: Any, block_size: int, encoder_decoder_block_num: int = 1, *,
         stream: Optional[Stream] = None, wait: bool = True) -> None:
    """Calls step_paddle with the arrays of a state.

    Args:
        state: a mapping or an object with the 22 arrays of step_paddle by name (STATE_NAMES).
        block_size, encoder_decoder_block_num, stream, wait: as step_paddle.

    Raises:
        KeyError, AttributeError: an array is missing.
        NoProgressError, ArgumentError, DataError, AdvanceStepError: as step_paddle.
    """
    launch(STEP, _arrays_of("step", state), (block_size, encoder_decoder_block_num), stream, wait)


def prepare_step(state: Any, block_size: int, encoder_decoder_block_num: int = 1, *,
                 stream: Optional[Stream] = None) -> PreparedCall:
    """Checks and plans a step once, and returns a call that runs it. Arguments as for step."""
    return PreparedCall(STEP, _arrays_of("prepare_step", state),
                        (block_size, encoder_decoder_block_num), stream)
