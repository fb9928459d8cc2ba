#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the coverage preset, runs its tests and reports the lines and branches of the library that
# they reach, a file each and all together. Fails below 95 % of the lines or 90 % of the branches.
#
#   tests/coverage.sh [OPTION-OF-GCOVR ...]
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

"$root/examples/install_packages.sh" libgtest-dev libgmock-dev python3 gcovr
cmake --preset coverage
cmake --build --preset coverage
find build/coverage -name '*.gcda' -delete
ctest --preset coverage -LE lint -j "$(nproc)"

# Branches that throw, or that only the compiler knows, are nobody's code. Threads count at the same
# time without locks, so that a count may be off, and even negative: gcovr is to skip such a branch.
# Counting with atomics makes the kernels' tests too slow for their watchdogs.
gcovr --root . --object-directory build/coverage -j "$(nproc)" \
    --filter 'src/' --filter 'op_host/' --filter 'op_kernel/' \
    --exclude-throw-branches --exclude-unreachable-branches --gcov-ignore-parse-errors \
    --txt --csv build/coverage/coverage.csv --json build/coverage/coverage.json \
    --print-summary --fail-under-line 95 --fail-under-branch 90 "$@"
