# SPDX-License-Identifier: Apache-2.0
"""Looks for the provider of onnxruntime for CANN."""

import onnxruntime

providers = onnxruntime.get_available_providers()
assert "CANNExecutionProvider" in providers, providers
print(providers)
