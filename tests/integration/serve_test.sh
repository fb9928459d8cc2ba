#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One case of serve: serve_test.sh SERVE CASE
source "${0%/*}/serve_parts.sh"

expect_good() {
    run --summary "$folder/summary.json" "$@"
    ((status == 0)) || fail "exit status $status"
    python3 - "$folder/summary.json" <<'PYTHON' || fail "summary"
import json, sys
summary = json.load(open(sys.argv[1]))
assert summary["requests"] == summary["completed"] > 0, summary
assert summary["kv_faults"] == 0, summary
assert summary["generated_tokens"] > 0 and summary["op_calls"] > 0, summary
assert summary["preemptions"] == summary["recoveries"], summary
assert summary["preemptions"] == summary["counters"]["preempted"], summary
PYTHON
}

# The number behind a key of the last summary.
value() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' \
        "$folder/summary.json" "$1"
}

# Writes the trace on standard input, runs it, expects an error that has every word.
expect_bad() {
    cat >"$folder/trace.csv"
    run --trace "$folder/trace.csv"
    ((status == 1)) || fail "a bad trace ended with exit status $status"
    for word in "$@"; do
        grep -q -- "$word" "$folder/out" || fail "no \"$word\" in the message"
    done
}

good='2024-01-01 00:00:00.0000000,5,3'

case $2 in
sample) expect_good ;;
one_thread) ADVANCE_STEP_THREADS=1 expect_good ;;
four_threads) ADVANCE_STEP_THREADS=4 expect_good ;;
shuffled) ADVANCE_STEP_THREADS=4 ADVANCE_STEP_CORE_ORDER=7 expect_good --block-size 16 ;;
pressure)
    expect_good --max-seqs 32 --block-size 16 --blocks 900
    (($(value preemptions) > 0)) || fail "no sequence was preempted"
    (($(value replayed_tokens) > 0)) || fail "no token was replayed"
    ;;
speculative)
    # The same tokens in fewer passes, whatever the blocks; expect_good compares every token.
    expect_good --block-size 16 --requests "$folder/plain.csv"
    plain_tokens=$(value generated_tokens)
    plain_iterations=$(value iterations)
    (($(value spec_tokens) == 0)) || fail "spec tokens without --speculative"
    for options in "--block-size 16" "--block-size 2 --max-seqs 40"; do
        for count in 1 4 9; do
            # shellcheck disable=SC2086
            expect_good $options --speculative "$count"
            (($(value generated_tokens) == plain_tokens)) || fail "other tokens with $count"
            (($(value accepted_tokens) > 0)) || fail "no spec token was accepted"
            (($(value accepted_tokens) < $(value spec_tokens))) || fail "no spec token was rejected"
        done
    done
    # Step hands out the block of the next token only, so there is no room for another.
    expect_good --block-size 1 --speculative 2 --limit 100
    (($(value accepted_tokens) == 0)) || fail "a token without a place was accepted"
    expect_good --block-size 16 --speculative 4 --requests "$folder/requests.csv"
    (($(value iterations) < plain_iterations)) || fail "not fewer passes"
    # The hashes are those of the texts: the same with spec tokens, another for each request.
    python3 - "$folder/plain.csv" "$folder/requests.csv" <<'PYTHON' || fail "text hashes"
import csv, sys
plain, other = ({row["line"]: row["text_hash"] for row in csv.DictReader(open(path))
                 if int(row["generated_tokens"]) > 2} for path in sys.argv[1:])
assert plain == other and len(set(plain.values())) == len(plain) > 100, (len(set(plain.values())), len(plain))
PYTHON
    grep -q "$(python3 -c "print(f'{$(value mean_seqs):.1f} sequences on average, $(value peak_seqs) at most')")" \
        "$folder/out" || fail "sequences on average"
    python3 -c "import sys; sys.exit(not 1 < $(value mean_seqs) <= $(value peak_seqs))" || fail "more on average than at most"
    # Preempted and recovered, with spec tokens for which there is no block.
    expect_good --max-seqs 32 --block-size 16 --blocks 900 --speculative 4
    (($(value preemptions) > 0)) || fail "no sequence was preempted"
    run --speculative 129
    ((status > 0 && status < 126)) || fail "129 spec tokens ended with exit status $status"
    ;;
