#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Compares the interface of a libadvance_step.so that has debug information with the dump
# libadvance_step.abi: functions, their parameters and the layout of types that the headers define.
#
#   check_abi.sh LIBRARY            what differs, and 1 if anything does
#   check_abi.sh --update LIBRARY   writes the dump anew
#
# 77, which CTest takes for skipped, where abigail-tools are missing.
set -euo pipefail

folder=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$folder/../.." && pwd)
dump=$folder/libadvance_step.abi

update=0
if [[ ${1:-} == --update ]]; then
    update=1
    shift
fi
library=${1:?usage: $0 [--update] LIBRARY}
if ! command -v abidw >/dev/null || ! command -v abidiff >/dev/null; then
    echo "skipped: abidw and abidiff are missing (Debian: abigail-tools)"
    exit 77
fi

now=$(mktemp --suffix=.abi)
trap 'rm -f "$now"' EXIT
# Without what depends on the compiler, or on the machine that made it.
abidw --no-show-locs --no-corpus-path --no-comp-dir-path --drop-private-types \
    --exported-interfaces-only --headers-dir "$root/include" "$library" |
    sed -E -e "s# path='[^']*/(src|op_host|op_kernel)/# path='\1/#" \
        -e '/<elf-needed>/,/<\/elf-needed>/d' >"$now"
symbols=$(grep -c "elf-symbol name='" "$now")
# A test whose library has none compares the symbols only.
if [[ -z ${ABI_SYMBOLS_ONLY:-} ]] && ! grep -q "<function-decl " "$now"; then
    echo "$library has no debug information of the functions that it exports" >&2
    exit 1
fi

if ((update)); then
    cp "$now" "$dump"
    echo "$dump: $symbols symbols"
    exit 0
fi
if difference=$(abidiff --no-show-locs --suppressions "$folder/handles.suppr" "$dump" "$now"); then
    echo "the interface is that of the dump: $symbols symbols"
    exit 0
fi
echo "$difference"
echo "If programs of before go on to work, and this is intended: $0 --update LIBRARY" >&2
exit 1
