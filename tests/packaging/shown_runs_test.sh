#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The commands under a comment "run: ..." in the README and other pages print what is shown there.
#
#   shown_runs_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# As a clone in which examples/run.sh has built the library.
mkdir -p "$scratch/clone/build"
ln -s "$root/include" "$root/examples" "$scratch/clone/"
ln -s "$build" "$scratch/clone/build/release"

for page in README.md README.zh.md docs/tutorial.md docs/tutorial.zh.md docs/cookbook.md; do
    awk '/^<!-- run: .* -->$/ { wanted = 1; next }
         wanted && /^```/ { inside = !inside; wanted = inside; next }
         inside { print }' "$root/$page" >"$scratch/shown"
    [[ -s $scratch/shown ]] || fail "$page shows no run"
    (
        cd "$scratch/clone"
        while read -r line; do
            echo "\$ $line"
            bash -c "$line" 2>&1
        done < <(sed -n 's/^\$ //p' "$scratch/shown")
    ) >"$scratch/printed" || true
    diff -uZ "$scratch/shown" "$scratch/printed" || fail "a program of $page prints something else"
done
