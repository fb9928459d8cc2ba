#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One case of serve's times and schedulers: serve_time_test.sh SERVE CASE
source "${0%/*}/serve_parts.sh"

case $2 in
simulator)
    simulated "$sample"
    simulated "$sample" --max-seqs 8
    simulated "$sample" --max-seqs 32 --block-size 16 --blocks 900
    check 's["preemptions"] > 0'
    at_once >"$folder/at_once.csv"
    simulated "$folder/at_once.csv" --blocks 70 --free-ratio 0.1
    check 's["sheds"] > s["shed_requests"] > 0' 's["preemptions"] > 0' \
        's["lost_prompt_tokens"] == 100 * s["sheds"]' 's["lost_generated_tokens"] > 0'
    ;;
simulator_speculative)
    at_once >"$folder/at_once.csv"
    simulated "$sample" --speculative 1 --block-size 16
    simulated "$sample" --speculative 3 --max-seqs 32 --block-size 16 --blocks 900
    check '0 < s["accepted_tokens"] < s["spec_tokens"]' 's["preemptions"] > 0'
    simulated "$sample" --speculative 4 --scheduler chunked --token-budget 200
    simulated "$sample" --speculative 9 --block-size 2 --max-seqs 40
    for scheduler in prefill-first chunked; do
        simulated "$folder/at_once.csv" --speculative 2 --scheduler "$scheduler" --blocks 70 --free-ratio 0.1
        check 's["sheds"] > 0'
    done
    ;;
prefix)
    "$here/prefix_trace.py" 150 >"$folder/trace"
    "$here/prefix_trace.py" 150 at-once >"$folder/at_once"
    prefixed() {
        simulated "$1" --prefix-caching --max-len 9000 "${@:2}"
        check 's["cached_prompt_tokens"] > 90000' 's["kv_faults"] == 0'
    }
    prefixed "$folder/trace"
    shared=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["peak_blocks"])' "$folder/summary.json")
    simulated "$folder/trace" --max-len 9000
    check 's["cached_prompt_tokens"] == 0' "s['peak_blocks'] > 1.5 * $shared"
    # Blocks of every size beside the parts that ids stand for, with evictions and preemptions.
    prefixed "$folder/trace" --blocks 90 --max-seqs 12
    prefixed "$folder/trace" --block-size 16 --blocks 600 --free-ratio 0.08
    check 's["preemptions"] > 0'
    prefixed "$folder/trace" --block-size 48 --blocks 200 --free-ratio 0.2 --speculative 3
    prefixed "$folder/trace" --block-size 1024 --blocks 40 --free-ratio 0.2
    prefixed "$folder/at_once" --blocks 170 --free-ratio 0.1
    check 's["preemptions"] > 0'
    prefixed "$folder/at_once" --block-size 7 --blocks 2200 --free-ratio 0.05 --scheduler chunked --token-budget 64
    # All grow at once: some are shed, and find what they have left.
    for i in $(seq 64); do
        echo '{"timestamp": 0, "input_length": 600, "output_length": 400, "hash_ids": [1, 2]}'
    done >"$folder/shed"
    simulated "$folder/shed" --prefix-caching --max-len 1024 --blocks 70 --free-ratio 0.1 --scheduler chunked \
        --token-budget 700
    check 's["sheds"] > 0' 's["cached_prompt_tokens"] > 20000' 's["kv_faults"] == 0'
    grep -q 'has no hash_ids' <("$serve" "$sample" --limit 2 --prefix-caching 2>&1) || fail "no word of a trace without ids"
    bad_ids() {
        printf '{"timestamp": 0, "input_length": 600, "output_length": 4, "hash_ids": %s}\n' "$1" >"$folder/wrong"
        bad "wrong:1: hash_ids $2" -- "$folder/wrong"
    }
    bad_ids '[1, 2, 3]' 'has 3 ids; expected at most 2, one for each 512 of the 600 tokens'
    bad_ids '[1, -2]' 'is "\[1,-2\]"; expected a list of whole numbers'
    bad_ids '[1.5]' 'is '
    bad_ids '"x"' 'is '
    ;;
