#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Libraries read the environment by secure_getenv only.

check_environment.py LIBRARY ...

A set-user-id program has the rights of its file's owner and the environment of its caller. With getenv the caller
could make the library write, on the owner's behalf, the file of ADVANCE_STEP_TRACE.
"""
import os
import subprocess
import sys


def main():
    bad = 0
    for library in sys.argv[1:]:
        listing = subprocess.run(["nm", "-D", "--undefined-only", library], check=True, capture_output=True,
                                 text=True).stdout
        bound = {line.split()[-1].split("@")[0] for line in listing.splitlines()}
        if "getenv" in bound:
            print(f"{os.path.basename(library)} binds getenv; use secure_getenv")
            bad += 1
    print(f"{len(sys.argv) - 1} libraries; {bad} bind getenv")
    return 1 if bad or len(sys.argv) < 2 else 0


if __name__ == "__main__":
    sys.exit(main())
