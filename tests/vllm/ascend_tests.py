# SPDX-License-Identifier: Apache-2.0
"""Runs tests of vllm-ascend, each file in a process of its own, and prints a table.

    ascend_tests.py --tree TREE --expected FILE [--update] [--limit SECONDS] [--jobs N] [FILE_OR_FOLDER ...]

TREE is one that ascend_tests.sh makes of a checkout. Exit status 1: a test failed that FILE does not list.
"""

from __future__ import annotations

import argparse
import collections
import gc
import importlib
import json
import os
import pathlib
import signal
import sys
import time
from typing import Any

import ascend_reasons

_COLUMNS = ("passed", "failed", "skipped", "errors")
_ENDED = {"passed", "failed", "skipped"}


class Recorder:
    """A plugin of pytest that writes a line for each event of a file's tests, so that nothing is lost
    when the process dies, and leaves out the tests that a process before this one has run."""

    def __init__(self, output: pathlib.Path, done: set[str]) -> None:
        self.output = output.open("a", encoding="utf-8")
        self.done = done

    def write(self, **event: str) -> None:
        self.output.write(json.dumps(event) + "\n")
        self.output.flush()

    def pytest_collection_modifyitems(self, items: list[Any]) -> None:
        items[:] = [item for item in items if item.nodeid not in self.done]

    def pytest_collectreport(self, report: Any) -> None:
        if report.failed:
            self.write(test=report.nodeid, outcome="errors", text=str(report.longrepr))

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        self.write(test=nodeid, outcome="started")

    def pytest_runtest_logreport(self, report: Any) -> None:
        if report.failed:
            outcome = "failed" if report.when == "call" else "errors"
            self.write(test=report.nodeid, outcome=outcome, text=report.longreprtext)
        elif report.when == "call" or report.skipped:
            self.write(test=report.nodeid, outcome=report.outcome, text="")


class Results:
    """The outcome of each test, and the text of its failure."""

    def __init__(self) -> None:
        self.outcomes: dict[str, str] = {}
        self.texts: dict[str, str] = {}

    def add(self, test: str, outcome: str, text: str = "") -> None:
        """An error after a test's end replaces its outcome, and no outcome replaces a failure."""
        if self.outcomes.get(test) in ("failed", "errors"):
            return
        self.outcomes[test] = outcome
        self.texts[test] = text

    def failures(self) -> dict[str, str]:
        """Returns the reason of each test that has failed."""
        return {test: ascend_reasons.reason(self.texts[test]) for test, outcome in self.outcomes.items()
                if outcome in ("failed", "errors")}


class File:
    """A file of tests, and the process that runs it."""

    def __init__(self, name: str, work: pathlib.Path, limit: float) -> None:
        self.name = name
        self.limit = limit
        stem = name.replace("/", ".")
        self.events = work / f"{stem}.json"
        self.log = work / f"{stem}.log"
        self.done: set[str] = set()
        self.pid = 0
        self.deadline = 0.0
        self.events.unlink(missing_ok=True)

    def start(self) -> None:
        self.deadline = time.monotonic() + self.limit
        self.pid = os.fork()
        if self.pid == 0:
            os.setpgid(0, 0)  # so that its own children end with it
            self._run()

    def _run(self) -> None:
        status = 1
        try:
            output = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(output, 1)
            os.dup2(output, 2)
            import pytest
            status = pytest.main(["-q", "-p", "no:cacheprovider", self.name],
                                 plugins=[Recorder(self.events, self.done)])
        finally:
            sys.stdout.flush()
            os._exit(int(status))

    def ended(self) -> int | None:
        """Returns the status of the process if it has ended, which it does at the time limit."""
        pid, status = os.waitpid(self.pid, os.WNOHANG)
        if pid == 0:
            if time.monotonic() < self.deadline:
                return None
            pid, status = self.kill()
        else:
            self._kill_group()
        return os.waitstatus_to_exitcode(status)

    def _kill_group(self) -> None:
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass

    def kill(self) -> tuple[int, int]:
        self._kill_group()
        return os.waitpid(self.pid, 0)

    def collect(self, results: Results, status: int) -> bool:
        """Adds what the process has written. Returns whether tests are left, behind one that ended the
        process."""
        lines = self.events.read_text(encoding="utf-8").splitlines() if self.events.exists() else []
        running = ""
        for event in map(json.loads, lines):
            if event["outcome"] == "started":
                running = event["test"]
                continue
            if event["outcome"] in _ENDED or event["test"] == running:
                running = ""
            results.add(event["test"], event["outcome"], event["text"])
            self.done.add(event["test"])
        if 0 <= status <= 5:
            return False
        late = time.monotonic() >= self.deadline
        text = ascend_reasons.TIME_LIMIT if late else f"{ascend_reasons.DIED} {signal.Signals(-status).name}"
        if not running:
            results.add(self.name, "errors", text)
            return False
        results.add(running, "failed", text)
        self.done.add(running)
        # A test of the next process does not find this one's start.
        self.events.unlink()
        return True


