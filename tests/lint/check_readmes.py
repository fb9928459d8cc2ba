#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each folder of sources has a README that says what belongs there.

Folders of data, such as the corpora of fuzz targets, need none.
"""
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("src", "op_host", "op_kernel", "tests", "examples", "tools")
DATA = ("tests/golden", "tests/fuzz/corpus", "src/catalogue/functions")


def source_folders():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *FOLDERS], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.splitlines()
    names = [name for name in listed if (ROOT / name).is_file()] or \
        [file.relative_to(ROOT).as_posix() for folder in FOLDERS
         for file in (ROOT / folder).rglob("*") if file.is_file()]
    folders = {parent.as_posix() for name in names if "__pycache__" not in name
               for parent in pathlib.PurePosixPath(name).parents}
    return sorted(folder for folder in folders if folder != "." and
                  not any(folder == data or folder.startswith(data + "/") for data in DATA))


def main():
    folders = source_folders()
    bad = [f"{folder} has no README.md: write what belongs there, and what does not" for folder in folders
           if not (ROOT / folder / "README.md").is_file()]
    print("\n".join(bad) or f"{len(folders)} folders have a README")
    return 1 if bad or len(folders) < 60 else 0


if __name__ == "__main__":
    sys.exit(main())
