# SPDX-License-Identifier: Apache-2.0
import importlib.util

assert importlib.util.find_spec("vllm_ascend") is not None
print("found")