chunked)
    # Each budget, with and without pressure, and a model in which every kind of work costs time.
    echo '{"iteration_us": 8123.4567, "prefill_token_us": 31.25, "decode_row_us": 12.5,
        "context_token_us": 0.0823}' >"$folder/costs.json"
    simulated "$sample" --scheduler prefill-first --time-model "$folder/costs.json" --token-budget 700
    at_once >"$folder/at_once.csv"
    for budget in 7 64 512; do
        simulated "$sample" --scheduler chunked --token-budget "$budget" --time-model "$folder/costs.json"
        simulated "$sample" --scheduler chunked --token-budget "$budget" --max-seqs 32 --block-size 16 \
            --blocks 900
        simulated "$folder/at_once.csv" --scheduler chunked --token-budget "$budget" --blocks 70 \
            --free-ratio 0.1
        check 's["recoveries"] == s["preemptions"] > 0'
    done
    good "$sample" --scheduler chunked --token-budget 1 --limit 20
    bad 'scheduler' -- --scheduler fastest
    bad 'token-budget' -- --token-budget 0
    # Costs with which virtual time would pass what 64 bits hold end the run, and are told.
    echo '{"iteration_us": 1e9, "prefill_token_us": 1e9, "decode_row_us": 1e9, "context_token_us": 1e9}' >"$folder/huge.json"
    run --generate count=40,rate=1000,prompt=constant:9999,generated=constant:6000 --time-model "$folder/huge.json"
    ((status == 1)) && grep -q 'virtual time has come to .*expected lower costs' "$folder/out" || fail "no end of time"
    ;;
time_model)
    good "$sample" --limit 20 --time-model 8b
    # 8e9 parameters of 2 bytes at half of 1.6 TB/s are 20 ms, and 5 ms of overhead; 2 x 8e9
    # operations at half of 300 Tflop/s are 106.7 us; 2 x 32 x 8 x 128 x 2 bytes are 0.164 us.
    check 's["costs_us"]["iteration"] == 25000' 'abs(s["costs_us"]["decode_row"] - 106.667) < 0.001' \
        's["costs_us"]["context_token"] == 0.16384'
    echo '{"layers": 32, "kv_heads": 8, "head_dim": 128, "parameters": 8e9, "peak_tflops": 300,
        "bandwidth_gb_per_s": 1600, "memory_gb": 64}' >"$folder/model.json"
    cp "$folder/summary.json" "$folder/preset.json"
    good "$sample" --limit 20 --time-model "$folder/model.json" --kv-cache rest
    check 's["costs_us"] == json.load(open("'"$folder/preset.json"'"))["costs_us"]' \
        's["blocks"] == int((0.9 * 64 - 16) * 1e9 / (131072 * 128)) == 2479'
    good "$sample" --limit 20 --time-model 8b --kv-cache 1 --block-size 16
    check 's["blocks"] == int(1e9 / (131072 * 16))'
    bad '--kv-cache 1: ' dimensions -- --kv-cache 1
    bad '--kv-cache x: expected a number of GB' -- --kv-cache x --time-model 8b
    bad excludes -- --kv-cache 1 --blocks 5 --time-model 8b
    bad 'no-model: cannot be opened; expected default, 7b' -- --time-model no-model
    echo '{"iteration_us": 1, "prefill_token_us": 1, "decode_row_us": -1}' >"$folder/bad.json"
    bad 'bad.json: decode_row_us is -1; expected a number' -- --time-model "$folder/bad.json"
    echo '{"iteration_us": 1, "prefill_token_us": 1, "decode_row_us": 1}' >"$folder/bad.json"
    bad 'bad.json: context_token_us is missing' -- --time-model "$folder/bad.json"
    echo '{"layers": 1, "heads": 3}' >"$folder/bad.json"
    bad 'bad.json: kv_heads is missing' -- --time-model "$folder/bad.json"
    # Numbers of which each may be, and their costs may not.
    echo '{"layers": 1e4, "kv_heads": 1e4, "head_dim": 1e5, "parameters": 1e14, "dtype_bytes": 8, "efficiency": 0.01,
        "peak_tflops": 0.001, "bandwidth_gb_per_s": 0.001}' >"$folder/bad.json"
    bad 'bad.json: iteration_us comes to 8e+16; expected at most 1000000000' -- --time-model "$folder/bad.json"
    echo '[1]' >"$folder/bad.json"
    bad 'bad.json: is no JSON object' -- --time-model "$folder/bad.json"
    ;;
