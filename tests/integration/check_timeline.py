#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a file of serve --timeline against the summary and the requests of the same run.

    check_timeline.py timeline.json summary.json requests.csv
"""
import csv
import json
import sys

SERVER, SLOTS = 1, 2


def ticks(microseconds):
    return round(microseconds * 10)


def main():
    events = json.load(open(sys.argv[1], encoding="utf-8"))["traceEvents"]
    summary = json.load(open(sys.argv[2], encoding="utf-8"))
    requests = {int(row["line"]): row for row in csv.DictReader(open(sys.argv[3], encoding="utf-8"))}
    slices = [(e["pid"], e["tid"], e["name"], ticks(e["ts"]), ticks(e["ts"]) + ticks(e["dur"]), e["args"])
              for e in events if e["ph"] == "X"]

    iterations = [s for s in slices if s[0] == SERVER]
    assert len(iterations) == summary["iterations"]
    for before, after in zip(iterations, iterations[1:]):
        assert before[3] < before[4] <= after[3], "iterations overlap"
    assert abs(iterations[-1][4] / 1e7 - summary["virtual_seconds"]) < 1e-9
    assert sum(s[5]["tokens"] for s in iterations) == (
        summary["generated_tokens"] + summary["lost_generated_tokens"])

    # A slice for each stay in a slot: those that finished, and those that were shed.
    stays = [s for s in slices if s[0] == SLOTS and s[2].startswith("line ")]
    finished = [s for s in stays if not s[5]["shed"]]
    assert len(finished) == summary["completed"] and len(stays) - len(finished) == summary["sheds"]
    for _, _, name, begin, end, args in finished:
        row = requests[int(name.split()[1])]
        assert (begin, end) == (int(row["admitted"]), int(row["last_token"])), (name, begin, end)
        assert ticks(args["waited_us"]) == int(row["admitted"]) - int(row["arrival"])
        assert args["prompt_tokens"] == int(row["prompt_tokens"])
        assert args["generated_tokens"] == int(row["generated_tokens"])
    # The phases of a stay fill it, in order, behind it in the file and on the same track.
    at = None
    for _, track, name, begin, end, _ in (s for s in slices if s[0] == SLOTS):
        if name.startswith("line "):
            assert at is None or at[1] == at[2], "a stay without a phase at its end"
            at = [track, begin, end, 0]
            continue
        assert track == at[0] and begin == at[1] and end <= at[2], (name, begin, end, at)
        assert (name == "prefill") if at[3] == 0 else name in ("prefill", "decode", "preempted")
        at[1], at[3] = end, at[3] + 1
    assert at[1] == at[2]
    # No two stays on a track at a time.
    for track in {s[1] for s in stays}:
        own = sorted((s[3], s[4]) for s in stays if s[1] == track)
        assert all(a[1] <= b[0] for a, b in zip(own, own[1:])), track
    preempted = sum(s[2] == "preempted" for s in slices)
    assert preempted <= summary["preemptions"] and (preempted > 0) == (summary["preemptions"] > 0)

    counters = {}
    for event in events:
        if event["ph"] == "C":
            counters.setdefault(event["name"], []).append((ticks(event["ts"]), event["args"][event["name"]]))
    assert set(counters) == {"batch", "queue", "preempted", "blocks"}
    for name, most in (("batch", "peak_seqs"), ("blocks", "peak_blocks")):
        assert max(value for _, value in counters[name]) == summary[most]
    # At the begin of each iteration: who waits has arrived, and is in no slot.
    there = lambda spans, time: sum(begin <= time < end for begin, end in spans)
    spans = {"queue": [(int(r["arrival"]), int(r["last_token"])) for r in requests.values()],
             "slots": [(s[3], s[4]) for s in stays],
             "preempted": [(s[3], s[4]) for s in slices if s[2] == "preempted"]}
    for iteration in iterations:
        time = iteration[3]
        shown = {name: [value for at, value in counters[name] if at <= time][-1] for name in ("queue", "preempted")}
        assert shown["queue"] == there(spans["queue"], time) - there(spans["slots"], time), (time, shown)
        assert shown["preempted"] == there(spans["preempted"], time), (time, shown)
    names = {e["args"]["name"] for e in events if e["ph"] == "M"}
    assert {"iterations", "slot 0"} <= names
    print(f"timeline: {len(events)} events")


if __name__ == "__main__":
    main()
