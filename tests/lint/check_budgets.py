#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Costs of builds and tests beside the figures of tests/budgets.json.

check_budgets.py steps NAME BUILD-FOLDER [TARGET ...]
    prints how many commands ninja runs for the targets (without one, for all), and the recorded figure
check_budgets.py headers NAME BUILD-FOLDER
    prints what the objects of tests, of a tree that was built, take in of headers, and the recorded figure
check_budgets.py seconds [NAME]
    prints the seconds that the tests NAME may run, of those that run as long as they may
check_budgets.py ci SECONDS
    the one hard limit: fails if a run of continuous integration of SECONDS took longer than it may
"""
import json
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def ninja(folder, *arguments):
    command = ["ninja", "-C", folder, "-t", *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def show(what, found, recorded):
    """A trend for people to look at; no limit."""
    print(f"{what}: {found:g}; recorded: {recorded:g} ({100 * (found / recorded - 1):+.0f} %)")


def show_steps(budgets, name, folder, *targets):
    commands = ninja(folder, "commands", *(targets or ["all"])).splitlines()
    show(f"build steps of {name}", len(commands), budgets["recorded"]["steps"][name])
    return True


def show_headers(budgets, name, folder):
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
    recorded = budgets["recorded"]["header_megabytes"]
    show(f"megabytes of headers in {largest}", round(objects[largest], 2), recorded["each"])
    show(f"megabytes of headers in {len(objects)} objects of tests of {name}",
         round(sum(objects.values()), 1), recorded[name])
    return True


def share_of(budgets, name=None):
    shares = dict(budgets["seconds"])
    total = shares.pop("all")
    if sum(shares.values()) > total:
        print(f"the shares of seconds, {shares}, exceed {total}", file=sys.stderr)
        return False
    print(shares[name] if name else f"{sum(shares.values())} of {total} seconds are given")
    return True


def check_ci(budgets, seconds):
    minutes, most = int(seconds) / 60, budgets["ci_minutes"]
    print(f"this run of continuous integration took {minutes:.1f} minutes, of {most}")
    if minutes > most:
        print("it exceeds ci_minutes of tests/budgets.json; the table of parts above says where the time went",
              file=sys.stderr)
    return minutes <= most


def main():
    budgets = json.loads((ROOT / "tests/budgets.json").read_text())
    checks = {"steps": show_steps, "headers": show_headers, "seconds": share_of, "ci": check_ci}
    if len(sys.argv) < 2 or sys.argv[1] not in checks:
        print(__doc__, file=sys.stderr)
        return 2
    return 0 if checks[sys.argv[1]](budgets, *sys.argv[2:]) else 1


if __name__ == "__main__":
    sys.exit(main())
