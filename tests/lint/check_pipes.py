#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No shell script pipes into a command that stops reading early.

Under pipefail the writer may then end by SIGPIPE, depending on time, and the pipe fails although
the text was found. `grep PATTERN >/dev/null` reads to the end.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
EARLY = re.compile(r"\|\s*(?:\\\n\s*)?(grep\s+(?:-\w+\s+)*(?:-\w*[qm]\w*|--quiet|--max-count)\b|head\b|"
                   r"sed\s+[^|\n]*\bq'|awk\s+'[^'\n]*\bexit\b)")


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.sh", ".ci/run"],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    found = 0
    for name in listed:
        text = (ROOT / name).read_text()
        for match in EARLY.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            print(f"{name}:{line}: a pipe into `{match.group(1)}`, which may stop reading early")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
