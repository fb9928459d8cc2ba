# SPDX-License-Identifier: Apache-2.0
"""Generates with vLLM on the emulated device, and compares with transformers on "cpu".

    python -m advance_step.vllm examples/vllm/generate.py MODEL [OPTION ...]

MODEL is a folder of tiny_models.py. The greedy tokens of four prompts must be equal, or the exit status
is 1. The options:

    --graphs MODE    none (eager, the default), piecewise, full or full_decode_only
    --speculate N    guesses N tokens by n-grams of the prompt
    --adapters       the second and third prompt use the two adapters of LoRA in MODEL
    --twice          asks twice: the second time the blocks of long prompts are in the cache of prefixes
    --sleep          asks twice, and in between the engine sleeps (level 1) and wakes up
    --parallel N     divides each layer among N devices
    --pipeline N     divides the layers among N devices
    --experts        divides the experts among the devices of --parallel
    --tokens N       tokens for each prompt
    --rounding X     each token may have a logarithm of its probability, by transformers, that is lower by X
                     than that of the likeliest: vllm-ascend computes the prefill of latent attention
                     (DeepSeek) in bfloat16
"""

import argparse
import sys
import time

PROMPTS = ("Hello, my name is", "The capital of France is", "0 1 1 2 3 5 8",
           "A paged cache keeps the keys and values of tokens in blocks, and a table says which. " * 2)
ADAPTERS = (None, "adapter_1", "adapter_2", None)  # of the prompts
MODES = {"none": None, "piecewise": "PIECEWISE", "full": "FULL", "full_decode_only": "FULL_DECODE_ONLY"}


def merge(network, folder):
    """Adds the products of an adapter's matrices to the weights."""
    import json

    from safetensors.torch import load_file

    with open(f"{folder}/adapter_config.json", encoding="utf-8") as file:
        configuration = json.load(file)
    scale = configuration["lora_alpha"] / configuration["r"]
    matrices = load_file(f"{folder}/adapter_model.safetensors")
    for name, down in matrices.items():
        layer, found, _ = name.removeprefix("base_model.model.").partition(".lora_A.")
        if found:
            weight = network.get_submodule(layer).weight
            weight.data += matrices[name.replace("lora_A", "lora_B")] @ down * scale


def with_transformers(model, found, rounding, adapters):
    """Returns the tokens that transformers takes for the likeliest on "cpu", after each prompt and those
    tokens of vLLM that come before: vLLM's own where these are as likely, but for the rounding."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    words = AutoTokenizer.from_pretrained(model)
    made = []
    for prompt, tokens, adapter in zip(PROMPTS, found, adapters):
        network = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32)
        if adapter:
            merge(network, f"{model}/{adapter}")
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
    if options.adapters:
        made.update(enable_lora=True, max_loras=2, max_lora_rank=8)
    if options.sleep:
        # vllm-ascend wants weights without the form of its matrix unit then.
        made.update(enable_sleep_mode=True, additional_config={"weight_nz_mode": 0})
    return {**made, "tensor_parallel_size": options.parallel, "pipeline_parallel_size": options.pipeline,
            "enable_expert_parallel": options.experts}


def ask(engine, model, tokens, adapters):
    """Returns the tokens that vLLM generates after each prompt, and how many tokens of the prompts were in
    its cache."""
    from vllm import SamplingParams
    from vllm.lora.request import LoRARequest

    sampling = SamplingParams(temperature=0, max_tokens=tokens, min_tokens=tokens)
    prompts = [{"prompt_token_ids": engine.get_tokenizer().encode(prompt, add_special_tokens=False)}
               for prompt in PROMPTS]
    requests = [LoRARequest(name, int(name[-1]), f"{model}/{name}") if name else None for name in adapters]
    outputs = engine.generate(prompts, sampling, use_tqdm=False, lora_request=requests if any(requests) else None)
    return [list(output.outputs[0].token_ids) for output in outputs], sum(
        output.num_cached_tokens or 0 for output in outputs)


def with_vllm(options, adapters):
    """Returns the tokens of vLLM for each time that it is asked, and a text about the times and the cache."""
    from vllm import LLM

    begin = time.perf_counter()
    engine = LLM(options.model, dtype="float32", max_model_len=256, max_num_seqs=8, block_size=16,
                 **settings(options))
    ready = time.perf_counter()
    found, _ = ask(engine, options.model, options.tokens, adapters)
    text = f"start {ready - begin:.1f} s, generation {time.perf_counter() - ready:.1f} s"
    if not options.twice and not options.sleep:
        return [found], text
    if options.sleep:
        engine.sleep(level=1)
        engine.wake_up()
    again, cached = ask(engine, options.model, options.tokens, adapters)
    return [found, again], f"{text}; the second time {cached} tokens of the prompts were in the cache"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--graphs", choices=MODES, default="none")
    parser.add_argument("--rounding", type=float, default=0)
    parser.add_argument("--speculate", type=int, default=0)
    parser.add_argument("--adapters", action="store_true")
    parser.add_argument("--twice", action="store_true")
    parser.add_argument("--sleep", action="store_true")
    parser.add_argument("--parallel", type=int, default=1)
    parser.add_argument("--pipeline", type=int, default=1)
    parser.add_argument("--experts", action="store_true")
    options = parser.parse_args()
    adapters = ADAPTERS if options.adapters else (None,) * len(PROMPTS)
    times, text = with_vllm(options, adapters)
    failed = 0
    for found in times:
        wanted = with_transformers(options.model, found, options.rounding, adapters)
        equal = sum(one == other for one, other in zip(found, wanted))
        failed += equal != len(PROMPTS)
        print(f"{options.model}: {equal} of {len(PROMPTS)} prompts equal, {options.tokens} tokens each; {text}",
              flush=True)
        for one, other in zip(found, wanted):
            if one != other:
                print(f"vLLM         {one}\ntransformers {other}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
