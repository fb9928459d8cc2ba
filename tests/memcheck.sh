#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the C examples with the release library under valgrind memcheck.
# Any report, and any memory lost at the end of the process, fails. 77, which means skipped, where
# valgrind is missing.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

if ! command -v valgrind >/dev/null; then
    echo "skipped: valgrind is missing"
    exit 77
fi
cmake --preset release
cmake --build --preset release --target advance_step_c acl_tour_c client_objects
for example in advance_step_c acl_tour_c client_objects; do
    valgrind --quiet --leak-check=full --show-leak-kinds=definite,indirect,possible \
        --errors-for-leak-kinds=definite,indirect,possible --error-exitcode=9 \
        "build/release/bin/$example" >/dev/null
    echo "$example: no report"
done
