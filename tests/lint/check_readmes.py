#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each folder of sources has a README of three to ten lines that says what belongs there.

Empty lines, tables and code do not count. Folders of data, such as the corpora of fuzz targets, need none.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "op_host", "op_kernel", "tests", "examples")
DATA = ("tests/golden", "tests/fuzz/corpus")
LEAST, MOST = 3, 10


def source_folders():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *FOLDERS], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.splitlines()
    names = listed or [file.relative_to(ROOT).as_posix() for folder in FOLDERS
                       for file in (ROOT / folder).rglob("*") if file.is_file()]
    folders = {parent.as_posix() for name in names if "__pycache__" not in name
               for parent in pathlib.PurePosixPath(name).parents}
    return sorted(folder for folder in folders if folder != "." and
                  not any(folder == data or folder.startswith(data + "/") for data in DATA))


def count_lines(text):
    lines = text.splitlines()
    return sum(bool(line.strip()) and not line.startswith(("|", "    ")) for line in lines)


def main():
    bad = []
    folders = source_folders()
    for folder in folders:
        readme = ROOT / folder / "README.md"
        if not readme.is_file():
            bad.append(f"{folder} has no README.md: it says what belongs there, and what does not")
            continue
        count = count_lines(readme.read_text(encoding="utf-8"))
        if not LEAST <= count <= MOST:
            bad.append(f"{folder}/README.md has {count} lines; expected {LEAST} to {MOST}")
    print("\n".join(bad) or f"{len(folders)} folders have a README of {LEAST} to {MOST} lines")
    return 1 if bad or len(folders) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