fit)
    # Costs that are known, with noise: what is fitted is near them, and no other costs fit better.
    python3 - "$folder" <<'PYTHON'
import random, sys
random.seed(3)
def write(name, costs, noise):
    with open(f"{sys.argv[1]}/{name}", "w") as file:
        print("id,seconds,context_tokens,prefill_tokens,decode_rows", file=file)
        for i in range(500):
            prefill, rows = random.choice((0, random.randrange(8000))), random.randrange(256)
            work = (1, prefill, rows, rows * random.randrange(4000))
            seconds = sum(c * w for c, w in zip(costs, work)) + random.gauss(0, noise)
            print(i, max(seconds, 0), work[3], work[1], work[2], sep=",", file=file)
write("exact.csv", (0.012, 5e-5, 2e-5, 1e-7), 0)
write("noise.csv", (0.012, 5e-5, 2e-5, 1e-7), 0.002)
write("free.csv", (0.012, 5e-5, -1e-6, 1e-7), 0.0001)  # a cost below 0 is none
PYTHON
    # What does not determine all costs is fitted, with a warning.
    printf 'prefill_tokens,decode_rows,context_tokens,seconds\n100,3,900,0.05\n' >"$folder/one.csv"
    printf '%s\n' prefill_tokens,decode_rows,context_tokens,seconds 9,3,0,0.05 4,1,0,0.02 7,9,0,0.01 1,5,0,0.04 \
        >"$folder/no_context.csv"
    for name in one no_context; do
        run --fit "$folder/$name.csv"
        ((status == 0)) && grep -q "$name.csv: other costs fit the [14] measurements as well" "$folder/out" ||
            fail "no warning of $name: $status"
    done
    for name in exact noise free; do
        run --fit "$folder/$name.csv"
        ((status == 0)) || fail "exit status $status"
        grep -q 'fit the' "$folder/out" && fail "a warning of measurements that determine all costs"
        cp "$folder/out" "$folder/$name.json"
        python3 - "$folder/$name.csv" "$folder/$name.json" $name <<'PYTHON' || fail "fit of $name"
import csv, json, sys
names = ("iteration_us", "prefill_token_us", "decode_row_us", "context_token_us")
rows = [({**row, "iteration": 1}, float(row["seconds"])) for row in csv.DictReader(open(sys.argv[1]))]
model, kind = json.load(open(sys.argv[2])), sys.argv[3]
def rms(costs):
    columns = ("iteration", "prefill_tokens", "decode_rows", "context_tokens")
    errors = [s * 1e6 - sum(c * float(r[k]) for c, k in zip(costs, columns)) for r, s in rows]
    return (sum(e * e for e in errors) / len(errors)) ** 0.5
found = [model[name] for name in names]
assert model["fit"]["measurements"] == 500
assert abs(rms(found) - model["fit"]["rms_residual_us"]) < 1e-3 + 1e-6 * rms(found)
if kind == "free":
    assert found[2] == 0 and min(found) == 0, found
else:
    near = 1e-6 if kind == "exact" else 0.15
    for value, true in zip(found, (12000, 50, 20, 0.1)):
        assert abs(value / true - 1) < near, (value, true)
    assert rms(found) <= rms((12000, 50, 20, 0.1)) + 1e-6
