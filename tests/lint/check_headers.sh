#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles every public header alone, and all of them together, as C99 and as C++11; together also
# with include/aclnn on the path, as some clients have it. The C++ interface, *.hpp, as C++17 and C++20, with
# and without exceptions; older compilers are told so.
#
#   check_headers.sh C-COMPILER C++-COMPILER
set -euo pipefail

cc=$1
cxx=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root/include"
flags=(-Wall -Wextra -Werror -pedantic -fsyntax-only)
# Graph mode has C++ headers: see check_graph_headers.sh. Those of testing/ need GoogleMock: tests/mock.
headers=$(find acl aclnn aclnnop advance_step hccl -name '*.h' -not -path '*/testing/*' | sort)
all=
count=0
for header in $headers; do
    name=$header
    all+="#include \"$name\""$'\n'
    echo "#include \"$name\"" | "$cc" -x c -std=c99 "${flags[@]}" -I. -
    echo "#include \"$name\"" | "$cxx" -x c++ -std=c++11 "${flags[@]}" -I. -
    count=$((count + 1))
done
for path in -I. "-I. -Iaclnn"; do
    # shellcheck disable=SC2086
    printf '%s' "$all" | "$cc" -x c -std=c99 "${flags[@]}" $path -
    # shellcheck disable=SC2086
    printf '%s' "$all" | "$cxx" -x c++ -std=c++11 "${flags[@]}" $path -
done
for header in $(find advance_step -name '*.hpp' | sort); do
    for dialect in c++17 c++20 "c++17 -fno-exceptions"; do
        # shellcheck disable=SC2086
        echo "#include \"$header\"" | "$cxx" -x c++ -std=$dialect "${flags[@]}" -Wshadow -I. -
    done
    count=$((count + 1))
done
if older=$(echo '#include "advance_step/advance_step.hpp"' |
               "$cxx" -x c++ -std=c++14 -fsyntax-only -I. - 2>&1) ||
        [[ $older != *"needs C++17"* ]]; then
    echo "advance_step.hpp does not tell C++14 what it needs" >&2
    exit 1
fi
if ((count < 6)); then
    echo "found only $count headers" >&2
    exit 1
fi
echo "$count headers compile alone, in every language that they are for"
