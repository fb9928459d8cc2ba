#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prepares a public header for Doxygen, line by line, so that warnings keep their places.

    reference_filter.py HEADER

The headers are written to be read as they are. Their rules, told to Doxygen:
- the comment at the top is the file's; the line with the licence above it is none of Doxygen's;
- a comment to the right of a declaration is its description;
- a comment above declarations holds for all of them up to the next empty line;
- members, enumerators and macros without a comment are described with the type, or in errors.md;
- plain types, and what graph mode and the transfer engine have under CANN's names, are described on the pages
  named here.
"""

import re
import sys

NAME = re.compile(r"([A-Za-z_]\w*)\s*\(")
OPENS = re.compile(r"^\s*(?:typedef\s+)?(enum|struct|union)\b[^;]*\{\s*$")
ONE_LINE_ENUM = re.compile(r"^typedef enum \{")
MEMBER = re.compile(r"^\s+[\w*:<>\[\] ]+(?: = [-\w+:]+)?[;,]?\s*$")
KINDS = {"enum": "A value of the type.", "struct": "See the description of the type.",
         "union": "See the description of the type."}


TYPES = (
    (re.compile(r"typedef enum \{.*\} (\w+);"), "Values of a \\1."),
    (re.compile(r"typedef enum \{$"), "What a call takes or returns; its values are below."),
    (re.compile(r"typedef struct \{$"), "What a call takes or returns; its members are below."),
    (re.compile(r"typedef void\* (\w+);"), "A handle; NULL is none."),
    (re.compile(r"typedef struct (\w+) \1;"), "An object that calls make and take."),
    (re.compile(r"typedef int \w+;"), "A code of docs/errors.md; 0 is success."),
    (re.compile(r"typedef \w+ \w+;"), "A plain type."),
    (re.compile(r"typedef void \(\*\w+\)"), "A function of the program that the library calls."),
)
# The pages of what has CANN's names in C++, by folder.
PAGES = {"graph": "graph_mode.md", "ge": "graph_mode.md", "adxl": "transfer_engine.md"}
PAGE = "/** See docs/%s. */ "
GRAPH_PLACE = re.compile(
    r"^(?:    (?! |public|private|protected|[})\/:])|using |inline |constexpr |const |static |enum |class "
    r"|ADVSTEP_GRAPH_API |struct (?!\w+;))\S*")


def starts_declaration(line):
    if line.startswith(("ADVSTEP_API", "ADVSTEP_PREFIX_API")):
        return True
    return (line.startswith("    ") and not line.startswith("     ") and "(" in line
            and not line.lstrip().startswith("/"))


def describe_type(line):
    for pattern, text in TYPES:
        found = pattern.match(line)
        if found:
            return "/** %s */ " % found.expand(text)
    return ""


def main():
    folder = re.search(r"include/(graph|ge|adxl)/", sys.argv[1])
    page = PAGES[folder[1]] if folder else None
    with open(sys.argv[1], encoding="utf-8") as file:
        lines = file.read().splitlines()
    above = None  # name of the documented function that undocumented ones follow
    documented = False
    pending = False  # within a declaration of several lines
    within = False  # what pending was on the line before
    kind = None
    out = ["/// @file"]
    if lines and "SPDX-License-Identifier:" in lines[0]:
        del lines[0]
    for number, line in enumerate(lines):
        text = line
        if re.search(r"\S.*/\* ", line) and not line.lstrip().startswith(("*", "/*")):
            text = re.sub(r"(\S.*?)/\* ", r"\1/**< ", line, count=1)
        stripped = line.strip()
        if stripped.startswith("//"):
            text = text.replace("#define", "\\#define")
        if stripped.startswith("///"):
            documented = True
        elif not stripped:
            documented, above = False, None
        elif not pending and starts_declaration(line):
            name = NAME.search(line)
            if documented:
                above = name.group(1) if name else None
            elif above and "/**<" not in text and name and not page:
                text = re.sub(r"\S", "/** @copydoc %s */ \\g<0>" % above, text, count=1)
            documented = False
            pending = not re.search(r"[;}]\s*(?:/[/*].*)?$", line)
        elif pending:
            pending = not re.search(r"[;}]\s*(?:/[/*].*)?$", line)
        if not documented and text == line and kind is None:
            text = describe_type(line) + text
        if page and not documented and text == line and "/*" not in line and not within and (
                GRAPH_PLACE.match(line)):
            text = PAGE % page + text
        within = within and not re.search(r"[;}]\s*$", line) if within else pending
        macro = re.match(r"#define (\w+)(?:\([^)]*\))? \S", line)
        if macro and "/*" not in line and not documented and not line.endswith("\\"):
            text += " /**< %s */" % ("See docs/errors.md." if "_ERR" in macro.group(1) else
                                     "A value of what its name begins with.")
        if macro:
            documented = False
        opened = OPENS.match(line)
        if opened:
            kind, documented = opened.group(1), False
        elif kind and stripped.startswith("}"):
            kind = None
        elif kind and "/*" not in line and "//" not in line and MEMBER.match(line) and not documented:
            text += " /**< %s */" % KINDS[kind]
        elif kind and not stripped.startswith("//"):
            documented = False
        if stripped.endswith(("{", ";")) and not stripped.startswith("//"):
            documented = False
        out.append(text)
    print("\n".join(out))


if __name__ == "__main__":
    main()
