#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# dispatch_simulation_test.sh DISPATCH_SIMULATION: the dispatcher before 100,000 replicas.
set -euo pipefail

simulation=$1

# value KEY OUTPUT
value() { awk -v key="$1" '$1 == key { print $2 }' <<<"$2"; }

fail() {
    echo "FAILED: $1"$'\n'"$2" >&2
    exit 1
}

first=$("$simulation" --requests-per-replica 3)
(($(value placed "$first") == 300000)) || fail "not every request was placed" "$first"
(($(value finished_before_the_last_window "$first") > 0)) || fail "nothing finished" "$first"
# Requests come at 50,000 a second: so many to a window of 20 ms, and no window is empty.
(($(value most_placed_in_a_window "$first") == 1000)) || fail "windows" "$first"
(($(value windows "$first") == 300)) || fail "windows" "$first"
least=$(value peak_load_tokens "$first")
((least * 3 < 2 * $(value peak_load_tokens_round_robin "$first"))) ||
    fail "the fullest replica is as full as with turns" "$first"
# Its decisions do not depend on how long it takes.
again=$("$simulation" --requests-per-replica 3)
[[ $(value decisions "$first") == "$(value decisions "$again")" ]] || fail "other decisions" "$again"
# Wider windows: fewer of them, less even loads.
wide=$("$simulation" --requests-per-replica 3 --window 1)
(($(value windows "$wide") == 6)) || fail "wide windows" "$wide"
# Options that are no numbers, and an output that takes nothing, are errors with a message.
refused() {
    local word=$1
    shift
    out=$("$simulation" "$@" 2>&1) && fail "status 0 with $*" "$out"
    grep -q -- "$word" <<<"$out" || fail "no word of $word" "$out"
}
refused '--window: Value nan not in range 0.001 to 3600' --window nan
refused '--rate: Value nan not in range 0.001 to 1000' --rate nan
for value in 5x '' -1 0x5 99999999999999999999 ' 5'; do
    refused "^--replicas: Value $value not in range 1 to 1000000" --replicas "$value"
    refused "^--requests-per-replica: Value $value not in range 1 to 1000" --requests-per-replica "$value"
    refused "^--rate: Value $value not in range 0.001 to 1000" --rate "$value"
    refused "^--window: Value $value not in range 0.001 to 3600" --window "$value"
done
if [[ -w /dev/full ]]; then
    out=$("$simulation" --replicas 10 2>&1 >/dev/full) && fail "status 0 with a full output" "$out"
    [[ $out == 'dispatch_simulation: standard output: No space left on device' ]] || fail "a full output" "$out"
fi
echo "dispatch_simulation: good"
