#!/usr/bin/env bash
# Installs what is missing, builds and runs every test: the dev preset (address and
# undefined-behaviour sanitizers), then under the thread sanitizer the tests in which threads meet,
# then the Python tests with the library of the release preset, since one with sanitizers would have to
# be preloaded into python3, torch and all; the C examples under valgrind; and every fuzz target for a
# short while.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

"$root/examples/install_packages.sh" libgtest-dev libgmock-dev libbenchmark-dev abigail-tools \
    chromium clang doxygen dpkg-dev fonts-dejavu-core libclang-rt-dev libopenmpi-dev libxxhash-dev \
    openmpi-bin pkg-config python3 python3-numpy python3-pip python3-pytest python3-setuptools \
    python3-torch python3-wheel valgrind
jobs=$(nproc)

cmake --preset dev
cmake --build --preset dev
ctest --preset dev -j "$jobs"

cmake --preset tsan
cmake --build --preset tsan --target concurrent_tests
ctest --preset tsan -j "$jobs" -L concurrent

cmake --preset release
cmake --build --preset release --target advance_step advance_step_archive
tests/packaging/run.sh build/release
python=python3
if ! "$python" -c 'import numpy, pytest, torch' 2>/dev/null; then
    python=/usr/bin/python3 # that of the packages, where PATH has another one first
fi
ADVANCE_STEP_LIBRARY="$root/build/release/lib/libadvance_step.so" \
    "$python" -B -m pytest -q -p no:cacheprovider tests/python

"$root/tests/memcheck.sh" || (($? == 77)) # skipped
if command -v clang++ >/dev/null; then
    "$root/tests/fuzz/run.sh" --seconds 5
fi
