# SPDX-License-Identifier: Apache-2.0
# The functions that the tests of serve share. Sourced by a test whose first argument is serve.
set -euo pipefail
serve=$1
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
source "$here/serve_summary.sh"
sample=$here/../../tools/serve/sample_trace.csv
simulator=$here/../reference/serve_simulator.py
header='TIMESTAMP,ContextTokens,GeneratedTokens'

# Runs serve with the arguments; leaves its exit status in $status.
run() {
    status=0
    "$serve" "$@" >"$folder/out" 2>&1 || status=$?
}

good() {
    run --summary "$folder/summary.json" "$@"
    ((status == 0)) || fail "exit status $status of $*"
}

# bad WORD... -- ARGUMENT...: an error with every word.
bad() {
    local words=()
    while [[ $1 != -- ]]; do
        words+=("$1")
        shift
    done
    shift
    run "$@"
    ((status > 0 && status < 126)) || fail "$* ended with exit status $status"
    for word in "${words[@]}"; do
        grep -q -- "$word" "$folder/out" || fail "no \"$word\" in the message of $*"
    done
}

# simulated TRACE OPTION...: serve and the simulator say the same, digit for digit.
simulated() {
    local trace=$1
    shift
    good "$trace" "$@"
    python3 "$simulator" "$trace" "$@" >"$folder/simulated.json" || fail "simulator"
    python3 - "$folder/summary.json" "$folder/simulated.json" <<'PYTHON' || fail "not as simulated: $*"
import json, sys
serve, simulated = (json.load(open(path)) for path in sys.argv[1:])
differences = {key: (serve.get(key), simulated[key]) for key in simulated if serve.get(key) != simulated[key]}
assert not differences, differences
PYTHON
}

# on_small_disk COMMAND...: $folder/disk has room for 24 KiB. Fails where nothing can be mounted.
on_small_disk() {
    mkdir -p "$folder/disk"
    unshare -rm sh -c 'mount -t tmpfs -o size=24k small "$0" && exec "$@"' "$folder/disk" "$@"
}

at_once() {
    echo "$header"
    for _ in $(seq 64); do
        echo '2024-01-01 00:00:00.0000000,100,400'
    done
}

