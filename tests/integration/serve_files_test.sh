#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One case of serve's files and signals: serve_files_test.sh SERVE CASE
source "${0%/*}/serve_parts.sh"

case $2 in
outputs)
    cp "$sample" "$folder/trace.csv"
    ln "$folder/trace.csv" "$folder/link.csv"
    ln -s trace.csv "$folder/symbolic.csv"
    for other in trace.csv link.csv symbolic.csv ../"${folder##*/}"/trace.csv; do
        bad '--trace and --summary name the same file' -- --trace "$folder/trace.csv" --limit 2 \
            --summary "$folder/$other"
    done
    bad '--summary and --report name the same file' -- --limit 2 --summary "$folder/new" \
        --report "$folder/./new"
    bad '--report and --trace-json name the same file' -- --limit 2 --report "$folder/new" \
        --trace-json "$folder/new"
    ADVANCE_STEP_TRACE=$folder/link.csv bad '--trace and ADVANCE_STEP_TRACE name the same file' -- \
        --trace "$folder/trace.csv" --limit 2
    cmp "$sample" "$folder/trace.csv" || fail "the trace was overwritten"
    [[ ! -e $folder/new ]] || fail "a file was left"
    # What cannot be written is told before the run, with the reason.
    bad 'no-such-folder/summary.json: the summary cannot be written: No such file' -- \
        --summary "$folder/no-such-folder/summary.json"
    # This run would have faults to tell.
    for option in summary requests report timeline; do
        ADVANCE_STEP_CONFORMANCE=exact bad "no-such-folder/file: the $option cannot be written" -- \
            --$option "$folder/no-such-folder/file"
        ! grep -q fault "$folder/out" || fail "it was told after the run"
    done
    bad "$folder: the requests cannot be written: Is a directory" -- --requests "$folder"
    # A run that does not come to its end leaves what was there.
    echo before >"$folder/summary.json"
    printf '%s\n2024-01-01 00:00:01,x,3\n' "$header" >"$folder/bad.csv"
    bad ContextTokens -- --trace "$folder/bad.csv" --summary "$folder/summary.json"
    [[ $(cat "$folder/summary.json") == before ]] || fail "the summary was touched"
    chmod 640 "$folder/summary.json"
    ln -s summary.json "$folder/name.json"
    run --limit 2 --summary "$folder/name.json" --requests /dev/null
    ((status == 0)) || fail "exit status $status"
    [[ -L $folder/name.json && $(stat -c %a "$folder/summary.json") == 640 ]] || fail "mode or link"
    check 's["completed"] == 2'
    [[ $(ls -A "$folder" | wc -l) == 7 ]] || fail "files were left: $(ls -A "$folder")"
    # A link to a file that is not there yet, by way of another link and another folder.
    mkdir "$folder/runs"
    ln -s new.json "$folder/runs/latest"
    ln -s runs/latest "$folder/latest.json"
    run --limit 2 --summary "$folder/latest.json"
    ((status == 0)) && [[ -L $folder/latest.json && -L $folder/runs/latest ]] && grep -q '"completed": 2' "$folder/runs/new.json" ||
        fail "a link to no file yet: exit status $status"
    rm "$folder/runs/new.json"
    bad '--summary and --requests name the same file' -- --limit 2 --summary "$folder/latest.json" \
        --requests "$folder/runs/new.json"
    ln -s loop "$folder/runs/loop"
    bad 'loop: the summary cannot be written: Too many levels' -- --limit 2 --summary "$folder/runs/loop"
    [[ -L $folder/runs/loop ]] || fail "a loop of links was replaced"
    rm -r "$folder/runs" "$folder/latest.json"
    # The file to which the standard output goes keeps what is there, and gets both.
    echo before >"$folder/log"
    "$serve" --limit 2 --summary /dev/stdout >>"$folder/log" || fail "exit status $?"
    [[ $(head -1 "$folder/log") == before ]] || fail "the log was replaced"
    grep -q '"completed": 2' "$folder/log" && grep -q 'TTFT' "$folder/log" || fail "$(cat "$folder/log")"
    # Not from the device, which writes while the table is printed.
    echo before >"$folder/log"
    for way in '--trace-json /dev/stdout' ''; do
        status=0
        # shellcheck disable=SC2086
        ADVANCE_STEP_TRACE=/dev/stdout "$serve" --limit 2 $way >>"$folder/log" 2>"$folder/out" || status=$?
        ((status == 1)) && grep -q -- ' is /dev/stdout, .*; expected a file of its own' "$folder/out" ||
            fail "a device trace in the standard output: exit status $status"
    done
    [[ $(cat "$folder/log") == before ]] || fail "the log was changed"
    rm "$folder/log"
    # A long name, and a file that is mounted by itself.
    long=$folder/$(printf 'n%.0s' {1..252})
    run --limit 2 --summary "$long"
    ((status == 0)) || fail "a long name: exit status $status"
    rm "$long"
    if touch "$folder/mounted" "$folder/over" && mount --bind "$folder/over" "$folder/mounted" 2>/dev/null; then
        run --limit 2 --summary "$folder/mounted"
        umount "$folder/mounted"
        ((status == 0)) && grep -q '"completed": 2' "$folder/over" || fail "mounted: exit status $status"
    fi
    rm "$folder/mounted" "$folder/over"
    # A time model is an input, too.
    echo '{"iteration_us": 1, "prefill_token_us": 1, "decode_row_us": 1, "context_token_us": 0}' >"$folder/costs"
    bad '--time-model and --summary name the same file' -- --limit 2 --time-model "$folder/costs" \
        --summary "$folder/costs"
    bad '--fit makes no run, and --summary is of one' -- --fit "$folder/trace.csv" --summary "$folder/new"
    rm "$folder/costs"
    # A standard stream that is closed is none of the files, and what has no place for messages
    # still ends as it should.
    status=0
    "$serve" --limit 2 --summary "$folder/summary.json" >&- 2>"$folder/out" || status=$?
    ((status == 1)) && grep -q 'standard output: .*Bad file' "$folder/out" || fail "closed: status $status"
    check 's["completed"] == 2'
    status=0
    "$serve" --limit 2 --max-len 5 2>&- >"$folder/out" || status=$?
    ((status == 1)) || fail "no standard error: exit status $status"
    # The terminal of the progress line may go away, which is no error.
    python3 -c '
