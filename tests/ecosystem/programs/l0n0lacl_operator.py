# SPDX-License-Identifier: Apache-2.0
import l0n0lacl  # it initialises the runtime itself

print(l0n0lacl.__name__)
