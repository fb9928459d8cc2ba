#!/usr/bin/env bash
# Installs what is missing, builds and runs every test: the dev preset (address and
# undefined-behaviour sanitizers), then under the thread sanitizer the tests in which threads meet.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

"$root/examples/install_packages.sh" libgtest-dev libgmock-dev python3
jobs=$(nproc)

cmake --preset dev
cmake --build --preset dev
ctest --preset dev -j "$jobs"

cmake --preset tsan
cmake --build --preset tsan --target concurrent_tests
ctest --preset tsan -j "$jobs" -L concurrent
