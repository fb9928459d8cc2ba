#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# One case of the traces that serve reads and makes: serve_trace_test.sh SERVE CASE
source "${0%/*}/serve_parts.sh"

case $2 in
memory)
    # Products of options that no device has, told at once and by their names.
    bad '--max-seqs 1048576 x --max-len 268435456' 'of device memory' -- --max-seqs 1048576 \
        --max-len 268435456
    bad '--blocks 268435456 x --block-size 65536' -- --blocks 268435456 --block-size 65536
    # A host without memory. Sanitizers reserve more than any limit here.
    if (ulimit -v 400000 && "$serve" --help >/dev/null 2>&1); then
        awk -v header="$header" 'BEGIN { print header
            for (i = 0; i < 6000000; ++i) print "2024-01-01 00:00:00,1,1" }' >"$folder/many.csv"
        status=0
        (ulimit -v 400000 && "$serve" --trace "$folder/many.csv") >"$folder/out" 2>&1 || status=$?
        ((status == 1)) || fail "no memory: exit status $status"
        grep -q 'many.csv: the host has no memory for its requests; --limit' "$folder/out" ||
            fail "no word of what has no memory"
    fi
    ;;
arguments)
    "$serve" --help >"$folder/help"
    awk 'length > 80 { print FILENAME ": " $0; bad = 1 } END { exit bad }' "$folder/help" ||
        fail "--help has lines of more than 80 columns"
    "$serve" --version >"$folder/version"
    grep -Eqx 'serve [0-9.]+ \(libadvance_step [0-9.]+\)' "$folder/version" || fail "--version"
    # A misspelt option is told as one, and its value is not taken for the trace.
    bad 'The following argument was not expected: --sumary' -- --sumary "$folder/out.json"
    ! grep -q -- --trace "$folder/out" || fail "the trace is told"
    bad '--trace: File does not exist: .*no-such.csv' -- "$folder/no-such.csv"
    bad '--trace: File is actually a directory' -- "$folder"
    # An empty name, as of a variable that was never set, is refused.
    for option in --summary --requests --report --timeline --trace-json; do
        bad "^$option: expected the path of a file" -- "$option" '' --limit 2
    done
    bad "$folder: cannot be read: Is a directory" -- --time-model "$folder"
    ;;
numbers)
    # Options take decimal numbers in their range, and nothing before or behind them.
    refused() {
        local option=$1 words=$2 value
        shift 2
        for value; do
            bad "^$option: Value $value not in range $words" -- "$option" "$value" --sweep rate
        done
    }
    for row in '--limit 1 to 9223372036854775807' '--max-seqs 1 to 1048576' '--block-size 1 to 65536' \
        '--blocks 1 to 268435456' '--max-len 1 to 268435456' '--speculative 0 to 128' '--token-budget 1 to 268435456'; do
        refused "${row%% *}" "${row#* }" 5x x5 '' -1 0x5 99999999999999999999 -99999999999999999999 ' 5' '5 ' +5 5.0 1e1 nan
    done
    for row in '--free-ratio 0 to 1' '--ttft-target 1e-06 to 1000000' '--tpot-target 1e-06 to 1000000' '--attainment 1e-06 to 1'; do
        refused "${row%% *}" "${row#* }" 0.5x x '' -1 0x1p-1 1e999 -1e999 ' 0.5' '0.5 ' +0.5 nan inf
    done
    bad '^--kv-cache: expected a number of GB, or rest' -- --kv-cache '' --time-model 7b
    for value in 5x x -1 0x5 1e999 ' 5' '5 ' +5 nan; do
        bad "serve: --kv-cache $value: expected a number of GB, or rest" -- --kv-cache "$value" --time-model 7b
        for part in rate= cv= burst= count= seed= prompt=constant: generated=lognormal:5:; do
            bad "serve: --generate: ${part%%=*} is \"$value\"; expected a number from" -- --generate "$part$value"
        done
    done
    # A zero in front makes no other number of it.
    good --limit 010 --max-seqs 08
    check 's["requests"] == s["completed"] == 10'
    ;;
