#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds libraries, examples and the golden vectors' tests for aarch64, and runs them by qemu-user.
#
# Needs a Debian for x86-64, and root or sudo to install its packages for arm64.
#
#   tests/aarch64.sh
set -euo pipefail

cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! dpkg --print-foreign-architectures | grep -x arm64 >/dev/null; then
    as_root=()
    ((EUID == 0)) || as_root=(sudo)
    "${as_root[@]}" dpkg --add-architecture arm64
fi
examples/install_packages.sh g++-aarch64-linux-gnu libfmt-dev:arm64 libgmock-dev:arm64 libgtest-dev:arm64 \
    libzstd-dev:arm64 qemu-user zlib1g-dev:arm64

examples=(acl_tour_c acl_tour_cpp advance_step_c client_objects decode_loop graph_capture graph_classic
    graph_mode hpp_decode speculative step_example step_loop traced_step tutorial)
golden=(conformance_operators graph_calls)
cmake --fresh --preset aarch64
cmake --build --preset aarch64 --target "${examples[@]}" "${golden[@]}" serve

bin=build/aarch64/bin
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
here=$PWD
for example in "${examples[@]}"; do
    echo "$example"
    (cd "$scratch" && qemu-aarch64 "$here/$bin/$example" >out 2>&1) || {
        cat "$scratch/out" >&2
        exit 1
    }
done
qemu-aarch64 $bin/serve --limit 64
for name in "${golden[@]}"; do
    program=$(find build/aarch64/tests -name "$name" -type f)
    qemu-aarch64 "$program" --gtest_filter='*Golden*' --gtest_brief=1
done
