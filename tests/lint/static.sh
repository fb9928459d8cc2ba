#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy, with the checks of .clang-tidy, and cppcheck over the library. Nothing is built.
#
#   tests/lint/static.sh [FOLDER ...]
#
# The folders are src, op_host and op_kernel unless said otherwise.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
folders=("$@")
if ((${#folders[@]} == 0)); then
    folders=(src op_host op_kernel)
fi

"$root/examples/install_packages.sh" clang clang-tidy cppcheck

# Its compile commands: clang-tidy wants clang's flags.
cmake -S . -B build/static -G Ninja -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_COMPILER=clang \
    -DCMAKE_CXX_COMPILER=clang++ -DADVANCE_STEP_BUILD_EXAMPLES=OFF -DADVANCE_STEP_TEST_UNITY=OFF >/dev/null

# These have no compile command: the Python extension has a build of its own, the mock is compiled by
# those who use it.
mapfile -t files < <(find "${folders[@]}" -name '*.cpp' -not -path 'src/python/*' -not -path 'src/mock/*' | sort)
if ((${#files[@]} == 0)); then
    echo "static.sh: no source files in ${folders[*]}" >&2
    exit 2
fi
failed=0
printf '%s\0' "${files[@]}" |
    xargs -0 -n 4 -P "$(nproc)" clang-tidy --quiet -p build/static 2>build/static/clang-tidy.err ||
    failed=1
if ((failed)); then
    grep -v 'warnings generated' build/static/clang-tidy.err >&2 || true
fi

# The checks that need the whole program give no answer for a library, whose callers are elsewhere;
# style is clang-tidy's. Third-party headers are not parsed: their macros are told. The bytes of a
# NeverDestroyed are raw memory on purpose, and nobody destroys them.
cppcheck --quiet --std=c++17 --language=c++ --enable=warning,performance,portability \
    --inline-suppr --suppress=missingInclude --suppress=unknownMacro --error-exitcode=1 \
    '--suppress=uninitMemberVar:*/never_destroyed.h' '--suppress=noDestructor:*/never_destroyed.h' \
    -j "$(nproc)" -I . -I include "-DADVSTEP_API=" "${files[@]}" || failed=1

if ((failed)); then
    echo "static.sh: findings above" >&2
    exit 1
fi
echo "static.sh: ${#files[@]} files of ${folders[*]}, nothing found"
