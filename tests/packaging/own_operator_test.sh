#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# examples/own_operator builds and runs out of the tree, against the installed library only: by
# find_package with its tests, by pkg-config, and from Python.
#
#   own_operator_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

unset PACKAGING_INSTALLED  # the prefix of the other tests has no graph mode
install_moved runtime devel static mock graph_runtime graph
lib=$(dirname "$(find "$moved" -name libadvance_step.so)")
project=$scratch/own_operator
cp -r "$root/examples/own_operator" "$project"
# Linkers of some systems drop libraries that seem unused.
quietly cmake -G Ninja -S "$project" -B "$project/build" -DCMAKE_PREFIX_PATH="$moved" \
    -DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed \
    -DCMAKE_CXX_FLAGS="-O1 -Wall -Wextra -Wpedantic -Wshadow -Werror"
quietly cmake --build "$project/build"
quietly ctest --test-dir "$project/build" --output-on-failure
(export PKG_CONFIG_PATH=$lib/pkgconfig && quietly "$project/build.sh" "$scratch/plain")
sum=$(LD_LIBRARY_PATH=$lib python3 "$project/add.py" "$scratch/plain/libcust_opapi.so")
[[ $sum == "[21, 22, 23]" ]] || fail "add.py prints $sum"
exported=$(nm -D --defined-only "$scratch/plain/libcust_opapi.so" | awk '$2 == "T" { print $3 }' |
    grep -v '^aclnn' || true)
[[ -z $exported ]] || fail "libcust_opapi.so exports more than the calls: $exported"

# refused SED-EXPRESSION RULE: the compiler refuses a changed operator with the rule.
refused() {
    sed "$1" "$project/aclnn_add.cpp" >"$project/wrong.cpp"
    if "${CXX:-c++}" -std=c++17 -fsyntax-only -I"$moved/include" "$project/wrong.cpp" \
        >"$scratch/log" 2>&1 || ! grep "$2" "$scratch/log" >/dev/null; then
        fail "after $1 it compiles, or the error does not say: $2"
    fi
}
refused 's/offsetof(AddPayload, other)/offsetof(AddPayload, self)/' \
    "every addressAt is the offset of a pointer of its own"
refused 's/{"other", op::/{"self", op::/' "every tensor needs a name of its own"
refused 's/kAttributes\[\] = {"alpha"}/kAttributes[] = {"alpha", "beta"}/' \
    "one name for each attribute of the call"
refused 's/kName\[\] = "aclnnAdd"/kName[] = "aclnnSum"/' "it is the name of phase two, aclnnAdd"
echo "own_operator_test.sh: built by find_package and pkg-config, tested, called from Python"
