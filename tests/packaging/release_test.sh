#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Tries the files that packaging/release.sh has built, each kind in a fresh Debian 12.
#
#   release_test.sh FOLDER [source | packages | wheel | container | reference ...]
#
# Without names of parts it tries all. The part wheel fetches torch and torch_npu from the package index by the pip
# of this machine. It takes some ten minutes on two cores, so it is no part of tests/run.sh.
# What it needs, and when it is skipped: clean_root.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/clean_root.sh"

files=$(cd "${1:?usage: $0 FOLDER [PART ...]}" && pwd)
parts=("${@:2}")
((${#parts[@]} > 0)) || parts=(source packages wheel container reference)
archive=$(compgen -G "$files/libadvance_step-*[0-9].tar.gz") || fail "$files has no source archive"
name=$(basename "$archive" .tar.gz)
# Programs and pages are those of the release.
tar -xf "$archive" -C "$scratch"
source=$scratch/$name
needed='DEBIAN_FRONTEND=noninteractive apt-get install -qq --yes --no-install-recommends'

# The builds inside use as many processes as those here.
arguments=([CMAKE_BUILD_PARALLEL_LEVEL]=${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)})

# printed TEXT: the last command inside has printed it.
printed() { grep -qF -- "$1" "$scratch/log" || fail "expected the output to have: $1"; }

# The installed library and graph mode serve programs, and Python.
try_installed() {
    mkdir -p "$debian/srv/try"
    cp "$source"/examples/{advance_step.c,decode_loop.cpp,graph_classic.cpp} "$debian/srv/try/"
    inside 'cd /srv/try && gcc advance_step.c -o c_program $(pkg-config --cflags --libs advance_step) && ./c_program'
    printed "the new tokens go to slots 29 and 36"
    inside 'cd /srv/try && g++ graph_classic.cpp -o graph $(pkg-config --cflags --libs advance_step_graph) &&
        ./graph dump && cat dump.txt'
    printed 'operator "advance_step" of type AdvanceStep'
    inside 'cd /srv/try && python3 -m advance_step'
    printed "advance_step ${name##*-}, library libadvance_step.so.0"
}

try_source() {
    cp -r "$source" "$debian/srv/"
    inside "apt-get update -qq"
    # The first command of the README, and its first program.
    inside "cd /srv/$name && ./examples/run.sh"
    grep -qE '^ +K/V faults +0 ' "$scratch/log" || fail "serve does not say 0 K/V faults"
    awk '/^<!-- run: first program -->$/ { wanted = 1 } wanted && sub(/^\$ /, "") { print } wanted && /^$/ { exit }' \
        "$source/README.md" >"$debian/srv/first.sh"
    grep -q advance_step.c "$debian/srv/first.sh" || fail "the README shows no first program"
    inside "cd /srv/$name && sh -e /srv/first.sh"
    printed "the new tokens go to slots 29 and 36"
}

try_packages() {
    cp "$files"/*.deb "$debian/opt/"
    inside "apt-get update -qq && $needed g++ pkg-config /opt/*.deb"
    try_installed
    inside "apt-get purge -qq --yes 'libadvance-step*' 'python3-advance-step'"
    inside "find /usr /etc -name '*advance_step*' -o -name '*aclnn*'"
    [[ ! -s $scratch/log ]] || fail "files are left after the packages were removed: $(cat "$scratch/log")"
}

try_wheel() {
    mkdir "$debian/opt/wheels"
    local wheel
    wheel=$(compgen -G "$files/*.whl")
    python3 -m pip --quiet --quiet --disable-pip-version-check download --dest "$debian/opt/wheels" --python-version 3.11 \
        --only-binary=:all: torch==2.13.0 torch_npu==2.13.0 "$wheel" || skip "no torch_npu from the package index"
    inside "apt-get update -qq && $needed python3-venv"
    inside "python3 -m venv /opt/npu && /opt/npu/bin/pip install --no-index --find-links /opt/wheels \
        torch==2.13.0 torch_npu==2.13.0 /opt/wheels/$(basename "$wheel")"
    inside "cd /srv && /opt/npu/bin/python -m advance_step"
    printed "advance_step ${name##*-}, library /opt/npu/lib/python3.11/site-packages/advance_step/cann/lib64/"
    # The program of the page prints what its comments say.
    awk '/^```python$/ { inside = 1; next } /^```$/ { if (inside) exit } inside' "$source/docs/torch_npu.md" \
        >"$debian/srv/step.py"
    sed -n 's/^print(.*)  # //p' "$debian/srv/step.py" >"$scratch/expected"
    [[ -s $scratch/expected ]] || fail "docs/torch_npu.md shows no program"
    local mode
    for mode in 1 queue; do
        inside "cd /srv && ADVANCE_STEP_HOST_OPERATORS=$mode /opt/npu/bin/python -m advance_step.torch_npu step.py \
            >printed"
        diff -u "$scratch/expected" "$debian/srv/printed" ||
            fail "the program of docs/torch_npu.md prints something else"
    done
}

try_container() {
    run_recipe "$files/Containerfile" "$files"
    try_installed
}

try_reference() {
    tar -xf "$files/$name-reference.tar.gz" -C "$scratch"
    grep -qs libadvance_step "$scratch/$name-reference/index.html" || fail "the reference has no first page"
    grep -l aclnnAdvanceStepGetWorkspaceSize "$scratch/$name-reference"/*.html >/dev/null ||
        fail "the reference has no operators"
}

(cd "$files" && sha256sum --quiet --check SHA256SUMS) || fail "a file is not the one of SHA256SUMS"
make_base
for part in "${parts[@]}"; do
    [[ $(type -t "try_$part") == function ]] || fail "$part is no part: source, packages, wheel, container, reference"
    step "$part"
    [[ $part == reference ]] || new_root
    "try_$part"
done
step "tried: ${parts[*]}"
