#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds builds and tests against tests/budgets.json.

check_budgets.py steps NAME BUILD-FOLDER [TARGET ...]
    how many commands ninja runs for the targets; without one, for all
check_budgets.py headers NAME BUILD-FOLDER
    what the objects of tests, of a tree that was built, take in of headers
check_budgets.py seconds [NAME]
    prints the seconds that the tests NAME may run, of those that run as long as they may
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ninja(folder, *arguments):
    command = ["ninja", "-C", folder, "-t", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def check(what, found, budget):
    print(f"{what}: {found:g}, of {budget:g}")
    if found > budget:
        print(f"{what} exceed their budget in tests/budgets.json", file=sys.stderr)
    return found <= budget


def check_steps(budgets, name, folder, *targets):
    commands = ninja(folder, "commands", *(targets or ["all"])).splitlines()
    return check(f"build steps of {name}", len(commands), budgets["steps"][name])


def check_headers(budgets, name, folder):
    """The bytes of the files that each object depends on, as ninja's log of dependencies has them."""
    sizes = {}
    objects = {}
    for block in ninja(folder, "deps").split("\n\n"):
        lines = block.strip().splitlines()
        if not lines or not lines[0].startswith("tests/"):
            continue
        for line in lines[1:]:
            file = pathlib.Path(folder, line.strip())
            if file not in sizes:
                sizes[file] = file.stat().st_size if file.is_file() else 0
        own = sum(sizes[pathlib.Path(folder, line.strip())] for line in lines[1:])
        objects[lines[0].split(":")[0]] = own / 1e6
    if not objects:
        print(f"{folder} has no objects of tests", file=sys.stderr)
        return False
    largest = max(objects, key=objects.get)
    budget = budgets["header_megabytes"]
    each = check(f"megabytes of headers in {largest}", round(objects[largest], 2), budget["each"])
    return check(f"megabytes of headers in {len(objects)} objects of tests of {name}",
                 round(sum(objects.values()), 1), budget[name]) and each


def share_of(budgets, name=None):
    shares = dict(budgets["seconds"])
    total = shares.pop("all")
    if sum(shares.values()) > total:
        print(f"the shares of seconds, {shares}, exceed {total}", file=sys.stderr)
        return False
    print(shares[name] if name else f"{sum(shares.values())} of {total} seconds are given")
    return True


def main():
    budgets = json.loads((ROOT / "tests/budgets.json").read_text())
    checks = {"steps": check_steps, "headers": check_headers, "seconds": share_of}
    if len(sys.argv) < 2 or sys.argv[1] not in checks:
        print(__doc__, file=sys.stderr)
        return 2
    return 0 if checks[sys.argv[1]](budgets, *sys.argv[2:]) else 1


if __name__ == "__main__":
    sys.exit(main())
