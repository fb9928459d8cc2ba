#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs what is missing, builds the release preset, measures every performance goal beside its
# baseline and prints the table of docs/internals/benchmarking.md. A goal that does not hold is no failure.
#
#   tests/benchmark/run.sh [--json FILE] [--plot FOLDER]
#
# --json keeps the results and the raw series; --plot draws the pictures of
# docs/internals/benchmarking.md,
# which takes a minute more.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
json=
plots=
while (($# > 0)); do
    case $1 in
        --json) json=$(realpath -m "${2:?--json needs a file}") ;;
        --plot) plots=$(realpath -m "${2:?--plot needs a folder}") ;;
        *) echo "run.sh: unknown option $1; expected --json FILE or --plot FOLDER" >&2; exit 2 ;;
    esac
    shift 2
done
cd "$root"

# What cannot be installed is not measured, and the table says so.
optional() {
    examples/install_packages.sh "$@" || echo "run.sh: going on without $*" >&2
}
examples/install_packages.sh libbenchmark-dev python3
optional pocl-opencl-icd ocl-icd-opencl-dev opencl-headers
optional python3-numpy python3-dev
if [[ -n $plots ]]; then
    optional python3-matplotlib
fi

# Tests would have the library compiled and linked otherwise.
cmake --preset release -DADVANCE_STEP_BUILD_BENCHMARKS=ON -DADVANCE_STEP_BUILD_TESTS=OFF
cmake --build --preset release --target dashboard graph_benchmark peers

# The environment of tests/torch_npu has numpy and torch. Else Debian's packages are Debian's Python's, which
# need not be the first one.
export TORCH_DEVICE_BACKEND_AUTOLOAD=0
python=python3
for candidate in build/torch_npu/bin/python /usr/bin/python3; do
    if ! "$python" -c 'import numpy, torch' 2>/dev/null && "$candidate" -c 'import numpy' 2>/dev/null; then
        python=$candidate
    fi
done

results=build/release/dashboard
mkdir -p "$results"
curves=()
if [[ -n $plots ]]; then
    curves=(--curves)
fi
"$python" tests/benchmark/peers.py --libraries build/release/lib --json "$results/peers.json" \
    "${curves[@]}"
more=()
if build/release/bin/graph_benchmark --series "$results/graph.json"; then
    more=(--peers "$results/graph.json")
fi
# torch's operators, where the environment of torch_npu can be had.
if (source tests/torch_npu/environment.sh && install_wheel) &&
    env -u TORCH_DEVICE_BACKEND_AUTOLOAD build/torch_npu/bin/python -m advance_step.torch_npu \
        tests/benchmark/torch_operators.py \
        --json "$results/torch.json"; then
    more+=(--peers "$results/torch.json")
fi
# CANN's operators, where libtorch is found.
if cmake --build build/release --target operators_benchmark 2>/dev/null &&
    build/release/bin/operators_benchmark "$results/operators.json"; then
    more+=(--peers "$results/operators.json")
fi
build/release/bin/dashboard --peers "$results/peers.json" "${more[@]}" --json "${json:-$results/results.json}" \
    "${curves[@]}"
if [[ -n $plots ]]; then
    "$python" tests/benchmark/plot.py "${json:-$results/results.json}" "$plots"
fi
