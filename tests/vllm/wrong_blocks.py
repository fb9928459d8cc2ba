# SPDX-License-Identifier: Apache-2.0
"""Errors that ADVANCE_STEP_VLLM_CHECKS finds: each is made on purpose in the code of vLLM.

    ADVANCE_STEP_VLLM_CHECKS=all python -m advance_step.vllm tests/vllm/wrong_blocks.py MODEL ERROR

ERROR is kernel (slots that are off by one), table (the first request's block in the second one's row) or unwritten
(a prefix that the scheduler takes for computed). The exit status is 0 if the check's text names the request.
"""

import os
import re
import sys

os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"  # the engine is in this process, where it is changed

from vllm import LLM, SamplingParams  # noqa: E402
from vllm_ascend.worker import block_table, npu_input_batch  # noqa: E402


def break_kernel():
    plain = block_table.BlockTable.compute_slot_mapping

    def compute(table, count, starts, positions):
        plain(table, count, starts, positions)
        if count == 2:
            table.slot_mapping.gpu[int(starts[1])] += 1

    block_table.BlockTable.compute_slot_mapping = compute
    return r"slots: request 1\S* \(row 1\): its token of position 0 has slot \d+ in slot_mapping\[3\]; expected slot"


def break_table():
    plain = block_table.BlockTable.append_row

    def append(table, blocks, row):
        plain(table, [table.block_table.np[0, 0]] if row == 1 and blocks else blocks, row)

    block_table.BlockTable.append_row = append
    return r"blocks: block \d+ is entry 0 of request 0\S* \(row 0\) and entry 0 of request 1\S* \(row 1\)"


def break_scheduler():
    plain = npu_input_batch.NPUInputBatch.add_request

    def add(batch, request):
        if request.req_id.startswith("1"):
            request.num_computed_tokens = 1
        return plain(batch, request)

    npu_input_batch.NPUInputBatch.add_request = add
    return r"written: request 1\S* \(row \d\) reads position 0 from slot \d+, .* which nothing has written"


ERRORS = {"kernel": break_kernel, "table": break_table, "unwritten": break_scheduler}


def main():
    wanted = ERRORS[sys.argv[2]]()
    engine = LLM(sys.argv[1], dtype="float32", max_model_len=256, max_num_seqs=8, enforce_eager=True)
    prompts = [{"prompt_token_ids": tokens} for tokens in ([1, 2, 3], [4, 5, 6, 7])]
    try:
        engine.generate(prompts, SamplingParams(temperature=0, max_tokens=8, min_tokens=8), use_tqdm=False)
    except RuntimeError as error:
        print(f"{sys.argv[2]}: {error}", flush=True)
        return 0 if re.search(wanted, str(error)) else 1
    print(f"{sys.argv[2]}: nothing was found", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
