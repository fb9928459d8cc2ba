#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the steps of a container recipe in a fresh Debian 12.
#
#   container_test.sh [--all]        .devcontainer/Dockerfile, and builds a layer with its tools
#   container_test.sh --host-tests   examples/host_tests/Containerfile, with this commit of the library
#
# The packages are those of the part quick; with --all, all that the image has. Needs root, debootstrap and
# the network, and ends with 77, which means skipped, where one of them is missing. MIRROR names another
# mirror than deb.debian.org.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
declare -A arguments=([PARTS]=quick)
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

skip() {
    echo "container_test.sh: skipped: $*"
    exit 77
}
fail() {
    echo "container_test.sh: $*" >&2
    exit 1
}
step() { echo "container_test.sh: $SECONDS s: $*"; }

((EUID == 0)) || skip "it needs root"
command -v debootstrap >/dev/null || skip "debootstrap is missing (Debian: debootstrap)"

scratch=$(mktemp -d)
debian=$scratch/debian
mounted=
cleanup() {
    # Nothing is removed through a mount that is left.
    [[ ! $mounted ]] || umount "$debian/proc"
    rm -rf --one-file-system "$scratch"
}
trap cleanup EXIT

step "debootstrap"
# ca-certificates and the like come with the packages that need them, as in the image.
if ! debootstrap --variant=minbase bookworm "$debian" "$mirror" >"$scratch/log" 2>&1; then
    tail -n 5 "$scratch/log"
    grep -q 'E: Failed getting release file\|E: Invalid Release file' "$scratch/log" && skip "no $mirror"
    fail "debootstrap failed"
fi
# The network as here: names, a proxy for apt. And no service is started.
cp --dereference /etc/resolv.conf "$debian/etc/resolv.conf"
apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$debian/etc/apt/apt.conf.d/90proxy" || true
printf '#!/bin/sh\nexit 101\n' >"$debian/usr/sbin/policy-rc.d"
chmod +x "$debian/usr/sbin/policy-rc.d"
mount -t proc proc "$debian/proc" 2>/dev/null && mounted=yes || skip "it may not mount /proc"

if [[ $context != "$root" ]]; then
    mkdir -p "$debian/opt"
    git clone --quiet --bare "$root" "$debian/opt/advance_step.git"
    chown -R root: "$debian/opt/advance_step.git"
fi

# inside COMMAND: in the new Debian, with the arguments of the recipe.
inside() {
    local name environment=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8)
    for name in "${!arguments[@]}"; do environment+=("$name=${arguments[$name]}"); done
    if ! env -i "${environment[@]}" chroot "$debian" /bin/sh -c "$1" >"$scratch/log" 2>&1; then
        tail -n 25 "$scratch/log" >&2
        fail "failed: $1"
    fi
}

steps=0
while read -r instruction rest; do
    case $instruction in
        FROM) [[ $rest == debian:12 ]] || fail "the image is $rest, not debian:12" ;;
        ARG) : "${arguments[${rest%%=*}]=${rest#*=}}" ;;
        COPY)
            read -ra names <<<"$rest"
            target=$debian${names[-1]}
            unset 'names[-1]'
            mkdir -p "$target"
            (cd "$context" && cp -r "${names[@]}" "$target")
            ;;
        RUN)
            step "RUN $rest"
            inside "$rest"
            ((++steps))
            ;;
        *) fail "cannot run the instruction $instruction" ;;
    esac
done < <(grep -vE '^(#|$)' "$recipe" | sed -e ':a' -e '/\\$/N; s/\\\n *//; ta')
((steps > 0)) || fail "the recipe has no step"
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
