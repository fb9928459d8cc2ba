#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The project as a part of another one, by FetchContent: its tests and examples are not built.
#
#   subproject_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

consumer fetch_content advance_step.c decode_loop.cpp
# Without optimisation: it is the build that is tested. Each file by itself, which no preset does: all must
# include what they need.
quietly cmake -G Ninja -S "$scratch/fetch_content" -B "$scratch/fetch_content/build" \
    -DFETCHCONTENT_SOURCE_DIR_ADVANCE_STEP="$root" -DCMAKE_BUILD_TYPE=Debug \
    -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DADVANCE_STEP_LTO=OFF -DADVANCE_STEP_UNITY=OFF -DADVANCE_STEP_WERROR=ON
[[ ! -e $scratch/fetch_content/build/compile_commands.json ]] ||
    fail "the subproject sets variables of the whole project"
quietly cmake --build "$scratch/fetch_content/build" --target c_program cpp_program \
    advance_step_graph
"$scratch/fetch_content/build/c_program" >/dev/null
"$scratch/fetch_content/build/cpp_program" >/dev/null
echo "subproject_test.sh: built and run"