for i in range(4):
    for factor in (0.999, 1.001):
        assert rms([c * (factor if i == j else 1) for j, c in enumerate(found)]) >= rms(found) - 1e-6
PYTHON
        good "$sample" --limit 20 --time-model "$folder/$name.json"
    done
    # Blank lines are skipped, whole numbers may have a point, and what a cost may be a measurement may be.
    columns='prefill_tokens,decode_rows,context_tokens,seconds'
    printf '\n \n%s\n1.0,0,0,1000\n\n7,0,0,1e3\n' "$columns" >"$folder/slow.csv"
    "$serve" --fit "$folder/slow.csv" >"$folder/slow.json" 2>"$folder/out" || fail "slow iterations"
    good "$sample" --limit 20 --time-model "$folder/slow.json"
    check 's["costs_us"]["iteration"] > 999999990'
    unfit() {
        printf "$1" >"$folder/bad.csv"
        bad "bad.csv$2" -- --fit "$folder/bad.csv"
    }
    unfit '' ':1: line is missing; the file is empty'
    unfit 'prefill_tokens,seconds\n1,2\n' ':1: the header is "prefill_tokens,seconds"; expected one column decode_rows'
    unfit "$columns,seconds\n1,2,3,4,5\n" ':1: the header is .*; expected one column seconds'
    unfit "$columns,\"note\n1,2,3,4,5\n" ':1: line is .*; expected a quotation mark at the end of each field'
    unfit "$columns\n1,2,3,0.5\n1,2,3,\"0.5\n" ':3: line is "1,2,3,.0.5"; expected a quotation mark at the end of each'
    unfit "$columns\n1,2,3\n" ":2: line is \"1,2,3\"; expected 4 fields, as the header \"$columns\""
    for seconds in x 1000.5 -1 nan inf; do
        unfit "$columns\n\n1,2,3,$seconds\n" ":3: seconds is \"$seconds\"; expected a number from 0 to 1000"
    done
    for tokens in 1.5 -1 1e16 '' 0x1 '1\0'; do
        unfit "$columns\n1,2,3,1\n1,$tokens,3,1\n" ':3: decode_rows is .*; expected a whole number from 0 to 1000000000000000'
    done
    unfit "$columns\n" ': has no measurement'
    ;;
goodput)
    # Against the times of the requests, one by one; and all reasons to wait are all there was to wait.
    good "$sample" --ttft-target 1.5 --tpot-target 0.2 --requests "$folder/requests.csv"
    python3 - "$folder/summary.json" "$folder/requests.csv" <<'PYTHON' || fail "goodput"
import csv, json, sys
s = json.load(open(sys.argv[1]))
def times(row):
    first, last, tokens = int(row["first_token"]), int(row["last_token"]), int(row["generated_tokens"])
    return (first - int(row["arrival"])) / 1e7, (last - first) / 1e7 / max(tokens - 1, 1)
rows = list(csv.DictReader(open(sys.argv[2])))
met = sum(ttft <= 1.5 and tpot <= 0.2 for ttft, tpot in map(times, rows))
assert 0 < met == s["good_requests"] < s["completed"], met
assert s["goodput"] == met / s["virtual_seconds"]
assert s["requests_per_second"] == 256 / s["virtual_seconds"]
waited = sum(int(row["admitted"]) - int(row["arrival"]) for row in rows) / 1e7
assert abs(sum(s["wait_seconds"].values()) - waited) < 1e-6, (s["wait_seconds"], waited)
assert s["wait_seconds"]["budget"] > 0 == s["wait_seconds"]["slots"]
PYTHON
    good "$sample" --max-seqs 4
    check 's["wait_seconds"]["slots"] > 0.9 * sum(s["wait_seconds"].values())' \
        's["good_requests"] == s["completed"]'
    good "$sample" --block-size 16 --blocks 900 --free-ratio 0.6
    check 's["wait_seconds"]["prompt_blocks"] > 0'
    at_once >"$folder/at_once.csv"
    good "$folder/at_once.csv" --blocks 70 --free-ratio 0.1
    check 's["wait_seconds"]["growth_blocks"] > 0 < s["wait_seconds"]["shed"]'
    ;;
