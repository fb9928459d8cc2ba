#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs, then builds programs against what is installed: with CANN's usual include and link
# lines, and with the CMake package, and runs them.
#
#   install_test.sh CMAKE BUILD-FOLDER C++-COMPILER LIBRARY-FOLDER SANITIZERS
set -euo pipefail

cmake=$1
build=$2
cxx=$3
libdir=$4
sanitizers=$5
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
flags=()
if [[ -n $sanitizers ]]; then
    flags=("-fsanitize=$sanitizers")
fi

for component in graph_runtime graph; do
    "$cmake" --install "$build" --prefix "$scratch/graph" --component "$component" >/dev/null
done
"$cmake" --install "$build" --prefix "$scratch/all" >/dev/null
if [[ -e $scratch/graph/include/acl || ! -e $scratch/graph/include/ge/ge_api.h ||
      -e $scratch/graph/$libdir/libadvance_step.so ]]; then
    echo "component graph does not have what is its own" >&2
    exit 1
fi

# As CANN's samples: the folders of headers, four libraries by their names, no -std.
I=$scratch/all/include
lib=$scratch/all/$libdir
cann=(-I "$I/graph" -I "$I/ge" -I "$I" -I "$I/external" -I "$I/../x86_64-linux/include"
      -I "$scratch/all/share/advance_step/opp/built-in/op_proto/inc")
link=(-L "$lib/ge-compat" -L "$lib" -lgraph -lge_runner -lgraph_base -lge_compiler
      "-Wl,-rpath,$lib")
"$cxx" "${flags[@]}" "${cann[@]}" "$root/examples/graph_classic.cpp" -o "$scratch/classic" "${link[@]}"
"$scratch/classic" "$scratch/dump" >/dev/null
grep -q "operator \"advance_step\" of type AdvanceStep" "$scratch/dump.txt"

# Two files of one program that both register the same types, one of them with a Data of its own.
programs=$root/tests/graph/programs
"$cxx" "${flags[@]}" "${cann[@]}" -Dmain=Other -c "$programs/new_includes.cpp" -o "$scratch/new.o"
"$cxx" "${flags[@]}" "${cann[@]}" "$programs/own_data.cpp" "$scratch/new.o" -o "$scratch/two" "${link[@]}"
"$scratch/two"

# The default path has none of these names.
if compgen -G "$lib/libg*" >/dev/null; then
    echo "a link name of CANN's is on the default path" >&2
    exit 1
fi

mkdir "$scratch/client"
cp "$root/examples/graph_classic.cpp" "$scratch/client/main.cpp"
cat >"$scratch/client/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.20)
project(client LANGUAGES CXX)
find_package(advance_step REQUIRED COMPONENTS graph)
add_executable(client main.cpp)
target_link_libraries(client PRIVATE advance_step::graph)
# A module that needs nothing of graph mode.
add_library(plain SHARED plain.cpp)
target_link_libraries(plain PRIVATE advance_step::advance_step)
END
echo '#include "acl/acl.h"' >"$scratch/client/plain.cpp"
configure() {
    "$cmake" -S "$scratch/client" -B "$scratch/client/$1" -DCMAKE_PREFIX_PATH="$scratch/all" \
        -DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_CXX_FLAGS="${flags[*]}" >"$scratch/log" 2>&1
}
configure build || { cat "$scratch/log"; exit 1; }
"$cmake" --build "$scratch/client/build" >"$scratch/log" 2>&1 || { cat "$scratch/log"; exit 1; }
"$scratch/client/build/client" >/dev/null

# Without the component the package has the rest, and says what is missing.
rm "$lib"/cmake/advance_step/advance_step_graph-targets*
if configure missing || ! grep -q "no component graph" "$scratch/log"; then
    echo "find_package finds a component that is not installed" >&2
    exit 1
fi
sed -i 's/ COMPONENTS graph//; /client/d' "$scratch/client/CMakeLists.txt"
sed -i '1a project(plain LANGUAGES CXX)' "$scratch/client/CMakeLists.txt"
configure plain || { cat "$scratch/log"; exit 1; }
echo "installed, linked and run"
