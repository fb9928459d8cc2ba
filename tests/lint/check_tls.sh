#!/usr/bin/env bash
# check_tls.sh READELF LIBRARY: what every thread keeps in a library's static memory. Some of it is of
# the initial-exec kind, so where the library comes by dlopen, all of it must fit what glibc has set
# aside for that, which other libraries use as well.
set -euo pipefail

readonly most=512
bytes=$(("$("$1" --wide --program-headers "$2" | awk '$1 == "TLS" { print $6 }')" + 0))
if ((bytes > most)); then
    echo "$2 keeps $bytes bytes for every thread; expected at most $most" >&2
    exit 1
fi
echo "$bytes bytes for every thread"
