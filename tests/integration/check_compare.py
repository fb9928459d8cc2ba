#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a page of serve --report --compare against the summaries of both runs.

    check_compare.py report.html summary.json other-summary.json
"""
import json
import sys
import xml.etree.ElementTree as tree

HTML = "{http://www.w3.org/1999/xhtml}"


def text_of(element):
    return "".join(element.itertext())


def number(text):
    return float(text.replace(",", ""))


def main():
    root = tree.parse(sys.argv[1]).getroot()
    now, before = (json.load(open(path, encoding="utf-8")) for path in sys.argv[2:])
    rows = {text_of(row[0]): [text_of(c) for c in row[1:]]
            for row in root.find(".//*[@id='comparison']")[1:]}
    differing = {"max_seqs", "scheduler"}
    assert rows["max_seqs"][:2] == ["32", "8"], rows["max_seqs"]
    assert rows["scheduler"][:2] == ["chunked", "prefill-first"]
    assert [float(cell) for cell in rows["tpot_target"][:2]] == [0.5, 0]
    assert not {"blocks", "trace", "token_budget"} & set(rows)
    for name, path in (("requests completed", "completed"), ("iterations", "iterations"),
                       ("throughput (tokens/s)", "tokens_per_second"), ("TTFT, p99 (s)", "ttft_seconds/p99"),
                       ("TPOT, p50 (s)", "tpot_seconds/p50"), ("ITL, max (s)", "itl_seconds/max"),
                       ("end to end, p50 (s)", "e2e_seconds/p50"), ("K/V faults", "kv_faults")):
        wanted = []
        for summary in (now, before):
            value = summary
            for key in path.split("/"):
                value = value[key]
            wanted.append(value)
        shown = rows.pop(name)
        for cell, value in zip(shown, wanted):
            assert abs(number(cell) - value) <= 0.006 * value, (name, cell, value)
        change = 100 * (wanted[0] - wanted[1]) / wanted[1] if wanted[1] else 0
        assert abs(number(shown[2].rstrip(" %")) - change) < 0.051, (name, shown, change)
    assert len(rows) > len(differing)
    # Both runs in each chart of time, over all of the time of either.
    charts = root.find(".//*[@id='charts']")
    if charts is None:
        return
    for chart in json.loads(charts.text):
        if chart["id"] == "latency":
            continue
        assert [s["name"] for s in chart["series"]] == ["this run", "the other"], chart["id"]
        ends = chart["spans"][-1][1] * {"s": 1, "min": 60, "h": 3600}[chart["xUnit"]]
        longest = max(now["virtual_seconds"], before["virtual_seconds"])
        assert abs(ends - longest) < 1e-6 * longest
        assert all(a[1] <= b[0] for a, b in zip(chart["spans"], chart["spans"][1:]))
        if chart["id"] == "throughput":
            for series, summary in zip(chart["series"], (now, before)):
                seconds = {"s": 1, "min": 60, "h": 3600}[chart["xUnit"]]
                tokens = sum(value * (end - begin) * seconds
                             for value, (begin, end) in zip(series["values"], chart["spans"]))
                assert abs(tokens / summary["generated_tokens"] - 1) < 1e-3, (tokens, series["name"])


if __name__ == "__main__":
    main()
