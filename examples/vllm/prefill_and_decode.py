# SPDX-License-Identifier: Apache-2.0
"""Prefill and decode in two engines on one host, with Mooncake's connector of vllm-ascend.

    python -m advance_step.vllm examples/vllm/prefill_and_decode.py MODEL

MODEL is a folder of tiny_models.py; the package mooncake-transfer-engine-npu has to be there. One server
computes the keys and values of each prompt, which the other fetches from its memory to generate. All but
the last token of a prompt must have been fetched, and the generated tokens be equal to those of transformers
on "cpu", or the exit status is 1.
"""

import json
import sys

from server import Server, compare, encode, free_port

ASKED = {"do_remote_decode": True, "do_remote_prefill": False, "remote_engine_id": None,
         "remote_block_ids": None, "remote_host": None, "remote_port": None}


def options(role, name):
    """Returns the options of the engine with this role."""
    one = {"dp_size": 1, "tp_size": 1}
    return ["--enforce-eager", "--no-enable-prefix-caching", "--enable-prompt-tokens-details", "--kv-transfer-config", json.dumps(
        {"kv_connector": "MooncakeConnectorV1", "kv_role": role, "kv_port": str(free_port()), "engine_id": name,
         "kv_connector_extra_config": {"prefill": one, "decode": one}})]


def fetched_tokens(answer):
    """Returns how many tokens of the prompt the engine had not to compute."""
    details = answer["usage"]["prompt_tokens_details"]
    return details["cached_tokens"] if details else 0


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    model = sys.argv[1]
    prompts = encode(model)
    local = {"VLLM_HOST_IP": "127.0.0.1"}
    with Server(model, options("kv_producer", "prefill"), **local) as prefill, \
            Server(model, options("kv_consumer", "decode"), **local) as decode:
        prefill.wait()
        decode.wait()
        answers = []
        for prompt in prompts:
            first = prefill.complete(prompt, 1, kv_transfer_params=ASKED)
            answers.append(decode.complete(prompt, kv_transfer_params=first["kv_transfer_params"]))
    fetched = [fetched_tokens(answer) for answer in answers]
    equal = compare(model, answers, f"fetched {fetched} of {[len(prompt) for prompt in prompts]} tokens")
    whole = all(count >= len(prompt) - 1 for count, prompt in zip(fetched, prompts))
    return 0 if equal and whole else 1


if __name__ == "__main__":
    sys.exit(main())
