#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Makes the site: the pages of docs by mkdocs, the reference of the headers by Doxygen, in a folder
# for this version. Without mkdocs (Debian: mkdocs) or Doxygen it says so, and ends with 77.
#
#   make_site.sh FOLDER    the pages are FOLDER/VERSION/index.html; FOLDER/index.html leads there
#
# ADVANCE_STEP_REPOSITORY is the URL of the repository, to which links to its other files lead.
set -euo pipefail

if ! command -v mkdocs >/dev/null; then
    echo "no mkdocs is installed" >&2
    exit 77
fi
mkdir -p "$1"
folder=$(cd "$1" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
version=$(sed -nE 's/^#define ADVSTEP_VERSION_STRING "([0-9.]+)".*/\1/p' include/advance_step/version.h)
[[ $version ]] || { echo "make_site.sh: include/advance_step/version.h has no version" >&2; exit 1; }
PYTHONDONTWRITEBYTECODE=1 mkdocs build --quiet --strict --site-dir "$folder/$version"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
docs/make_reference.sh "$work" >/dev/null
rm -rf "$folder/$version/headers"
mv "$work/html" "$folder/$version/headers"
printf '<!DOCTYPE html><meta charset="utf-8"/><meta http-equiv="refresh" content="0; url=%s/index.html"/>\n' \
    "$version" >"$folder/index.html"
echo "$(find "$folder/$version" -name '*.html' | wc -l) pages: $folder/index.html"