import os, subprocess, sys
master, slave = os.openpty()
serve = subprocess.Popen(sys.argv[1:], stderr=slave, start_new_session=True)
os.close(slave), os.read(master, 1), os.close(master)
sys.exit(serve.wait())' "$serve" --generate rate=50,count=3000 --max-len 30000 --summary "$folder/summary.json" >"$folder/out" ||
        fail "no terminal any more: $(cat "$folder/out")"
    check 's["completed"] == 3000'
    grep -q iterations "$folder/out" || fail "no table without a terminal"
    # A reader that goes away is an error of its file, and not the end of all.
    mkfifo "$folder/pipe"
    head -c 1 "$folder/pipe" >/dev/null &
    awk -v header="$header" 'BEGIN { print header
        for (i = 0; i < 5000; ++i) print "2024-01-01 00:00:00,5,3" }' >"$folder/many.csv"
    status=0
    "$serve" "$folder/many.csv" --requests "$folder/pipe" --report "$folder/report.html" >"$folder/out" 2>&1 ||
        status=$?
    wait
    ((status == 1)) && grep -q 'pipe: the requests cannot be written: Broken pipe' "$folder/out" ||
        fail "a pipe without a reader: exit status $status"
    grep -q 'iterations' "$folder/out" && [[ -s $folder/report.html ]] || fail "no table, or no report"
    rm "$folder/pipe" "$folder/many.csv" "$folder/report.html"
    # A limit of the sizes of files is one, too: set while the report waits for its reader.
    mkfifo "$folder/pipe"
    exec 9<>"$folder/pipe"
    dd if=/dev/zero of="$folder/pipe" bs=65536 count=1 oflag=nonblock 2>/dev/null
    rm -f "$folder/summary.json"
    "$serve" --summary "$folder/summary.json" --report "$folder/pipe" --timeline "$folder/timeline.json" \
        >"$folder/out" 2>&1 9>&- &
    pid=$!
    until [[ -s $folder/summary.json ]]; do kill -0 "$pid" || fail "no run"; done
    prlimit --fsize=16384 --pid "$pid"
    exec 8<"$folder/pipe" 9>&-
    cat <&8 >/dev/null
    exec 8<&-
    status=0
    wait "$pid" || status=$?
    ((status == 1)) && grep -q 'timeline.json: the timeline cannot be written: File too large' "$folder/out" ||
        fail "a limit of 16 KiB: exit status $status"
    grep -q iterations "$folder/out" && [[ ! -e $folder/timeline.json ]] || fail "no table, or a part of the timeline"
    rm "$folder/pipe"
    # Standard output that takes nothing.
    if [[ -w /dev/full ]]; then
        status=0
        "$serve" --limit 2 --summary "$folder/full.json" >/dev/full 2>"$folder/out" || status=$?
        ((status == 1)) || fail "a full standard output ended with exit status $status"
        grep -q 'standard output: .*No space left' "$folder/out" || fail "no word of it"
        [[ -s $folder/full.json ]] || fail "no summary"
        # A sweep whose table is longer than a buffer, most of it the name of the trace.
        status=0
        "$serve" --generate "$(printf 'rate=5,%.0s' {1..500})count=50" --sweep rate --ttft-target 1 \
            --summary "$folder/sweep.json" >/dev/full 2>"$folder/out" || status=$?
        ((status == 1)) && grep -q 'No space left' "$folder/out" || fail "a sweep to a full standard output: status $status"
        grep -q '"trials"' "$folder/sweep.json" || fail "no summary of the sweep"
        status=0
        "$serve" --help >/dev/full 2>"$folder/out" || status=$?
        ((status == 1)) || fail "help to a full standard output ended with exit status $status"
        status=0
        "$serve" --limit 2 --max-len 5 2>/dev/full >"$folder/out" || status=$?
        ((status == 1)) || fail "a full standard error ended with exit status $status"
        # One file that cannot be written keeps back no other.
        status=0
        "$serve" --limit 2 --summary /dev/full --requests "$folder/few.csv" >"$folder/out" 2>&1 || status=$?
        ((status == 1)) || fail "a full summary ended with exit status $status"
        grep -q '/dev/full: the summary cannot be written: No space left' "$folder/out" || fail "no word of it"
        grep -q iterations "$folder/out" && (($(wc -l <"$folder/few.csv") == 3)) || fail "no requests"
    fi
    ;;
