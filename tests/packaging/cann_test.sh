#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The prefix in the shape of CANN's: a sample builds against it, and dlopen finds everything.
#
#   cann_test.sh BUILD-FOLDER
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

install_to "$scratch/first" cann
mv "$scratch/first" "$scratch/cann"
for default in /usr /usr/local; do
    if DESTDIR=$scratch/root cmake --install "$build" --prefix "$default" --component cann \
        >"$scratch/log" 2>&1 || [[ -e $scratch/root$default/lib64 ]]; then
        fail "component cann goes to $default"
    fi
done
install_to "$scratch/plain" runtime devel
if find "$scratch/plain" -name 'libascendcl*' -o -name 'libopapi*' -o -name set_env.sh | grep .; then
    fail "a name of CANN's is outside its component"
fi

set +u
source "$scratch/cann/set_env.sh"
set -u
for name in ASCEND_HOME_PATH ASCEND_TOOLKIT_HOME ASCEND_CUSTOM_PATH; do
    [[ ${!name} == "$scratch/cann" ]] || fail "$name is ${!name}"
done

cp -r "$root/tests/packaging/cann_sample" "$scratch/sample"
quietly cmake -S "$scratch/sample" -B "$scratch/sample/build"
quietly cmake --build "$scratch/sample/build"
[[ $("$scratch/sample/build/sample") == "29 24" ]] || fail "the sample computes other slots"

mapfile -t operators < <(grep -rhoE '\baclnn\w+GetWorkspaceSize' "$scratch/cann/include/aclnnop" |
    sed 's/GetWorkspaceSize$//' | sort -u)
"${CC:-gcc}" -std=c99 -Wall -Wextra -Werror "$root/tests/packaging/find_phases.c" -o "$scratch/find" -ldl
for name in ascendcl acl_rt nnopbase opapi opapi_nn opapi_math cust_opapi; do
    "$scratch/find" "lib$name.so" "${operators[@]}"
done
echo "cann_test.sh: the sample runs; ${#operators[@]} operators in every library"
