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
OF_FILES = OF_FUNCTIONS + ("examples", "tools", "tests", "docs", "packaging")
MOST_IN_FUNCTION, MOST_IN_FILE = 60, 900
C = (".h", ".hpp", ".c", ".cpp", ".inc")
TOKENS = re.compile(r"//[^\n]*|/\*.*?\*/|R\"(\w*)\(.*?\)\1\"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])+'|"
                    r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.S | re.M)
OPERATOR = re.compile(r"\boperator\s*(?:\(\s*\)|[^\w\s(]+)")
SPECIFIERS = re.compile(r"(?:\[\[[^\[\]]*\]\]\s*|\b(?:static|inline|constexpr|const|friend|typedef|extern\s*\"\")\s+)*")
TYPE = re.compile(r"(?:struct|class|union|enum)\b(?:\[\[[^\]]*\]\]|\b(?:alignas|__attribute__|[A-Z][A-Z0-9_]{2,})\s*\([^)]*\)+|::|[^:(])*")
# An introducer, perhaps parameters and what may follow them.
LAMBDA = re.compile(r"(?<![\w\])\[])\[[^\[\]]*\](?!\])\s*(?:\((?:[^()]|\([^()]*\))*\))?[^()=;]*(?:noexcept\([^()]*\))?\s*$")
# A pair of parentheses after one of these is no list of parameters.
NO_NAME = re.compile(r"\b(?:alignas|decltype|noexcept|sizeof|__attribute__)\s*$")
# The colon of a constructor's initialisers, and the name of one of them.
INITIALISER = re.compile(r"\)[\s\w()]*(?<!:):(?!:).*(?:[\w>]\s*)$", re.S)


def bare(text):
    """The text without comments, literals and directives; lines keep their numbers."""
    def blank(match):
        kept = "\"\"" if match[0].startswith(("\"", "R")) else ""
        return kept + re.sub(r"[^\n]", "", match[0])
    return TOKENS.sub(blank, text)


def without_template(statement):
    """The statement behind `template <...>`."""
    match = re.match(r"\s*template\s*<", statement)
    if not match:
        return statement
    angles, parentheses = 1, 0
    for at in range(match.end(), len(statement)):
        parentheses += {"(": 1, ")": -1}.get(statement[at], 0)
        if parentheses == 0:
            angles += {"<": 1, ">": -1}.get(statement[at], 0)
        if angles == 0:
            return without_template(statement[at + 1:])
    return statement


def is_open(statement):
    """Whether a parenthesis of the statement has not been closed."""
    return statement.count("(") > statement.count(")")


def is_function(statement):
    """Whether a brace behind this statement, outside of functions, begins the body of one."""
    if LAMBDA.search(statement):
        return True
    statement = OPERATOR.sub("operator_", without_template(statement)).strip()
    statement = statement[SPECIFIERS.match(statement).end():]
    if is_open(statement) or re.match(r"(?:namespace\b|\"\"$)", statement):
        return False
    match = TYPE.match(statement)
    if match and statement[match.end():match.end() + 1] != "(":
        return False
    depth, name, last = 0, False, 0
    for at, sign in enumerate(statement):
        if sign == "=" and depth == 0:
            return False
        if sign == "(" and depth == 0:
            name = name or not NO_NAME.search(statement[:at])
        depth += {"(": 1, ")": -1}.get(sign, 0)
        last = at if sign == ")" else last
    # Behind `>` it was a parameter of a template, as in std::function<void()> of a table.
    return name and not statement[last + 1:].lstrip().startswith(">")


def functions_of_c(text):
    """(first line, number of lines) of each function that no other contains."""
    code = bare(text)
    statement, begin = "", 0  # what stands before a brace, and where it begins
    outside = []  # for each open brace outside of functions: the statement that goes on behind it, or None
    depth, first, before = 0, None, ""  # of the braces in a function, where it begins, and the statement it is part of
    seen = 0
    for match in re.finditer(r"[{};]", code):
        sign, part = match[0], code[seen:match.start()]
        seen = match.end()
        if first is not None:
            depth += {"{": 1, "}": -1}.get(sign, 0)
            if depth > 0 or sign == ";" or re.match(r"\s*catch\b", code[seen:]):
                continue
            first_line = code.count("\n", 0, first) + 1
            yield first_line, code.count("\n", 0, match.start()) + 2 - first_line
            first, statement = None, before
            continue
        if not statement.strip():
            begin = match.start() - len(part.lstrip())
        statement += part
        if sign == "{":
            goes_on = is_open(statement) or INITIALISER.search(statement) and not statement.rstrip().endswith("try")
            if is_function(statement) and not (goes_on and not LAMBDA.search(statement)):
                first, depth, before = begin, 1, statement + "()" if goes_on else ""
            else:
                outside.append((statement, begin) if goes_on else None)
            statement = ""
        elif sign == "}" and outside:
            kept = outside.pop()
            statement, begin = (kept[0] + "()", kept[1]) if kept else ("", seen)
        else:
            statement = ""


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