limit)
    # The first by arrival, wherever they are in the file; a sorted file is not read to its end.
    printf '%s\n2024-01-01 00:00:09,9,1\n2024-01-01 00:00:02,2,1\n2024-01-01 00:00:01,1,1\n' \
        "$header" >"$folder/shuffled.csv"
    good --trace "$folder/shuffled.csv" --limit 2 --requests "$folder/requests.csv"
    [[ $(cut -d , -f 1,3 "$folder/requests.csv" | tail -n 2 | tr '\n' ' ') == '3,2 4,1 ' ]] ||
        fail "not the first by arrival"
    awk -v header="$header" 'BEGIN { print header
        for (i = 0; i < 20000; ++i) print "2024-01-01 00:00:00,5,3"; print "no request" }' >"$folder/sorted.csv"
    good --trace "$folder/sorted.csv" --limit 10
    check 's["requests"] == 10'
    bad ':20002: ' -- --trace "$folder/sorted.csv" --limit 10001
    ;;
reject)
    printf '%s\n2024-01-01 00:00:00,9000,1\n2024-01-01 00:00:01,5,3\n2024-01-01 00:00:02,5,9000\n' \
        "$header" >"$folder/trace.csv"
    bad '2 of 3 requests never fit' 'trace.csv:2: ' '--max-len 9005' -- --trace "$folder/trace.csv" \
        --max-len 5000
    good --trace "$folder/trace.csv" --max-len 5000 --reject
    check 's["requests"] == s["completed"] == 1' 's["rejected"] == 2'
    grep -q '2 of 3 requests never fit' "$folder/out" || fail "no word of those left out"
    good --trace "$folder/trace.csv" --max-len 9005
    check 's["requests"] == 3 and s["rejected"] == 0'
    bad 'never fit' -- --trace "$folder/trace.csv" --max-len 5 --reject
    ;;
formats)
    # The same three requests in each format, and in each compressed.
    printf '%s\n%s\n%s\n%s\n' "$header" '2024-05-10 00:00:00.009930+00:00,2162,5' \
        '2024-05-10 00:00:01+00:00,1799,13' '2024-05-10 02:00:01.5+02:00,7,4' >"$folder/azure"
    printf '%s\n%s\n%s\n%s\n%s\n' \
        'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type' \
        '5,ChatGPT,2162,5,2167,Conversation log' '5.99007,GPT-4,1799,13,1812,API log' \
        '6,GPT-4,99,0,99,API log' '6.49007,GPT-4,7,4,11,API log' >"$folder/burst"
    printf '%s\r\n%s\r\n%s' '{"timestamp": 1000, "input_length": 2162, "output_length": 5, "hash_ids": [0, 1]}' \
        '{"timestamp": 1990.07, "input_length": 1799, "output_length": 13, "hash_ids": []}' \
        '{"hash_ids": [3], "timestamp": 2490.07, "output_length": 4, "input_length": 7}' >"$folder/mooncake"
    for format in azure burst mooncake; do
        good "$folder/$format" --requests "$folder/$format.txt"
        cut -d , -f 3-8 "$folder/$format.txt" >"$folder/$format.times"
        cmp "$folder/azure.times" "$folder/$format.times" || fail "$format is read otherwise"
        for tool in gzip zstd; do
            command -v $tool >/dev/null || continue
            $tool -c "$folder/$format" >"$folder/$format.packed"
            run "$folder/$format.packed" --requests "$folder/packed.txt"
            if grep -q "serve was built without" "$folder/out"; then
                ((status == 1)) || fail "status $status"
                continue
            fi
            ((status == 0)) || fail "$format by $tool"
            cmp "$folder/$format.txt" "$folder/packed.txt" || fail "$format by $tool is read otherwise"
            head -c -9 "$folder/$format.packed" >"$folder/cut"
            bad 'cut: cannot be decompressed' -- "$folder/cut"
        done
    done
    grep -q '9930' <(cut -d , -f 5 "$folder/azure.txt") && fail "times do not begin at 0"
    [[ $(sed -n 2p "$folder/azure.times") == 2162,5,0,0,* ]] || fail "the first request"
    printf 'Timestamp,Tokens\n1,2\n' >"$folder/unknown"
    bad 'unknown:1: line is "Timestamp,Tokens"' Azure BurstGPT Mooncake -- "$folder/unknown"
    head -c 3000 /dev/urandom >"$folder/noise"
    bad 'noise:1: ' -- "$folder/noise"
    # From standard input, plain and compressed.
    run - --requests "$folder/stdin.txt" <"$folder/azure"
    cmp "$folder/azure.txt" "$folder/stdin.txt" || fail "standard input is read otherwise"
    gzip -c "$folder/azure" | run --trace - --requests "$folder/stdin.txt"
    cmp "$folder/azure.txt" "$folder/stdin.txt" || fail "compressed standard input is read otherwise"
    bad 'standard input:1: ' -- - </dev/null
    # From a pipe, which cannot be read twice.
    run <(cat "$folder/azure") --requests "$folder/piped.txt"
    cmp "$folder/azure.txt" "$folder/piped.txt" || fail "a pipe is read otherwise"
    printf '{"timestamp": 1, "input_length": 2, "output_length": 3}\n{"timestamp": 2}\n' >"$folder/short"
    bad 'short:2: input_length is "nothing"' -- "$folder/short"
    printf '{"timestamp": "a", "input_length": 2, "output_length": 3}\n' >"$folder/short"
    bad 'short:1: timestamp is ' -- "$folder/short"
    ;;
