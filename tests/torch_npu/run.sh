#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The published torch_npu on the emulated device, in a virtual environment of its own.
#
#   run.sh [PYTEST-ARGUMENT ...]
#
# builds the wheel of the release preset, installs it with torch and torch_npu in build/torch_npu,
# and runs pytest there: these tests, or those that the arguments name. Exit status 77: the environment cannot be had, and CI is not set.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$folder/environment.sh"

cd "$root"
install_wheel
# Without the variables of another prefix or library.
unset ASCEND_HOME_PATH ASCEND_OPP_PATH ASCEND_TOOLKIT_HOME LD_LIBRARY_PATH ADVANCE_STEP_LIBRARY
unset PYTHONPATH ADVANCE_STEP_HOST_OPERATORS
export ADVANCE_STEP_MEMORY=64G # the tests say what a device of this size answers, on any host
for argument in "$@"; do
    if [[ -e ${argument%%::*} ]]; then
        folder=
    fi
done
program=("$environment/bin/python" -m advance_step.torch_npu)
# Most of the time goes into programs of their own, so two run at a time.
"${program[@]}" -m pytest -q -p no:cacheprovider -n 2 "$@" ${folder:+"$folder"}
if [[ $folder ]]; then
    # The other modes of the host operators, and torch's own table of operators: with nothing
    # pending, where an operator runs at once, and every third in the order of the stream; there all
    # of them with other layouts, which torch's kernels for "meta" may forget.
    for mode in queue python; do
        ADVANCE_STEP_HOST_OPERATORS=$mode "${program[@]}" -m pytest -q -p no:cacheprovider \
            "$folder"/test_host_*.py "$folder"/test_llm_{operators,attention,shapes,writes,atb,custom,experts,latent,quant,drafts,weights,indexer,linear,blocks,quant_swiglu}.py
    done
    ADVANCE_STEP_HOST_OPERATORS=aclnn "${program[@]}" -m pytest -q -p no:cacheprovider \
        "$folder"/test_aclnn_{operators,families}.py
    # Under all checks there is no finding, in one process each: that of a worker's would not be seen.
    ADVANCE_STEP_SANITIZE=all ADVANCE_STEP_SANITIZE_ACTION=fail "${program[@]}" -m pytest -q -p no:cacheprovider \
        "$folder"/test_{device,sparse,ranks}.py
    ADVANCE_STEP_HOST_OPERATORS=aclnn ADVANCE_STEP_SANITIZE=all ADVANCE_STEP_SANITIZE_ACTION=fail \
        "${program[@]}" -m pytest -q -p no:cacheprovider "$folder"/test_aclnn_families.py
    # Else MKL rounds by strides and addresses on some processors, and those of results may differ.
    export MKL_CBWR=COMPATIBLE
    "${program[@]}" "$folder/operators.py"
    ADVANCE_STEP_HOST_OPERATORS=queue "${program[@]}" "$folder/operators.py" --every 3
    ADVANCE_STEP_HOST_OPERATORS=queue "${program[@]}" "$folder/operators.py" --layouts
    ADVANCE_STEP_HOST_OPERATORS=aclnn "${program[@]}" "$folder/operators.py" --every 5
fi
