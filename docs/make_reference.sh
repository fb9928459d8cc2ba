#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the reference of the public headers with Doxygen; a warning is an error. Without Doxygen it
# says so, and ends with 77.
#
#   make_reference.sh FOLDER    the page is FOLDER/html/index.html
set -euo pipefail

if ! command -v doxygen >/dev/null; then
    echo "no doxygen is installed" >&2
    exit 77
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# Doxygen runs the filter twice for each header, so the interpreter itself is named: python3 may be a script.
python=$(python3 -c 'import sys; print(sys.executable)')
# The lists that the headers of the mock include, as the build makes them.
"$python" -B src/catalogue/make_lists.py mock "$folder/lists/advance_step/testing"
{
    cat docs/Doxyfile
    echo "INCLUDE_PATH = include \"$folder/lists\""
    echo "OUTPUT_DIRECTORY = \"$folder\""
    echo "INPUT_FILTER = \"$python -I -S docs/reference_filter.py\""
} | doxygen -
echo "$(find "$folder/html" -name '*.html' | wc -l) pages: $folder/html/index.html"
