#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One case of the files of serve_mpi, without mpirun: serve_mpi_files_test.sh SERVE_MPI CASE
if ! command -v mpirun >/dev/null; then
    echo "serve_mpi $2: skipped, mpirun is not installed"
    exit 77
fi
source "${0%/*}/serve_parts.sh"
# As in serve_mpi_test.sh: what MPI leaves is not looked for.
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"

case $2 in
files)
    # A run that is refused leaves the file that --summary names, here the trace.
    cp "$sample" "$folder/trace.csv"
    cp "$folder/trace.csv" "$folder/kept.csv"
    run --trace "$folder/trace.csv" --summary "$folder/trace.csv"
    ((status != 0)) && grep -q -- '--trace and --summary name the same file' "$folder/out" || fail "one file for both"
    cmp "$folder/trace.csv" "$folder/kept.csv" || fail "the trace was overwritten"
    run --summary "$folder/no-such-folder/summary.json"
    ((status != 0)) && (($(grep -c '^serve_mpi: .*the summary cannot be written' "$folder/out") == 1)) ||
        fail "not told once"
    # One that fails leaves no file that would have become one of its files.
    mkdir "$folder/files"
    run --max-len 100 --summary "$folder/files/summary" --requests "$folder/files/requests" \
        --report "$folder/files/report" --assignment-out "$folder/files/assignment"
    ((status != 0)) && [[ $(ls -A "$folder/files") == $'requests\nsummary' ]] || fail "files: $(ls -A "$folder/files")"
    # A pipe gets one summary, as does the file of the standard output.
    mkfifo "$folder/pipe"
    cat "$folder/pipe" >"$folder/summary.json" &
    run --limit 4 --summary "$folder/pipe"
    wait "$!"
    ((status == 0)) || fail "a pipe: exit status $status"
    check 's["state"] == "complete"'
    run --limit 4 --summary /dev/stdout
    ((status == 0)) && (($(grep -c '"state"' "$folder/out") == 1)) || fail "standard output: exit status $status"
    # What cannot be written is told once, and keeps back no other file and no table.
    if [[ -w /dev/full ]]; then
        run --limit 4 --assignment-out "$folder/assignment.csv"
        for way in "" "--assignment $folder/assignment.csv"; do
            # shellcheck disable=SC2086
            run $way --limit 4 --summary /dev/full --requests "$folder/few.csv"
            ((status == 1)) && (($(grep -c 'serve_mpi: .*/dev/full: the summary cannot be written: No space left' "$folder/out") == 1)) ||
                fail "full $way: exit status $status"
            (($(wc -l <"$folder/few.csv") == 5)) && grep -q 'digest of run' "$folder/out" || fail "no requests, or no table"
            rm "$folder/few.csv"
        done
        status=0
        "$serve" --limit 4 --summary "$folder/summary.json" --requests "$folder/few.csv" 2>"$folder/out" >/dev/full || status=$?
        ((status == 1)) && [[ $(cat "$folder/out") == 'serve_mpi: standard output: the table cannot be written: No space left on device' ]] ||
            fail "a full standard output: exit status $status"
        check 's["state"] == "complete"'
    fi
    # A disk that becomes full ends the trace of the device, and not in silence.
    run --limit 4 --assignment-out "$folder/assignment.csv"
    for way in "" "--assignment $folder/assignment.csv"; do
        on_small_disk true 2>/dev/null || continue
        status=0
        # shellcheck disable=SC2086
        ADVANCE_STEP_TRACE=$folder/disk/device.json on_small_disk "$serve" $way --limit 4 \
            --summary "$folder/summary.json" >"$folder/out" 2>&1 || status=$?
        ((status == 1)) && grep -q "serve_mpi: $folder/disk/device.json: the trace of the device ends early" "$folder/out" ||
            fail "a full disk $way: exit status $status"
        check 's["state"] == "complete"'
    done
    ;;
