#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The picture of docs/operators/step.md is what examples/step.cpp prints:
# step_picture_test.sh STEP_EXAMPLE IMAGES
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$1" | python3 "$2/draw_step.py" "$folder/step.svg"
if ! cmp "$folder/step.svg" "$2/step.svg"; then
    echo "step.svg is another one: step_example | docs/images/draw_step.py docs/images/step.svg" >&2
    exit 1
fi
echo "step picture: good"