sweep_options)
    sweep=(--sweep max-seqs=8,32,128 --sweep scheduler=prefill-first,chunked --sweep token-budget=512,8192)
    good "$sample" "${sweep[@]}" --report "$folder/page.html"
    cp "$folder/summary.json" "$folder/sweep.json"
    python3 - "$folder/sweep.json" "$folder/page.html" <<'PYTHON' || fail "sweep of options"
import itertools, json, re, sys
import xml.etree.ElementTree as tree
s = json.load(open(sys.argv[1]))
trials = s["trials"]
wanted = list(itertools.product((8, 32, 128), ("prefill-first", "chunked"), (512, 8192)))
assert [(t["max_seqs"], t["scheduler"], t["token_budget"]) for t in trials] == wanted
cost = lambda t: (-t["tokens_per_second"], t["ttft_seconds"]["p99"], t["tpot_seconds"]["p99"])
for t in trials:
    beaten = any(cost(o) != cost(t) and all(a <= b for a, b in zip(cost(o), cost(t))) for o in trials)
    assert t["front"] == (not beaten), t
assert 0 < sum(t["front"] for t in trials) < len(trials)
text = open(sys.argv[2], encoding="utf-8").read()
root = tree.fromstring(text)
rows = [["".join(c.itertext()) for c in row] for row in root.find(".//*[@id='trials']")]
assert rows[0][:3] == list(s["axes"]) and len(rows) == 13, rows
assert [r[-1] == "front" for r in rows[1:]] == [t["front"] for t in trials]
found = re.search(r'id="charts">(.*?)</script>', text, re.S)
if found:  # libjs-dygraphs was installed at build time
    for chart, key in zip(json.loads(found.group(1)), ("ttft_seconds", "tpot_seconds")):
        shown = {(round(x, 6), bool(front), front or other) for x, front, other in chart["points"]}
        assert shown == {(round(t["tokens_per_second"], 6), t["front"], t[key]["p99"]) for t in trials}
        assert len(chart["notes"]) == len(chart["points"])
PYTHON
    # Each is as in a run of its own.
    good "$sample" --max-seqs 32 --scheduler chunked --token-budget 512
    python3 - "$folder/sweep.json" "$folder/summary.json" <<'PYTHON' || fail "not as in a run of its own"
import json, sys
sweep, own = (json.load(open(path)) for path in sys.argv[1:])
trial = sweep["trials"][6]
times = ("wall_seconds", "op_", "step_", "counters")
differences = {k: (own[k], trial[k]) for k in own if not k.startswith(times) and own[k] != trial[k]}
assert not differences, differences
PYTHON
    bad 'expected rate, or OPTION=VALUE' -- --sweep max-seqs
    bad 'foo is not swept over; expected one of max-seqs' -- --sweep foo=1
    bad '--max-seqs: Value 0 not in range' -- --sweep max-seqs=1,0
    bad '--max-seqs: Value  not in range' -- --sweep max-seqs=
    bad 'max-seqs has values already' -- --sweep max-seqs=4 --sweep max-seqs=5
    bad '--max-seqs has a value, too' -- --sweep max-seqs=4 --max-seqs 7
    bad 'expected rate, or OPTION=VALUE' -- --sweep rate --sweep max-seqs=4
    bad 'makes more than 1000 runs' -- --sweep "max-seqs=$(seq -s , 1001)"
    bad 'never fit' -- --sweep blocks=1,1000
    for option in --requests --timeline --trace-json; do
        bad "many runs; $option is of one" -- "${sweep[@]}" $option "$folder/file"
    done
    status=0
    "$serve" "${sweep[@]}" --summary /dev/full >"$folder/out" 2>&1 || status=$?
    ((status == 1)) && grep -q '/dev/full: the summary cannot be written' "$folder/out" || fail "status $status"
    grep -q ' front$' "$folder/out" || fail "a summary that cannot be written keeps back the table"
    ;;
