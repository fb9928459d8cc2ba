# SPDX-License-Identifier: Apache-2.0
"""python3 -m advance_step: prints the version, the library, and what else the environment has."""

from ._report import lines

if __name__ == "__main__":
    print("\n".join(lines()))
