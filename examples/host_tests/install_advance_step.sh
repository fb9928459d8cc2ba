#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installs what the tests need on a Debian or Ubuntu: a compiler, GoogleTest, and libadvance_step.
#
#   install_advance_step.sh REPOSITORY     the URL or path of a clone of libadvance_step
set -eu

apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends \
    ca-certificates cmake g++ git libfmt-dev libgtest-dev ninja-build nlohmann-json3-dev python3
git clone --quiet --depth 1 "$1" /tmp/advance_step
cmake -G Ninja -S /tmp/advance_step -B /tmp/advance_step/build -DADVANCE_STEP_BUILD_EXAMPLES=OFF
cmake --build /tmp/advance_step/build
cmake --install /tmp/advance_step/build
ldconfig
rm -rf /tmp/advance_step
