#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Finds symbols of one instruction set's objects that the linker may take for those of another one.
#
#   check_isa_objects.sh NM OBJECT...
#
# On a machine without that instruction set the library would then crash far from the kernels.
set -euo pipefail

nm=$1
shift
shared=$("$nm" -C --defined-only "$@" | grep -E ' [VvWwu] ' | grep -vE ' (asan|tsan|ubsan)\.| __(asan|ubsan|tsan|sancov|odr_asan)' || true)
if [[ -n $shared ]]; then
    echo "symbols that other object files may share:" >&2
    echo "$shared" >&2
    exit 1
fi
