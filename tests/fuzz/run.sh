#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets of the dev preset and runs each on its corpus, then on new inputs.
#
#   tests/fuzz/run.sh [--seconds N] [TARGET ...]
#
# N seconds a target, 60 unless said otherwise. What the fuzzer finds worth keeping is put to
# build/dev/fuzz/corpus, from where the next run goes on; an input that fails is left in build/dev/fuzz.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"

seconds=60
targets=()
while (($# > 0)); do
    case $1 in
        --seconds)
            seconds=${2:?--seconds needs a number}
            shift 2
            ;;
        -*)
            echo "usage: $0 [--seconds N] [TARGET ...]" >&2
            exit 2
            ;;
        *)
            targets+=("$1")
            shift
            ;;
    esac
done

"$root/examples/install_packages.sh" clang libclang-rt-dev libgmock-dev \
    libgtest-dev lld python3
if ((${#targets[@]} == 0)); then
    for folder in tests/fuzz/corpus/*/; do
        targets+=("$(basename "$folder")")
    done
fi
cmake --preset dev
cmake --build --preset dev --target "${targets[@]}"

for target in "${targets[@]}"; do
    found=build/dev/fuzz/corpus/$target
    log=build/dev/fuzz/$target.log
    mkdir -p "$found"
    # The corpora hold what nobody may hang on: 60 s are many times what any input takes.
    if ! "build/dev/bin/$target" -max_total_time="$seconds" -max_len=4096 -timeout=60 \
        -artifact_prefix="build/dev/fuzz/$target-" -print_final_stats=1 \
        "$found" "tests/fuzz/corpus/$target" >"$log" 2>&1; then
        cat "$log"
        echo "$target: failed; its input is build/dev/fuzz/$target-*" >&2
        exit 1
    fi
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
    edges=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -1)
    echo "$target: $runs inputs, $edges edges, nothing found"
done
