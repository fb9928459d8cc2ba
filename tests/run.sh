#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds and runs the tests, in parts:
#
#   quick     lints; unit, conformance and fault tests without sanitizers, compiled by g++; with tsan after it
#             only those in which no threads meet, of the library of release, and schedules of threads for 20 seconds
#   dev       every test with the address and undefined-behaviour sanitizers, compiled by clang; the fuzz
#             targets on their corpora and for a short while on new inputs
#   tsan      the tests in which threads meet, with the thread sanitizer, compiled by clang
#   release   the library as users get it: its packages, the Python tests, C programs under valgrind
#
#   tests/run.sh            all of them
#   tests/run.sh --quick    the first: what a change needs before it is committed
#   tests/run.sh dev tsan   these
#   tests/run.sh --install [PART ...]   only the Debian packages that they need
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)
cd "$root"
source examples/parts.sh
jobs=$(nproc)

usage() {
    awk '/^[^#]/ { exit } !/^#!|SPDX/ { sub(/^# ?/, ""); print }' "$0" >&2
    exit 2
}

install_for_quick() {
    examples/install_packages.sh libbenchmark-dev libgtest-dev libgmock-dev abigail-tools \
        clang-format doxygen lld python3
}
install_for_all() {
    examples/install_packages.sh libbenchmark-dev libgtest-dev libgmock-dev abigail-tools chromium \
        clang clang-format doxygen \
        dpkg-dev fonts-dejavu-core libclang-rt-dev libopenmpi-dev libxxhash-dev lld openmpi-bin \
        pkg-config python3 python3-venv valgrind
}

# configure PRESET: anew, without what was set in this tree by hand.
configure() {
    local options=()
    if [[ $1 == release ]]; then
        options=(-DADVANCE_STEP_BUILD_TESTS=ON -DADVANCE_STEP_BUILD_BENCHMARKS=ON)
    fi
    cmake --fresh --preset "$1" "${options[@]}"
}
# build NAME PRESET [TARGET ...]: prints first how many steps it takes.
build() {
    configure "$2"
    tests/lint/check_budgets.py steps "$1" "build/$2" "${@:3}"
    cmake --build "build/$2" --target "${@:3}"
}

run_quick() {
    local preset=quick targets=(quick_tests) labels='quick|lint' left_out=()
    if [[ " ${parts[*]} " == *" tsan "* ]]; then
        preset=release
        targets=(unthreaded_tests full_run)
        labels+='|full_run'
        left_out=(-LE concurrent)
    fi
    build quick "$preset" "${targets[@]}"
    tests/lint/check_budgets.py headers quick "build/$preset"
    tests/lint/warn_of_prose.py
    ctest --test-dir "build/$preset" -j "$jobs" --output-on-failure --no-tests=error \
        -L "^($labels)\$" "${left_out[@]}"
}
run_dev() {
    build dev dev all
    tests/lint/check_budgets.py headers dev build/dev
    ctest --preset dev -j "$jobs" --no-tests=error
    local targets=(tests/fuzz/corpus/*/)
    tests/fuzz/run.sh --seconds "$(($(tests/lint/check_budgets.py seconds fuzz) / ${#targets[@]}))"
}
run_tsan() {
    build tsan tsan concurrent_tests
    ctest --preset tsan -j "$jobs" --no-tests=error -L concurrent
}
run_release() {
    configure release
    tests/lint/check_budgets.py steps serve build/release serve
    cmake --build build/release --target advance_step advance_step_archive advance_step_cann advance_step_graph \
        dashboard cookbook serve step_example step_loop tutorial
    ctest --test-dir build/release --no-tests=error -R '^dashboard$'
    tests/packaging/run.sh build/release
    tests/operators/run.sh || (($? == 77)) # skipped
    # A library with sanitizers would have to be preloaded into python3, torch and all.
    tests/python/run.sh || (($? == 77)) # skipped
    tests/torch_npu/run.sh || (($? == 77)) # skipped
    tests/memcheck.sh || (($? == 77)) # skipped
}

parts=("$@")
only_install=
if [[ ${parts[0]:-} == --install ]]; then
    only_install=yes
    parts=("${parts[@]:1}")
fi
for name in "${parts[@]}"; do
    if [[ ! $name =~ ^(--quick|quick|dev|tsan|release)$ ]]; then
        echo "run.sh: $name is no part; expected quick, dev, tsan or release" >&2
        usage
    fi
done
parts=("${parts[@]/#--quick/quick}")
if [[ ${parts[*]} == quick ]]; then
    part packages "Debian packages that are missing" install_for_quick
else
    ((${#parts[@]} > 0)) || parts=(quick dev tsan release)
    part packages "Debian packages that are missing; two minutes on a new machine" install_for_all
fi
if [[ $only_install ]]; then
    parts_done
    exit
fi
# The minutes are those of machines with two cores, faster and slower ones, where nothing is built yet.
for name in "${parts[@]}"; do
    case $name in
        quick) part quick "lints, tests without sanitizers; 3 to 6 minutes" run_quick ;;
        dev) part dev "every test with address and undefined-behaviour sanitizers; 9 to 20 minutes" run_dev ;;
        tsan) part tsan "tests in which threads meet, with the thread sanitizer; 4 to 10 minutes" run_tsan ;;
        release) part release "packages, Python, torch_npu, valgrind; 8 to 20 minutes" run_release ;;
    esac
done
parts_done
