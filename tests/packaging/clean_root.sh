# SPDX-License-Identifier: Apache-2.0
# Fresh Debian 12 systems in a scratch folder, entered by chroot.
# Sourced by the tests that need them.
#
# It needs root, debootstrap and the network; where one of them is missing the test ends with 77, which means
# skipped. MIRROR names another mirror than deb.debian.org, and CLEAN_ROOT a folder that debootstrap has filled
# before, with --variant=minbase bookworm; it is copied and stays as it is.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mirror=${MIRROR:-http://deb.debian.org/debian}
scratch=$(mktemp -d)
debian=$scratch/debian # the system in use
declare -A arguments=() # of the recipe: the variables that `inside` sets
mounted=

skip() {
    echo "$(basename "$0"): skipped: $*"
    exit 77
}
fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}
step() { echo "$(basename "$0"): $SECONDS s: $*"; }

remove_root() {
    # Nothing is removed through a mount that is left.
    [[ ! $mounted ]] || umount "$debian/proc"
    mounted=
    rm -rf --one-file-system "$debian"
}
trap 'remove_root; rm -rf --one-file-system "$scratch"' EXIT

# Makes the system that new_root copies.
make_base() {
    ((EUID == 0)) || skip "it needs root"
    base=${CLEAN_ROOT:-}
    [[ ! $base ]] || return 0
    command -v debootstrap >/dev/null || skip "debootstrap is missing (Debian: debootstrap)"
    base=$scratch/base
    step "debootstrap"
    # ca-certificates and the like come with the packages that need them, as in an image.
    if ! debootstrap --variant=minbase bookworm "$base" "$mirror" >"$scratch/log" 2>&1; then
        tail -n 5 "$scratch/log"
        grep -q 'E: Failed getting release file\|E: Invalid Release file' "$scratch/log" && skip "no $mirror"
        fail "debootstrap failed"
    fi
}

# A fresh system in $debian instead of the last one.
new_root() {
    remove_root
    cp -a --reflink=auto "$base" "$debian"
    # The network as here: names, a proxy for apt. And no service is started.
    cp --dereference /etc/resolv.conf "$debian/etc/resolv.conf"
    apt-config dump | grep -E '^Acquire::https?::Proxy ' >"$debian/etc/apt/apt.conf.d/90proxy" || true
    printf '#!/bin/sh\nexit 101\n' >"$debian/usr/sbin/policy-rc.d"
    chmod +x "$debian/usr/sbin/policy-rc.d"
    mount -t proc proc "$debian/proc" 2>/dev/null && mounted=yes || skip "it may not mount /proc"
}

# inside COMMAND: in the system, with the arguments of the recipe; what it prints is in $scratch/log.
inside() {
    local name environment=(PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8)
    for name in "${!arguments[@]}"; do environment+=("$name=${arguments[$name]}"); done
    if ! env -i "${environment[@]}" chroot "$debian" /bin/sh -c "$1" >"$scratch/log" 2>&1; then
        tail -n 25 "$scratch/log" >&2
        fail "failed: $1"
    fi
}

# run_recipe FILE CONTEXT: the steps of a container recipe, with the files of the folder CONTEXT.
run_recipe() {
    local instruction rest names target steps=0
    while read -r instruction rest; do
        case $instruction in
            FROM) [[ $rest == debian:12 ]] || fail "the image is $rest, not debian:12" ;;
            ARG) : "${arguments[${rest%%=*}]=${rest#*=}}" ;;
            COPY)
                read -ra names <<<"$rest"
                target=$debian${names[-1]}
                unset 'names[-1]'
                mkdir -p "$target"
                # Unquoted, because a name may be a pattern.
                (cd "$2" && cp -r ${names[*]} "$target")
                ;;
            RUN)
                step "RUN $rest"
                inside "$rest"
                ((++steps))
                ;;
            *) fail "cannot run the instruction $instruction" ;;
        esac
    done < <(grep -vE '^(#|$)' "$1" | sed -e ':a' -e '/\\$/N; s/\\\n *//; ta')
    ((steps > 0)) || fail "the recipe has no step"
}
