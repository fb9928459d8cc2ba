#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that a build of this project needs, and those named as arguments.
# Leaves apt alone when all of them are there.
set -euo pipefail

packages=(g++ cmake ninja-build python3 libfmt-dev nlohmann-json3-dev libcli11-dev libjs-dygraphs zlib1g-dev libzstd-dev "$@")

if ! command -v dpkg-query >/dev/null; then
    echo "install_packages.sh: not a Debian system; needed are: ${packages[*]}" >&2
    exit 0 # they may be there under other names: the build will tell
fi

missing=()
for package in "${packages[@]}"; do
    # A package may be there for several machines.
    machine=$(dpkg --print-architecture)
    [[ $package != *:* ]] || machine=${package#*:}
    if ! dpkg-query --show --showformat='${Architecture} ${db:Status-Status}\n' "$package" 2>/dev/null |
        grep -xE "($machine|all) installed" >/dev/null; then
        missing+=("$package")
    fi
done
if ((${#missing[@]} == 0)); then
    exit 0
fi

as_root=(env DEBIAN_FRONTEND=noninteractive)
if ((EUID != 0)); then
    if ! command -v sudo >/dev/null; then
        echo "install_packages.sh: needs root or sudo to install: ${missing[*]}" >&2
        exit 1
    fi
    as_root=(sudo "${as_root[@]}")
fi
echo "Installing ${missing[*]}"
"${as_root[@]}" apt-get update -qq
"${as_root[@]}" apt-get install -qq --yes --no-install-recommends "${missing[@]}"
