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

In place of pre-commit, which need not be installed, the test runs each hook of .pre-commit-config.yaml. Warnings
of prose in the page's files are printed, and fail nothing.

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
HOOKS = ".pre-commit-config.yaml"
ALL_HOOKS = "pre-commit run --all-files"
FEWEST_HOOKS = 12


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
    # The lints ask git for the files of their tree.
    subprocess.run(["git", "init", "--quiet"], cwd=target, check=True)


def run(command, tree):
    environment = {**os.environ, "ABI_SYMBOLS_ONLY": "1"}  # the library has no debug information
    done = subprocess.run(command, cwd=tree, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, check=False)
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


def hooks_of(text):
    """(command, whether it takes files, only those of C and C++, pattern of those left out) of each hook."""
    for hook in re.split(r"^ *- id: ", text, flags=re.M)[1:]:
        value = dict(re.findall(r"^ *(\w+): *(.*)$", hook, re.M))
        takes_files = value.get("pass_filenames") != "false"
        only_c = "types_or" in value
        yield value["entry"].split(), takes_files, only_c, re.compile(value.get("exclude", r"(?!)"))


def run_hooks(tree, files):
    """All hooks, as `pre-commit run --all-files` runs them; those of single files get the page's files."""
    hooks = list(hooks_of((tree / HOOKS).read_text(encoding="utf-8")))
    if len(hooks) < FEWEST_HOOKS:
        fail(f"{HOOKS} has {len(hooks)} hooks; expected at least {FEWEST_HOOKS}")
    red = []
    for command, takes_files, only_c, excluded in hooks:
        if takes_files:
            command = command + [name for name in files if not excluded.search(name) and
                                 (not only_c or name.endswith((".h", ".c", ".cpp")))]
        done = subprocess.run(command, cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        if done.returncode not in (0, SKIPPED):
            red.append(command[0])
            print(f"{command[0]}:\n{done.stdout}", flush=True)
    if red:
        fail(f"red when the page is followed: {', '.join(red)}")
    print(f"  {len(hooks)} hooks are green")


def print_warnings(tree, files):
    done = subprocess.run(["tests/lint/warn_of_prose.py"], cwd=tree, capture_output=True, text=True, check=False)
    for line in done.stdout.splitlines() + done.stderr.splitlines()[-1:]:
        if any(name in line for name in files) or "Error" in line:
            print(line)


def run_commands(tree, text, script, files):
    for line in text.splitlines():
        if line == ALL_HOOKS:
            print(f"the hooks, for {line}", flush=True)
            run_hooks(tree, files)
            print_warnings(tree, files)
            continue
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
    """The code of the fault table and the type of graphs, which no lint of the page compiles."""
    for name in ("tests/faults/operator_calls.cpp", "include/op_graph/shift_positions_proto.h"):
        run(["g++", "-std=c++17", "-fsyntax-only", "-x", "c++", "-Wall", "-Wextra", "-Werror", "-Iinclude", "-Itests",
             name], tree)


def main(script=None):
    page = (ROOT / PAGE).read_text(encoding="utf-8")
    blocks = BLOCK.findall(page)
    if len(blocks) != len(MARK.findall(page)):
        fail("a mark has no block of code")
    if not any(kind == "run" and ALL_HOOKS in text.splitlines() for kind, _, text in blocks):
        fail(f"does not say `{ALL_HOOKS}`")
    counts = {kind: 0 for kind in ("file", "after", "program", "prints", "run")}
    files = [PAGE]  # those that the page has made or changed so far
    printed = None
    with tempfile.TemporaryDirectory() as scratch:
        tree = pathlib.Path(scratch) / "advance_step"
        tree.mkdir()
        copy_sources(tree)
        for kind, argument, text in blocks:
            counts[kind] += 1
            if kind in ("file", "after") and (name := argument.partition(": ")[0]) not in files:
                files.append(name)
            if kind == "file":
                add_file(tree, argument, text)
            elif kind == "after":
                add_lines(tree, argument, text)
            elif kind == "run":
                run_commands(tree, text, script, files)
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
