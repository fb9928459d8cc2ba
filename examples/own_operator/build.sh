#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the library of operators with pkg-config, without CMake.
#
#   build.sh OUTPUT-FOLDER
set -euo pipefail

source=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
output=${1:?usage: $0 OUTPUT-FOLDER}
read -ra flags <<<"$(pkg-config --cflags --libs advance_step)"
mkdir -p "$output"
"${CXX:-c++}" -std=c++17 -O2 -fPIC -shared -fvisibility=hidden -ffp-contract=off \
    "$source"/*.cpp -o "$output/libcust_opapi.so" "${flags[@]}"
