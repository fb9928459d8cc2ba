#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Limits the static memory that the library keeps for every thread.
#
#   check_tls.sh READELF LIBRARY
#
# Some of this memory is of the initial-exec kind. So where the library is loaded by dlopen, all of it must
# fit the space that glibc has set aside for that, which other libraries use as well.
set -euo pipefail

readonly most=512
bytes=$(("$("$1" --wide --program-headers "$2" | awk '$1 == "TLS" { print $6 }')" + 0))
if ((bytes > most)); then
    echo "$2 keeps $bytes bytes for every thread; expected at most $most" >&2
    exit 1
fi
echo "$bytes bytes for every thread"
