#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counts the cache lines that a cold call touches, by function: code, data read, data written.

    cold_lines.py DASHBOARD [ROW] [--calls N] [--top N]

callgrind simulates a last cache of 8 MiB, which the 32 MiB that a cold row reads before each call
empty. So each miss of that cache inside the call is the first touch of a line: a line counts once,
for the function that comes first. Instruction counts and lines repeat on a busy machine. A library's
function that is met for the first time is looked up by the dynamic linker, so some more calls are
made than are needed. ROW is one of the cold_* rows.
"""

import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

EVENTS = ("Ir", "ILmr", "DLmr", "DLmw")
SIMULATED = ("--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=8388608,16,64")


def run(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode != 0:
        sys.exit(f"cold_lines.py: {command[0]} failed:\n{done.stderr}")
    return done.stdout


def read_annotated(text):
    """Yields (function, instructions, lines of code, data read, data written) of callgrind_annotate."""
    number = r"([\d,]+|\.)(?: *\([ \d.]+%\))? +"
    line = re.compile(r"^ *" + number * len(EVENTS) + r"(.*)$")
    for match in filter(None, map(line.match, text.splitlines())):
        values = [0 if v == "." else int(v.replace(",", "")) for v in match.groups()[:-1]]
        name = re.sub(r" \[[^\]]*\]$", "", match.groups()[-1])
        yield (name.rsplit("/", 1)[-1].removeprefix("???:"), *values)


def count(dashboard, row, calls):
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "calls.out"
        run("valgrind", "--tool=callgrind", *SIMULATED, "--toggle-collect=*TimeColdCall*",
            f"--callgrind-out-file={out}", dashboard, "--row", row, "--iterations", str(calls))
        return list(read_annotated(run("callgrind_annotate", "--show=" + ",".join(EVENTS),
                                       "--threshold=100", "--auto=no", str(out))))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("dashboard")
    parser.add_argument("row", nargs="?", default="cold_call_256")
    parser.add_argument("--calls", type=int, default=50)
    parser.add_argument("--top", type=int, default=25)
    options = parser.parse_args()
    functions = count(options.dashboard, options.row, options.calls)
    if not functions:
        sys.exit(f"cold_lines.py: {options.row} has no cold call; expected one of the rows cold_*")
    total = next(each for each in functions if each[0] == "PROGRAM TOTALS")
    rows = sorted((each for each in functions if each is not total), key=lambda each: -sum(each[2:]))
    print(f"{options.row}: a call, mean of {options.calls}")
    print(f"{'code':>7} {'read':>7} {'written':>7} {'instr':>8}  function")
    for name, instructions, *lines in [total, *rows[:options.top]]:
        figures = " ".join(f"{each / options.calls:7.1f}" for each in lines)
        print(f"{figures} {instructions / options.calls:8.0f}  {name[:100]}")


if __name__ == "__main__":
    main()
