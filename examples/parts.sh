# SPDX-License-Identifier: Apache-2.0
# Functions for scripts of several parts: each part reports its purpose, its time and its log.
# Sourced, in the project's root.
part_log_folder=build/log
part_table=()

# part NAME "what it does; how long" COMMAND...
part() {
    local name=$1 what=$2 log=$part_log_folder/$1.log status
    shift 2
    mkdir -p "$part_log_folder"
    echo "== $name: $what; log: $log"
    local LC_ALL=C TIMEFORMAT='%R %U %S' # with decimal points
    # Not behind || or if, where -e would be off inside the command too.
    set +e
    {
        time {
            (
                set -e
                "$@"
            ) 2>&1
        }
    } 2>"$log.time" | tee "$log"
    status=${PIPESTATUS[0]}
    set -e
    part_table+=("$(awk -v name="$name" \
        'END { printf "%-12s %7.1f %12.1f", name, $1 / 60, ($2 + $3) / 60 }' "$log.time")")
    rm "$log.time"
    if ((status != 0)); then
        {
            echo "== $name failed with $status; the end of $log:"
            tail -n 25 "$log"
            parts_done
        } >&2
        exit "$status"
    fi
}

# The time of each part.
parts_done() {
    printf '\n%-12s %7s %12s\n' part minutes CPU-minutes
    printf '%s\n' "${part_table[@]}"
}
