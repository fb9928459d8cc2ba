#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds every #include of the project against include_rules.json."""
import json
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "tests/lint/include_rules.json"
FOLDERS = ["include", "opp", "src", "op_host", "op_kernel", "examples", "tools", "tests"]
# What an include may be relative to: clients see include/, those of graph mode the folders that CANN's
# samples name, the project its root, tests also tests/.
BASES = ["", "include", "include/aclnn", "tests", "examples", "tools", "tools/serve",
         "tools/serve_mpi", "include/graph", "include/ge", "opp/built-in/op_proto/inc", "src/python"]
LIBRARIES = ("fmt/", "nlohmann/", "CLI/", "gtest/", "gmock/", "benchmark/", "mpi.h",
             "xxhash.h")
# What the build makes of src/catalogue and src/operators, as if it were there.
MADE = re.compile(r"advance_step/testing/\w+\.inc$|aclnnop/aclnn_\w+\.h$")
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')


def to_regex(pattern, names):
    """A file pattern: * within a folder, ** through folders, (?P<op>..) as in re, {op} its value."""
    for name, value in names.items():
        pattern = pattern.replace("{%s}" % name, re.escape(value))
    parts = re.split(r"(\(\?P<[^)]*\)|\*\*|\*)", pattern)
    out = ""
    for part in parts:
        if part == "**":
            out += ".*"
        elif part == "*":
            out += "[^/]*"
        elif part.startswith("(?P<"):
            out += part
        else:
            out += part if "\\" in part else re.escape(part)
    return re.compile(out + "$")


def expand_floors(rules, floors):
    """Replaces `below` by the patterns of the folder itself and of the folders on lower floors."""
    for root, order in floors.items():
        for level, folders in enumerate(order):
            lower = [f"{root}/{name}/*" for floor in order[:level] for name in floor]
            for name in folders:
                own = f"{root}/{name}/*"
                for rule in rules:
                    if rule["files"] == own:
                        rule["may"] = [pattern for entry in rule["may"]
                                       for pattern in ([own, *lower] if entry == "below" else [entry])]


def load_rules():
    table = json.loads(RULES.read_text())
    expand_floors(table["rules"], table["floors"])
    return table["rules"]


def find_rule(rules, path):
    for rule in rules:
        match = to_regex(rule["files"], {}).match(path)
        if match:
            return rule, match.groupdict()
    return None, {}


def resolve(including, name):
    """The project file that an include means, or None."""
    beside = (ROOT / including).parent / name
    for candidate in [beside] + [ROOT / base / name for base in BASES]:
        if candidate.is_file():
            return candidate.resolve().relative_to(ROOT).as_posix()
    return f"include/{name}" if MADE.match(name) else None


def check_include(rule, names, path, style, name):
    target = resolve(path, name)
    if target is None:
        if name.startswith(LIBRARIES):
            library = "<" + name.split("/")[0] + "/>"
            return None if library in rule["may"] else f"may not include {library[1:-1]}"
        return None if style == "<" else "is in no folder of the project"
    names = dict(names, same="/".join(path.split("/")[1:-1]))
    for pattern in rule["may"]:
        if not pattern.startswith("<") and to_regex(pattern, names).match(target):
            return None
    return "is not allowed here"


def main():
    rules = load_rules()
    bad = []
    files = 0
    includes = 0
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".h", ".hpp", ".c", ".cpp"):
                continue
            path = file.relative_to(ROOT).as_posix()
            files += 1
            rule, names = find_rule(rules, path)
            if rule is None:
                bad.append(f"{path}: no rule for this file")
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                match = INCLUDE.match(line)
                if not match:
                    continue
                includes += 1
                why = check_include(rule, names, path, match.group(1), match.group(2))
                if why:
                    bad.append(f"{path}:{number}: {match.group(2)} {why}")
    print("\n".join(bad) or f"{includes} includes in {files} files keep the rules")
    return 1 if bad or includes < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
