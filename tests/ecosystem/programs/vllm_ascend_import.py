# SPDX-License-Identifier: Apache-2.0
"""Looks whether vllm-ascend is there."""

import importlib.util

assert importlib.util.find_spec("vllm_ascend") is not None
print("found")
