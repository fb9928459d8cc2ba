#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libadvance_step_graph.so exports exactly the functions that its headers declare.

Overloads are counted. The library needs nothing of the project except libadvance_step.so.

check_graph_exports.py libadvance_step_graph.so
"""
import collections
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
API = "ADVSTEP_GRAPH_API"


def functions_of(header):
    """(name, how often it is declared without a body) of a header's exported functions."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", "", header.read_text(), flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    counts = collections.Counter()
    for name, body in re.findall(rf"class {API} (?:ADVSTEP_GRAPH_OWN_LAYOUT )?(\w+) {{(.*?)\n}};", text, flags=re.S):
        for statement in body.split(";"):
            match = re.search(r"(~?\w+|operator\s*\S+?)\s*\(", statement)
            if match and not re.search(r"\btemplate\b", statement) and not re.search(r"=\s*(default|delete)\s*$", statement):
                counts[f"{name}::{re.sub(r'operator +', 'operator', match.group(1))}"] += 1
    for statement in re.findall(rf"(?<!class ){API}([^;{{]*);", text):
        counts[re.search(r"(\w+)\s*\(", statement).group(1)] += 1
    return counts


def main():
    declared = collections.Counter()
    for folder in ("include/graph", "include/ge"):
        for header in sorted((ROOT / folder).glob("*.h")):
            declared += functions_of(header)
    listing = subprocess.run(["nm", "-DC", "--defined-only", sys.argv[1]], check=True,
                             capture_output=True, text=True).stdout
    symbols = set()
    bad = []
    for line in listing.splitlines():
        kind, name = line.split(maxsplit=2)[1:]
        # Tags are of functions that return std::string, and of classes with a layout of their own.
        name = re.sub(r"\[abi:\w+\]", "", name.split("@@")[0])
        if kind == "A" or re.match(r"(vtable|typeinfo|typeinfo name) for ge::Operator$", name):
            continue
        if not name.startswith("ge::"):
            bad.append(f"exported, but not of namespace ge: {name}")
        symbols.add(name)
    exported = collections.Counter()
    for name in symbols:  # constructors have two symbols of one name
        exported[re.match(r"ge::((?:\w+::)?(?:operator[^(]+|~?\w+))\(", name).group(1)] += 1
    for name in sorted(declared | exported):
        if declared[name] != exported[name]:
            bad.append(f"{name}: declared {declared[name]} times, exported {exported[name]}")
    needed = subprocess.run(["readelf", "-d", sys.argv[1]], check=True, capture_output=True,
                            text=True).stdout
    if "libadvance_step.so" not in needed:
        bad.append("does not need libadvance_step.so")
    print("\n".join(bad) or f"{sum(declared.values())} functions declared and exported")
    return 1 if bad or sum(declared.values()) < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
