#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Every way to take the library in, from a build folder with the targets advance_step and
# advance_step_archive, without sanitizers.
#
#   run.sh BUILD-FOLDER
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
python3 "$folder/check_version.py"
python3 -B "$folder/../../packaging/notes.py" >/dev/null # the newest version has notes
# Installed once, for the tests that look at the same components.
source "$folder/common.sh"
install_moved runtime devel static mock
export PACKAGING_INSTALLED=$moved
for name in shown_runs install host_tests own_kernel own_operator operators mock cann deb subproject site; do
    "$folder/${name}_test.sh" "${1:?usage: $0 BUILD-FOLDER}" || (($? == 77))
done
