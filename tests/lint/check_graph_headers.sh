#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compiles the headers of graph mode with the include paths of CANN's samples: every header alone
# under its long name, every short name before all others, and all together; as C++17 and C++20,
# without and with SUCCESS and FAILED as macros of the program.
#
#   check_graph_headers.sh C++-COMPILER
set -euo pipefail

cxx=$1
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
paths=(-Iinclude/graph -Iinclude/ge -Iinclude -Iopp/built-in/op_proto/inc)
warnings=(-Wall -Wextra -Wpedantic -Wshadow -Werror)
flags=("${warnings[@]}" -fsyntax-only -x c++)

short=$(cd include && find graph ge -name '*.h' -printf '%f\n' | sort -u)
long=$(cd include && find adxl graph ge op_graph register -name '*.h' | sort)
protos=$(cd opp/built-in/op_proto/inc && find . -name '*.h' -printf '%f\n' | sort)
few=$(grep -vE '^(computed|all)_ops\.h$' <<<"$protos")
longer=($long ../op_graph/advance_step_proto.h ../op_graph/step_proto.h)
# What a program writes behind its includes.
types=$'namespace ge {\nREG_OP(OfTheProgram)\n    .INPUT(x, T)\n    .OUTPUT(x, T)\n'
types+=$'    .ATTR(list, ListInt, {1, 2})\n    .REQUIRED_ATTR(flag, Bool)\n'
types+=$'    .OP_END_FACTORY_REG(OfTheProgram)\n}\n'
macros=$'#define SUCCESS 0\n#define FAILED -1\n'

compile() {  # standard, source, further flags
    printf '%s' "$2" | "$cxx" "-std=$1" "${flags[@]}" "${paths[@]}" "${@:3}" - || {
        echo "does not compile as $1:" >&2
        printf '%s' "$2" >&2
        exit 1
    }
}

# The orders of the project's headers are tried with the standard library's parsed once. That each header
# includes what it needs is seen where it is compiled alone.
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for standard in c++17 c++20; do
    mkdir "$scratch/$standard"
    { grep -hoE '^#include <[a-z_]+>' -r include/graph include/ge include/register || true; } | sort -u \
        >"$scratch/$standard/std.h"
    "$cxx" "-std=$standard" "${warnings[@]}" -x c++-header "$scratch/$standard/std.h" \
        -o "$scratch/$standard/std.h.gch"
done

all=
for name in "${longer[@]}"; do
    line="#include \"$name\""$'\n'
    compile c++17 "$line"
    all+=$line
done
for name in $short $protos; do
    all+="#include \"$name\""$'\n'
done
orders=0
for first in $short $protos; do
    rest=
    # The types that compute take a second to parse, so they are tried behind the types of other headers alone.
    seconds=$short$'\n'$few
    grep -qx "$first" <<<"$protos" && seconds=$short$'\n'$protos
    for second in $seconds; do
        rest="#include \"$second\""$'\n'"$rest"
    done
    compile c++17 "#include \"$first\""$'\n'"$rest" -include "$scratch/c++17/std.h"
    compile c++20 "$macros#include \"$first\""$'\n'"$rest" -include "$scratch/c++20/std.h"
    orders=$((orders + 1))
done
compile gnu++17 "$all$types"
compile gnu++17 "$all$macros$types"
compile gnu++17 "$macros$all$types"
compile gnu++17 "$macros#include \"operator_reg.h\""$'\n'"$types"
if ((${#longer[@]} < 15 || orders < 15)); then
    echo "found only ${#longer[@]} headers, $orders short names" >&2
    exit 1
fi
echo "${#longer[@]} headers compile alone, and under $orders short names before all others"
