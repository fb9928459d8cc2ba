#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library as it is released, and the soak, and runs an hour of virtual service:
# 11,520,000 steps. Options go to the soak, tests/stress/soak.cpp says which.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

"$root/examples/install_packages.sh" libgtest-dev libgmock-dev
cmake --preset release -B build/soak -DADVANCE_STEP_BUILD_TESTS=ON
cmake --build build/soak --target soak
exec build/soak/bin/soak "$@"