shed)
    # More at once than fits, even with everything preempted but one.
    echo "$header" >"$folder/at_once.csv"
    for _ in $(seq 64); do
        echo '2024-01-01 00:00:00.0000000,100,400' >>"$folder/at_once.csv"
    done
    expect_good --trace "$folder/at_once.csv" --blocks 70 --free-ratio 0.1
    (($(value shed_requests) > 0)) || fail "no request was shed"
    ;;
exact)
    # The shipped kernel's reading of the block table must show as faults, or the check is blind.
    export ADVANCE_STEP_CONFORMANCE=exact
    run
    ((status == 1)) || fail "exact ended with exit status $status"
    grep -q 'fault: sequence of line .* position' "$folder/out" || fail "no fault is told"
    ;;
short_grants)
    # The load of docs/serve.md: clean under standard, short grants under exact.
    awk 'BEGIN { print "TIMESTAMP,ContextTokens,GeneratedTokens"
        split("20 60 880 900", prompt); split("20 60 100", generated); x = 1
        for (i = 0; i < 200; ++i) { x = (x * 1103 + 12345) % 65536
            printf "2024-01-01 00:00:%02d,%d,%d\n", i / 4, prompt[int(x / 16) % 4 + 1],
                generated[int(x / 256) % 3 + 1] } }' >"$folder/tight.csv"
    tight=(--trace "$folder/tight.csv" --max-seqs 8 --block-size 16 --max-len 1000 --blocks 320
        --free-ratio 0.03)
    expect_good "${tight[@]}"
    (($(value preemptions) > 50)) || fail "no pressure"
    export ADVANCE_STEP_CONFORMANCE=exact
    run "${tight[@]}"
    ((status == 1)) || fail "exact ended with exit status $status"
    grep -q 'position [0-9]*: recovered with [0-9]* blocks' "$folder/out" || fail "no short grant"
    ;;
malformed)
    printf '%s\n%s\n2024-01-01 00:00:01,x,3\n' "$header" "$good" | expect_bad 3
    printf '%s\n%s\n2024-01-01 00:00:01,4\n' "$header" "$good" | expect_bad 3
    printf '%s\n2024-13-01 00:00:01,4,4\n' "$header" | expect_bad 2
    printf '%s\n2024-01-01 00:00:01,4,0\n' "$header" | expect_bad 2
    printf 'a,b\n%s\n' "$good" | expect_bad 1
    run --trace "$folder/no-such-file.csv"
    ((status > 0 && status < 126)) || fail "a missing trace ended with exit status $status"
    # CR LF line ends and a last line without one are good.
    printf '%s\r\n%s\r\n%s' "$header" "$good" "$good" >"$folder/good.csv"
    expect_good --trace "$folder/good.csv"
    ;;
too_large)
    printf '%s\n%s\n2024-01-01 00:00:01,5000000,4\n' "$header" "$good" | expect_bad 3 5000000
    ;;
summary)
    expect_good --limit 20 --max-seqs 4
    for key in requests completed generated_tokens iterations preemptions recoveries kv_faults \
        peak_blocks mean_blocks replayed_tokens shed_requests speculative spec_tokens accepted_tokens wall_seconds op_calls op_seconds counters; do
        grep -q "\"$key\"" "$folder/summary.json" || fail "no $key in the summary"
    done
    ;;
