# SPDX-License-Identifier: Apache-2.0
"""python3 -m advance_step [--emulation]: prints version and library, or the emulation's
directory."""

from __future__ import annotations

import argparse

from . import LIBRARY_PATH, __version__, emulation_directory


def main() -> None:
    parser = argparse.ArgumentParser(prog="python3 -m advance_step", description=__doc__)
    parser.add_argument("--emulation", action="store_true",
                        help="print the directory that makes `import torch_npu` find the emulation")
    if parser.parse_args().emulation:
        print(emulation_directory())
    else:
        print(f"advance_step {__version__}, library {LIBRARY_PATH}")


if __name__ == "__main__":
    main()
