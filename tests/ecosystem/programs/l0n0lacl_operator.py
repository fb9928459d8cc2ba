# SPDX-License-Identifier: Apache-2.0
"""Imports l0n0lacl."""

import l0n0lacl  # it initialises the runtime itself

print(l0n0lacl.__name__)
