#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The published torch_npu on the emulated device, in a virtual environment of its own.
#
#   run.sh [PYTEST-ARGUMENT ...]
#
# builds the wheel of the release preset, installs it with torch and torch_npu in build/torch_npu,
# and runs pytest there: these tests, or those that the arguments name. Exit status 77: the environment cannot be had, and CI is not set.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
environment=$root/build/torch_npu
packages=(torch==2.13.0 torch_npu==2.13.0 numpy pyyaml pytest pytest-xdist setuptools wheel)

skip() {
    if [[ ${CI:-} ]]; then
        echo "torch_npu/run.sh: $*" >&2
        exit 1
    fi
    echo "torch_npu/run.sh: skipped: $*"
    exit 77
}

# The wheel of torch_npu is one for CPython 3.11.
python=
for candidate in python3.11 /usr/bin/python3.11 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' \
        >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done
[[ $python ]] || skip "no Python 3.11 with venv; expected the Debian packages python3 and python3-venv"
[[ $(uname -m) == x86_64 ]] || skip "torch_npu is tried on x86_64 only, and this is $(uname -m)"

if [[ $(cat "$environment/packages" 2>/dev/null) != "${packages[*]}" ]]; then
    rm -rf "$environment"
    "$python" -m venv "$environment"
    mkdir -p "$environment/tmp"
    if ! TMPDIR=$environment/tmp "$environment/bin/pip" --quiet --disable-pip-version-check install \
        --no-cache-dir "${packages[@]}" >"$environment/log" 2>&1; then
        tail -5 "$environment/log" >&2
        skip "the package index does not give ${packages[*]}"
    fi
    echo "${packages[*]}" >"$environment/packages"
fi

cd "$root"
if [[ ! -e build/release/CMakeCache.txt ]]; then
    cmake --preset release >/dev/null
fi
cmake --build build/release --target advance_step advance_step_cann
# From a copy, because pip writes into the folder that it builds.
rm -rf "$environment/source"
cp -r src/python "$environment/source"
ADVANCE_STEP_BUILD=$root/build/release "$environment/bin/pip" --quiet --disable-pip-version-check \
    install --no-deps --no-index --no-build-isolation --force-reinstall "$environment/source"
# Without the variables of another prefix or library.
unset ASCEND_HOME_PATH ASCEND_OPP_PATH ASCEND_TOOLKIT_HOME LD_LIBRARY_PATH ADVANCE_STEP_LIBRARY
unset PYTHONPATH ADVANCE_STEP_MEMORY
for argument in "$@"; do
    if [[ -e ${argument%%::*} ]]; then
        folder=
    fi
done
# Most of the time goes into programs of their own, so two run at a time.
exec "$environment/bin/python" -B -m advance_step.torch_npu -m pytest -q -p no:cacheprovider -n 2 \
    "$@" ${folder:+"$folder"}
