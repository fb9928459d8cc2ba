# SPDX-License-Identifier: Apache-2.0
"""Fixtures of the Python tests. They use the library that ADVANCE_STEP_LIBRARY names, else that of
the release preset."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCES = ROOT / "src" / "python"
GOLDEN = ROOT / "tests" / "golden"

os.environ.setdefault("ADVANCE_STEP_LIBRARY", str(ROOT / "build/release/lib/libadvance_step.so"))
sys.path.insert(0, str(SOURCES))

import advance_step  # noqa: E402  (the path comes first)


def golden_cases(name):
    with open(GOLDEN / name, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


@pytest.fixture
def machine(monkeypatch):
    """Starts the runtime anew with settings: machine(CONFORMANCE="exact", SOC="sim:4")."""

    def start(**settings):
        advance_step.finalize()
        for name, value in settings.items():
            monkeypatch.setenv(f"ADVANCE_STEP_{name}", str(value))

    yield start
    advance_step.finalize()  # the next test reads the settings that monkeypatch restores


@pytest.fixture
def run_python():
    """Runs a program, or python3 with several arguments, in a fresh interpreter; returns the
    finished process."""
    def run(*arguments, path=(SOURCES,), **environment):
        variables = {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, path)), **environment}
        arguments = map(str, arguments if len(arguments) > 1 else ("-c", *arguments))
        return subprocess.run([sys.executable, *arguments], env=variables, text=True,
                              capture_output=True, timeout=600, check=False)

    return run
