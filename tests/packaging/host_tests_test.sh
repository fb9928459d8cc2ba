#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The project of docs/ci.md, examples/host_tests, in an empty folder with the installed library.
#
#   host_tests_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_moved runtime devel
cp -r "$root/examples/host_tests" "$scratch/host_tests"
build_consumer host_tests -DCMAKE_PREFIX_PATH="$moved"
quietly ctest --test-dir "$scratch/host_tests/build" --output-on-failure --no-tests=error

# The tests find an error in the code under test: the slots of another block size.
sed -i 's/numQueries_, blockSize_,/numQueries_, blockSize_ * 2,/' "$scratch/host_tests/decode_batch.cpp"
quietly cmake --build "$scratch/host_tests/build"
if "$scratch/host_tests/build/decode_batch_test" >"$scratch/log" 2>&1; then
    fail "the tests of examples/host_tests do not see an error in the code under test"
fi
