#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The published vLLM with the published vllm-ascend on the emulated device, in its own environment.
#
#   run.sh [FORM ...]
#
# builds the wheel of the release preset, installs it with vLLM in build/vllm (2.3 GB), makes the tiny models
# and compares their greedy tokens with those of transformers: eager and by graphs, with speculation, adapters and
# sleep, on several devices, by a server, and under the checks. FORM is one of examples/vllm/tiny_models.py; all by
# default. Exit status 77: the environment cannot be had.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
environment=$root/build/vllm
versions=$folder/requirements.txt

skip() {
    echo "run.sh: skipped: $*"
    exit 77
}

# pin PACKAGE: its line of the versions, such as vllm==0.23.0
pin() {
    grep "^$1==" "$versions"
}

install_vllm() {
    local pip=("$environment/bin/pip" --quiet --disable-pip-version-check) name version
    local first=() # torch brings what it needs, and the others build vLLM, of which nothing is compiled
    for name in torch torch_npu setuptools setuptools-scm setuptools-rust wheel; do
        first+=("$(pin "$name")")
    done
    version=$(pin vllm)
    export TMPDIR=$environment/tmp
    python3.11 -m venv "$environment" && mkdir -p "$TMPDIR" || return
    "${pip[@]}" install --no-cache-dir "${first[@]}" || return
    # The list is whole. Without --no-deps there would be Triton as well, whose interpreter is slower, and
    # vllm-ascend pins another torch.
    grep -v "^vllm==" "$versions" >"$environment/others.txt"
    "${pip[@]}" install --no-cache-dir --no-deps -r "$environment/others.txt" || return
    VLLM_TARGET_DEVICE=empty VLLM_VERSION_OVERRIDE=${version#*==} TORCH_DEVICE_BACKEND_AUTOLOAD=0 \
        "${pip[@]}" install --no-deps --no-build-isolation --no-binary vllm "$version"
}

stamp=$(cksum <"$versions")
if [[ $(cat "$environment/packages" 2>/dev/null) != "$stamp" ]]; then
    [[ $(uname -m) == x86_64 ]] || skip "$(pin vllm_ascend) has a wheel for x86_64, and this is $(uname -m)"
    command -v python3.11 >/dev/null || skip "no Python 3.11"
    rm -rf "$environment"
    if ! install_vllm; then
        skip "the package index does not give vLLM's environment"
    fi
    echo "$stamp" >"$environment/packages"
fi

cd "$root"
# Attention in a full graph is one task, which the library computes with libtorch.
cmake --preset release -DTorch_DIR="$environment/lib/python3.11/site-packages/torch/share/cmake/Torch" >/dev/null
cmake --build build/release --target advance_step advance_step_cann
rm -rf "$environment/source"
cp -r src/python "$environment/source"
ADVANCE_STEP_BUILD=$root/build/release "$environment/bin/pip" --quiet --disable-pip-version-check install \
    --no-deps --no-index --no-build-isolation --force-reinstall "$environment/source"

unset ASCEND_HOME_PATH ASCEND_OPP_PATH ASCEND_TOOLKIT_HOME LD_LIBRARY_PATH ADVANCE_STEP_LIBRARY PYTHONPATH
unset ADVANCE_STEP_HOST_OPERATORS
# A form, and how it is generated.
runs=("llama" "llama --graphs piecewise" "llama --graphs full" "llama --graphs full_decode_only"
    "llama --speculate 3 --graphs full_decode_only" "llama --twice"
    "llama --adapters --twice" "llama --adapters --graphs full_decode_only" "llama --adapters --graphs piecewise"
    "llama --sleep" "llama --sleep --graphs full_decode_only"
    "llama --parallel 2 --graphs full_decode_only" "llama --parallel 4 --graphs full_decode_only"
    "llama --parallel 4" "llama --pipeline 2"
    "qwen3" "qwen3 --graphs full_decode_only" "qwen3 --adapters --graphs full_decode_only"
    "qwen3_moe" "qwen3_moe --graphs full_decode_only" "qwen3_moe --parallel 2 --experts"
    "qwen3_moe --parallel 2 --experts --graphs full_decode_only"
    "deepseek --rounding 0.1" "deepseek --rounding 0.1 --graphs full_decode_only")
forms=("$@")
[[ $# -gt 0 ]] || forms=(llama qwen3 qwen3_moe deepseek)
program=("$environment/bin/python" -m advance_step.vllm)
"${program[@]}" examples/vllm/tiny_models.py "$environment/models" "${forms[@]}"
failed=0
log=$environment/run.log
# run NAME PROGRAM ARGUMENT ...: shows the last line of the output with $shown.
run() {
    local line
    if timeout -s KILL 600 "${program[@]}" "${@:2}" >"$log" 2>&1 &&
        line=$(grep -E "${shown:-prompts equal}" "$log" | tail -1) && [[ $line ]]; then
        printf '%-60s %s\n' "$1" "${line#"$environment/models/"}"
    else
        tail -20 "$log"
        echo "run.sh: $1 failed; $log has the whole output"
        failed=1
    fi
}
generate() { # NAME FORM OPTION ...
    run "$1" examples/vllm/generate.py "$environment/models/$2" "${@:3}"
}
for each in "${runs[@]}"; do
    read -ra words <<<"$each"
    if [[ " ${forms[*]} " == *" ${words[0]} "* ]]; then
        generate "$each" "${words[@]}"
    fi
done
first=${forms[0]}
model=$environment/models/$first
ADVANCE_STEP_HCCL=gloo generate "$first --parallel 2, ADVANCE_STEP_HCCL=gloo" "$first" --parallel 2
run "$first, the server and five clients" examples/vllm/server.py "$model"
run "$first, the server with --data-parallel-size 2" examples/vllm/server.py "$model" --data-parallel-size 2 --enforce-eager
run "$first, prefill and decode by Mooncake" examples/vllm/prefill_and_decode.py "$model"
# vLLM's log names the worker.
shown="Worker proc .* died" run "$first --parallel 2, a worker is killed" tests/vllm/killed_worker.py "$model"
export ADVANCE_STEP_VLLM_CHECKS=all
generate "$first --twice, ADVANCE_STEP_VLLM_CHECKS=all" "$first" --twice
for error in kernel table unwritten; do
    shown="^$error: " run "$first with a wrong $error, ADVANCE_STEP_VLLM_CHECKS=all" tests/vllm/wrong_blocks.py "$model" "$error"
done
unset ADVANCE_STEP_VLLM_CHECKS
export ADVANCE_STEP_SANITIZE=all ADVANCE_STEP_SANITIZE_ACTION=fail
generate "$first --graphs full_decode_only, ADVANCE_STEP_SANITIZE=all" "$first" --graphs full_decode_only
exit "$failed"
