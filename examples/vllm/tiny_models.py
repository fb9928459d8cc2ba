# SPDX-License-Identifier: Apache-2.0
"""Makes tiny models with random weights and a tokenizer of bytes, in folders that vLLM can serve.

    python -m advance_step.vllm examples/vllm/tiny_models.py FOLDER [FORM ...]

FORM is one of llama, qwen3, qwen3_moe and deepseek; all of them by default. Nothing is downloaded. In the
folder of each llama and qwen3 two adapters of LoRA lie in folders of their own: adapter_1 and adapter_2.
"""

import argparse
import json
import pathlib

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (DeepseekV3Config, LlamaConfig, PreTrainedTokenizerFast, Qwen3Config,
                          Qwen3MoeConfig)
from transformers import (DeepseekV3ForCausalLM, LlamaForCausalLM, Qwen3ForCausalLM,
                          Qwen3MoeForCausalLM)

SPECIAL = ("<|begin|>", "<|end|>", "<|pad|>")
TEMPLATE = ("{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\\n' }}"
            "{% endfor %}{% if add_generation_prompt %}assistant: {% endif %}")
COMMON = dict(vocab_size=320, hidden_size=64, num_hidden_layers=2, num_attention_heads=4,
              max_position_embeddings=512, bos_token_id=256, eos_token_id=257, pad_token_id=258,
              # So large that the most likely token is so by far.
              initializer_range=0.3, tie_word_embeddings=False)
GROUPED = dict(num_key_value_heads=2, head_dim=16, intermediate_size=96)
FORMS = {
    "llama": (LlamaForCausalLM, lambda: LlamaConfig(**COMMON, **GROUPED)),
    "qwen3": (Qwen3ForCausalLM, lambda: Qwen3Config(**COMMON, **GROUPED)),
    "qwen3_moe": (Qwen3MoeForCausalLM, lambda: Qwen3MoeConfig(
        **COMMON, **GROUPED, moe_intermediate_size=32, num_experts=8, num_experts_per_tok=2,
        norm_topk_prob=True)),
    "deepseek": (DeepseekV3ForCausalLM, lambda: DeepseekV3Config(
        **COMMON, num_key_value_heads=4, intermediate_size=96, moe_intermediate_size=32,
        n_routed_experts=8, n_shared_experts=1, num_experts_per_tok=2, n_group=2, topk_group=1,
        first_k_dense_replace=1, q_lora_rank=48, kv_lora_rank=32, qk_nope_head_dim=16,
        qk_rope_head_dim=16, v_head_dim=16, norm_topk_prob=True, routed_scaling_factor=1.5,
        topk_method="noaux_tc", scoring_func="sigmoid")),  # which vLLM reads
}

ADAPTED = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
ADAPTERS = {"adapter_1": 4, "adapter_2": 8}  # and their ranks
DENSE = ("llama", "qwen3")


def make_tokenizer():
    """Returns a tokenizer whose tokens are the 256 bytes, and three that mark text."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    words = {word: number for number, word in enumerate([*alphabet, *SPECIAL])}
    tokenizer = Tokenizer(models.BPE(vocab=words, merges=[]))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    begin, end, pad = SPECIAL
    made = PreTrainedTokenizerFast(tokenizer_object=tokenizer, bos_token=begin, eos_token=end,
                                   pad_token=pad)
    made.chat_template = TEMPLATE
    return made


def make_adapter(model, folder, rank):
    """Writes random low-rank matrices for each projection of the model in the format of PEFT."""
    matrices = {}
    for name, layer in model.named_modules():
        if name.rpartition(".")[2] in ADAPTED:
            rows, columns = layer.weight.shape
            matrices[f"base_model.model.{name}.lora_A.weight"] = torch.randn(rank, columns) * 0.3
            matrices[f"base_model.model.{name}.lora_B.weight"] = torch.randn(rows, rank) * 0.3
    folder.mkdir(exist_ok=True)
    save_file(matrices, folder / "adapter_model.safetensors")
    (folder / "adapter_config.json").write_text(json.dumps(
        {"peft_type": "LORA", "task_type": "CAUSAL_LM", "r": rank, "lora_alpha": 2 * rank,
         "target_modules": ADAPTED, "bias": "none"}))


def make(form, folder):
    """Makes the model of the form in a folder of its name, and returns that."""
    kind, configuration = FORMS[form]
    torch.manual_seed(0)
    model = kind(configuration()).to(torch.float32).eval()
    path = pathlib.Path(folder, form)
    model.save_pretrained(path)
    make_tokenizer().save_pretrained(path)
    if form in DENSE:
        for name, rank in ADAPTERS.items():
            make_adapter(model, path / name, rank)
    return path


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder")
    parser.add_argument("forms", nargs="*", choices=[[], *FORMS], metavar="FORM")
    options = parser.parse_args()
    for form in options.forms or FORMS:
        print(make(form, options.folder))


if __name__ == "__main__":
    main()
