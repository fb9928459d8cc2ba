#!/usr/bin/env bash
# check_isa_objects.sh NM OBJECT...: fails if an object file that is compiled for one instruction set
# defines a symbol that the linker may take for another object's as well. On a machine without that
# instruction set the library would then crash far from the kernels.
set -euo pipefail

nm=$1
shift
shared=$("$nm" -C --defined-only "$@" | grep -E ' [VvWwu] ' | grep -vE ' (asan|tsan|ubsan)\.| __(asan|ubsan|tsan|sancov|odr_asan)' || true)
if [[ -n $shared ]]; then
    echo "symbols that other object files may share:" >&2
    echo "$shared" >&2
    exit 1
fi
