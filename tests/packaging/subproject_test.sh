#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The project as a part of another one, by FetchContent: its tests and examples are not built. It is
# the copy to which docs/internals/adding_an_operator.md adds an operator: one build tests both.
#
#   subproject_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

consumer fetch_content advance_step.c decode_loop.cpp

# Without optimisation: it is the build that is tested. Each file by itself, which no preset does: all must
# include what they need. clang takes a fifth less CPU than
# g++, by which the presets quick and release are built.
compilers=
if command -v clang++ >/dev/null; then
    compilers="-DCMAKE_C_COMPILER=clang -DCMAKE_CXX_COMPILER=clang++"
fi
cat >"$scratch/build_subproject" <<EOF
#!/usr/bin/env bash
set -euo pipefail
cd "$scratch/fetch_content"
cmake -G Ninja -S . -B build -DFETCHCONTENT_SOURCE_DIR_ADVANCE_STEP="\$1" -DCMAKE_BUILD_TYPE=Debug \\
    $compilers -DCMAKE_CXX_FLAGS_DEBUG=-O0 -DADVANCE_STEP_LTO=OFF -DADVANCE_STEP_WERROR=ON
[[ ! -e build/compile_commands.json ]] || { echo "the subproject sets variables of the whole project"; exit 1; }
cmake --build build --target c_program cpp_program advance_step_graph
echo "$scratch/fetch_content/build/_deps/advance_step-build/lib"
EOF
chmod +x "$scratch/build_subproject"
"$root/tests/packaging/operator_page_test.py" "$scratch/build_subproject"
"$scratch/fetch_content/build/c_program" >/dev/null
"$scratch/fetch_content/build/cpp_program" >/dev/null
echo "subproject_test.sh: built and run"
