#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions have at most 60 lines; a file of more than 900 says in its head why it is one file.

A function of C or C++ counts from its name to its closing brace, with the functions that it contains; one of
Python from `def` to its last line. The head of a long file contains the word "because".
"""
import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
OF_FUNCTIONS = ("include", "opp", "src", "op_host", "op_kernel")
OF_FILES = OF_FUNCTIONS + ("examples", "tests", "docs", "packaging")
MOST_IN_FUNCTION, MOST_IN_FILE = 60, 900
C = (".h", ".hpp", ".c", ".cpp", ".inc")
TOKENS = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|"
                    r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
# What stands before the brace of a body: the end of a parameter list, and what may follow one.
BODY = re.compile(r"\)\s*(?:const|noexcept(?:\([^{};]*\))?|override|final|mutable|&|&&|->[^{};]*|:[^{};]*(?:\{[^{};]*\}[^{};]*)*)*\s*$")
NOT_A_FUNCTION = re.compile(r"^\s*(?:namespace|extern|struct|class|union|enum)\b")


def bare(text):
    """The text without comments, literals and directives; lines keep their numbers."""
    def blank(match):
        kept = "\"\"" if match[0].startswith(("\"", "R")) else ""
        return kept + re.sub(r"[^\n]", "", match[0])
    return TOKENS.sub(blank, text)


def functions_of_c(text):
    """(first line, number of lines) of each function that no other contains."""
    code = bare(text)
    start = 0  # where the statement begins that a brace may belong to
    outside = []  # for each open brace: whether it is of a namespace or type
    body = None
    for match in re.finditer(r"[{};]", code):
        sign = match[0]
        if sign == "{":
            statement = code[start:match.start()]
            inside = body is not None
            container = not inside and not BODY.search(statement)
            if not inside and not container and not NOT_A_FUNCTION.match(statement):
                begin = start + len(statement) - len(statement.lstrip())
                body = (len(outside), code.count("\n", 0, begin) + 1)
            outside.append(container)
        elif sign == "}":
            if outside:
                outside.pop()
            if body is not None and len(outside) == body[0]:
                yield body[1], code.count("\n", 0, match.start()) + 2 - body[1]
                body = None
        if body is None:
            start = match.end()


def functions_of_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.lineno, node.end_lineno + 1 - node.lineno


def head_of(text):
    """The comment or docstring that the file begins with."""
    match = re.match(r"(?:\s*(?://|#)[^\n]*\n)*(?:\s*(?:/\*.*?\*/|\"\"\".*?\"\"\"))?", text, re.S)
    return match[0] if match else ""


def check_file(path, text):
    lines = text.count("\n")
    if lines > MOST_IN_FILE and not re.search(r"\bbecause\b", head_of(text)):
        yield f"{path}: {lines} lines, of {MOST_IN_FILE}; move a duty out, or say in its head: one file because ..."
    if not path.startswith(OF_FUNCTIONS):
        return
    found = functions_of_python(text) if path.endswith(".py") else functions_of_c(text)
    for line, count in found:
        if count > MOST_IN_FUNCTION:
            yield f"{path}:{line}: a function of {count} lines, of {MOST_IN_FUNCTION}; name a part of it"


def main():
    bad = []
    count = 0
    for folder in OF_FILES:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix in C + (".py",) and file.is_file():
                count += 1
                path = file.relative_to(ROOT).as_posix()
                bad += check_file(path, file.read_text(encoding="utf-8"))
    print("\n".join(bad) or f"{count} files and their functions are of a length that is allowed")
    return 1 if bad or count < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
