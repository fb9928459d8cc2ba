#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The programs that documents show are those that are compiled and run.

In a document, a comment in front of a code block names the file, and the part of it:

    <!-- snippet: examples/tutorial/step1.cpp#plan -->

In the file, the lines between `// [plan]` and `// [/plan]` are the part. --update writes the
blocks anew.
"""

import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"<!-- snippet: (\S+?)#(\S+) -->\n```(\w+)\n(.*?)```\n", re.S)


def part_of(file, name):
    """The lines of a part, without those of parts inside it."""
    lines = (ROOT / file).read_text(encoding="utf-8").splitlines()
    begin = next((i for i, x in enumerate(lines) if x.strip() == f"// [{name}]"), None)
    end = next((i for i, x in enumerate(lines) if x.strip() == f"// [/{name}]"), None)
    if begin is None or end is None or end < begin:
        raise SystemExit(f"{file} has no part {name}")
    inside = [x for x in lines[begin + 1:end] if not re.fullmatch(r"\s*// \[/?\w+\]", x)]
    return textwrap.dedent("\n".join(inside)).strip("\n") + "\n"


def main():
    update = "--update" in sys.argv[1:]
    bad = []
    count = 0
    for page in sorted(ROOT.glob("docs/*.md")) + sorted(ROOT.glob("docs/internals/*.md")) + sorted(
            ROOT.glob("README*.md")):
        text = page.read_text(encoding="utf-8")
        if text.count("<!-- snippet:") != len(BLOCK.findall(text)):
            bad.append(f"{page.name}: a snippet without its block")

        def renew(match):
            nonlocal count
            count += 1
            file, name, language, shown = match.groups()
            wanted = part_of(file, name)
            if shown != wanted and not update:
                bad.append(f"{page.name}: {file}#{name} is another one; run check_snippets.py --update")
            return f"<!-- snippet: {file}#{name} -->\n```{language}\n{wanted}```\n"

        renewed = BLOCK.sub(renew, text)
        if update and renewed != text:
            page.write_text(renewed, encoding="utf-8")
    print("\n".join(bad) or f"{count} snippets are as compiled")
    return 1 if bad or count < 5 else 0


if __name__ == "__main__":
    sys.exit(main())