signals)
    # SIGTERM ends the run as SIGINT does, with all files.
    for _ in $(seq 2000); do at_once | tail -n 64; done >"$folder/body"
    (echo "$header" && cat "$folder/body") >"$folder/long.csv"
    # The report goes to a pipe without room for it, so that serve does not end before it is read.
    mkfifo "$folder/page"
    exec 9<>"$folder/page"
    "$serve" --trace "$folder/long.csv" --summary "$folder/summary.json" \
        --report "$folder/page" >"$folder/out" 2>&1 9>&- &
    pid=$!
    ticks=$(getconf CLK_TCK)
    until (($(cut -d ' ' -f 14 "/proc/$pid/stat") > ticks)); do kill -0 "$pid" || fail "no run"; done
    # Twice at once, as by timeout, which signals the process and its group.
    kill -TERM "$pid"
    until ((0x$(sed -n 's/^\(Sig\|Shd\)Pnd:[[:space:]]*//p' "/proc/$pid/status" | tail -1) == 0)); do :; done
    kill -TERM "$pid"
    exec 8<"$folder/page" 9>&-
    cat <&8 >"$folder/report.html"
    exec 8<&-
    status=0
    wait "$pid" || status=$?
    ((status == 1)) || fail "SIGTERM: exit status $status"
    check 's["interrupted"] and s["requests"] == 128000 > s["completed"]' 's["iterations"] > 0'
    (($(stat -c %s "$folder/report.html") > 65536)) || fail "no report, or less than a pipe has room for"
    # A signal while the trace is read: it comes from a pipe that does not end.
    mkfifo "$folder/pipe"
    rm "$folder/summary.json"
    "$serve" --trace "$folder/pipe" --summary "$folder/summary.json" >"$folder/out" 2>&1 &
    pid=$!
    {
        echo "$header"
        while kill -0 "$pid" 2>/dev/null; do
            # It reads: the header and the first lines have gone through.
            cat "$folder/body" 2>/dev/null || break
            kill -INT "$pid" 2>/dev/null || break
        done
    } >"$folder/pipe" 2>/dev/null || true
    status=0
    wait "$pid" || status=$?
    ((status == 1)) || fail "SIGINT before the run: exit status $status"
    grep -q 'interrupted before the run' "$folder/out" || fail "no word of it"
    [[ ! -e $folder/summary.json ]] || fail "a summary of no run"
    # A pipe that has no writer, or none that writes, and a pipe for output that has no reader.
    heard() {
        "$serve" "$@" >"$folder/out" 2>&1 &
        pid=$!
        # It catches signals, as the bit of SIGTERM says, and waits for the pipe. Before it is serve, it is
        # a copy of this shell, which catches them too.
        until [[ /proc/$pid/exe -ef $serve ]] &&
            ((0x$(sed -n 's/^SigCgt:[[:space:]]*//p' "/proc/$pid/status") & 0x4000)); do :; done
        kill -TERM "$pid"
        status=0
        wait "$pid" || status=$?
        ((status == 1)) || fail "SIGTERM at a pipe of $1: exit status $status"
        grep -q 'interrupted before the run' "$folder/out" || fail "no word of it"
    }
    heard "$folder/pipe"
    heard --report "$folder/report.html" --compare "$folder/pipe"
    exec 9<>"$folder/pipe"
    heard "$folder/pipe"
    heard --report "$folder/report.html" --compare "$folder/pipe"
    exec 9>&-
    heard --summary "$folder/pipe" --limit 2
    heard --generate count=200000000
    # The thread sanitizer calls no handler while the thread blocks in write: many signals would not end serve.
    if grep -q __tsan_init "$serve"; then
        echo "serve $2: good, as far as the thread sanitizer lets it"
        exit
    fi
    # Whoever signals again a second later does not want to wait for the end: the report has no reader. The
    # summary has been written before it, and what becomes the timeline is removed.
    exec 9<>"$folder/pipe"
    dd if=/dev/zero of="$folder/pipe" bs=65536 count=1 oflag=nonblock 2>/dev/null
    "$serve" --limit 2 --summary "$folder/summary.json" --report "$folder/pipe" --timeline "$folder/timeline.json" \
        >"$folder/out" 2>&1 9>&- &
    pid=$!
    until [[ -s $folder/summary.json ]]; do kill -0 "$pid" || fail "no run"; done
    [[ -n $(find "$folder" -name '.serve-*') ]] || fail "the timeline is not made beside its place"
    begin=$(date +%s%N)
    while kill -TERM "$pid" 2>/dev/null; do :; done
    status=0
    wait "$pid" || status=$?
    ((status == 143 && $(date +%s%N) - begin >= 1000000000)) || fail "many SIGTERMs: exit status $status"
    [[ -z $(find "$folder" -name '.serve-*') && ! -e $folder/timeline.json ]] || fail "a temporary file is left"
    exec 9>&-
    ;;
*) fail "no such case: $2" ;;
esac
echo "serve $2: good"
