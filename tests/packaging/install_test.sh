#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The installed library serves programs in C and C++, shared and static, also after it was moved.
# Programs find it by find_package and by pkg-config.
#
#   install_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_moved runtime devel static mock
if grep -rIl "$(dirname "$moved")\|$root\|$build" "$moved" | grep .; then
    fail "installed files name the folder they came from"
fi
lib=$(dirname "$(find "$moved" -name libadvance_step.so)")
version=$(sed -n 's/^project(advance_step VERSION \([0-9.]*\).*/\1/p' "$root/CMakeLists.txt")
[[ -f $lib/libadvance_step.so.$version ]] || fail "no libadvance_step.so.$version"
readelf -d "$lib/libadvance_step.so" | grep "SONAME.*\[libadvance_step.so.${version%%.*}\]" >/dev/null ||
    fail "the SONAME is not of major version ${version%%.*}"
readelf --wide -V "$lib/libadvance_step.so" | grep -E "Name: ADVANCE_STEP_${version%%.*}( |$)" >/dev/null ||
    fail "the symbols are not of version ADVANCE_STEP_${version%%.*}"
for header in "$root"/include/advance_step/*.h*; do
    [[ -f $moved/include/advance_step/$(basename "$header") ]] || fail "$header is not installed"
done

consumer find_package advance_step.c decode_loop.cpp
build_consumer find_package -DCMAKE_PREFIX_PATH="$moved"
"$scratch/find_package/build/c_program" >/dev/null
"$scratch/find_package/build/cpp_program" >/dev/null

consumer static advance_step.c decode_loop.cpp
build_consumer static -DCMAKE_PREFIX_PATH="$moved"
"$scratch/static/build/c_program" >/dev/null
"$scratch/static/build/cpp_program" >/dev/null
if readelf -d "$scratch/static/build/c_program" | grep libadvance_step >/dev/null; then
    fail "a program of the archive needs the shared library"
fi

# pkg-config: the folder is that of the .pc file, not that of the installation.
mkdir "$scratch/pkg-config"
cp "$root/examples/advance_step.c" "$root/examples/decode_loop.cpp" "$scratch/pkg-config/"
[[ $(PKG_CONFIG_PATH=$lib/pkgconfig pkg-config --modversion advance_step) == "$version" ]] ||
    fail "advance_step.pc is not of version $version"
snippet pkg-config >"$scratch/pkg-config/build.sh"
(cd "$scratch/pkg-config" && export PKG_CONFIG_PATH=$lib/pkgconfig && quietly bash -e build.sh)
(cd "$scratch/pkg-config" && LD_LIBRARY_PATH=$lib ./c_program >/dev/null &&
    LD_LIBRARY_PATH=$lib ./cpp_program >/dev/null)

# A version that is not there, and a component.
sed -i "s/find_package(advance_step/& 9.0/" "$scratch/find_package/CMakeLists.txt"
if cmake -S "$scratch/find_package" -B "$scratch/find_package/nine" \
    -DCMAKE_PREFIX_PATH="$moved" >"$scratch/log" 2>&1; then
    fail "find_package takes version $version for 9.0"
fi
sed -i "s/advance_step 9.0/advance_step/; s/REQUIRED/& COMPONENTS graph/" \
    "$scratch/find_package/CMakeLists.txt"
if cmake -S "$scratch/find_package" -B "$scratch/find_package/graph" \
    -DCMAKE_PREFIX_PATH="$moved" >"$scratch/log" 2>&1 ||
    ! grep -q "no component graph" "$scratch/log"; then
    fail "find_package finds a component that is not installed"
fi
echo "install_test.sh: installed, moved, linked and run"