hostile)
    # What spreadsheets, editors and tools make of a trace: each is read as the plain file.
    burst='Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type'
    printf '%s\n2024-01-01 00:00:00,5,3\n2024-01-01 00:00:01.5,7,2\n' "$header" >"$folder/plain"
    good "$folder/plain" --requests "$folder/plain.txt"
    cut -d , -f 3-8 "$folder/plain.txt" >"$folder/plain.times"
    same() {
        cat >"$folder/variant"
        good "$folder/variant" --requests "$folder/variant.txt"
        cut -d , -f 3-8 "$folder/variant.txt" | cmp - "$folder/plain.times" || fail "$1 is read otherwise"
    }
    sed 's/$/\r/' "$folder/plain" | same 'CR LF'
    printf '\xef\xbb\xbf%s' "$(cat "$folder/plain")" | same 'a byte order mark'
    printf '\xef\xbb\xbf{"timestamp": 0, "input_length": 5, "output_length": 3}\n%s' \
        ' {"timestamp": 1500, "input_length": 7, "output_length": 2}' | same 'a mark before JSON'
    sed '1s/.*/"TIMESTAMP","ContextTokens","GeneratedTokens"/; 2,$s/\(.*\),\(.*\),/"\1", "\2" ,/' \
        "$folder/plain" | same 'quotation marks'
    (echo && sed 'a \ \t' "$folder/plain" && echo) | same 'blank lines'
    printf 'id , generatedtokens,Timestamp,CONTEXTTOKENS,note\n1,3,2024-01-01T00:00:00Z,5,"a, ""b"""\n2,2,%s,7,\n' \
        '2024-01-01 01:00:01.5+01:00' | sed 's/T00/ 00/' | same 'columns in another order'
    printf '%s,Elapsed time,Session ID\n5,x,5,3,8,y,1,2\n6.5,"x,""y",7,2,9,y,,\n' "$burst" |
        same 'columns behind those of BurstGPT'
    printf '%s\n2024-01-01 00:00:01.5,7,2\n2024-01-01 00:00:00,5,3\n' "$header" >"$folder/variant"
    good "$folder/variant" --requests "$folder/variant.txt"
    grep -q 'out of order at 1 places' "$folder/out" || fail "no word of the order"
    # What cannot be read names the line and the column, and there is no run.
    wrong() {
        printf "$1" >"$folder/wrong"
        shift
        bad "wrong:$@" -- "$folder/wrong" --summary "$folder/wrong.json"
        [[ ! -e $folder/wrong.json ]] || fail "a summary of no run"
    }
    line='2024-01-01 00:00:00,5,3'
    wrong "$header\n$line\n2024-01-01 00:00:01,0,3\n" '3: ContextTokens is "0"'
    wrong "$header\n$line\n\n2024-01-01 00:00:01,5,\n" '4: GeneratedTokens is ""'
    wrong "$header\n$line\n2024-01-01 00:00:01,-5,3\n" '3: ContextTokens is "-5"'
    wrong "$header\n$line\n2024-01-01 00:00:01,5.5,3\n" '3: ContextTokens is "5.5"'
    wrong "$header\n$line\n2024-01-01 00:00:01,99999999999999999999,3\n" '3: ContextTokens is "9999'
    wrong "$header\n$line\n2024-02-30 00:00:01,5,3\n" '3: TIMESTAMP is "2024-02-30'
    wrong "$header\n$line\n2024-01-01,5,3\n" '3: TIMESTAMP is "2024-01-01"'
    wrong "$header\n$line\n\"2024-01-01 00:00:01,5,3\n" '3: line is .*quotation mark'
    wrong "$header\n$line\n2024-01-01 00:00:01,5,3,9\n" '3: line is .*expected 3 fields'
    wrong "$header\n$line\n2024-01-01 00:0" '3: line is '
    wrong "TIMESTAMP,ContextTokens\n$line\n" '1: line is .*Azure'
    wrong "TIMESTAMP,ContextTokens,GeneratedTokens,ContextTokens\n$line,1\n" '1: line is '
    wrong "$burst\n5,x,5,3,8,y\nnoon,x,5,3,8,y\n" '3: Timestamp is "noon"'
    wrong "$burst\n5,x,5,3,8,y\n6,x,5,many,8,y\n" '3: Response tokens is "many"'
    wrong "$burst\n5,x,0,3,8,y\n" ' has no request'
    wrong "$header\n\n \n" ' has no request'
    wrong '\n\n' '.: line is missing'
    wrong '' '1: line is missing'
    wrong '\xff\xfeT\x00I\x00' '1: line is ".xff'
    wrong '{"timestamp": 1, "input_length": 5, "output_length": 3}\n{"timestamp": -1, "input_length": 5, "output_length": 3}\n' \
        '2: timestamp is "-1"'
    wrong '{"timestamp": 1, "input_length": "5", "output_length": 3}\n' '1: input_length is '
    wrong '{"timestamp": 1, "input_length": 5, "output_length": 1e99}\n' '1: output_length is '
    wrong '{"timestamp": 1, "input_length": 5\n' '1: line is .*JSON object'
    # Arrays in arrays, deeper than any stack. Epoch times, in milliseconds, are good.
    python3 -c 'n = 1000000; print("{\"timestamp\": " + "[" * n + "]" * n + ", \"input_length\": 5}")' >"$folder/deep"
    bad 'deep:1: timestamp is "an array"' -- "$folder/deep"
    printf '{"timestamp": 1700000000000, "input_length": 5, "output_length": 3}\n%s' \
        '{"timestamp": 1700000001500, "input_length": 7, "output_length": 2}' | same 'epoch times'
    # Times that programs write with an exponent, as they are less than a tick.
    printf '{"timestamp": 5e-05, "input_length": 5, "output_length": 3}\n%s' \
        '{"timestamp": 1.5e3, "input_length": 7, "output_length": 2}' | same 'a time with an exponent'
    # Some programs begin with a frame to skip.
    if command -v zstd >/dev/null; then
        (printf '\x50\x2a\x4d\x18\x04\x00\x00\x00abcd' && zstd -c "$folder/plain") >"$folder/packed"
        run "$folder/packed"
        if ! grep -q 'serve was built without' "$folder/out"; then
            ((status == 0)) || fail "a frame to skip"
        fi
    fi
    # Compressed files that were cut anywhere, also in what tells them.
    for tool in gzip zstd; do
        command -v $tool >/dev/null || continue
        $tool -c "$folder/plain" >"$folder/packed"
        run "$folder/packed"
        ((status == 0)) || continue # built without
        for bytes in 1 3 5 12 20 40; do
            head -c "$bytes" "$folder/packed" >"$folder/cut"
            bad 'cut:' -- "$folder/cut"
        done
        (cat "$folder/packed" && echo more) >"$folder/cut"
        bad 'cut: cannot be decompressed' -- "$folder/cut"
    done
    # As gzip reads them: zeros behind the data are padding, of which an archive may have a lot; what
    # else is there is an error.
    if gzip -c "$folder/plain" >"$folder/packed" && run "$folder/packed" && ((status == 0)); then
        (cat "$folder/packed" && head -c 200000 /dev/zero) >"$folder/padded"
        same 'zeros behind gzip data' <"$folder/padded"
        head -n 2 "$folder/plain" | gzip >"$folder/padded"
        (head -c 3 /dev/zero && tail -n 1 "$folder/plain" | gzip) >>"$folder/padded"
        same 'zeros between two members' <"$folder/padded"
        for more in '\n' more '\x1f\x8bmore' '\0\0\0x'; do
            (cat "$folder/packed" && printf "$more") >"$folder/cut"
            bad 'cut: cannot be decompressed: what follows its gzip data is neither' -- "$folder/cut"
        done
    fi
    ;;
