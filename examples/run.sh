#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Sets up what is missing, builds the library and serve, runs a small engine's loop, and serves a
# request trace.
# The build takes 1 to 3 minutes on two cores, serving the sample a few seconds.
#
#   examples/run.sh [trace.csv] [more options of serve]
#
# Without a trace it serves the sample that comes with the project.
set -euo pipefail

root=$(cd "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/.." && pwd)

options=("$@")
if (($# > 0)) && [[ $1 != -* ]]; then
    options=(--trace "$@")
fi

build() {
    cmake --preset release
    cmake --build build/release --target serve step_loop
}

cd "$root"
# Two builds in one folder would write the same files.
mkdir -p build
exec {lock}>build/run.lock
if ! flock --nonblock "$lock"; then
    echo "another examples/run.sh builds in $root/build; waiting until it is built"
    flock "$lock"
fi
source examples/parts.sh
part packages "Debian packages that are missing" examples/install_packages.sh
part build "the library and serve; 1 to 3 minutes if nothing is built yet" build
part loop "preempted sequences that go on, step_loop.cpp; a moment" build/release/bin/step_loop
parts_done
exec {lock}>&-
cd - >/dev/null
exec "$root/build/release/bin/serve" "${options[@]}"
