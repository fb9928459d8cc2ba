# SPDX-License-Identifier: Apache-2.0
"""Generates with vLLM on the emulated device, and compares with transformers on "cpu".

    python -m advance_step.vllm examples/vllm/generate.py MODEL [--tokens N] [--graphs MODE] [--rounding X]
                                                               [--speculate N] [--parallel N]

MODEL is a folder of tiny_models.py. The greedy tokens of four prompts must be equal, or the exit status
is 1. --graphs is none (eager, the default), piecewise, full or full_decode_only. With --rounding each
token of vLLM may have a logarithm of its probability, by transformers, that is lower by X than that of
the likeliest: vllm-ascend computes the prefill of latent attention (DeepSeek) in bfloat16. --speculate guesses N tokens by n-grams of the
prompt, --parallel divides the model among N devices.
"""

import argparse
import sys
import time

PROMPTS = ("Hello, my name is", "The capital of France is", "0 1 1 2 3 5 8",
           "A paged cache keeps the keys and values of tokens in blocks, and a table says which. " * 2)
MODES = {"none": None, "piecewise": "PIECEWISE", "full": "FULL", "full_decode_only": "FULL_DECODE_ONLY"}


def with_transformers(model, found, rounding):
    """Returns the tokens that transformers takes for the likeliest on "cpu", after each prompt and those
    tokens of vLLM that come before: vLLM's own where these are as likely, but for the rounding."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    words = AutoTokenizer.from_pretrained(model)
    network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
    made = []
    for prompt, tokens in zip(PROMPTS, found):
        given = words(prompt, add_special_tokens=False).input_ids
        with torch.no_grad():
            logits = network(torch.tensor([given + tokens[:-1]])).logits[0, len(given) - 1:]
        # The end is not generated, as vLLM is asked for a number of tokens.
        logits[:, network.config.eos_token_id] = -torch.inf
        best, likeliest = logits.max(-1)
        near = logits.gather(1, torch.tensor(tokens)[:, None])[:, 0] >= best - rounding
        made.append(torch.where(near, torch.tensor(tokens), likeliest).tolist())
    return made


def settings(options):
    """Returns the settings of the engine that the options ask for."""
    mode = MODES[options.graphs]
    made = {"enforce_eager": True} if mode is None else {"compilation_config": {
        "cudagraph_mode": mode, "cudagraph_capture_sizes": [1, 2, 4, 8]}}
    if options.speculate:
        made["speculative_config"] = {"method": "ngram", "num_speculative_tokens": options.speculate,
                                      "prompt_lookup_max": 4, "prompt_lookup_min": 1}
    return {**made, "tensor_parallel_size": options.parallel}


def with_vllm(model, tokens, options):
    """Returns the tokens of vLLM, and the seconds of the start and of the generation."""
    from vllm import LLM, SamplingParams

    begin = time.perf_counter()
    engine = LLM(model, dtype="float32", max_model_len=256, max_num_seqs=8, block_size=16, **options)
    ready = time.perf_counter()
    sampling = SamplingParams(temperature=0, max_tokens=tokens, min_tokens=tokens)
    prompts = [{"prompt_token_ids": engine.get_tokenizer().encode(prompt, add_special_tokens=False)}
               for prompt in PROMPTS]
    outputs = engine.generate(prompts, sampling, use_tqdm=False)
    done = time.perf_counter()
    return [list(output.outputs[0].token_ids) for output in outputs], ready - begin, done - ready


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--graphs", choices=MODES, default="none")
    parser.add_argument("--rounding", type=float, default=0)
    parser.add_argument("--speculate", type=int, default=0)
    parser.add_argument("--parallel", type=int, default=1)
    options = parser.parse_args()
    found, start, run = with_vllm(options.model, options.tokens, settings(options))
    wanted = with_transformers(options.model, found, options.rounding)
    equal = sum(one == other for one, other in zip(found, wanted))
    print(f"{options.model}: {equal} of {len(PROMPTS)} prompts equal, {options.tokens} tokens each; "
          f"start {start:.1f} s, generation {run:.1f} s", flush=True)
    for one, other in zip(found, wanted):
        if one != other:
            print(f"vLLM         {one}\ntransformers {other}")
    return 0 if equal == len(PROMPTS) else 1


if __name__ == "__main__":
    sys.exit(main())