generate)
    bad '--generate: expected KEY=VALUE' -- --generate ''
    make() { good --generate "$1" --requests "$folder/requests.csv"; }
    make arrivals=poisson,rate=20,count=2000,prompt=exponential:200,generated=constant:3,seed=4
    cp "$folder/requests.csv" "$folder/first.csv"
    make arrivals=poisson,rate=20,count=2000,prompt=exponential:200,generated=constant:3,seed=4
    cmp "$folder/first.csv" "$folder/requests.csv" || fail "the same seed, other requests"
    make arrivals=poisson,rate=20,count=2000,prompt=exponential:200,generated=constant:3,seed=5
    ! cmp -s "$folder/first.csv" "$folder/requests.csv" || fail "another seed, the same requests"
    for arrivals in poisson:1 gamma,cv=3:3 gamma,cv=0.5:0.5 bursts,burst=10:4.4; do
        make "arrivals=${arrivals%:*},rate=20,count=4000,prompt=lognormal:200:1,generated=uniform:9"
        python3 - "$folder/requests.csv" "${arrivals##*:}" <<'PYTHON' || fail "$arrivals"
import csv, statistics, sys
rows = list(csv.DictReader(open(sys.argv[1])))
arrivals = sorted(int(row["arrival"]) / 1e7 for row in rows)
gaps = [b - a for a, b in zip(arrivals, arrivals[1:])]
mean, cv = statistics.mean(gaps), float(sys.argv[2])
assert abs(mean * 20 - 1) < 0.2 * max(1, cv), mean
assert abs(statistics.stdev(gaps) / mean / cv - 1) < 0.2, statistics.stdev(gaps) / mean
prompts = [int(row["prompt_tokens"]) for row in rows]
assert abs(statistics.mean(prompts) / 200 - 1) < 0.15, statistics.mean(prompts)
assert abs(statistics.median(prompts) / 121 - 1) < 0.15, statistics.median(prompts)
generated = [int(row["generated_tokens"]) for row in rows]
assert 1 == min(generated) < max(generated) == 18 and abs(statistics.mean(generated) / 9 - 1) < 0.1
PYTHON
    done
    bad '--generate: "speed" is no key' -- --generate speed=1
    bad '--generate: rate is "x"; expected a number' -- --generate rate=x
    bad '--generate: prompt is "normal:1"' -- --generate prompt=normal:1
    bad '--generate: part is "poisson"' -- --generate poisson
    bad '--generate: request [0-9]* of 1000000 arrives after 1e+11 s' -- --generate rate=1e-6,count=1000000
    bad excludes -- --generate rate=1 --trace "$sample"
    ;;
*) fail "no such case: $2" ;;
esac
echo "serve $2: good"
