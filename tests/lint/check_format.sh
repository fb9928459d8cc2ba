#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the layout of the named C and C++ files with .clang-format, and writes nothing.
#
#   check_format.sh FILE...
#
# Ends with 0 and a message where clang-format is not installed.
set -euo pipefail

if ! command -v clang-format >/dev/null; then
    echo "skipped: clang-format is missing (Debian: clang-format)"
    exit 0
fi
(($# > 0)) || exit 0
if ! clang-format --dry-run --Werror "$@"; then
    echo "check_format.sh: clang-format -i corrects these files" >&2
    exit 1
fi
