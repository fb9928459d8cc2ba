#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every source file begins with its licence and a sentence that says its purpose.

    // SPDX-License-Identifier: Apache-2.0
    // A FIFO of task records of different sizes.

    #pragma once

Scripts and CMake files write # for //, after the line #! if there is one; Python files may have the
sentence in their docstring. The licence is that of LICENSE. An empty line stands before #pragma once.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
SLASHES = (".h", ".hpp", ".c", ".cpp")
HASHES = (".py", ".sh", ".cmake")
NOT_SOURCES = ("tests/golden/", "tests/fuzz/corpus/")
LICENCES = {"Apache License\nVersion 2.0, January 2004": "Apache-2.0"}
WIDTH = 100


def licence():
    text = "\n".join(line.strip() for line in (ROOT / "LICENSE").read_text().splitlines())
    return next(name for heading, name in LICENCES.items() if heading in text)


def source_files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.splitlines()
    names = listed or [file.relative_to(ROOT).as_posix() for file in ROOT.rglob("*")]
    for name in sorted(names):
        file = ROOT / name
        if name.startswith(("build/", ".git/") + NOT_SOURCES) or not file.is_file():
            continue
        if file.suffix in SLASHES + HASHES or file.name == "CMakeLists.txt" or (
                not file.suffix and file.read_bytes().startswith(b"#!")):
            yield name


def comment_at(lines, at, slashes):
    """The lines of the comment that begins there, without what makes them one."""
    first = lines[at] if at < len(lines) else ""
    if slashes and first.startswith("/*"):
        end, mark = "*/", r"^ ?/?\*+ ?|\*/$"
    elif not slashes and first.startswith('"""'):
        end, mark = '"""', r'"""'
    else:
        end, mark = None, r"^///? ?" if slashes else r"^# ?"
        if not re.match(mark, first):
            return []
    found = []
    for number, line in enumerate(lines[at:]):
        if end is None and not re.match(mark, line):
            break
        found.append(re.sub(mark, "", line).strip())
        if end and line.find(end, 3 if number == 0 else 0) >= 0:
            break
    return found


def check(name, lines, wanted):
    """What is wrong with the head of a file, or None."""
    slashes = name.endswith(SLASHES)
    at = 1 if lines and lines[0].startswith("#!") else 0
    tag = f"{'//' if slashes else '#'} SPDX-License-Identifier: {wanted}"
    if lines[at:at + 1] != [tag]:
        return f"line {at + 1} is not: {tag}"
    comment = comment_at(lines, at + 1, slashes)
    if not comment or not comment[0]:
        return f"line {at + 2} is no comment that says the purpose of the file"
    paragraph = " ".join(comment[:comment.index("")] if "" in comment else comment)
    if not re.search(r"[.:](\s|$)", paragraph) or not re.match(r"\W?\w", paragraph):
        return f"line {at + 2} begins no sentence with a full stop"
    if len(lines[at + 1]) > WIDTH:
        return f"line {at + 2} has more than {WIDTH} columns"
    if "#pragma once" in lines and lines[lines.index("#pragma once") - 1]:
        return "no empty line stands before #pragma once"
    return None


def main():
    wanted = licence()
    bad = []
    count = 0
    for name in source_files():
        count += 1
        wrong = check(name, (ROOT / name).read_text(encoding="utf-8").splitlines(), wanted)
        if wrong:
            bad.append(f"{name}: {wrong}")
    print("\n".join(bad) or f"{count} files begin with {wanted} and their purpose")
    return 1 if bad or count < 500 else 0


if __name__ == "__main__":
    sys.exit(main())
