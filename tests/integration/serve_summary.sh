# SPDX-License-Identifier: Apache-2.0
# A folder for the files of a test of serve or serve_mpi, and what its summary must say. Sourced.
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
    echo "FAILED: $1" >&2
    [[ -f $folder/out ]] && cat "$folder/out" >&2
    exit 1
}

# check EXPRESSION...: each holds of the last summary s.
check() {
    python3 - "$folder/summary.json" "$@" <<'PYTHON' || fail "summary"
import json, sys
s = json.load(open(sys.argv[1]))
for expression in sys.argv[2:]:
    assert eval(expression), (expression, s)
PYTHON
}
