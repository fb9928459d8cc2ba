#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The example of a kernel of one's own, built out of the tree against the installed library.
#
#   own_kernel_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_moved runtime devel
cp -r "$root/examples/own_kernel" "$scratch/own_kernel"
build_consumer own_kernel -DCMAKE_PREFIX_PATH="$moved"
needed=$(readelf -d "$scratch/own_kernel/build/own_kernels.so")
if grep libadvance_step <<<"$needed" >/dev/null; then
    fail "the device binary needs the library"
fi
"$scratch/own_kernel/build/run_kernels" "$scratch/own_kernel/build/own_kernels.so" >"$scratch/printed"
grep -Fx "0 of 1500 logits are wrong" "$scratch/printed" >/dev/null ||
    fail "printed: $(cat "$scratch/printed")"
grep -F "scale_logits: row 3 has a fault of kind 1 with -250, which block 0 of 3 reports" "$scratch/printed" \
    >/dev/null || fail "printed: $(cat "$scratch/printed")"
echo "own_kernel_test.sh: built and run"