def run(files: list[File], jobs: int, results: Results) -> None:
    waiting, running = collections.deque(files), list[File]()
    try:
        _run_all(waiting, running, jobs, results)
    finally:
        for file in running:  # after an interrupt
            file.kill()


def _run_all(waiting: collections.deque[File], running: list[File], jobs: int, results: Results) -> None:
    total, count = len(waiting), 0
    while waiting or running:
        while waiting and len(running) < jobs:
            running.append(waiting.popleft())
            running[-1].start()
        for file in list(running):
            status = file.ended()
            if status is None:
                continue
            running.remove(file)
            if file.collect(results, status):
                waiting.appendleft(file)
            else:
                count += 1
                print(f"\r{count} of {total} files", end="", file=sys.stderr, flush=True)
        time.sleep(0.05)
    print(file=sys.stderr)


def print_table(results: Results) -> None:
    rows: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    for test, outcome in results.outcomes.items():
        folder = str(pathlib.PurePath(test.partition("::")[0]).parent)
        rows[folder][outcome] += 1
    width = max(map(len, [*rows, "folder"]))
    print(f"{'folder':{width}}" + "".join(f"{column:>9}" for column in _COLUMNS))
    total = sum(rows.values(), collections.Counter[str]())
    for folder, row in [*sorted(rows.items()), ("total", total)]:
        print(f"{folder:{width}}" + "".join(f"{row[column]:9}" for column in _COLUMNS))


def compare(failures: dict[str, str], results: Results, expected: dict[str, str]) -> bool:
    """Prints what is not as expected, and returns whether a test failed that is not listed."""
    for reason, count in collections.Counter(failures.values()).most_common():
        print(f"{count:5} {reason}")
    new = [test for test in failures if test not in expected]
    for test in new:
        last = [line[1:].strip() for line in results.texts[test].splitlines() if line.startswith("E ")] or [""]
        print(f"not expected: {test}: {failures[test]}: {last[0]}")
    passed = [test for test in expected if results.outcomes.get(test) == "passed"]
    for test in passed:
        print(f"passes, but is listed: {test}")
    return bool(new)


def files_of(tree: pathlib.Path, names: list[str]) -> list[str]:
    found = []
    for name in names:
        path = tree / name
        if path.is_dir():
            found += sorted(str(file.relative_to(tree)) for file in path.rglob("test_*.py"))
        elif path.is_file():
            found.append(name)
        else:
            sys.exit(f"ascend_tests.py: {name}: no such file or folder in the checkout")
    return found


def import_conftests(tree: pathlib.Path, names: list[str]) -> None:
    """Imports tests/ut/conftest.py, or that of another folder of tests, and with it what takes each file
    seconds to import. No device is used before the forks."""
    for folder in sorted({"/".join(name.split("/")[:2]) for name in names}):
        if (tree / folder / "conftest.py").is_file():
            importlib.import_module(f"{folder.replace('/', '.')}.conftest")
    gc.freeze()  # or the collectors of the children would copy torch's pages


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--tree", type=pathlib.Path, required=True)
    parser.add_argument("--expected", type=pathlib.Path, required=True)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--limit", type=float, default=1800)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("names", nargs="*", default=["tests/ut"])
    return parser.parse_args()


def main() -> None:
    asked = arguments()
    work = asked.tree.parent / "results"
    work.mkdir(exist_ok=True)
    os.chdir(asked.tree)
    names = files_of(asked.tree, asked.names)
    import_conftests(asked.tree, names)
    results = Results()
    files = [File(name, work, asked.limit) for name in names]
    run(files, asked.jobs, results)
    print_table(results)
    failures = results.failures()
    expected = ascend_reasons.read(asked.expected)
    wrong = compare(failures, results, expected)
    if asked.update:
        kept = {test: reason for test, reason in expected.items() if test not in results.outcomes}
        ascend_reasons.write(asked.expected, {**kept, **failures})
    sys.exit(wrong and not asked.update)


if __name__ == "__main__":
    main()
