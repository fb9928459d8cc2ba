#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""adding_an_operator.md of docs/internals is true: its operator is built from the page and run.

    operator_page_test.py [SCRIPT]

A copy of the sources gets every file and line that the page shows, in its order, and the page's commands run
in it. A comment in front of a block says what the block is:

    <!-- file: PATH -->         a new file
    <!-- after: PATH: LINE -->  lines that come after the first LINE of a file
    <!-- program: NAME -->      a C program
    <!-- prints -->             its output
    <!-- run -->                commands; one that is skipped (77) is no failure

Most of its one or two minutes of one core go into the library. `SCRIPT SOURCES` builds it in another way, if it
is given, and prints the folder that has it.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = "docs/internals/adding_an_operator.md"
BLOCK = re.compile(r"<!-- (file|after|program|prints|run)(?:: (.*?))? -->\n```\w*\n(.*?)```\n", re.S)
MARK = re.compile(r"^<!-- (?:file|after|program|prints|run)\b", re.M)
# The cheapest library of the preset: nothing but the library, and not optimised.
CHEAPER = ["-DCMAKE_CXX_FLAGS_DEBUG=-O0 -g1", "-DADVANCE_STEP_BUILD_TESTS=OFF",
           "-DADVANCE_STEP_BUILD_BENCHMARKS=OFF"]
SKIPPED = 77


def fail(text):
    sys.exit(f"{PAGE}: {text}")


def copy_sources(target):
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.splitlines()
    if not listed:  # a tree without git
        shutil.copytree(ROOT, target, ignore=shutil.ignore_patterns("build", ".git"), dirs_exist_ok=True)
        return
    for name in listed:
        if (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target / name)


def run(command, tree):
    environment = {**os.environ, "ABI_SYMBOLS_ONLY": "1"}  # the library has no debug information
    done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False)
    if done.returncode not in (0, SKIPPED):
        print(done.stdout)
        fail(f"`{' '.join(command)}` returned {done.returncode}")
    return done.stdout


def add_file(tree, name, text):
    path = tree / name
    if path.exists():
        fail(f"{name} is there already")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def add_lines(tree, place, text):
    name, _, wanted = place.partition(": ")
    path = tree / name
    if not path.exists():
        fail(f"there is no {name}")
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = next((index for index, line in enumerate(lines) if line.strip() == wanted), None)
    if at is None:
        fail(f"{name} has no line `{wanted}`")
    path.write_text("".join(lines[:at + 1]) + text + "".join(lines[at + 1:]), encoding="utf-8")


def run_commands(tree, text, script):
    for line in text.splitlines():
        command = line.split()
        if command[:2] == ["cmake", "--preset"]:
            command += CHEAPER
        elif command[:2] == ["cmake", "--build"] and script:
            built = run([script, str(tree)], tree).splitlines()[-1]
            for library in pathlib.Path(built).glob("libadvance_step.so*"):
                (tree / "build/quick/lib" / library.name).symlink_to(library)
            line = f"{pathlib.Path(script).name}, for {line}"
            command = []
        print(line, flush=True)
        if command:
            run(command, tree)


def build_program(tree, name, text):
    """The program, compiled as a client of the library that was built."""
    add_file(tree, f"build/program/{name}", text)
    library = tree / "build/quick/lib"
    program = tree / "build/program/program"
    run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", "-pedantic", "-Iinclude", f"build/program/{name}",
         "-o", str(program), f"-L{library}", "-ladvance_step", f"-Wl,-rpath,{library}"], tree)
    return program


def check_lists(tree):
    """The code of the fault table, which no lint of the page reads."""
    run(["g++", "-std=c++17", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-Itests",
         "tests/faults/operator_calls.cpp"], tree)


def main(script=None):
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    if len(blocks) != len(MARK.findall(page)):
        fail("a mark has no block of code")
    counts = {kind: 0 for kind in ("file", "after", "program", "prints", "run")}
    printed = None
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "advance_step"
        tree.mkdir()
        copy_sources(tree)
        for kind, argument, text in blocks:
            counts[kind] += 1
            if kind == "file":
                add_file(tree, argument, text)
            elif kind == "after":
                add_lines(tree, argument, text)
            elif kind == "run":
                run_commands(tree, text, script)
            elif kind == "program":
                printed = run([str(build_program(tree, argument, text))], tree)
            elif printed != text:
                fail(f"the program does not print what the page shows, but\n{printed}")
        check_lists(tree)
    if min(counts.values()) < 1 or counts["file"] < 10:
        fail(f"has too few blocks: {counts}")
    print(f"{counts['file']} files and {counts['after']} changes of {PAGE} make an operator")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
