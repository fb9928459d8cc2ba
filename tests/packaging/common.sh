# SPDX-License-Identifier: Apache-2.0
# For the tests of this folder: sourced with the build folder as $1 and the C++ compiler in CXX.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
build=$(cd "${1:?usage: $0 BUILD-FOLDER}" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

fail() {
    echo "$(basename "$0"): $*" >&2
    exit 1
}

# quietly CMD...: shows what it prints only if it fails.
quietly() {
    if ! "$@" >"$scratch/log" 2>&1; then
        cat "$scratch/log" >&2
        fail "failed: $*"
    fi
}

# snippet NAME: the code block of docs/packaging.md under the comment "built: NAME".
snippet() {
    awk -v name="<!-- built: $1 -->" '
        $0 == name { wanted = 1; next }
        wanted && /^```/ { if (inside) exit; inside = 1; next }
        inside { print; found = 1 }
        END { exit !found }' "$root/docs/packaging.md" || fail "docs/packaging.md has no snippet $1"
}

# install_to PREFIX COMPONENT...
install_to() {
    local prefix=$1 component
    shift
    for component in "$@"; do
        quietly cmake --install "$build" --prefix "$prefix" --component "$component"
    done
}

# install_moved COMPONENT...: into $moved, by way of another folder; run.sh does it once for all tests.
install_moved() {
    moved=${PACKAGING_INSTALLED:-}
    if [[ -z $moved ]]; then
        install_to "$scratch/first" "$@"
        moved=$scratch/moved
        mv "$scratch/first" "$moved"
    fi
}

# consumer NAME SOURCE...: a project of the snippet NAME and files of the examples, in $scratch/NAME.
consumer() {
    mkdir -p "$scratch/$1"
    snippet "$1" >"$scratch/$1/CMakeLists.txt"
    local source
    for source in "${@:2}"; do
        cp "$root/examples/$source" "$scratch/$1/"
    done
}

# build_consumer NAME [CMAKE-OPTION...]
build_consumer() {
    local folder=$scratch/$1
    quietly cmake -G Ninja -S "$folder" -B "$folder/build" "${@:2}"
    quietly cmake --build "$folder/build"
}
