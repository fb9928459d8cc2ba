#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The first program of the README compiles and prints as shown there, in both languages.
#
#   readme_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# As a clone in which examples/run.sh has built the library.
mkdir -p "$scratch/clone/build"
ln -s "$root/include" "$root/examples" "$scratch/clone/"
ln -s "$build" "$scratch/clone/build/release"

for page in README.md README.zh.md; do
    awk '$0 == "<!-- run: first program -->" { wanted = 1; next }
         wanted && /^```/ { if (inside) exit; inside = 1; next }
         inside { print }' "$root/$page" >"$scratch/shown"
    [[ -s $scratch/shown ]] || fail "$page does not show its first program run"
    (
        cd "$scratch/clone"
        while read -r line; do
            echo "\$ $line"
            bash -c "$line" 2>&1
        done < <(sed -n 's/^\$ //p' "$scratch/shown")
    ) >"$scratch/printed" || true
    diff -u "$scratch/shown" "$scratch/printed" || fail "the first program of $page prints something else"
done
