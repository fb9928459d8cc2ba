#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes lists of all functions in the public C headers, for advance_step::mock.

A function with "..." cannot be passed on. It is in no list, and calls of it reach the library.

list_functions.py          writes the lists
list_functions.py --check  prints the lists that are out of date, and exits with 1 if there are any
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
DECLARATION = re.compile(r"ADVSTEP_API\s+([\w\s*]*?)(\w+)\s*\(([^)]*)\)\s*;")
LISTS = {"include/advance_step/testing/acl_functions.inc": ("acl",),
         "include/advance_step/testing/aclnn_functions.inc": ("aclnn", "aclnnop", "advance_step")}
METHOD_PARAMETERS = 15  # GoogleMock's MOCK_METHOD takes no more
HEADING = """\
// The functions of the headers in {folders}.
// src/mock/list_functions.py writes this file from these headers; do not edit it.
//
// Each entry is ADVSTEP_FUNCTION(result, name, (parameters), (arguments)), or ADVSTEP_LONG_FUNCTION
// with the same arguments if a GoogleMock method cannot have so many parameters.
"""


class Function:
    def __init__(self, result, name, parameters):
        self.result = " ".join(result.split()).replace(" *", "*")
        self.name = name
        self.parameters = []
        for parameter in parameters.split(","):
            parameter = " ".join(parameter.split())
            if parameter not in ("", "void"):
                # A const of the parameter itself has no meaning for the caller.
                parameter = re.sub(r"^const (\w+ \w+)$", r"\1", parameter)
                parameter = re.sub(r"\* const (\w+)$", r"* \1", parameter)
                self.parameters.append(parameter)

    def entry(self):
        kind = "ADVSTEP_FUNCTION"
        if len(self.parameters) > METHOD_PARAMETERS:
            kind = "ADVSTEP_LONG_FUNCTION"
        # An array has brackets after its name.
        words = ", ".join(re.search(r"(\w+)(?:\[\w*\])*$", parameter)[1]
                          for parameter in self.parameters)
        # A tilde stands for a space at which the line must not be broken.
        parameters = ", ".join(self.parameters).replace(" ", "~").replace(",~", ", ")
        text = f"{kind}({self.result.replace(' ', '~')}, {self.name}, ({parameters}), ({words}))"
        return "\n".join(textwrap.wrap(text, 100, subsequent_indent="    ", break_long_words=False,
                                       break_on_hyphens=False)).replace("~", " ")


def read_functions(folders):
    for folder in folders:
        for path in sorted((ROOT / "include" / folder).rglob("*.h")):
            text = re.sub(r"//[^\n]*|/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.S)
            text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
            for match in DECLARATION.findall(text):
                if "..." not in match[2]:
                    yield Function(*match)


def main():
    check = sys.argv[1:] == ["--check"]
    total = 0
    stale = False
    for name, folders in LISTS.items():
        functions = list(read_functions(folders))
        total += len(functions)
        heading = HEADING.format(folders=", ".join(f"include/{folder}" for folder in folders))
        text = heading + "".join(function.entry() + "\n" for function in functions)
        path = ROOT / name
        if not check:
            path.write_text(text, encoding="utf-8")
        elif not path.exists() or path.read_text(encoding="utf-8") != text:
            print(f"{name} is not what src/mock/list_functions.py makes of the headers: run it")
            stale = True
    if stale or total < 50:
        return 1
    print(f"{total} functions can be mocked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
