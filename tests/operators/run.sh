#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# CANN's operators against torch, in the virtual environment of the torch_npu tests.
#
#   run.sh [PYTEST-ARGUMENT ...]
#
# builds the libraries of the release preset for the torch of build/torch_npu. Exit status 77: the
# environment cannot be had, and CI is not set.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$folder/../torch_npu/environment.sh"

cd "$root"
if [[ ! -e build/release/CMakeCache.txt ]]; then
    cmake --preset release >/dev/null
else
    cmake build/release >/dev/null # finds a torch that has come since
fi
cmake --build build/release --target advance_step_operators advance_step_graph advance_step_cann aclnn_llama graph_network
build/release/bin/aclnn_llama
build/release/bin/graph_network
export TORCH_DEVICE_BACKEND_AUTOLOAD=0 # torch alone: torch_npu would want libraries of CANN
unset LD_LIBRARY_PATH ADVANCE_STEP_LIBRARY ADVANCE_STEP_MEMORY
export LIBRARIES_OF_OPERATORS=$root/build/release/lib
# Else MKL rounds by addresses on some processors.
export MKL_CBWR=COMPATIBLE
cd "$folder"
"$environment/bin/python" -m pytest -q -p no:cacheprovider -n 2 "$@"
