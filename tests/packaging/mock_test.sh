#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The installed mock, in a project of its own; the linker drops libraries that seem unused.
#
#   mock_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_moved runtime devel mock
consumer mock mock_executor_test.cpp
build_consumer mock -DCMAKE_PREFIX_PATH="$moved" -DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed
quietly "$scratch/mock/build/scheduler_test"
echo "mock_test.sh: built and run"