sweep)
    targets=(--ttft-target 1.5 --tpot-target 0.2 --sweep rate)
    good "$sample" "${targets[@]}"
    python3 - "$folder/summary.json" <<'PYTHON' || fail "sweep"
import json, sys
s = json.load(open(sys.argv[1]))
trials = {t["rate"]: t["attainment"] >= 0.99 for t in s["trials"]}
best = s["largest_rate"]
assert trials[best] and max(rate for rate, met in trials.items() if met) == best
above = min(rate for rate, met in trials.items() if not met)
assert 1 < above / best < 1.011, (best, above)
PYTHON
    grep -q 'largest rate: ' "$folder/out" || fail "no rate"
    # What was found holds in a run of its own: half the requests meet less, all rates meet nothing.
    best=$(python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["largest_rate"])' "$folder/summary.json")
    good "$sample" "${targets[@]}" --attainment 0.5
    check "s['largest_rate'] > 1.5 * $best"
    run "$sample" --ttft-target 0.000001 --sweep rate
    ((status == 1)) || fail "targets that nothing meets ended with $status"
    grep -q 'no rate meets the targets' "$folder/out" || fail "no word of it"
    # Halved until no arrival would fit into the virtual time.
    printf '%s\n2000-01-01 00:00:00,5,3\n2020-01-01 00:00:00,5,3\n' "$header" >"$folder/years.csv"
    run "$folder/years.csv" --ttft-target 0.000001 --sweep rate --summary "$folder/summary.json"
    ((status == 1)) && grep -q 'no rate meets the targets' "$folder/out" || fail "years"
    check '5 < len(s["trials"]) < 20' 'all(t["ttft_seconds"]["max"] < 1 for t in s["trials"])'
    bad '--attainment' -- --attainment 0.5
    bad 'needs --ttft-target' -- --sweep rate
    bad '--attainment: Value nan not in range' -- "${targets[@]}" --attainment nan
    for option in --ttft-target --tpot-target; do
        bad "$option: Value nan not in range 1e-06 to 1000000" -- "$option" nan
    done
    bad 'many runs' -- "${targets[@]}" --requests "$folder/requests.csv"
    bad 'same time' -- "${targets[@]}" --limit 1
    # A summary that cannot be written keeps back no answer.
    status=0
    "$serve" "${targets[@]}" --summary /dev/full >"$folder/out" 2>&1 || status=$?
    ((status == 1)) && grep -q '/dev/full: the summary cannot be written' "$folder/out" || fail "status $status"
    grep -qE 'largest rate|every rate|no rate' "$folder/out" || fail "no answer"
    # A trace that is served, but begins the search beyond the latest arrival.
    printf '%s\n0001-01-01 00:00:00,5,2\n3500-01-01 00:00:00,5,2\n' "$header" >"$folder/long.csv"
    bad 'sweep rate: the trace spans 110417731200 s; expected at most 100000000000 s' -- \
        "$folder/long.csv" "${targets[@]}"
    ;;
one_token)
    # The iteration of the prompt has the only token; a slot is free for the next one at once.
    printf '%s\n2024-01-01 00:00:00,1,1\n2024-01-01 00:00:00,1,1\n' "$header" >"$folder/trace.csv"
    good --trace "$folder/trace.csv" --max-seqs 1
    check 's["iterations"] == 2 and s["peak_seqs"] == 1'
    good --trace "$folder/trace.csv" --max-seqs 2 --speculative 3
    check 's["iterations"] == 1'
    ;;
