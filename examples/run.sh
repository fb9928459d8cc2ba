#!/usr/bin/env bash
# Sets up what is missing, builds the release preset and serves a request trace.
#
#   examples/run.sh [trace.csv] [more options of serve]
#
# Without a trace it serves the sample that comes with the project.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

options=("$@")
if (($# > 0)) && [[ $1 != -* ]]; then
    options=(--trace "$@")
fi

"$root/examples/install_packages.sh" libbenchmark-dev
(cd "$root" && cmake --preset release && cmake --build --preset release)
exec "$root/build/release/bin/serve" "${options[@]}"