report)
    # Names that HTML gives a meaning of its own; pressure, so that every curve has something to show.
    cp "$(dirname "$0")/../../tools/serve/sample_trace.csv" "$folder/a<b>&\"c\".csv"
    expect_good --trace "$folder/a<b>&\"c\".csv" --max-seqs 32 --block-size 16 --blocks 900 \
        --report "$folder/report.html"
    python3 "$(dirname "$0")/check_report.py" "$folder/report.html" "$folder/summary.json" ||
        fail "report"
    # However long the run: more iterations than the page has room for, and hours without requests.
    awk 'BEGIN { print "TIMESTAMP,ContextTokens,GeneratedTokens"
        for (i = 0; i < 300; ++i)
            printf "2024-01-01 %02d:%02d:00,20,60\n", int(i / 30), i % 30 }' >"$folder/long.csv"
    expect_good --trace "$folder/long.csv" --report "$folder/report.html"
    python3 "$(dirname "$0")/check_report.py" "$folder/report.html" "$folder/summary.json" ||
        fail "report of a long run"
    (($(stat -c %s "$folder/report.html") < 800000)) || fail "a long run makes a long page"
    # A run that ends at once has a report, too.
    ADVANCE_STEP_CONFORMANCE=exact run --limit 3 --report "$folder/report.html"
    python3 -c 'import sys, xml.etree.ElementTree as t; t.parse(sys.argv[1])' "$folder/report.html" ||
        fail "report of three requests"
    run --limit 3 --report "$folder/no-such-folder/report.html"
    ((status == 1)) || fail "a report that cannot be written ended with exit status $status"
    grep -q 'no-such-folder/report.html: the report cannot be written' "$folder/out" || fail "no reason"
    ;;
interrupt)
    # More than any machine serves before the signal comes.
    echo "$header" >"$folder/long.csv"
    for _ in $(seq 20000); do
        echo '2024-01-01 00:00:00.0000000,100,4000'
    done >>"$folder/long.csv"
    # Serves it, interrupts the run in its midst, and expects that it says so.
    interrupt_run() {
        "$serve" --trace "$folder/long.csv" --summary "$folder/summary.json" "$@" >"$folder/out" 2>&1 &
        local pid=$!
        # It serves when it has used a second of CPU time: reading the trace takes a few hundredths.
        local ticks used=0
        ticks=$(getconf CLK_TCK)
        until ((used > ticks)); do
            used=$(cut -d ' ' -f 14 "/proc/$pid/stat") || fail "the run ended before the signal"
        done
        kill -INT "$pid"
        status=0
        wait "$pid" || status=$?
        ((status == 1)) || fail "an interrupted run ended with exit status $status"
    }
    interrupt_run
    grep -q 'completed .* interrupted' "$folder/out" || fail "no word of the interrupt"
    python3 - "$folder/summary.json" <<'PYTHON' || fail "summary"
import json, sys
summary = json.load(open(sys.argv[1]))
assert summary["interrupted"] and summary["requests"] == 20000 > summary["completed"], summary
assert summary["iterations"] > 0 and summary["kv_faults"] == 0, summary
assert summary["preemptions"] == summary["counters"]["preempted"], summary
PYTHON
    # A sweep reports the trials that ran, the one in whose midst it ended among them.
    interrupt_run --sweep max-seqs=64,128 --report "$folder/page.html"
    grep -q 'the sweep ended early' "$folder/out" || fail "no word of the sweep's end"
    grep -q 'did not complete' "$folder/page.html" || fail "the page does not tell the trial that ended early"
    python3 - "$folder/summary.json" <<'PYTHON' || fail "summary of a sweep"
import json, sys
(trial,) = json.load(open(sys.argv[1]))["trials"]
assert trial["interrupted"] and not trial["front"] and trial["iterations"] > 0, trial
PYTHON
    ;;
