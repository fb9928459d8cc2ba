# SPDX-License-Identifier: Apache-2.0
"""python3 -m advance_step: prints the version and the library."""

from . import LIBRARY_PATH, __version__

if __name__ == "__main__":
    print(f"advance_step {__version__}, library {LIBRARY_PATH}")
