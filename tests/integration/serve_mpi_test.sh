#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One case of serve_mpi: serve_mpi_test.sh SERVE_MPI SERVE CASE. Without mpirun it is skipped (77).
set -euo pipefail

serve_mpi=$1
serve=$2
if ! command -v mpirun >/dev/null; then
    echo "serve_mpi $3: skipped, mpirun is not installed"
    exit 77
fi
source "${0%/*}/serve_summary.sh"

# mpirun does not run as root, as it may be in a container, unless it is told twice. OpenMPI and the
# libraries under it leave memory to the end of the process, some of it in plug-ins that are unloaded
# before the leak checker could name them; what serve's parts leave, the tests of serve tell.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
export ADVANCE_STEP_THREADS=1 # there are more ranks than cores as it is

# ranks N OPTIONS: leaves the exit status in $status and the seconds it took in $took.
ranks() {
    local count=$1
    shift
    status=0
    SECONDS=0
    timeout 120 mpirun --oversubscribe -np "$count" "$serve_mpi" \
        --summary "$folder/summary.json" --requests "$folder/requests.csv" \
        --assignment-out "$folder/assignment.csv" "$@" >"$folder/out" 2>&1 || status=$?
    took=$SECONDS
}

expect_good() {
    ranks "$@"
    ((status == 0)) || fail "exit status $status"
    check 's["state"] == "complete" and s["failure"] == ""' \
        's["total"]["kv_faults"] == 0' \
        's["total"]["completed"] == s["total"]["requests"] > 0' \
        'all(r["finished"] == r["assigned"] == r["requests"] > 0 for r in s["replicas"])' \
        'all(c["steps_compared"] == r["iterations"] for r in s["replicas"] for c in r["ranks"])'
}

# The same assignment in one process, without mpirun: every request, every step's digest, the totals.
expect_as_in_one_process() {
    status=0
    "$serve_mpi" --assignment "$folder/assignment.csv" --summary "$folder/single.json" \
        --requests "$folder/single.csv" "$@" >"$folder/out" 2>&1 || status=$?
    ((status == 0)) || fail "one process ended with exit status $status"
    cmp "$folder/requests.csv" "$folder/single.csv" || fail "requests differ"
    python3 - "$folder/summary.json" "$folder/single.json" <<'PYTHON' || fail "totals differ"
import json, sys
ranks, single = (json.load(open(path)) for path in sys.argv[1:])
def plain(summary):
    return {key: value for key, value in summary.items()
            if key != "ranks" and ("seconds" not in key or key in ("virtual_seconds", "mean_wait_seconds"))}
assert plain(ranks["total"]) == plain(single["total"]), (ranks["total"], single["total"])
for one, other in zip(ranks["replicas"], single["replicas"]):
    assert one["state_digest"] == other["state_digest"]
    assert plain(one) == plain(other), (one, other)
PYTHON
}

# A run that fails within a few seconds and says why, in the output and in the summary.
expect_failure() {
    local why=$1
    shift
    ranks "$@"
    ((status != 0)) || fail "a run that must fail was good"
    ((took <= 20)) || fail "it took $took s to end"
    grep -Eq -- "serve_mpi: .*$why" "$folder/out" || fail "no word of: $why"
    check 's["state"] == "failed"' 's["total"]["completed"] < s["total"]["requests"]'
    python3 - "$folder/summary.json" "$why" <<'PYTHON' || fail "the summary does not say: $why"
import json, re, sys
assert re.search(sys.argv[2], json.load(open(sys.argv[1]))["failure"])
PYTHON
}

# expect_misfit SETTING WHY OPTIONS: of two ranks, the second has a setting that does not do.
expect_misfit() {
    local setting=$1 why=$2
    shift 2
    status=0
    timeout 60 mpirun --oversubscribe -np 1 "$serve_mpi" --summary "$folder/summary.json" "$@" : \
        -np 1 -x "$setting" "$serve_mpi" "$@" >"$folder/out" 2>&1 || status=$?
    ((status != 0 && status != 124)) || fail "exit status $status with $setting"
    grep -q "serve_mpi: $why" "$folder/out" || fail "no word of: $why"
    check 's["state"] == "failed" and s["failure"].startswith("rank 1 ")'
}

