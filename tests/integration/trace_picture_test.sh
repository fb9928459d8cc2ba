#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The picture of docs/tracing.md, made anew: trace_picture_test.sh TRACED_STEP DRAW_TRACE
set -euo pipefail

folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

ADVANCE_STEP_THREADS=2 "$1" "$folder/trace.json"
python3 "$2" "$folder/trace.json" "$folder/trace.svg"
python3 - "$folder/trace.svg" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
svg = "{http://www.w3.org/2000/svg}"
root = tree.parse(sys.argv[1]).getroot()
texts = [text.text for text in root.iter(svg + "text")]
assert "device 0" in texts and "core thread 0" in texts, texts
assert any(text.startswith("model branch") for text in texts), texts
titles = [title.text for title in root.iter(svg + "title")]
assert sum(title.startswith("aclnnAdvanceStep: ") and "rows 40000" in title for title in titles) == 3
arrows = [path for path in root.iter(svg + "path") if path.get("marker-end")]
assert len(arrows) >= 12, len(arrows)
PYTHON
echo "trace picture: good"
