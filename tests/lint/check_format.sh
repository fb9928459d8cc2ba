#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the layout of the named C and C++ files with .clang-format, and writes nothing; without
# a name, of all files but those of include and opp, which have columns of comments set by hand.
#
#   check_format.sh [FILE...]
#
# Ends with 0 and a message where Debian 12's clang-format is not installed: other versions set some
# lines in another way.
set -euo pipefail

formatter=$(command -v clang-format-14 || command -v clang-format || true)
if [[ ! $formatter || $("$formatter" --version) != *"version 14."* ]]; then
    echo "skipped: clang-format 14 is missing (Debian 12: clang-format)"
    exit 0
fi
if (($# == 0)); then
    cd "$(dirname "${BASH_SOURCE[0]}")/../.."
    mapfile -t files < <(git ls-files -- '*.c' '*.cpp' '*.h' ':!include' ':!opp')
    set -- "${files[@]}"
fi
(($# > 0)) || exit 0
if ! "$formatter" --dry-run --Werror "$@"; then
    echo "check_format.sh: clang-format -i corrects these files" >&2
    exit 1
fi
