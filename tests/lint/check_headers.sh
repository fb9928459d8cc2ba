#!/usr/bin/env bash
# Compiles every public header alone, and all of them together, as C99 and as C++11; also with
# include/aclnn on the path, as some clients have it.
#
#   check_headers.sh C-COMPILER C++-COMPILER
set -euo pipefail

cc=$1
cxx=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root/include"
flags=(-Wall -Wextra -Werror -pedantic -fsyntax-only)
# Graph mode has C++ headers: see check_graph_headers.sh. Those of testing/ need GoogleMock: tests/mock.
headers=$(find acl aclnn aclnnop advance_step -name '*.h' -not -path '*/testing/*' | sort)
all=
count=0
for header in $headers; do
    name=$header
    all+="#include \"$name\""$'\n'
    for path in "-I." "-I. -Iaclnn"; do
        # shellcheck disable=SC2086
        echo "#include \"$name\"" | "$cc" -x c -std=c99 "${flags[@]}" $path -
        # shellcheck disable=SC2086
        echo "#include \"$name\"" | "$cxx" -x c++ -std=c++11 "${flags[@]}" $path -
    done
    count=$((count + 1))
done
printf '%s' "$all" | "$cc" -x c -std=c99 "${flags[@]}" -I. -
printf '%s' "$all" | "$cxx" -x c++ -std=c++11 "${flags[@]}" -I. -
if ((count < 6)); then
    echo "found only $count headers" >&2
    exit 1
fi
echo "$count headers compile as C99 and as C++11"
