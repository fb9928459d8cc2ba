#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Finds private keys, access tokens and passwords in the files of the repository.

    check_secrets.py [FILE ...]

Without arguments it reads every file that git knows; without git, every file outside build folders.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Each pattern needs the random part of a secret, so it does not match itself.
KINDS = {
    "private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY(?: BLOCK)?-----",
    "PuTTY private key": r"PuTTY-User-Key-File-\d: ",
    "token of GitHub": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22,})",
    "token of GitLab": r"\bgl(?:pat|ptt|rt|dt)-[A-Za-z0-9_-]{20,}",
    "access key of AWS": r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b",
    "key of Google": r"\bAIza[A-Za-z0-9_-]{35}",
    "token of Slack": r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}",
    "token of npm or PyPI": r"\b(?:npm_[A-Za-z0-9]{36}|pypi-[A-Za-z0-9_-]{50,})",
    "key of an API": r"\b(?:sk|rk|pk)[-_](?:live[-_]|proj-|ant-)?[A-Za-z0-9_-]{24,}",
    "JSON web token": r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}",
    "password in an address": r"\b[a-z][a-z0-9+]*://[^\s/:@{}$<>]+:[^\s/:@{}$<>]{3,}@",
    "password or token": r"(?i)\b\w*(?:password|passwd|secret|api_?key|auth_?token)\b"
                         r"[\"']?\s*[:=]\s*[\"'][^\s\"'{}$<>]{8,}[\"']",
}
PATTERNS = [(kind, re.compile(text)) for kind, text in KINDS.items()]


def files_of_repository():
    listed = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT,
                            capture_output=True, text=True, check=False).stdout.split("\0")
    names = [ROOT / name for name in listed if name] or [
        file for file in ROOT.rglob("*") if file.relative_to(ROOT).parts[0] != "build"]
    return [file for file in names if file.is_file()]


def secrets_in(file):
    """(line number, kind) of each secret in a file."""
    text = file.read_bytes().decode("utf-8", errors="replace")
    for kind, pattern in PATTERNS:
        for match in pattern.finditer(text):
            yield text.count("\n", 0, match.start()) + 1, kind


def main():
    files = [pathlib.Path(name).resolve() for name in sys.argv[1:]] or files_of_repository()
    bad = []
    for file in files:
        name = file.relative_to(ROOT) if ROOT in file.parents else file
        # The line itself stays out of logs.
        bad += [f"{name}:{number}: possible {kind}" for number, kind in secrets_in(file)]
    print("\n".join(bad) or f"no secrets in {len(files)} files")
    return 1 if bad or (len(sys.argv) == 1 and len(files) < 500) else 0


if __name__ == "__main__":
    sys.exit(main())
