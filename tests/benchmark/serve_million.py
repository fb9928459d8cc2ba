#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints what a million requests cost serve, against the goal of 5 s and 200 MB.

    serve_million.py SERVE [COUNT]

The rows differ in the tokens of a request. Status 1 only if a request did not complete, or had a fault.
"""
import json
import os
import resource
import subprocess
import sys
import tempfile

GOAL_SECONDS, GOAL_MEGABYTES = 5, 200
ROWS = (("16 + 8 tokens", "rate=2000,prompt=constant:16,generated=constant:8"),
        ("100 + 20 tokens on average", "rate=100,prompt=lognormal:100:1,generated=exponential:20"))


def main():
    serve, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000
    good = True
    for name, requests in ROWS:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "summary.json")
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run([serve, "--generate", f"count={count},{requests}", "--summary", path], check=False,
                           stdout=subprocess.DEVNULL)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            with open(path, encoding="utf-8") as file:
                summary = json.load(file)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        operators = summary["op_seconds"] + summary["step_seconds"]
        print(f"{name}: {summary['wall_seconds']:.2f} s (goal {GOAL_SECONDS} s a million), "
              f"{cpu:.2f} s of processors, {after.ru_maxrss / 1000:.0f} MB at most so far "
              f"(goal {GOAL_MEGABYTES} MB), {operators:.2f} s in operators, "
              f"{summary['iterations']} iterations, {summary['kv_faults']} faults")
        good = good and summary["completed"] == count and summary["kv_faults"] == 0
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
