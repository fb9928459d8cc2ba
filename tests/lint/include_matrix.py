#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints how often each folder of src/runtime includes each other; fails on upward includes."""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2] / "src" / "runtime"
# From the lowest floor up. Folders of one floor do not know each other.
FLOORS = [["task"], ["trace", "faults"], ["device"], ["memory"], ["stream"], ["commands"], ["kernels"],
          ["capture"], ["lifecycle"]]
INCLUDE = re.compile(r'^\s*#\s*include\s*"src/runtime/(\w+)/', re.MULTILINE)


def main():
    folders = [folder for floor in FLOORS for folder in floor]
    floor_of = {folder: index for index, floor in enumerate(FLOORS) for folder in floor}
    found = {path.name for path in ROOT.iterdir() if path.is_dir()}
    flat = [path.name for path in ROOT.iterdir() if path.suffix in (".h", ".cpp")]
    bad = [f"src/runtime/{name}: in no folder" for name in flat]
    bad += [f"src/runtime/{name}: not in FLOORS" for name in sorted(found - set(folders))]
    print(" " * 11 + "".join(f"{folder:>11}" for folder in folders))
    for folder in folders:
        counts = dict.fromkeys(folders, 0)
        for file in sorted((ROOT / folder).glob("*")):
            if file.suffix not in (".h", ".cpp"):
                continue
            for target in INCLUDE.findall(file.read_text()):
                counts[target] = counts.get(target, 0) + 1
                if target != folder and floor_of.get(target, 99) >= floor_of[folder]:
                    bad.append(f"src/runtime/{folder}/{file.name} includes {target}, which is above")
        print(f"{folder:<11}" + "".join(f"{counts[other] or '.':>11}" for other in folders))
    print("\n".join(bad) or "nothing above the diagonal")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
