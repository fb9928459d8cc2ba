#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tries small changes of the sources one at a time; run.sh in this folder says how to call it."""
import argparse
import collections
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import threading
import time

import changes

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = pathlib.Path(__file__).resolve().parent
WORK = ROOT / "build/mutation"
TREE = WORK / "tree"
BUILD = TREE / "build/quick"  # the folder of the preset, so that a compiler cache knows most steps
RESULTS = WORK / "results.jsonl"
FOLDERS = ["op_kernel", "op_host", "src/aclnn", "src/runtime"]
COPIED = ["CMakeLists.txt", "CMakePresets.json", "cmake", "docs", "examples", "tools", "include", "op_host", "op_kernel", "opp",
          "packaging", "src", "tests"]
# A test may take this many times as long as without a change, and so many seconds more. A change that makes it
# take longer counts as noticed.
SLOWER, MORE_SECONDS = 4, 20
OUTCOMES = ["killed", "timed out", "survived", "not reached", "equivalent", "not compiled"]


def all_changes(only):
    files = sorted(path.relative_to(ROOT).as_posix() for folder in FOLDERS for path in (ROOT / folder).rglob("*")
                   if path.suffix in (".cpp", ".h"))
    return [change for file in files if not only or file.startswith(tuple(only)) for change in changes.find(ROOT, file)]


def shuffled(found, seed):
    """Returns the changes in an order that the seed gives. Other changes, which come and go with the sources, leave it."""
    return sorted(found, key=lambda change: hashlib.sha1(f"{seed} {change.key}".encode()).digest())


def copy_sources(chosen, numbers):
    """Makes the copy like the sources, with the chosen changes. Files that stay the same keep their times."""
    by_file = collections.defaultdict(list)
    for change in chosen:
        by_file[change.file].append(change)
    wanted = set()
    for name in COPIED:
        for path in [ROOT / name] if (ROOT / name).is_file() else sorted((ROOT / name).rglob("*")):
            if not path.is_file() or "__pycache__" in path.parts:
                continue
            file = path.relative_to(ROOT).as_posix()
            wanted.add(file)
            content = path.read_bytes()
            if file in by_file:
                text = changes.switched(content.decode(), by_file[file], numbers)
                # In the place of the licence line, so that the lines keep their numbers.
                content = f'#include "{HERE}/change.h"{text[text.index(chr(10)):]}'.encode()
            to = TREE / file
            if not to.is_file() or to.read_bytes() != content:
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(content)
                shutil.copymode(path, to)
    for name in COPIED:
        for path in (TREE / name).rglob("*"):
            if path.is_file() and path.relative_to(TREE).as_posix() not in wanted:
                path.unlink()


def configure():
    if not (BUILD / "build.ninja").is_file():
        subprocess.run(["cmake", "--preset", "quick", "-DCMAKE_CXX_FLAGS=-w"], cwd=TREE, check=True,
                       stdout=subprocess.DEVNULL)


def build(arguments):
    """Builds the tests. Returns the places (file, line) of errors."""
    done = subprocess.run(["cmake", "--build", str(BUILD), "-j", str(arguments.jobs), "--target", *tests(arguments.tests),
                           "--", "-k", "0"],
                          capture_output=True, text=True,
                          env={**os.environ, "CCACHE_IGNOREOPTIONS": "-w"})  # most steps are as without -w
    if done.returncode == 0:
        return []
    found = {(str(pathlib.Path(os.path.normpath(BUILD / path)).relative_to(TREE)), int(line)) for path, line in
             re.findall(r"^([^\s:]+):(\d+):\d+: (?:fatal )?error", done.stdout, re.MULTILINE)
             if os.path.normpath(BUILD / path).startswith(str(TREE))}
    if not found:
        sys.exit(done.stdout[-4000:] + done.stderr)
    return sorted(found)


def build_without_errors(chosen, numbers, arguments):
    """Builds with the changes that compile. Returns them."""
    left = list(chosen)
    while True:
        copy_sources(left, numbers)
        configure()
        errors = build(arguments)
        if not errors:
            return left
        bad = {change for change in left for file, line in errors
               if change.file == file and change.line <= line <= change.last}
        if not bad:  # the error is elsewhere in the file
            bad = {change for change in left if change.file in {file for file, _ in errors}}
        if not bad:
            sys.exit(f"errors that no change explains: {errors}")
        print(f"{len(bad)} changes do not compile", flush=True)
        left = [change for change in left if change not in bad]


def tests(pattern):
    """Returns the command of each quick test (None: not built yet), by name, which is that of its target too."""
    listed = json.loads(subprocess.run(["ctest", "--test-dir", str(BUILD), "--show-only=json-v1", "-L", "^(quick|full_run)$"],
                                       capture_output=True, text=True, check=True).stdout)
    return {test["name"]: test.get("command") for test in listed["tests"] if re.search(pattern, test["name"])}


def run(command, environment, limit):
    """Returns the exit status, or None after the limit in seconds, and the seconds it took."""
    begin = time.monotonic()
    with subprocess.Popen(command, cwd=BUILD, env={**os.environ, **environment}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, start_new_session=True) as process:
        try:
            status = process.wait(limit)
        except subprocess.TimeoutExpired:
            status = None
        try:
            os.killpg(process.pid, signal.SIGKILL)  # the group of its own: children that it has left
        except ProcessLookupError:
            pass
    return status, time.monotonic() - begin


