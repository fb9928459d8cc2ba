#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Builds the files of a release from the commit that is checked out.
#
#   release.sh FOLDER        a folder that is new or empty
#
# The source archive comes first, and everything else is built from what it contains, in build/packaging.
# The wheel contains an extension for torch, so it needs a Python 3.11 with torch, setuptools and wheel:
# PYTHON names it, or else it is the virtual environment of tests/torch_npu. FOLDER gets all files or none.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$root/build/packaging
files=$work/files

fail() {
    echo "release.sh: $*" >&2
    exit 1
}
step() { echo "release.sh: $SECONDS s: $*"; }
# quietly COMMAND...: shows the end of what it prints if it fails.
quietly() {
    if ! "$@" >"$work/log" 2>&1; then
        tail -n 25 "$work/log" >&2
        fail "failed: $*"
    fi
}

[[ ${1:-} && $1 != -* ]] || fail "usage: release.sh FOLDER"
mkdir -p "$1"
target=$(cd "$1" && pwd)
[[ ! $(ls -A "$target") ]] || fail "$target has files; expected a folder that is new or empty"
cd "$root"
[[ ! $(git status --porcelain) ]] || fail "the working copy differs from its commit; see git status"
for command in cmake cpack doxygen dpkg-shlibdeps objdump; do
    command -v "$command" >/dev/null || fail "$command is missing; tests/run.sh --install installs it"
done
tests/packaging/check_version.py
version=$(sed -n 's/^project(advance_step VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
# Archives and packages carry the time of the commit.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

python=${PYTHON:-}
if [[ ! $python ]]; then
    step "a Python with torch"
    CI=yes source tests/torch_npu/environment.sh
    python=$environment/bin/python
fi
rm -rf "$work"
mkdir -p "$files"

step "the source archive"
name=libadvance_step-$version
git archive --format=tar --prefix="$name/" HEAD | gzip -n9 >"$files/$name.tar.gz"
tar -xf "$files/$name.tar.gz" -C "$work"
source=$work/$name
build=$source/build/release

step "the libraries and the wheel"
cd "$source"
quietly cmake --preset release -DADVANCE_STEP_BUILD_PYTHON=ON -DPython3_EXECUTABLE="$python"
quietly cmake --build --preset release --target advance_step advance_step_archive advance_step_cann \
    advance_step_graph advance_step_wheel serve
wheels=("$build"/python/*.whl)
platform=$(packaging/wheel_platform.py "${wheels[0]}")
quietly "$python" -m wheel tags --remove --platform-tag "$platform" "${wheels[0]}"
cp "$build"/python/*"$platform".whl "$files/"

step "the Debian packages"
quietly cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work/debs"
cp "$work"/debs/*.deb "$files/"

step "the reference"
quietly docs/make_reference.sh "$work/reference"
mv "$work/reference/html" "$work/$name-reference"
tar --create --sort=name --owner=root:0 --group=root:0 --mtime="@$SOURCE_DATE_EPOCH" -C "$work" \
    "$name-reference" | gzip -n9 >"$files/$name-reference.tar.gz"

cp packaging/Containerfile "$files/"
(cd "$files" && sha256sum -- * >"$work/SHA256SUMS")
mv "$work/SHA256SUMS" "$files/"
mv "$files"/* "$target/"
step "$(find "$target" -type f | wc -l) files in $target"
