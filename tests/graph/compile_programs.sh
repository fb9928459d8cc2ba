#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles programs with the include paths of CANN's samples, without -std as they do, and as C++20.
# lint_graph_headers has C++17. What is not provided must not compile.
#
#   compile_programs.sh C++-COMPILER
set -euo pipefail

cxx=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
include=$root/include
paths=(-I "$include/graph" -I "$include/ge" -I "$include" -I "$include/external"
       -I "$root/opp/built-in/op_proto/inc")
programs=$root/tests/graph/programs
cases=16
# The classic macro moves a pointer along its text, as those of CANN's samples do.
warnings=(-Wall -Wextra -Werror -Wno-string-plus-int)

count=0
for program in "$programs"/*.cpp "$root"/examples/graph_classic.cpp; do
    for standard in "" -std=c++20; do
        # shellcheck disable=SC2086
        "$cxx" $standard "${warnings[@]}" -fsyntax-only "${paths[@]}" -DCASE=0 "$program"
    done
    count=$((count + 1))
done
for ((number = 1; number <= cases; number++)); do
    if "$cxx" -fsyntax-only "${paths[@]}" "-DCASE=$number" "$programs/refused.cpp" 2>/dev/null; then
        echo "refused.cpp compiles with CASE $number" >&2
        exit 1
    fi
done
if grep -q "CASE == $((cases + 1))" "$programs/refused.cpp" ||
   ! grep -q "CASE == $cases " <(sed 's/$/ /' "$programs/refused.cpp") || ((count < 7)); then
    echo "the numbers of cases and programs are not those of the files" >&2
    exit 1
fi
echo "$count programs compile, $cases cases do not"
