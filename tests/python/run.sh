#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The tests of the Python package with the release library, in the environment of tests/torch_npu.
#
#   run.sh [PYTEST-ARGUMENT ...]
#
# Exit status 77: the environment cannot be had, and CI is not set.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$folder/../torch_npu/environment.sh"
export ADVANCE_STEP_LIBRARY=${ADVANCE_STEP_LIBRARY:-$root/build/release/lib/libadvance_step.so}
# The package does without torch_npu, which torch would load at its import.
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
tests=("$environment/bin/python" -m pytest -q -p no:cacheprovider "$@")
"${tests[@]}" -n 2 --ignore "$folder/test_pyacl.py" "$folder"
# In a process of its own, as acl.finalize ends what the other tests use.
"${tests[@]}" "$folder/test_pyacl.py"