two_by_two=(--data-parallel 2 --tensor-parallel 2)

case $3 in
one_rank)
    # Under no mpirun, and with no replica to choose from: what serve does.
    "$serve_mpi" --summary "$folder/summary.json" >"$folder/out" || fail "one rank"
    "$serve" --summary "$folder/single.json" >"$folder/out" || fail "serve"
    python3 - "$folder/summary.json" "$folder/single.json" <<'PYTHON' || fail "not as serve"
import json, sys
total, single = json.load(open(sys.argv[1]))["total"], json.load(open(sys.argv[2]))
assert total.keys() == single.keys()
for key in total:
    assert "wall" in key or key.startswith(("op_", "step_")) or total[key] == single[key], key
PYTHON
    ;;
data_parallel)
    expect_good 2 --data-parallel 2
    expect_as_in_one_process --data-parallel 2
    cp "$folder/assignment.csv" "$folder/first.csv"
    # However late a rank is: the same assignment, and so the same run.
    expect_good 2 --data-parallel 2 --slow-rank 1 --slow-us 500
    cmp "$folder/assignment.csv" "$folder/first.csv" || fail "a slow rank got other requests"
    expect_as_in_one_process --data-parallel 2
    ;;
tensor_parallel)
    expect_good 2 --tensor-parallel 2 --mixed-devices --speculative 2 --limit 60
    expect_as_in_one_process --speculative 2 --limit 60
    ;;
two_by_two)
    expect_good 4 "${two_by_two[@]}" --mixed-devices
    expect_as_in_one_process "${two_by_two[@]}"
    ;;
traces)
    # Each rank writes a trace of its own, as does each replica of one process.
    whole() {
        python3 - "$@" <<'PYTHON' || fail "traces: $(ls "$folder")"
import json, sys
for path in sys.argv[1:]:
    kernels = [e["name"] for e in json.load(open(path))["traceEvents"] if e["ph"] == "X" and e["cat"] == "kernel"]
    assert kernels.count("aclnnStep") > 1 and kernels.index("end of run") == len(kernels) - 1, (path, kernels[-3:])
PYTHON
        rm "$@" && [[ -z $(compgen -G "$folder/*device*") ]] || fail "traces: $(ls "$folder")"
    }
    export ADVANCE_STEP_TRACE=$folder/v1.device.json
    expect_good 4 "${two_by_two[@]}" --limit 8
    whole "$folder"/v1.device.rank{0,1,2,3}.json
    expect_as_in_one_process "${two_by_two[@]}" --limit 8
    whole "$folder"/v1.device.replica{0,1}.json
    # A single one has the name itself. What is no file is shared.
    expect_good 1 --limit 4 && whole "$folder/v1.device.json"
    ADVANCE_STEP_TRACE=$folder/device expect_good 2 --data-parallel 2 --limit 8
    whole "$folder"/device.rank{0,1}
    ADVANCE_STEP_TRACE=/dev/null expect_good 2 --data-parallel 2 --limit 8
    # None of them is another file of the run.
    ranks 2 --data-parallel 2 --limit 8 --report "$folder/v1.device.rank1.json"
    ((status != 0)) && grep -q -- "--report and ADVANCE_STEP_TRACE name the same file" "$folder/out" || fail "one file for both"
    ;;
slow)
    expect_good 4 "${two_by_two[@]}" --limit 60 --slow-rank 3 --slow-us 2000
    expect_as_in_one_process "${two_by_two[@]}" --limit 60
    ;;
