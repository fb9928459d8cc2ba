#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CANN's operators, installed: programs compute, by calls and in a graph, or without libtorch they
# say how to get it.
#
#   operators_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ! -e $build/lib/libadvance_step_operators.so ]]; then
    echo "operators_test.sh: skipped: the build folder has no operators"
    exit 77
fi
install_to "$scratch/first" runtime devel operators graph_runtime graph
mv "$scratch/first" "$scratch/moved"
sources=("$root"/examples/aclnn_llama/*.{h,cpp})
consumer operators check.h "${sources[@]#"$root/examples/"}"
build_consumer operators -DCMAKE_PREFIX_PATH="$scratch/moved"

# A graph of their types, without CMake, as docs/graph_mode.md says.
I=$scratch/moved/include
"${CXX:-g++}" -I "$I/graph" -I "$I/ge" -I "$I" -I "$scratch/moved/share/advance_step/opp/built-in/op_proto/inc" \
    "$root/examples/graph_network.cpp" -o "$scratch/graph_network" -L "$scratch/moved/lib" -ladvance_step_graph \
    -Wl,-rpath,"$scratch/moved/lib"
if [[ -e $scratch/moved/lib/libadvance_step_aten.so ]]; then
    quietly "$scratch/graph_network"
    grep -q "the graph's odds are those of plain loops" "$scratch/log" || fail "the odds differ"
else
    ! "$scratch/graph_network" >"$scratch/log" 2>&1 || fail "a graph computed without libtorch"
    grep -q "its kernels need libtorch" "$scratch/log" || fail "the graph's refusal does not name libtorch"
fi
if [[ -e $scratch/moved/lib/libadvance_step_aten.so ]]; then
    quietly "$scratch/operators/build/aclnn_llama"
    grep -q "replayed: .* equal to those of plain loops" "$scratch/log" || fail "the tokens differ"
else
    ! "$scratch/operators/build/aclnn_llama" >"$scratch/log" 2>&1 || fail "computed without libtorch"
    grep -q "GetWorkspaceSize: its kernels need libtorch .* docs/aclnn.md says how to get them" "$scratch/log" ||
        fail "the refusal does not name libtorch"
fi
echo "operators_test.sh: built and run"