long_prompt)
    # A prompt longer than what is prefilled together changes nothing before it.
    awk -v header="$header" 'BEGIN { print header
        for (i = 0; i < 60; ++i) printf "2024-01-01 00:00:%02d,3000,20\n", i / 20 }' >"$folder/short.csv"
    good --trace "$folder/short.csv" --requests "$folder/short.txt" --max-len 32768
    cp "$folder/short.csv" "$folder/long.csv"
    printf '2024-01-01 01:00:00,20000,20\n' >>"$folder/long.csv"
    good --trace "$folder/long.csv" --requests "$folder/long.txt" --max-len 32768
    cmp "$folder/short.txt" <(head -n 61 "$folder/long.txt") || fail "earlier requests have changed"
    # Among others it has a prefill of its own.
    printf '2024-01-01 00:00:02,20000,20\n' >>"$folder/short.csv"
    simulated "$folder/short.csv" --max-len 32768
    ;;
token_times)
    # A prompt of 8000 tokens comes while another request generates: one gap in 59 is long, and the
    # mean of the request does not show it.
    printf '%s\n2024-01-01 00:00:00,10,60\n2024-01-01 00:00:00.5,8000,1\n' "$header" >"$folder/trace.csv"
    good --trace "$folder/trace.csv"
    check '0.0200 < s["itl_seconds"]["p50"] < 0.0202' '0.8 < s["itl_seconds"]["max"] < 0.83' \
        '0.03 < s["tpot_seconds"]["max"] < 0.04' '0.03 < s["itl_seconds"]["mean"] < 0.04'
    # Each row of the table has the times of its name.
    good --trace "$sample"
    python3 - "$folder/summary.json" "$folder/out" <<'PYTHON' || fail "table"
import json, sys
s, rows = json.load(open(sys.argv[1])), open(sys.argv[2]).read().splitlines()
shown = lambda t: f"{t * 1000:.3f} ms" if t < 1 else f"{t:,.3f} s"
for name, key in (("TTFT", "ttft"), ("TPOT", "tpot"), ("ITL", "itl"), ("end to end", "e2e")):
    row = next(row for row in rows if row.strip().startswith(name))
    times = [shown(s[key + "_seconds"][p]) for p in ("mean", "p50", "p90", "p99")]
    at = [row.find(f" {time}") for time in times]
    assert -1 < at[0] < at[1] <= at[2] <= at[3], (row, times)
PYTHON
    ;;
slots)
    # What an iteration costs follows the sequences and not the slots.
    awk -v header="$header" 'BEGIN { print header
        for (i = 0; i < 100; ++i) printf "2024-01-01 00:00:%02d,20,30\n", i / 10 }' >"$folder/trace.csv"
    good --trace "$folder/trace.csv" --max-len 64
    cp "$folder/summary.json" "$folder/few.json"
    good --trace "$folder/trace.csv" --max-len 64 --max-seqs 262144
    python3 - "$folder/few.json" "$folder/summary.json" <<'PYTHON' || fail "slots cost time"
import json, sys
few, many = (json.load(open(path)) for path in sys.argv[1:])
assert few["iterations"] == many["iterations"]
assert few["counters"] == many["counters"], "rows of padding"
# A thousand times as many slots; the margin is for what else the machine does.
for key, least in (("wall_seconds", 0.1), ("step_device_seconds", 0.003)):
    assert many[key] < 50 * few[key] + least, (key, few[key], many[key])
PYTHON
    # Nor the length that they may have: whole rows of the block tables would be a megabyte each.
    for length in 64 4194304; do
        good --trace "$folder/trace.csv" --max-seqs 16 --block-size 16 --max-len $length
        mv "$folder/summary.json" "$folder/$length.json"
    done
    python3 - "$folder/64.json" "$folder/4194304.json" <<'PYTHON' || fail "room for tokens costs time"
import json, sys
short, long = (json.load(open(path)) for path in sys.argv[1:])
assert short["iterations"] == long["iterations"]
assert long["wall_seconds"] < 10 * short["wall_seconds"] + 0.1, (short["wall_seconds"], long["wall_seconds"])
PYTHON
    ;;
*) fail "no such case: $2" ;;
esac
echo "serve $2: good"
