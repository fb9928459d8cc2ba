#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The Debian packages: made, looked at, installed, built against, removed. Installing needs root;
# without it the test ends with 77 after the look.
#
#   deb_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

quietly cpack -G DEB --config "$build/CPackConfig.cmake" -B "$scratch/debs"
debs=("$scratch"/debs/*.deb)
((${#debs[@]} == 6)) || fail "made ${#debs[@]} packages instead of 6"
for deb in "${debs[@]}"; do
    name=$(dpkg-deb --field "$deb" Package)
    packages+=("$name")
    # Files of root, in Debian's folders, not writable for others; nothing of CANN's.
    if dpkg-deb --contents "$deb" | awk '$2 != "root/root" || ($1 !~ /^l/ && $1 ~ /^.....w|^........w/)' | grep .; then
        fail "$name has files with wrong owners or modes"
    fi
    if dpkg-deb --contents "$deb" | awk '{print $6}' |
        grep -vE '^\./(usr/((bin|lib|include|share)/.*|bin|lib|include|share)?)?$'; then
        fail "$name has files outside /usr/bin, /usr/lib, /usr/include and /usr/share"
    fi
    dpkg-deb --contents "$deb" | grep -F " ./usr/share/doc/$name/copyright" >/dev/null || fail "$name has no licence"
    if dpkg-deb --contents "$deb" | grep -E 'ascendcl|opapi|set_env|__pycache__'; then
        fail "$name has files that belong into no package"
    fi
done
for library in $(printf '%s\n' "${debs[@]}" | grep -E '/libadvance-step(-graph)?[0-9]+_'); do
    name=$(basename "$library")
    needed=$(dpkg-deb --field "$library" Depends)
    [[ $needed == *"libc6 (>= "*"libstdc++6 (>= "* ]] || fail "$name does not depend on the libraries that it needs"
    if [[ $name == *-graph* && $needed != *"libadvance-step0 (= "* ]]; then
        fail "$name does not depend on the library that graph mode calls"
    fi
    dpkg-deb --ctrl-tarfile "$library" | tar -xO ./triggers | grep ldconfig >/dev/null ||
        fail "$name does not run ldconfig"
    libraries+=("$name")
done
((${#libraries[@]} == 2)) || fail "made ${#libraries[@]} packages of a library instead of 2"
# Other packages have files of CANN's link names: they are on no default path.
for deb in "${debs[@]}"; do
    if dpkg-deb --contents "$deb" | awk '{print $6}' |
        grep -E '^\./usr/lib/([^/]*-linux-gnu/)?lib(graph|ge_)[^/]*$'; then
        fail "$(basename "$deb") has a link name of CANN's on a default path"
    fi
done

if ((EUID != 0)); then
    echo "deb_test.sh: skipped: installing the packages needs root"
    exit 77
fi
if dpkg-query --show "${packages[@]}" >/dev/null 2>&1; then
    echo "deb_test.sh: skipped: such packages are installed here already"
    exit 77
fi
remove() { dpkg --purge "${packages[@]}" >/dev/null 2>&1 || true; }
trap 'remove; rm -rf "$scratch"' EXIT
quietly dpkg --install "${debs[@]}"
(cd / && serve --limit 3 --summary "$scratch/served.json" >/dev/null) || fail "the installed serve does not serve"
(cd / && serve --limit 3 /usr/share/advance_step/sample_trace.csv >/dev/null) || fail "no sample is installed"
if command -v help2man >/dev/null; then
    # Asked of the package: systems without pages do not unpack it.
    for deb in "${debs[@]}"; do
        dpkg-deb --contents "$deb"
    done | grep 'man/man1/serve\.1' >/dev/null || fail "serve has no manual page"
fi
consumer find_package advance_step.c decode_loop.cpp
build_consumer find_package
"$scratch/find_package/build/c_program" >/dev/null
"${CC:-gcc}" "$root/examples/advance_step.c" -o "$scratch/plain" $(pkg-config --cflags --libs advance_step)
"$scratch/plain" >/dev/null # found by ldconfig
graph=$root/examples/graph_classic.cpp
mkdir "$scratch/graph"
cat >"$scratch/graph/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.20)
project(client LANGUAGES CXX)
find_package(advance_step REQUIRED COMPONENTS graph)
add_executable(program $graph)
target_link_libraries(program PRIVATE advance_step::graph)
END
build_consumer graph
"${CXX:-g++}" "$graph" -o "$scratch/graph_plain" $(pkg-config --cflags --libs advance_step_graph)
# The command line of CANN's samples.
"${CXX:-g++}" -I /usr/include/graph -I /usr/include/ge -I /usr/share/advance_step/opp/built-in/op_proto/inc \
    "$graph" -o "$scratch/graph_cann" -L /usr/lib/ge-compat -lgraph -lge_runner -lgraph_base -lge_compiler
for program in graph/build/program graph_plain graph_cann; do
    "$scratch/$program" "$scratch/dump" >/dev/null
    grep -q 'operator "advance_step" of type AdvanceStep' "$scratch/dump.txt" || fail "$program: no dump of the graph"
    rm "$scratch/dump.txt"
done
(cd / && env -u PYTHONPATH -u ADVANCE_STEP_LIBRARY -u PYTHONDONTWRITEBYTECODE /usr/bin/python3 -c \
    'import advance_step; assert advance_step.__file__.startswith("/usr/lib/python3/")')
mapfile -t installed < <(dpkg --listfiles "${packages[@]}" | grep -E 'advance|aclnn' || true)
quietly dpkg --purge "${packages[@]}"
for file in "${installed[@]}"; do
    [[ ! -e $file ]] || fail "$file is left after the packages were removed"
done
if ldconfig -p | grep libadvance_step; then
    fail "the loader still knows the library"
fi
echo "deb_test.sh: ${packages[*]}: installed, used, removed"
