#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The site of the pages can be made, and its links hold. Skipped (77) without mkdocs or Doxygen.
#
#   site_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

status=0
ADVANCE_STEP_REPOSITORY=https://example.org/project ADVANCE_STEP_REVISION=v1 \
    "$root/docs/make_site.sh" "$scratch/site" >"$scratch/log" 2>&1 || status=$?
if ((status == 77)); then
    echo "site_test.sh: skipped: $(cat "$scratch/log")"
    exit 77
fi
((status == 0)) || { cat "$scratch/log" >&2; fail "the site cannot be made"; }
"$root/tests/packaging/check_site.py" "$scratch/site"
# Files outside docs are linked to in the repository.
grep -rqF 'href="https://example.org/project/blob/v1/examples/step.cpp"' "$scratch/site" --include=index.html ||
    fail "no link to the repository"
