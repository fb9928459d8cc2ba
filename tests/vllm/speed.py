# SPDX-License-Identifier: Apache-2.0
"""Tokens a second of vLLM on the emulated device, and of transformers on "cpu", in one run.

    python -m advance_step.vllm tests/vllm/speed.py MODEL [TOKENS]

Four requests at a time, greedy, of a folder of tiny_models.py; eager, then by full graphs. The second of two
times counts, in which nothing is made for the first time. transformers has one thread.
"""

import sys
import time

ROWS = 4
PROMPT = "A paged cache keeps the keys and values of tokens in blocks."


def measured(generate):
    """Calls it twice and returns the seconds of the second time."""
    generate()
    begin = time.perf_counter()
    generate()
    return time.perf_counter() - begin


def with_vllm(model, tokens, **options):
    """Returns the seconds of the engine's start, and those of a generation."""
    from vllm import LLM, SamplingParams

    begin = time.perf_counter()
    engine = LLM(model, dtype="float32", max_model_len=256, max_num_seqs=8, block_size=16, **options)
    ready = time.perf_counter()
    words = engine.get_tokenizer()
    # Prompts that begin with other tokens, so that none is in the cache of the others' prefixes.
    prompts = [{"prompt_token_ids": words.encode(f"{row} {PROMPT}", add_special_tokens=False)} for row in range(ROWS)]
    sampling = SamplingParams(temperature=0, max_tokens=tokens, min_tokens=tokens)
    seconds = measured(lambda: engine.generate(prompts, sampling, use_tqdm=False))
    engine.llm_engine.engine_core.shutdown()
    return ready - begin, seconds


def with_transformers(model, tokens):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)  # on busy cores two wait for each other at each operation
    begin = time.perf_counter()
    network, words = AutoModelForCausalLM.from_pretrained(model, dtype=torch.float32), AutoTokenizer.from_pretrained(model)
    ready = time.perf_counter()
    rows = torch.tensor([words(f"{row} {PROMPT}", add_special_tokens=False).input_ids for row in range(ROWS)])

    def generate():
        with torch.no_grad():
            network.generate(rows, attention_mask=torch.ones_like(rows), do_sample=False, max_new_tokens=tokens,
                             min_new_tokens=tokens)

    return ready - begin, measured(generate)


def main():
    model, tokens = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 128
    graphs = {"cudagraph_mode": "FULL_DECODE_ONLY", "cudagraph_capture_sizes": [4]}
    # vLLM first: its engine is a fork, and torch's threads of "cpu" do not survive one.
    for name, run in (("vLLM, eager", lambda: with_vllm(model, tokens, enforce_eager=True)),
                      ("vLLM, FULL_DECODE_ONLY", lambda: with_vllm(model, tokens, compilation_config=graphs)),
                      ("transformers on cpu", lambda: with_transformers(model, tokens))):
        start, seconds = run()
        print(f"{name:24} start {start:6.1f} s, {ROWS * tokens / seconds:7.1f} tokens a second", flush=True)


if __name__ == "__main__":
    main()