compare)
    # A page that holds a run against an earlier one, whose settings and results it shows.
    expect_good --max-seqs 8 --report "$folder/before.html"
    cp "$folder/summary.json" "$folder/before.json"
    expect_good --max-seqs 32 --scheduler chunked --tpot-target 0.5 --report "$folder/after.html" --compare "$folder/before.html"
    python3 "$here/check_compare.py" "$folder/after.html" "$folder/summary.json" "$folder/before.json" ||
        fail "comparison"
    # Itself, and itself again: no change anywhere.
    expect_good --max-seqs 8 --report "$folder/same.html" --compare "$folder/before.html"
    cells=$(grep -o '<td>0 %</td>' "$folder/same.html" | wc -l)
    ((cells >= 24)) || fail "$cells results without a change"
    echo "<html></html>" >"$folder/page.html"
    run --limit 3 --report "$folder/new.html" --compare "$folder/page.html"
    ((status == 1)) || fail "a page that is no report ended with exit status $status"
    grep -q 'page.html: is no report of serve: it has no JSON element "summary"' "$folder/out" || fail "no reason"
    ! grep -q iterations "$folder/out" || fail "it was told after the run"
    sed 's/"begin":/"start":/' "$folder/before.html" >"$folder/page.html"
    run --limit 3 --report "$folder/new.html" --compare "$folder/page.html"
    ((status == 1)) && grep -q 'is no report of serve: .*begin' "$folder/out" || fail "no reason for a timeline"
    sed 's/"running":[0-9.]*/"running":1e300/' "$folder/before.html" >"$folder/page.html"
    run --limit 3 --report "$folder/new.html" --compare "$folder/page.html"
    ((status == 1)) && grep -q 'is no report of serve: .* has running of 1e+300' "$folder/out" || fail "no chart shows it"
    # Numbers that no report has: a chart of them would have no end, or none could show it.
    point() {
        python3 - "$folder" "$@" <<'PYTHON'
import json, sys
folder, *changes = sys.argv[1:]
text = open(f"{folder}/before.html", encoding="utf-8").read()
begin = text.index('id="timeline">') + len('id="timeline">')
end = text.index("</script>", begin)
timeline = json.loads(text[begin:end])
for change in changes:
    exec(change, {"points": timeline["buckets"], "point": timeline["buckets"][0], "timeline": timeline})
open(f"{folder}/page.html", "w", encoding="utf-8").write(text[:begin] + json.dumps(timeline) + text[end:])
PYTHON
        run --limit 3 --report "$folder/new.html" --compare "$folder/page.html"
        ((status == 1)) || fail "a report with $* ended with exit status $status"
        ! grep -q iterations "$folder/out" || fail "it was told after the run"
    }
    told() { grep -q -- "page.html: is no report of serve: $1" "$folder/out" || fail "no \"$1\""; }
    point 'del points[1:]' 'point.update(begin=0, end=1e-300)'
    told 'a point of its timeline lasts from 0 to 1e-300'
    for key in tokens prefill_tokens peak_blocks; do
        point "point['$key'] = -1"
        told "a point of its timeline has $key of -1; expected a whole number from 0 to 1e+18"
    done
    for value in 2**63 2**64 1e300 0.5 True '"1"' '[[1]]'; do
        point "point['tokens'] = $value"
        told "a point of its timeline has tokens of .*; expected a whole number from 0 to 1e+18"
    done
    for key in begin end blocks; do
        point "point['$key'] = -1"
        told "a point of its timeline has $key of -1; expected a number from 0 to "
    done
    for value in 1e300 None '{}'; do
        point "point['end'] = $value"
        told 'a point of its timeline has end of .*; expected a number from 0 to 9.3e+11'
    done
    point 'points[1]["begin"] = points[0]["begin"]'
    told 'the points of its timeline do not ascend'
    point 'points[:] = [dict(point, begin=i, end=i + 1) for i in range(481)]'
    told 'its timeline has 481 points; expected at most 480'
    for value in 7 '"text"' '[7]' '[[]]'; do
        point "timeline['buckets'] = $value"
        told ''
    done
    # What a small file decompresses to, and a text that takes a hundred times as much as JSON.
    point 'timeline["more"] = "x" * 1048576'
    told 'its element "timeline" has [0-9]* bytes; expected at most 1048576'
    python3 -c 'import gzip, sys; gzip.open(sys.argv[1], "wb").write(b" " * (17 << 20))' "$folder/page.html"
    run --limit 3 --report "$folder/new.html" --compare "$folder/page.html"
    ((status == 1)) && grep -q 'page.html: is .* it has more than 16777216 bytes\|built without zlib' "$folder/out" ||
        fail "a page without end: exit status $status"
    run --limit 3 --compare "$folder/before.html"
    ((status > 0 && status < 126)) && grep -q -- '--report' "$folder/out" || fail "--compare without --report"
    run --limit 3 --report "$folder/before.html" --compare "$folder/before.html"
    ((status == 1)) && grep -q 'name the same file' "$folder/out" || fail "the other report may be overwritten"
    ;;
