# SPDX-License-Identifier: Apache-2.0
"""vLLM with vllm-ascend on the emulated device: what they need beside torch_npu."""
