#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Warns of prose that readers stumble over, and of pages that grow. It never fails: people decide.

Sentences: pages, public headers and comments of the sources put the subject first, and a verb follows it.
Decisions and logs are records of their time. Lengths: the text of the pages for users together, and of the
README of each folder. Text is what stands outside of code and comments; what a program makes does not count.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
WORDS_FOR_USERS = 25000
LINES_OF_README = 10
RECORDS = ("docs/internals/decisions/", "docs/internals/log/")
GENERATED = {"error_causes.md", "supported_calls.md"}
FOLDERS_WITH_README = ("src/", "op_host/", "op_kernel/", "tests/", "examples/", "tools/")
START = r"(?:^|[.:!]\s+|^[-|*]\s+)"
FORMS = (
    ("a sentence begins with its relative clause",
     re.compile(START + r"(?:Who|Whoever|What|Whatever)\b(?![^.?\n]*\?)", re.M)),
    ("something stands before the subject", re.compile(r"(?:^|[.]\s+)(?:Of|In effect)\b", re.M)),
    ("`except` is meant", re.compile(r"\bbut for\b")),
    ("`reports` or `says` is meant", re.compile(r"\btells\b")),
    ("元数据 or 块表与槽位管理 is meant", re.compile("簿记")),
)
COMMENT = re.compile(r"^\s*///?<? ?(.*)$")


def comments_of(text):
    """The comments of C and C++ code. The lines of a sentence are joined on its first line."""
    lines = []
    first = None  # where the sentence begins that the next line may continue
    for line in text.splitlines():
        comment = COMMENT.match(line)
        words = comment[1].strip() if comment else ""
        lines.append("")
        if not words:
            first = None
            continue
        if first is None:
            first = len(lines) - 1
        lines[first] += (" " if lines[first] else "") + words
        if words.endswith((".", ":", "?")):
            first = None
    return "\n".join(lines)


def stumbles(name, text):
    if name.endswith((".h", ".hpp", ".c", ".cpp")):
        text = comments_of(text)
    # Code says what it says; its lines stay, so that the numbers of the others are right.
    text = re.sub(r"```.*?```", lambda block: "\n" * block[0].count("\n"), text, flags=re.S)
    for problem, form in FORMS:
        for match in form.finditer(text):
            line = text.count("\n", 0, match.end() - len(match.group().lstrip())) + 1
            yield f"{name}:{line}: {problem}: {match.group().split()[-1]}"


def words_of(text):
    """The words of a page that are read as text."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    # The tables of arguments are made of the headers, by src/catalogue/make_pages.py.
    text = re.sub(r"<!-- arguments: [\w.]+ -->\n(?:\|[^\n]*\n)*", "", text)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.S)
    text = re.sub(r"\n\n(?: {4}[^\n]*\n)+", "\n\n", text)
    text = re.sub(r"\]\([^)]*\)", "]", text)  # the target of a link is no word
    return len(re.findall(r"\S*\w\S*", text))


def is_for_users(name):
    page = pathlib.PurePosixPath(name)
    return (name == "README.md" or str(page.parent) in ("docs", "docs/operators")) and \
        page.name not in GENERATED and not name.endswith(".zh.md")


def warnings_of_lengths(texts):
    counts = {name: words_of(text) for name, text in texts.items() if is_for_users(name)}
    total = sum(counts.values())
    if total > WORDS_FOR_USERS:
        longest = ", ".join(f"{name} {counts[name]}" for name in
                            sorted(counts, key=counts.get, reverse=True)[:5])
        yield f"{total} words in the pages for users, of {WORDS_FOR_USERS}; the longest: {longest}"
    for name, text in texts.items():
        if name.startswith(FOLDERS_WITH_README) and name.endswith("/README.md"):
            lines = sum(bool(line.strip()) and not line.startswith(("|", "    ")) for line in text.splitlines())
            if lines > LINES_OF_README:
                yield f"{name}: {lines} lines, of {LINES_OF_README}"


def main():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "*.md", "include/*", "src/*",
                             "op_host/*", "op_kernel/*"],
                            cwd=ROOT, check=False, capture_output=True, text=True).stdout.split()
    listed = listed or [file.relative_to(ROOT).as_posix() for pattern in
                        ("*.md", "docs/**/*.md", "tests/**/*.md", "examples/**/*.md", "tools/**/*.md", "include/**/*", "src/**/*",
                         "op_host/**/*", "op_kernel/**/*") for file in ROOT.glob(pattern)]
    texts = {name: (ROOT / name).read_text(encoding="utf-8") for name in sorted(set(listed))
             if name.endswith((".md", ".h", ".hpp", ".c", ".cpp")) and (ROOT / name).is_file()}
    warnings = [warning for name, text in texts.items() if not name.startswith(RECORDS)
                for warning in stumbles(name, text)]
    warnings += warnings_of_lengths(texts)
    for warning in warnings:
        print(f"warning: {warning}")
    print(f"{len(warnings)} warnings of prose in {len(texts)} files")


if __name__ == "__main__":
    sys.exit(main())