out_of_blocks)
    # More at once than fits: Step ends without progress, and the server sheds requests.
    echo 'TIMESTAMP,ContextTokens,GeneratedTokens' >"$folder/at_once.csv"
    for _ in $(seq 128); do
        echo '2024-01-01 00:00:00.0000000,100,400' >>"$folder/at_once.csv"
    done
    load=(--trace "$folder/at_once.csv" --blocks 70 --free-ratio 0.1 "${two_by_two[@]}")
    expect_good 4 "${load[@]}"
    check 'all(r["shed_requests"] > 0 < r["counters"]["noProgress"] for r in s["replicas"])'
    expect_as_in_one_process "${load[@]}"
    # A request that can never fit is told before anything is served.
    ranks 4 "${two_by_two[@]}" --max-len 100
    ((status != 0 && took <= 20)) || fail "a request that never fits"
    grep -q 'serve_mpi: .*sample_trace.csv:.* a sequence has at most 100' "$folder/out" ||
        fail "no word of the request that never fits"
    # A device that is too small for the server itself.
    expect_misfit ADVANCE_STEP_MEMORY=1M 'rank 1 .*: the server needs .* of device memory' --data-parallel 2
    ;;
killed)
    expect_failure 'rank 3 \(replica 1, member 1\), process [0-9]* was killed' \
        4 "${two_by_two[@]}" --kill-at 3:50
    expect_failure 'rank 1 \(replica 1, member 0\), process [0-9]* was killed' \
        2 --data-parallel 2 --kill-at 1:50
    # From outside: rank 1's process, once rank 0 has written that the run is not over.
    rm "$folder/summary.json"
    mpirun --oversubscribe -np 2 "$serve_mpi" --data-parallel 2 --slow-rank 0 --slow-us 50000 \
        --summary "$folder/summary.json" >"$folder/out" 2>&1 &
    mpirun=$!
    until [[ -s $folder/summary.json ]]; do kill -0 "$mpirun" || fail "no run"; done
    for pid in $(cat /proc/"$mpirun"/task/*/children); do
        if tr '\0' '\n' <"/proc/$pid/environ" | grep '^OMPI_COMM_WORLD_RANK=1$' >/dev/null; then
            victim=$pid
        fi
    done
    kill -KILL "$victim"
    SECONDS=0
    status=0
    wait "$mpirun" || status=$?
    ((status != 0 && SECONDS <= 10)) || fail "status $status, $SECONDS s after the kill"
    grep -q "serve_mpi: rank 1 .*, process $victim was killed" "$folder/out" || fail "no word of it"
    check 's["state"] == "failed" and "rank 1 " in s["failure"]'
    # Rank 0 itself: mpirun tells, and the summary is that of a run which is not over.
    ranks 2 --data-parallel 2 --kill-at 0:50
    ((status != 0 && took <= 20)) || fail "rank 0 was killed"
    grep -q 'rank 0 .*signal 9' "$folder/out" || fail "no word of rank 0"
    check 's["state"] == "running"'
    ;;
silent)
    expect_failure 'rank 3 \(replica 1, member 1\) does not answer; rank 2 .* at step 50' \
        4 "${two_by_two[@]}" --timeout 1 --stop-at 3:50
    expect_failure 'rank 1 \(replica 1, member 0\) does not answer; rank 0 ' \
        2 --data-parallel 2 --timeout 1 --stop-at 1:50
    # Rank 0 is none that hangs while it waits for the trace, here longer than it would have to answer.
    mkfifo "$folder/trace"
    (sleep 5 && cat "$(dirname "$0")/../../tools/serve/sample_trace.csv" >"$folder/trace") &
    expect_good 2 --data-parallel 2 --timeout 1 --limit 20 --trace "$folder/trace"
    wait "$!"
    # Nor while it waits for the reader of a file.
    (exec 9<"$folder/trace" && sleep 5 && cat <&9 >"$folder/page") &
    expect_good 2 --data-parallel 2 --timeout 1 --report "$folder/trace"
    wait "$!"
    (($(stat -c %s "$folder/page") > 65536)) || fail "less than a pipe has room for"
    ;;
divergence)
    expect_failure 'rank 3 .* differs at step 50 in tensor Step.freeList: .* rank 2 ' \
        4 "${two_by_two[@]}" --flip-at 3:50:Step.freeList
    # Of three, the one that most do not agree with, be it the first.
    expect_failure 'rank 0 .* differs at step 9 in tensor AdvanceStep.slotMapping: .* rank 1 ' \
        3 --tensor-parallel 3 --flip-at 0:9:AdvanceStep.slotMapping
    # Nothing injected: one rank has the shipped kernel's reading of the block table.
    expect_misfit ADVANCE_STEP_CONFORMANCE=exact 'rank 1 .* in tensor AdvanceStep.slotMapping' \
        --tensor-parallel 2
    ;;
report)
    # The page is that of one process with the same assignment, and has the sums of the replicas.
    plan=(--data-parallel 2 --max-seqs 16 --block-size 16 --blocks 900)
    "$serve" --max-seqs 16 --block-size 16 --blocks 900 --report "$folder/before.html" >"$folder/out" || fail serve
    expect_good 2 "${plan[@]}" --report "$folder/ranks.html" --compare "$folder/before.html"
    "$serve_mpi" --assignment "$folder/assignment.csv" "${plan[@]}" --report "$folder/single.html" \
        --compare "$folder/ranks.html" >"$folder/out" 2>&1 || fail "one process"
    python3 - "$folder/summary.json" "$folder/ranks.html" "$folder/single.html" <<'PYTHON' || fail "report"
import json, sys, xml.etree.ElementTree as tree
total = json.load(open(sys.argv[1]))["total"]
ranks, single = ({e.get("id"): e.text for e in tree.parse(path).iter() if e.get("id")} for path in sys.argv[2:])
assert ranks["timeline"] == single["timeline"]
assert json.loads(ranks["summary"]) == total
buckets = json.loads(ranks["timeline"])["buckets"]
assert 100 < len(buckets) <= 480
assert all(a["begin"] < a["end"] <= b["begin"] for a, b in zip(buckets, buckets[1:]))
assert buckets[-1]["end"] == total["virtual_seconds"]
assert sum(b["tokens"] for b in buckets) == total["generated_tokens"]
assert sum(b["prefill_tokens"] for b in buckets) == (
    total["prompt_tokens"] + total["replayed_tokens"] + total["recoveries"])
assert max(b["peak_running"] for b in buckets) == total["peak_seqs"]
assert max(b["running"] for b in buckets) > total["peak_seqs"], "no sum of two replicas"
assert max(b["peak_blocks"] for b in buckets) == total["peak_blocks"]
assert "comparison" in ranks and "comparison" in single
PYTHON
    ;;
options)
    ranks 2 "${two_by_two[@]}"
    ((status != 0)) || fail "2 ranks for 2 x 2"
    grep -q -- '2 x --tensor-parallel 2 are 4 ranks; mpirun has started 2' "$folder/out" ||
        fail "no word of the ranks"
    ranks 2 --data-parallel 2 --trace "$folder/no-such.csv"
    ((status != 0)) || fail "no trace"
    echo 'line,replica' >"$folder/assignment.csv"
    status=0
    "$serve_mpi" --assignment "$folder/assignment.csv" >"$folder/out" 2>&1 || status=$?
    ((status == 1)) || fail "an empty assignment"
    grep -q 'the request of line 2 has no replica' "$folder/out" || fail "no word of the line"
    for range in --window:0.001 --timeout:1; do
        status=0
        "$serve_mpi" "${range%:*}" nan >"$folder/out" 2>&1 || status=$?
        ((status != 0)) && grep -q -- "${range%:*}: Value nan not in range ${range#*:} to 3600" "$folder/out" ||
            fail "$range is no number"
    done
    status=0
    "$serve_mpi" --assignment "$folder/assignment.csv" --assignment-out "$folder/other.csv" >"$folder/out" 2>&1 || status=$?
    ((status != 0)) && grep -q -- '--assignment-out' "$folder/out" || fail "both assignments"
    # A standard stream that is closed is none of the files, nor one of MPI.
    ranks 2 --data-parallel 2 --limit 4
    ((status == 0)) || fail "exit status $status"
    rm "$folder/summary.json"
    status=0
    "$serve_mpi" --data-parallel 2 --assignment "$folder/assignment.csv" --limit 4 --summary "$folder/summary.json" \
        <&- >&- 2>"$folder/out" || status=$?
    ((status == 1)) && grep -q 'standard output: .*Bad file' "$folder/out" || fail "closed: status $status"
    check 's["state"] == "complete"'
    ;;
*) fail "no such case: $3" ;;
esac
echo "serve_mpi $3: good"