timeline)
    at_once >"$folder/at_once.csv"
    expect_good --trace "$folder/at_once.csv" --blocks 70 --free-ratio 0.1 --timeline "$folder/run.json" \
        --requests "$folder/requests.csv"
    python3 "$here/check_timeline.py" "$folder/run.json" "$folder/summary.json" "$folder/requests.csv" ||
        fail "timeline"
    expect_good --max-seqs 16 --scheduler chunked --token-budget 300 --timeline "$folder/run.json" \
        --requests "$folder/requests.csv"
    python3 "$here/check_timeline.py" "$folder/run.json" "$folder/summary.json" "$folder/requests.csv" ||
        fail "timeline in chunks"
    # Requests that are shed in the iteration of their admission have a stay in their slot, too.
    expect_good --generate rate=1000,count=30,seed=3869,prompt=constant:5,generated=exponential:30 --reject --max-seqs 32 \
        --block-size 16 --max-len 30 --blocks 7 --free-ratio 0.1 --timeline "$folder/run.json" --requests "$folder/requests.csv"
    python3 "$here/check_timeline.py" "$folder/run.json" "$folder/summary.json" "$folder/requests.csv" ||
        fail "timeline of what is shed at once"
    ;;
trace_json)
    # The option wins over the environment, which names a file that cannot be written.
    export ADVANCE_STEP_TRACE=/no-such-folder/trace.json
    run --limit 2 --max-seqs 2
    ((status == 1)) || fail "a trace that cannot be written ended with exit status $status"
    grep -q 'aclInit returned 100008: .*/no-such-folder/trace.json' "$folder/out" || fail "no reason"
    expect_good --limit 20 --max-seqs 4 --trace-json "$folder/device.json"
    python3 - "$folder/device.json" "$folder/summary.json" <<'PYTHON' || fail "trace"
import json, sys
events = json.load(open(sys.argv[1]))["traceEvents"]
calls = json.load(open(sys.argv[2]))["counters"]["launches"]
kernels = [e["name"] for e in events if e["ph"] == "X" and e["cat"] == "kernel"]
launched = [name for name in kernels if name.startswith("aclnn")]
assert len(launched) == calls > 0, (len(launched), calls)
assert set(launched) == {"aclnnAdvanceStep", "aclnnStep"}
# The model's kernels have names, too.
model = set(kernels) - set(launched)
assert model == {"prefill", "gather rows", "decode", "note blocks", "poison lost blocks",
                 "report slots", "read cells", "load slots", "end of run"}, model
assert kernels[-1] == "end of run"
assert not any(e["ph"] == "X" and e["cat"] == "host" for e in events)
PYTHON
    # A disk that becomes full, while the run goes on or at its end, ends the trace, and not in silence.
    for tokens in 400 20; do
        for way in "--trace-json $folder/disk/device.json" ""; do
            on_small_disk true 2>/dev/null || continue
            status=0
            # shellcheck disable=SC2086
            ADVANCE_STEP_LOG=off ADVANCE_STEP_TRACE=$folder/disk/device.json on_small_disk "$serve" $way --summary "$folder/summary.json" \
                --generate "count=1,prompt=constant:5,generated=constant:$tokens" >"$folder/out" 2>&1 || status=$?
            ((status == 1)) && grep -q "serve: $folder/disk/device.json: the trace of the device ends early" "$folder/out" ||
                fail "a full disk: exit status $status"
            (($(value completed) == 1)) && grep -q iterations "$folder/out" || fail "no summary, or no table"
        done
    done
    # What is no file that can be read again is not looked at.
    run --limit 2 --max-seqs 2 --trace-json /dev/null
    ((status == 0)) || fail "a trace for nobody: exit status $status"
    ;;
*) fail "no such case: $2" ;;
esac
echo "serve $2: good"
