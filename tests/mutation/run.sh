#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes small changes to the sources, one at a time, and runs the tests that reach them.
# It prints the changes that no test notices, and a table.
#
#   tests/mutation/run.sh --sample 100 --seed 1     100 changes chosen at random
#   tests/mutation/run.sh --file src/runtime/stream all changes of these files
#   tests/mutation/run.sh --key 0a1b2c3d4e --again  one change once more
#   tests/mutation/run.sh --list                    the changes that there are
#   tests/mutation/run.sh --report                  the figure of all runs so far, and the survivors
#
# A run goes on where the one before it ended. The exit status is 1 below 95 %.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
exec nice -n 10 python3 "$root/tests/mutation/try_changes.py" "$@"
