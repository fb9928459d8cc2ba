#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Gets libtorch for CANN's operators (docs/aclnn.md): PyTorch 2.13.0 for the CPU in a virtual
# environment below build, where CMake finds it.
#
#   examples/get_torch.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

environment=build/torch
if ! compgen -G "$environment/lib/python3*/site-packages/torch/lib/libtorch_cpu.so" >/dev/null; then
    examples/install_packages.sh python3 python3-venv
    python3 -m venv "$environment"
    "$environment/bin/python" -m pip --quiet --disable-pip-version-check install torch==2.13.0
fi
echo "libtorch is in $(echo "$environment"/lib/python3*/site-packages/torch/lib)"
