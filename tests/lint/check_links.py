#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every relative link of the Markdown files leads to a file and to a heading in it.

docs/README.md links every page of docs/, and docs/internals/README.md those of its folder. Files that a page
names by their path from the root exist.
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)(?:\s+\"[^\"]*\")?\)")
# A file of the repository, by its path from the root.
FILE = re.compile(r"(?<![\w/.$*{-])((?:src|op_host|op_kernel|tests|examples|tools|docs|include|packaging)/[\w/+-]+"
                  r"\.(?:cpp|c|hpp|h|py|sh|md|cmake|csv|json))\b")
HEADING = re.compile(r"^#+ (.*?)\s*#*$", re.M)


def without_code(text):
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return re.sub(r"`[^`\n]*`", "", text)


def anchors(text):
    """As the forges make them of headings."""
    found = set()
    for heading in HEADING.findall(re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number = 0
        name = anchor
        while name in found:
            number += 1
            name = f"{anchor}-{number}"
        found.add(name)
    return found


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md"], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.split()
    pages = [ROOT / name for name in listed] or [
        page for page in ROOT.rglob("*.md") if "build" not in page.relative_to(ROOT).parts]
    bad = []
    count = 0
    for page in pages:
        text = page.read_text(encoding="utf-8")
        for target in LINK.findall(without_code(text)):
            if re.match(r"[a-z]+:", target):
                continue
            count += 1
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            where = page.relative_to(ROOT)
            if not file.exists():
                bad.append(f"{where}: no file {target}")
            elif anchor and file.suffix == ".md" and (
                    anchor not in anchors(file.read_text(encoding="utf-8"))):
                bad.append(f"{where}: no heading {target}")
        # The sample operator of adding_an_operator.md exists on that page only; the others record the past.
        if page.name not in ("adding_an_operator.md", "CHANGELOG.md") and not {"decisions", "log"} & set(page.parts):
            bad += [f"{page.relative_to(ROOT)}: no file {name}" for name in FILE.findall(text)
                    if not (ROOT / name).is_file()]
    linked = {index: {(index.parent / target.partition("#")[0]).resolve()
                      for target in LINK.findall(index.read_text(encoding="utf-8"))}
              for index in (ROOT / "docs/README.md", ROOT / "docs/internals/README.md")}
    for page in pages:
        if ROOT / "docs" in page.parents and page.name not in ("README.md", "reference.md"):
            index = ROOT / ("docs/internals/README.md" if "internals" in page.parts else
                            "docs/README.md")
            if page.resolve() not in linked[index]:
                bad.append(f"{index.relative_to(ROOT)} does not have {page.relative_to(ROOT)}")
    print("\n".join(bad) or f"{count} links in {len(pages)} pages lead somewhere")
    return 1 if bad or count < 100 else 0


if __name__ == "__main__":
    sys.exit(main())
