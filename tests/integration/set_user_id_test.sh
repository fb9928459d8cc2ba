#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A set-user-id program takes no settings from its caller: set_user_id_test.sh PROGRAM
# PROGRAM uses the runtime. 77: no user can be changed here, or set-user-id has no effect.
set -euo pipefail

skip() {
    echo "skipped: $1"
    exit 77
}
((EUID == 0)) || skip "needs root"
command -v setpriv >/dev/null || skip "needs setpriv"
! grep -q '^NoNewPrivs:[[:space:]]*1' /proc/self/status || skip "no_new_privs is set"
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
! findmnt -no OPTIONS -T "$folder" | grep -w nosuid >/dev/null || skip "$folder is mounted nosuid"
chmod 777 "$folder"
cp "$1" "$folder/program"

# Run by another user, who wants a trace and every line of the log.
traced() {
    setpriv --reuid=65534 --regid=65534 --clear-groups \
        env "ADVANCE_STEP_TRACE=$folder/trace.json" ADVANCE_STEP_LOG=debug "$folder/program" >"$folder/out" 2>&1
}
traced || skip "another user cannot run the program"
[[ -s $folder/trace.json ]] && grep -q '^advance_step info' "$folder/out" || {
    echo "no trace or log of a program without set-user-id"
    exit 1
}
rm "$folder/trace.json"
chmod u+s "$folder/program"
traced || {
    cat "$folder/out"
    exit 1
}
[[ ! -e $folder/trace.json ]] || {
    echo "$(stat -c %U "$folder/trace.json") has written the trace for another user"
    exit 1
}
! grep -q '^advance_step info' "$folder/out" || {
    echo "another user has set the level of the log"
    exit 1
}
echo "good"
