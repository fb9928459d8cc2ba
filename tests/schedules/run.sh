#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the scenarios of schedules and takes schedules of each, a share of the time. It prints how
# many, and for a schedule that fails how to run it again. docs/internals/testing.md explains them.
#
#   tests/schedules/run.sh --seconds 600
#   tests/schedules/run.sh --seconds 60 --scenario event_ring --seed 7
#   tests/schedules/run.sh --scenario event_ring --again 7000310 --trace
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$root"
cmake --preset quick
cmake --build build/quick --target schedules
exec build/quick/bin/schedules "$@"