def first_run(count, pattern):
    """Runs each test without a change. Returns (seconds, name, command, reached numbers), the quickest first."""
    rows = []
    for name, command in tests(pattern).items():
        reached = WORK / f"reached.{name}"
        reached.write_bytes(bytes(count + 1))
        status, seconds = run(command, {"SMALL_CHANGES_REACHED": str(reached)}, 900)
        if status != 0:
            print(f"{name} fails without a change and is left out", flush=True)
            continue
        rows.append((seconds, name, command, {number for number, byte in enumerate(reached.read_bytes()) if byte}))
    return sorted(rows, key=lambda row: row[0])


def judge(number, rows):
    """Returns the outcome of a change and the test that decided."""
    reaching = [row for row in rows if number in row[3]]
    for seconds, name, command, _ in reaching:
        def once(limit=SLOWER * seconds + MORE_SECONDS, command=command):
            return run(command, {"SMALL_CHANGE": str(number), "GTEST_FAIL_FAST": "1"}, limit)[0]

        status = once()
        if status is None:
            return "timed out", name
        if status != 0 and once() != 0:  # twice, since a busy machine fails a test now and then
            return "killed", name
    return ("survived" if reaching else "not reached"), ""


def read_results():
    return {row["key"]: row for row in map(json.loads, RESULTS.read_text().splitlines())} if RESULTS.is_file() else {}


def report(rows, equivalent):
    """Prints the survivors and the figures. Returns whether the goal is reached."""
    counts = collections.defaultdict(collections.Counter)
    for row in sorted(rows, key=lambda row: (row["file"], row["line"])):
        survives = row["outcome"] in ("survived", "not reached")
        outcome = "equivalent" if survives and row["key"] in equivalent else row["outcome"]
        folder = next(folder for folder in FOLDERS if row["file"].startswith(folder + "/"))
        counts[folder][outcome] += 1
        if outcome in ("survived", "not reached"):
            print(f"{row['key']} {outcome}: {row['file']}:{row['line']}: {row['what']}\n    {row['before']}")
    print("| folder | " + " | ".join(OUTCOMES) + " | noticed |\n|" + " --- |" * (len(OUTCOMES) + 2))
    total = sum(counts.values(), collections.Counter())
    share = 0.0
    for folder, count in [*sorted(counts.items()), ("all", total)]:
        noticed = count["killed"] + count["timed out"]
        share = 100 * noticed / max(1, noticed + count["survived"] + count["not reached"])
        print(f"| {folder} | " + " | ".join(str(count[outcome]) for outcome in OUTCOMES) + f" | {share:.0f} % |")
    return share >= 95


def try_all(chosen, arguments):
    results = read_results()
    numbers = {change.key: index for index, change in enumerate(chosen, 1)}
    WORK.mkdir(parents=True, exist_ok=True)
    lock = threading.Lock()
    until = time.monotonic() + (arguments.seconds or float("inf"))

    def note(change, outcome, test=""):
        row = {"key": change.key, "file": change.file, "line": change.line, "what": change.what, "before": change.before,
               "outcome": outcome, "test": test}
        with lock, RESULTS.open("a") as file:
            file.write(json.dumps(row) + "\n")
            results[change.key] = row
            print(f"{outcome}: {change.file}:{change.line}: {change.what} {test}", flush=True)

    fresh = [change for change in chosen if arguments.again or change.key not in results]
    compiled = build_without_errors(fresh, numbers, arguments)
    for change in sorted(set(fresh) - set(compiled), key=lambda change: change.key):
        note(change, "not compiled")
    rows = first_run(len(chosen), arguments.tests) if compiled else []

    def one(change):
        if time.monotonic() < until:
            note(change, *judge(numbers[change.key], rows))

    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        list(pool.map(one, compiled))
    return [results[change.key] for change in chosen if change.key in results]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sample", type=int, help="so many changes, chosen at random")
    parser.add_argument("--seed", type=int, default=1, help="of the choice")
    parser.add_argument("--file", action="append", default=[], help="only files whose paths begin so")
    parser.add_argument("--key", action="append", default=[], help="this change, before the sample")
    parser.add_argument("--tests", default="", help="only tests whose names match")
    parser.add_argument("--seconds", type=float, help="begin no change after so many seconds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--list", action="store_true", help="print the changes, try none")
    parser.add_argument("--again", action="store_true", help="also those whose outcome is known")
    parser.add_argument("--report", action="store_true", help="only the figures of what is known")
    arguments = parser.parse_args()
    equivalent = json.loads((HERE / "equivalent.json").read_text())
    found = all_changes(arguments.file)
    keyed = [change for change in found if change.key in arguments.key]
    chosen = keyed + ([] if keyed and arguments.sample is None else shuffled(found, arguments.seed)[:arguments.sample])
    chosen = list(dict.fromkeys(chosen))
    if arguments.list:
        for change in chosen:
            print(f"{change.key} {change.file}:{change.line}: {change.what}")
        return 0
    if arguments.report:
        known = read_results()
        return 0 if report([known[change.key] for change in chosen if change.key in known], equivalent) else 1
    return 0 if report(try_all(chosen, arguments), equivalent) else 1


if __name__ == "__main__":
    sys.exit(main())