ends)
    # A replay that fails writes its files, as serve does.
    echo '{"iteration_us": 1e9, "prefill_token_us": 1e9, "decode_row_us": 1e9, "context_token_us": 1e9}' >"$folder/huge.json"
    load=(--generate count=40,rate=1000,prompt=constant:9999,generated=constant:6000)
    (echo line,replica && seq -f '%.0f,0' 40) >"$folder/plan.csv"
    bad 'serve_mpi: replica 0: virtual time has come to' 'the run failed: replica 0: ' -- "${load[@]}" \
        --time-model "$folder/huge.json" --assignment "$folder/plan.csv" --summary "$folder/summary.json"
    check 's["state"] == "failed" and s["failure"].startswith("replica 0: virtual time")' 's["total"]["requests"] == 40'
    # Signals: to a replay, which ends after the iteration, and to a rank without mpirun.
    load=(--generate count=30000,rate=1e6,prompt=constant:100,generated=constant:400)
    (echo line,replica && seq 30000 | awk '{ print $1 "," $1 % 2 }') >"$folder/plan.csv"
    signalled() {
        local signal=$1 ticks
        shift
        "$serve" "${load[@]}" --summary "$folder/summary.json" --requests "$folder/requests.csv" "$@" >"$folder/out" 2>&1 &
        pid=$!
        # It serves when it has used a second of CPU time: the requests are made in a part of that.
        ticks=$(getconf CLK_TCK)
        until (($(cut -d ' ' -f 14 "/proc/$pid/stat") > ticks)); do kill -0 "$pid" || fail "no run"; done
        kill -"$signal" "$pid"
        status=0
        wait "$pid" || status=$?
        ((status == 1)) || fail "$signal with $*: exit status $status"
    }
    for signal in INT TERM; do
        signalled "$signal" --assignment "$folder/plan.csv" --data-parallel 2
        check 's["state"] == "failed" and s["failure"] == "interrupted"' 's["total"]["interrupted"] is True' \
            's["replicas"][0]["iterations"] > 0 == s["replicas"][1]["iterations"]' \
            's["total"]["requests"] == 30000 > s["total"]["completed"] == len(open(sys.argv[1].replace("summary.json", "requests.csv")).readlines()) - 1' \
            's["total"]["requests"] == s["replicas"][0]["requests"] + s["replicas"][1]["assigned"]'
        signalled "$signal"
        check "s['state'] == 'failed' and s['failure'].startswith('SIG$signal at step ')"
    done
    [[ $(ls -A "$folder") != *.serve-* ]] || fail "temporary files are left"
    mkfifo "$folder/pipe"
    # A signal while it waits for the writer of the pipe; it ends with the words.
    interrupt() {
        local words=$1
        shift
        "$serve" "$@" --summary "$folder/other.json" >"$folder/out" 2>&1 &
        pid=$!
        # It catches signals before it makes its files, and reads the pipe then.
        until [[ -n $(find "$folder" -name '.serve-*') ]]; do kill -0 "$pid" || fail "no run"; done
        kill -TERM "$pid"
        status=0
        wait "$pid" || status=$?
        ((status == 1)) && grep -q "serve_mpi: $words" "$folder/out" || fail "a pipe, $*: exit status $status"
    }
    interrupt 'SIGTERM at step 0' "$folder/pipe"
    interrupt 'interrupted before the run' "$folder/pipe" --assignment "$folder/plan.csv"
    # A replay waits for the assignment once it has the trace.
    interrupt 'interrupted before the run' --limit 2 --assignment "$folder/pipe"
    (echo line,replica && seq -f '%.0f,0' 2 3) >"$folder/pipe" &
    run --limit 2 --assignment "$folder/pipe"
    wait "$!"
    ((status == 0)) || fail "an assignment from a pipe: exit status $status"
    ;;
numbers)
    # Most of the time of these many starts went into a daemon of OpenMPI's for each.
    export OMPI_MCA_ess_singleton_isolated=1
    # As serve's; the first rank tells.
    refused() {
        local option=$1 words=$2 value
        shift 2
        for value; do
            bad "^$option: Value $value $words" -- "$option" "$value"
        done
    }
    for row in '--limit not in range 1 to 9223372036854775807' '--data-parallel not in range 1 to 1048576' \
        '--tensor-parallel not in range 1 to 1048576' '--slow-rank not in range 0 to 1048576' '--slow-us not in range 0 to 3600000000'; do
        refused "${row%% *}" "${row#* }" 5x '' -1 0x5 99999999999999999999
    done
    for row in '--window not in range 0.001 to 3600' '--timeout not in range 1 to 3600'; do
        refused "${row%% *}" "${row#* }" 5x '' -1 0x5 1e999
    done
    bad '^--assignment-out: expected the path of a file' -- --assignment-out ''
    for option in --kill-at --stop-at; do
        refused "$option" 'is not of the form RANK:STEP, with whole numbers from 0' 0:5x '' : 5 0: :5 -1:5 0:-5 0x1:5 0:0x5 \
            ' 0:5' '0: 5' 0:5: 0:5:Step.freeList 99999999999:5 0:99999999999999999999
    done
    refused --flip-at 'is not of the form RANK:STEP:TENSOR, with whole numbers from 0' 0:5 0:5: 0:5x:Step.freeList '' \
        :5:Step.freeList -1:5:Step.freeList 0x1:5:Step.freeList 0:99999999999999999999:Step.freeList
    ;;
*) fail "no such case: $2" ;;
esac
echo "serve_mpi $2: good"
