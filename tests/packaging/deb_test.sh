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
((${#debs[@]} == 3)) || fail "made ${#debs[@]} packages instead of 3"
for deb in "${debs[@]}"; do
    name=$(dpkg-deb --field "$deb" Package)
    packages+=("$name")
    # Files of root, in Debian's folders, not writable for others; nothing of CANN's.
    if dpkg-deb --contents "$deb" | awk '$2 != "root/root" || ($1 !~ /^l/ && $1 ~ /^.....w|^........w/)' | grep .; then
        fail "$name has files with wrong owners or modes"
    fi
    if dpkg-deb --contents "$deb" | awk '{print $6}' |
        grep -vE '^\./(usr/((lib|include|share)/.*|lib|include|share)?)?$'; then
        fail "$name has files outside /usr/lib, /usr/include and /usr/share"
    fi
    if dpkg-deb --contents "$deb" | grep -E 'ascendcl|opapi|set_env|__pycache__'; then
        fail "$name has files that belong into no package"
    fi
done
library=$(printf '%s\n' "${debs[@]}" | grep -E '/libadvance-step[0-9]+_')
dpkg-deb --field "$library" Depends | grep 'libc6 (>= .*libstdc++6 (>= ' >/dev/null ||
    fail "$(basename "$library") does not depend on the libraries that it needs"
dpkg-deb --ctrl-tarfile "$library" | tar -xO ./triggers | grep ldconfig >/dev/null ||
    fail "$(basename "$library") does not run ldconfig"

if ((EUID != 0)); then
    echo "deb_test.sh: skipped: installing the packages needs root"
    exit 77
fi
if dpkg-query --show "${packages[@]}" >/dev/null 2>&1; then
    echo "deb_test.sh: skipped: such packages are installed here already"
    exit 77
fi
remove() { dpkg --remove "${packages[@]}" >/dev/null 2>&1 || true; }
trap 'remove; rm -rf "$scratch"' EXIT
quietly dpkg --install "${debs[@]}"
consumer find_package advance_step.c decode_loop.cpp
build_consumer find_package
"$scratch/find_package/build/c_program" >/dev/null
"${CC:-gcc}" "$root/examples/advance_step.c" -o "$scratch/plain" $(pkg-config --cflags --libs advance_step)
"$scratch/plain" >/dev/null # found by ldconfig
(cd / && env -u PYTHONPATH -u ADVANCE_STEP_LIBRARY /usr/bin/python3 -B -c \
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
