#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the steps of a container recipe in a fresh Debian 12.
#
#   container_test.sh [--all]        .devcontainer/Dockerfile, and builds a layer with its tools
#   container_test.sh --host-tests   examples/host_tests/Containerfile, with this commit of the library
#
# The packages are those of the part quick; with --all, all that the image has. What it needs, and when it is
# skipped: clean_root.sh.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/clean_root.sh"

arguments=([PARTS]=quick)
recipe=$root/.devcontainer/Dockerfile
context=$root
case ${1:-} in
    --all) arguments[PARTS]= ;;
    --host-tests)
        context=$root/examples/host_tests
        recipe=$context/Containerfile
        arguments=([ADVANCE_STEP_REPOSITORY]=/opt/advance_step.git)
        ;;
esac

make_base
new_root
if [[ $context != "$root" ]]; then
    mkdir -p "$debian/opt"
    git clone --quiet --bare "$root" "$debian/opt/advance_step.git"
    chown -R root: "$debian/opt/advance_step.git"
fi
run_recipe "$recipe" "$context"
if [[ $context != "$root" ]]; then
    step "every step ran"
    exit
fi

step "the layer src/base, as its user"
mkdir "$debian/home/developer/project"
(cd "$root" && git ls-files -z -co --exclude-standard | tar --null --ignore-failed-read -cf - -T -) |
    tar -xf - -C "$debian/home/developer/project"
inside 'chown -R developer: ~developer/project'
inside 'su developer -c "cd ~/project && cmake --preset quick && \
    cmake --build --preset quick --target advance_step_base"'
inside 'su developer -c "cd ~/project && sudo true && tests/lint/check_secrets.py && clang-format --version"'
step "every step ran"
