# SPDX-License-Identifier: Apache-2.0
"""Triton's kernels on the emulated device, by Triton's interpreter."""
