#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds using-declarations that nothing uses, and functions that only their own unit test calls.

A using-declaration counts if it stands at the beginning of a line of a .cpp file. A function counts if a
header of src, op_host or op_kernel declares it: any other mention of the name, in any source file except the
unit test of that header, is a use. Names are compared as words. So the script needs no compiler, and it
overlooks a function that shares its name with one in use.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("include", "opp", "src", "op_host", "op_kernel", "examples", "tools", "tests")
DECLARING = ("src/", "op_host/", "op_kernel/")
NOT_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])'", re.S)
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include[^\n]*", re.M)
USING = re.compile(r"^using (?:[\w]+::)+(\w+);", re.M)
WORD = re.compile(r"\w+")
# Words of a type, and the name of a function in the project's spelling, at most one level inside a class.
FUNCTION = re.compile(r"^((?: {4}){0,1}[\w:<>,&*~\[\] ]*?[\s*&])(?:\w+::)*([A-Z]\w*[a-z]\w*)\(", re.M)
NO_TYPES = {"return", "else", "new", "throw", "case", "delete", "explicit", "constexpr", "inline", "friend",
            "using", "typedef", "static", "virtual"}


def code_of(file):
    """The text without comments, literals and includes; lines keep their numbers."""
    text = file.read_text(encoding="utf-8", errors="replace")
    text = NOT_CODE.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    return INCLUDE.sub("", text)


def functions_of(code):
    """(name, position) of what looks like the declaration or definition of a function."""
    for match in FUNCTION.finditer(code):
        words = WORD.findall(match[1])
        if words and not set(words) <= NO_TYPES and not {"return", "else", "new", "throw"} & set(words):
            yield match[2], match.start(2)


def line_of(code, at):
    return code.count("\n", 0, at) + 1


def unused_usings(path, code):
    for match in USING.finditer(code):
        if len(re.findall(rf"\b{match[1]}\b", code)) == 1:
            yield f"{path}:{line_of(code, match.start())}: using-declaration of {match[1]} is not used"


def main():
    codes = {}
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in (".h", ".hpp", ".c", ".cpp", ".inc"):
                codes[file.relative_to(ROOT).as_posix()] = code_of(file)
    # The lines of operators, and what is made of them.
    for file in [*(ROOT / "src/operators/table").glob("*.txt"),
                 ROOT / "src/operators/graph_types.txt", ROOT / "src/operators/make_operators.py",
                 ROOT / "src/catalogue/make_lists.py"]:
        codes[file.relative_to(ROOT).as_posix()] = file.read_text(encoding="utf-8")
    bad = [line for path, code in codes.items() if path.endswith(".cpp")
           for line in unused_usings(path, code)]

    declared = collections.defaultdict(list)  # by name: the header and line of each declaration
    defining = collections.defaultdict(collections.Counter)  # by path: mentions that declare or define
    for path, code in codes.items():
        for name, at in functions_of(code):
            defining[path][name] += 1
            if path.endswith(".h") and path.startswith(DECLARING):
                declared[name].append((path, line_of(code, at)))
    uses = collections.defaultdict(set)  # by name: the files that use it
    for path, code in codes.items():
        for name, count in collections.Counter(WORD.findall(code)).items():
            if name in declared and count > defining[path][name]:
                uses[name].add(path)
    for name, places in sorted(declared.items()):
        stems = tuple(pathlib.PurePath(path).stem + "_" for path, _ in places)
        own = {path for path in uses[name] if path.startswith("tests/unit/")
               and pathlib.PurePath(path).name.startswith(stems)}
        if not uses[name] - own:
            path, line = places[0]
            where = "only its unit test uses" if own else "nothing uses"
            bad.append(f"{path}:{line}: {where} {name}")
    print("\n".join(sorted(bad)) or f"{len(declared)} names of functions in {len(codes)} files are used")
    return 1 if bad or len(declared) < 200 else 0


if __name__ == "__main__":
    sys.exit(main())
