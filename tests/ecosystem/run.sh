#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The published packages of packages.json on the emulated device; census.py has the rest.
#
#   run.sh [--update] [PACKAGE ...]
#
# Too large for each run of the tests: 1.1 GB of wheels. By hand, and in the weekly job of the hosted CI.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$folder/../torch_npu/environment.sh"
cd "$root"
install_wheel
unset ASCEND_HOME_PATH ASCEND_OPP_PATH ASCEND_TOOLKIT_HOME LD_LIBRARY_PATH ADVANCE_STEP_LIBRARY PYTHONPATH
unset ADVANCE_STEP_HOST_OPERATORS
# The folder of the script must not stand in front of the packages, so it is no program of python's.
"$environment/bin/python" "$folder/census.py" "$@"
