#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs an hour of virtual service and ten minutes of random calls, under each sanitizer.
# tests/stress/soak.cpp and tests/chaos/chaos_main.cpp say what they do and what fails.
#
#   tests/chaos.sh                      both sanitizers
#   tests/chaos.sh --seconds 120 asan   asan: the preset dev, with undefined behaviour; tsan: the preset tsan
#   tests/chaos.sh --seed 7 tsan        the seed of the random calls; without it a new one, which is printed
#   tests/chaos.sh --no-soak ...        only the random calls
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"

usage() {
    awk '/^[^#]/ { exit } !/^#!|SPDX/ { sub(/^# ?/, ""); print }' "$0" >&2
    exit 2
}

seconds=600
seed=$((RANDOM * 32768 + RANDOM))
soak=yes
presets=()
while (($# > 0)); do
    case $1 in
        --seconds | --seed)
            [[ ${2:-} =~ ^[0-9]+$ ]] || usage
            if [[ $1 == --seed ]]; then seed=$2; else seconds=$2; fi
            shift
            ;;
        --no-soak) soak= ;;
        asan) presets+=(dev) ;;
        tsan) presets+=(tsan) ;;
        *) usage ;;
    esac
    shift
done
((${#presets[@]} > 0)) || presets=(dev tsan)

"$root/examples/install_packages.sh" clang libclang-rt-dev libgtest-dev libgmock-dev
# Memory that the address sanitizer keeps back is no growth.
export ASAN_OPTIONS=${ASAN_OPTIONS:-quarantine_size_mb=1}
for preset in "${presets[@]}"; do
    cmake --preset "$preset"
    cmake --build "build/$preset" --target chaos soak
    if [[ $soak ]]; then
        echo "$preset: an hour of virtual service"
        # 64 services make 180,000 steps of 20 ms together; each of them would take hours with a sanitizer.
        "build/$preset/bin/soak" --steps 2813
    fi
    echo "$preset: $seconds s of chaos"
    "build/$preset/bin/chaos" --seconds "$seconds" --seed "$seed" || {
        echo "again: tests/chaos.sh --no-soak --seconds $seconds --seed $seed ${preset/dev/asan}" >&2
        exit 1
    }
done
