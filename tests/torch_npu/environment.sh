# SPDX-License-Identifier: Apache-2.0
# Sourced: makes the virtual environment of the Python tests and sets `environment` to its folder.
#
# It is build/torch_npu, with torch and the published torch_npu. Without the package index the script
# ends: with 77, or with 1 where CI is set.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
environment=$root/build/torch_npu
packages=(torch==2.13.0 torch_npu==2.13.0 transformers==5.23.0 accelerate==1.15.0 numpy pyyaml pytest \
    pytest-xdist mypy expecttest setuptools wheel)
# Clients that some tests run, and that are skipped where they cannot be had. What they need is above.
clients=(mooncake-transfer-engine-npu==0.3.13.post1)
# In a folder of its own, because torch and others take another way where they find a Triton.
triton=(triton-ascend==3.2.0 pybind11==3.1.0)

skip() {
    if [[ ${CI:-} ]]; then
        echo "environment.sh: $*" >&2
        exit 1
    fi
    echo "environment.sh: skipped: $*"
    exit 77
}

# The wheel of torch_npu is one for CPython 3.11.
python=
for candidate in python3.11 /usr/bin/python3.11 python3; do
    if "$candidate" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info[:2] != (3, 11))' \
        >/dev/null 2>&1; then
        python=$candidate
        break
    fi
done
[[ $python ]] || skip "no Python 3.11 with venv; expected the Debian packages python3 and python3-venv"
[[ $(uname -m) == x86_64 ]] || skip "torch_npu is tried on x86_64 only, and this is $(uname -m)"

# get_client [OPTION ...] PACKAGE ...: as pip's arguments, without what they depend on.
get_client() {
    if ! TMPDIR=$environment/tmp "$environment/bin/pip" --quiet --disable-pip-version-check install \
        --no-cache-dir --no-compile --no-deps "$@" >"$environment/log" 2>&1; then
        tail -5 "$environment/log" >&2
        echo "environment.sh: the package index does not give $*; their tests are skipped"
    fi
}

# Of some 12,000 modules only those are compiled that are imported, and nothing is written beside the sources.
export PYTHONPYCACHEPREFIX=$environment/pycache
unset PYTHONDONTWRITEBYTECODE
if [[ $(cat "$environment/packages" 2>/dev/null) != "${packages[*]} ${clients[*]} ${triton[*]}" ]]; then
    rm -rf "$environment"
    "$python" -m venv "$environment"
    mkdir -p "$environment/tmp"
    if ! TMPDIR=$environment/tmp "$environment/bin/pip" --quiet --disable-pip-version-check install \
        --no-cache-dir --no-compile "${packages[@]}" >"$environment/log" 2>&1; then
        tail -5 "$environment/log" >&2
        skip "the package index does not give ${packages[*]}"
    fi
    get_client "${clients[@]}"
    get_client --target "$environment/triton" "${triton[@]}"
    echo "${packages[*]} ${clients[*]} ${triton[*]}" >"$environment/packages"
fi

# Installs the wheel of the release preset there.
install_wheel() {
    if [[ ! -e $root/build/release/CMakeCache.txt ]]; then
        (cd "$root" && cmake --preset release >/dev/null)
    else
        cmake "$root/build/release" >/dev/null # finds a torch that has come since
    fi
    cmake --build "$root/build/release" --target advance_step advance_step_cann
    # From a copy, because pip writes into the folder that it builds.
    rm -rf "$environment/source"
    cp -r "$root/src/python" "$environment/source"
    ADVANCE_STEP_BUILD=$root/build/release "$environment/bin/pip" --quiet --disable-pip-version-check \
        install --no-deps --no-index --no-build-isolation --force-reinstall "$environment/source"
}
