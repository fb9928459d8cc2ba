#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds a page of serve --report against the file of --summary of the same run.

    check_report.py report.html summary.json
"""

import json
import re
import sys
import xml.etree.ElementTree as tree

HTML = "{http://www.w3.org/1999/xhtml}"
MOST_BUCKETS = 480  # RunRecord::kMostBuckets
TIME_PLOTS = ("throughput", "batch", "queue", "preempted", "blocks", "prefill")


def text_of(element):
    return "".join(element.itertext())


def number(text):
    return float(text.replace(",", ""))


def close(a, b):
    return abs(a - b) <= 0.006 * max(abs(a), abs(b)) + 1e-9


def check_figure(figure, chart, buckets):
    """A title, a mark and a name for each series, and a value of each for every span."""
    assert text_of(figure.find(HTML + "figcaption")) and chart["xAxis"] and chart["yAxis"], chart["id"]
    legend = figure.find(HTML + "p")
    marks = [mark.get("class") for mark in legend.iter(HTML + "i") if mark.get("class") != "limit"]
    assert marks == [s["colour"] for s in chart["series"]], marks
    assert all(s["name"] in text_of(legend) for s in chart["series"])
    assert chart["limitName"] in text_of(legend)
    assert len(chart["spans"]) == buckets, (chart["id"], len(chart["spans"]), buckets)
    assert all(len(s["values"]) == buckets for s in chart["series"])


def check_charts(charts, root, timeline):
    """Each chart has its figure, and the numbers of the timeline."""
    figures = {f.get("id"): f for f in root.iter(HTML + "figure")}
    assert [c["id"] for c in charts] == list(figures)
    assert set(figures) == set(TIME_PLOTS) | {"latency"}, figures.keys()
    buckets = timeline["buckets"]
    for chart in charts:
        check_figure(figures[chart["id"]], chart, 100 if chart["id"] == "latency" else len(buckets))
        assert chart["timed"] == (chart["id"] != "latency")
    by_id = {chart["id"]: chart for chart in charts}
    for name, key in (("batch", "running"), ("queue", "waiting"), ("preempted", "preempted"),
                      ("blocks", "blocks")):
        for series, wanted in zip(by_id[name]["series"], (key, "peak_" + key), strict=True):
            assert all(abs(value - bucket[wanted]) <= 1e-5 * abs(value) + 1e-9
                       for value, bucket in zip(series["values"], buckets, strict=True)), name
    for chart, key in (("throughput", "tokens"), ("prefill", "prefill_tokens")):
        for value, bucket in zip(by_id[chart]["series"][0]["values"], buckets, strict=True):
            assert abs(value * (bucket["end"] - bucket["begin"]) - bucket[key]) <= 1e-4 * bucket[key] + 1e-9


def main():
    page, summary_path = sys.argv[1:]
    with open(page, encoding="utf-8") as file:
        source = file.read()
    with open(summary_path, encoding="utf-8") as file:
        summary = json.load(file)
    root = tree.fromstring(source)

    scripts = {s.get("id"): s for s in root.iter(HTML + "script")}
    programs = [name for name, s in scripts.items() if s.get("type") != "application/json"]
    # Without libjs-dygraphs at build time there are tables only.
    assert programs in ([], ["dygraphs", "program"]), programs
    assert len(scripts) == (5 if programs else 2), scripts.keys()
    if programs:
        assert "Permission is hereby granted, free of charge" in scripts["dygraphs"].text
        check_charts(json.loads(scripts["charts"].text), root, json.loads(scripts["timeline"].text))
    else:
        assert "There are no charts" in source and root.find(f".//{HTML}figure") is None
    # It needs nothing else: no address, nothing that loads. The library has comments with addresses.
    own = re.sub(r'<script id="dygraphs">.*?</script>', "", source, flags=re.S)
    assert not re.search(r"(?:src|href)=|url\(|@import", own)
    assert not re.search(r"https?://(?!www\.w3\.org/1999/xhtml\")", own)
    assert not re.search(r"sourceMappingURL", source)
    assert "prefers-color-scheme: dark" in source and 'charset="utf-8"' in source
    ids = [e.get("id") for e in root.iter() if e.get("id")]
    assert len(ids) == len(set(ids)), ids

    assert json.loads(scripts["summary"].text) == summary
    assert text_of(root.find(f".//{HTML}h1")) == "serve: " + summary["trace"].rsplit("/", 1)[-1]

    timeline = json.loads(scripts["timeline"].text)
    buckets = timeline["buckets"]
    assert 1 < len(buckets) <= MOST_BUCKETS, len(buckets)
    for before, after in zip(buckets, buckets[1:]):
        assert before["begin"] < before["end"] <= after["begin"] + 1e-9, (before, after)
    assert abs(buckets[-1]["end"] - summary["virtual_seconds"]) < 1e-6
    assert max(b["peak_blocks"] for b in buckets) == summary["peak_blocks"]
    assert max(b["peak_running"] for b in buckets) == summary["peak_seqs"]
    if summary["shed_requests"] == 0:
        assert sum(b["tokens"] for b in buckets) == summary["generated_tokens"]
        assert sum(b["prefill_tokens"] for b in buckets) == (
            summary["prompt_tokens"] + summary["replayed_tokens"] + summary["recoveries"])
    assert (max(b["peak_preempted"] for b in buckets) > 0) == (summary["preemptions"] > 0)
    for bucket in buckets:
        assert 0 <= bucket["running"] <= bucket["peak_running"] + 1e-9
        assert 0 <= bucket["blocks"] <= bucket["peak_blocks"] + 1e-9

    tiles = {}
    for tile in root.find(f".//{HTML}ul").iter(HTML + "li"):
        value = tile.find(HTML + "b")
        tiles[value.tail] = number(value.text)
    for name, key in (("requests completed", "completed"), ("generated tokens", "generated_tokens"),
                      ("iterations", "iterations"), ("preemptions", "preemptions"),
                      ("recoveries", "recoveries"), ("shed requests", "shed_requests"),
                      ("peak blocks", "peak_blocks"), ("K/V faults", "kv_faults")):
        assert tiles[name] == summary[key], (name, tiles[name], summary[key])
    assert close(tiles["requests per virtual second"], summary["requests_per_second"])
    assert close(tiles["tokens per virtual second"],
                 summary["generated_tokens"] / summary["virtual_seconds"])

    counters = {text_of(row[0]): number(text_of(row[1]))
                for row in root.find(".//*[@id='counters']")[1:]}
    assert counters == summary["counters"], counters

    rows = [[text_of(c) for c in row] for row in root.find(".//*[@id='percentiles']")]
    assert rows[0] == ["s", "admission", "TTFT", "TPOT", "ITL", "end"], rows[0]
    columns = list(zip(*rows[1:], strict=True))
    assert columns[0] == ("mean", "p50", "p90", "p95", "p99", "max"), columns[0]
    keys = ("admission_seconds", "ttft_seconds", "tpot_seconds", "itl_seconds", "e2e_seconds")
    for column, key in zip(columns[1:], keys, strict=True):
        shown = [number(cell) for cell in column]
        assert shown[1:] == sorted(shown[1:]), column
        wanted = [summary[key][p] for p in columns[0]]
        assert all(abs(a - b) < 0.001 for a, b in zip(shown, wanted, strict=True)), (column, wanted)
    waits = [text_of(row[1]) for row in root.find(".//*[@id='waits']")[1:]]
    for shown, (reason, wanted) in zip(waits, summary["wait_seconds"].items(), strict=True):
        assert shown == f"{wanted:,.3f}", (reason, shown, wanted)
    settings = {text_of(row[0]): (text_of(row[1]), text_of(row[2]))
                for row in root.find(".//*[@id='settings']")[1:]}
    assert settings["scheduler"] == (summary["scheduler"], "")
    assert settings["blocks"] == (f"{summary['blocks']:,}", "blocks")
    assert settings["time model"][0] == summary["time_model"]
    assert settings["TTFT target"][1] == "s" and float(settings["cost of an iteration"][0]) > 0
    origin = text_of(root.find(".//*[@id='origin']"))
    assert re.fullmatch(r"serve [\d.]+ \(libadvance_step [\d.]+\), \d{4}-\d\d-\d\d \d\d:\d\d UTC(: serve .*)?", origin), origin
    assert summary["admission_seconds"]["max"] <= summary["ttft_seconds"]["max"]
    assert summary["ttft_seconds"]["p50"] < summary["e2e_seconds"]["p50"]
    print(f"report: {len(buckets)} points, {len(source)} bytes")


if __name__ == "__main__":
    main()
