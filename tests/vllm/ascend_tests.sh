#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# vllm-ascend's own tests on the emulated device.
#
#   ascend_tests.sh CHECKOUT [--update] [--limit SECONDS] [--jobs N] [FILE_OR_FOLDER ...]
#
# runs tests/ut of a checkout, or the files and folders given, without the mocks of torch_npu that its conftest
# makes where it finds no npu-smi. "e2e" stands for those of tests/e2e that tiny models can pass. Nothing is fetched
# and nothing is written to the checkout. Python is $PYTHON, or that of run.sh's environment; it has this wheel,
# vLLM, vllm-ascend and pytest. Models named in ascend_models.txt are those of $MODELS, where tiny_models.py has made
# them, or run.sh. Exit status 1: a test failed that ascend_failures.txt does not list.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
python=${PYTHON:-$root/build/vllm/bin/python}

stop() {
    echo "ascend_tests.sh: $*" >&2
    exit 2
}

[[ $# -gt 0 ]] || stop "no checkout is given; expected ascend_tests.sh CHECKOUT [FILE_OR_FOLDER ...]"
[[ -d $1/vllm_ascend && -d $1/tests/ut ]] || stop "$1 has no vllm_ascend and tests/ut; expected a checkout of vllm-ascend"
checkout=$(cd "$1" && pwd)
shift
[[ -x $(command -v "$python") ]] || stop "$python cannot be run; expected PYTHON, or the environment of run.sh"
installed=$("$python" -c 'import importlib.util as util; print(*util.find_spec("vllm_ascend").submodule_search_locations)') ||
    stop "vllm_ascend is not installed beside $python"

# The checkout's Python with the compiled files of the installed wheel, whose schemas declare the custom operators.
work=${ADVANCE_STEP_ASCEND_TESTS:-$root/build/vllm_ascend_tests}
tree=$work/tree
rm -rf "$tree"
mkdir -p "$tree/vllm_ascend"
for each in "$checkout"/*; do
    [[ ${each##*/} == vllm_ascend ]] || ln -s "$each" "$tree"
done
for each in "$checkout"/vllm_ascend/*; do
    ln -s "$each" "$tree/vllm_ascend"
done
for each in "$installed"/_build_info.py "$installed"/*.so; do
    [[ -e $tree/vllm_ascend/${each##*/} ]] || ln -s "$each" "$tree/vllm_ascend"
done

# A cache of the hub in which each model that ascend_models.txt names is a tiny one. The tests want longer texts than
# this has places.
models=${MODELS:-$root/build/vllm/models}
hub=$work/hub
rm -rf "$hub"
while read -r name form; do
    [[ -f $models/$form/config.json ]] || continue
    cached=$hub/models--${name/\//--}
    mkdir -p "$cached/refs" "$cached/snapshots/tiny"
    printf tiny >"$cached/refs/main"
    ln -s "$(realpath "$models/$form")"/* "$cached/snapshots/tiny"
    rm "$cached/snapshots/tiny/config.json"
    sed 's/\("max_position_embeddings": \)[0-9]*/\132768/' "$models/$form/config.json" >"$cached/snapshots/tiny/config.json"
done <"$folder/ascend_models.txt"

e2e=tests/e2e/pull_request/one_card
e2e_files=("$e2e"/test_{qwen3_0_6b,camem,multi_instance,sampler,simple_cpu_offload,cpu_weight_offload,guided_decoding}.py
    "$e2e/spec_decode"/test_ngram{,_npu}.py)
arguments=()
for each in "$@"; do
    if [[ $each == e2e ]]; then
        arguments+=("${e2e_files[@]}")
    else
        arguments+=("$each")
    fi
done

unset ASCEND_HOME_PATH ASCEND_OPP_PATH ASCEND_TOOLKIT_HOME LD_LIBRARY_PATH ADVANCE_STEP_LIBRARY
unset ADVANCE_STEP_HOST_OPERATORS
export PYTHONPATH=$tree PYTHONPYCACHEPREFIX=$work/pycache HF_HUB_CACHE=$hub HF_HUB_OFFLINE=1
export VLLM_WORKER_MULTIPROC_METHOD=spawn # a process that has used a device cannot be forked
"$python" -c 'import importlib.util as util, sys; sys.exit(util.find_spec("modelscope") is None)' ||
    PYTHONPATH=$PYTHONPATH:$folder/ascend_modules
exec "$python" -m advance_step.vllm "$folder/ascend_tests.py" \
    --tree "$tree" --expected "$folder/ascend_failures.txt" "${arguments[@]}"
