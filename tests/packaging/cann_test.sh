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
# A build of something else says what is missing.
mv "$build/cann/lib64/libmmpa.so" "$scratch/libmmpa.so"
built=0
cmake --install "$build" --prefix "$scratch/partial" --component cann >"$scratch/log" 2>&1 && built=1
mv "$scratch/libmmpa.so" "$build/cann/lib64/libmmpa.so"
[[ $built == 0 ]] && grep -q "^ *$build/.*/libmmpa.so$" "$scratch/log" &&
    grep -q "^ *cmake --build $build --target advance_step_cann" "$scratch/log" || fail "an installation of half a build: $(cat "$scratch/log")"
[[ ! -e $scratch/partial/lib64 ]] || fail "half a prefix"
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
[[ $ASCEND_OPP_PATH == "$scratch/cann/opp" && -z ${ADVANCE_STEP_MEMORY-} ]] || fail "variables of set_env.sh"
for file in compiler opp runtime "$(uname -m)-linux/ascend_toolkit_install.info"; do
    [[ -e $scratch/cann/$file ]] || fail "the prefix has no $file"
done
grep -q '^version=9' "$scratch/cann/$(uname -m)-linux/ascend_toolkit_install.info" || fail "no version"

[[ $(npu-smi info | awk 'NR == 7 { print $3 }') == 910B3 ]] || fail "npu-smi names no SoC"
[[ $(ADVANCE_STEP_SOC=Ascend910B1 ADVANCE_STEP_DEVICES=3 npu-smi info | grep -c 910B1) == 3 ]] || fail "npu-smi"
! npu-smi top 2>"$scratch/log" && grep -q '"top" is not known' "$scratch/log" || fail "npu-smi top"
# What clients read: columns by the names above them, and the last word of a line.
[[ $(npu-smi info -m | awk 'NR == 3 { print $1, $2, $3, $4 }') == "1 0 1 Ascend910B3" ]] || fail "npu-smi info -m"
[[ $(npu-smi info -m | awk -F '  +' 'NR == 1 { print $2 "|" $3 "|" $4 }') == "NPU ID|Chip ID|Chip Logic ID" ]] ||
    fail "head of npu-smi info -m"
[[ $(npu-smi info -t topo | awk '$1 == "NPU1" { print $2, $3, $NF }') == "SIO X $(awk '/^Cpus_allowed_list/ { print $2 }' \
    /proc/self/status)" ]] || fail "npu-smi info -t topo"
[[ $(npu-smi info -t board -i 1 | awk '/PCIe Bus Info/ { print $NF }') == 0000:02:00.0 ]] || fail "npu-smi info -t board"
[[ $(npu-smi info -i 0 -t health | awk '/Health/ { print $NF }') == OK ]] || fail "npu-smi info -t health"
[[ $(npu-smi info -t health | grep -c 'NPU ID') == 2 ]] || fail "npu-smi info -t health of all"
! npu-smi info -t board -i 2 2>"$scratch/log" && grep -q 'expected an NPU below 2' "$scratch/log" || fail "npu-smi -i 2"
! npu-smi info -t power 2>"$scratch/log" && grep -q '"info -t power" is not known' "$scratch/log" || fail "npu-smi -t"
[[ $(ls "$ASCEND_OPP_PATH/vendors") == config.ini ]] || fail "opp/vendors has $(ls "$ASCEND_OPP_PATH/vendors")"
grep -q 'look for `cann` or `latest` in the path of libascendcl.so' "$scratch/cann/README.md" || fail "README.md"

# A plain sh does not know the name of the file: it takes the folder that is set, or the installed one.
printed() {
    env -i PATH="$PATH" "$@" sh -c '. "$0"/set_env.sh && echo "$ASCEND_HOME_PATH $LD_LIBRARY_PATH"' \
        "$scratch/cann" 2>"$scratch/log" || echo failed
}
[[ $(printed ASCEND_HOME_PATH="$scratch/cann") == "$scratch/cann $scratch/cann/lib64" ]] ||
    fail "sh with ASCEND_HOME_PATH"
[[ $(printed) == failed ]] && grep -q "set ASCEND_HOME_PATH" "$scratch/log" || fail "sh in a moved prefix"
ln -s cann "$scratch/first"
[[ $(printed) == "$scratch/first $scratch/first/lib64" ]] || fail "sh in an installed prefix"
rm "$scratch/first"

cp -r "$root/tests/packaging/cann_sample" "$scratch/sample"
quietly cmake -S "$scratch/sample" -B "$scratch/sample/build"
quietly cmake --build "$scratch/sample/build"
[[ $("$scratch/sample/build/sample") == "29 24" ]] || fail "the sample computes other slots"

# A C program of HCCL.
"${CC:-gcc}" -std=c99 -I "$ASCEND_HOME_PATH/include" "$root/tests/packaging/hccl_sum.c" -o "$scratch/hccl_sum" \
    -L "$ASCEND_HOME_PATH/lib64" -lhccl -lascendcl
[[ $("$scratch/hccl_sum" | sort -u) == "2 4 6 8" ]] || fail "hccl_sum prints $("$scratch/hccl_sum")"

# The classic sample of graph mode, with what ASCEND_HOME_PATH names and nothing else.
I=$ASCEND_HOME_PATH/include
"${CXX:-g++}" -I "$I/graph" -I "$I/ge" -I "$I" -I "$ASCEND_HOME_PATH/opp/built-in/op_proto/inc" \
    "$root/examples/graph_classic.cpp" -o "$scratch/classic" -L "$ASCEND_HOME_PATH/lib64" \
    -lgraph -lge_runner -lgraph_base -lge_compiler
"$scratch/classic" "$scratch/dump" >/dev/null || fail "the classic sample of graph mode"
grep -q 'operator "advance_step" of type AdvanceStep' "$scratch/dump.txt" || fail "the dump of the graph"
for name in graph ge_runner graph_base ge_compiler; do
    [[ $(od -An -tx1 -N4 "$scratch/cann/lib64/lib$name.so") == " 7f 45 4c 46" ]] || fail "lib$name is no ELF file"
done
# Two copies of graph mode in one process would have two states.
[[ ! -e $scratch/cann/lib64/libadvance_step_graph.so ]] || fail "graph mode is in the prefix twice"

mapfile -t operators < <(grep -rhoE '\baclnn\w+GetWorkspaceSize' "$scratch/cann/include/aclnnop" |
    sed 's/GetWorkspaceSize$//' | sort -u)
"${CC:-gcc}" -std=c99 -Wall -Wextra -Werror "$root/tests/packaging/find_phases.c" -o "$scratch/find" -ldl
"$scratch/find" libopapi.so "${operators[@]}"
for name in math nn transformer cv; do
    nm -D --defined-only "$scratch/cann/lib64/libopapi_$name.so"
done | sed -n 's/.* T \(aclnn.*\)GetWorkspaceSize.*/\1/p' | sort -u >"$scratch/parts"
diff <(printf '%s\n' "${operators[@]}") "$scratch/parts" >&2 || fail "the parts of libopapi have other operators"
[[ ! -e $scratch/cann/lib64/libcust_opapi.so ]] || fail "libcust_opapi is the users' name"
# What is asked of the build is also true of what was installed, with nothing on LD_LIBRARY_PATH.
env -u LD_LIBRARY_PATH python3 "$root/tests/lint/check_cann_names.py" "$scratch/cann/lib64" \
    "$scratch/cann/lib64/libadvance_step.so.0" || fail "names of the prefix"
echo "cann_test.sh: the sample runs; ${#operators[@]} operators in libopapi and its parts"
