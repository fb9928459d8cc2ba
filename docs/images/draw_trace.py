#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws a file of ADVANCE_STEP_TRACE as an SVG picture: a lane per track, slices, arrows.

    draw_trace.py trace.json trace.svg [--begin US] [--end US]

The picture in docs/tracing.md is examples/traced_step's trace.
"""

import argparse
import collections
import html
import json

WIDTH, LEFT, RIGHT = 1200, 130, 20
LANE, GAP, TOP, HEADING = 34, 8, 16, 24
LETTER = 6.4  # of the text in slices
COLOURS = {
    "kernel": "#4c78a8",
    "cores": "#9ecae9",
    "memory": "#54a24b",
    "host": "#b279a2",
    "wait": "#e0e0e0",
    "mark": "#f2b134",
    "skipped": "#d62728",
}

Track = collections.namedtuple("Track", "process thread")


def read(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)["traceEvents"]


def track_of(event):
    return Track(event["pid"], event["tid"])


def names(events, kind, key):
    return {key(e): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == kind}


def tick_width(span):
    """A round number of which a dozen at most fit."""
    width = 1.0
    while True:
        for factor in (1, 2, 5):
            if span / (width * factor) <= 12:
                return width * factor
        width *= 10


class Picture:
    def __init__(self, events, begin, end):
        slices = [e for e in events if e["ph"] == "X"]
        self.begin = min(e["ts"] for e in slices) if begin is None else begin
        self.end = max(e["ts"] + e["dur"] for e in slices) if end is None else end
        self.slices = [e for e in slices if self.shows(e["ts"], e["ts"] + e["dur"])]
        self.starts = {e["id"]: e for e in events if e["ph"] == "s"}
        self.ends = {e["id"]: e for e in events if e["ph"] == "f"}
        self.processes = names(events, "process_name", lambda e: e["pid"])
        self.threads = names(events, "thread_name", track_of)
        self.lines = []
        self.lanes = {}
        self.headings = {}
        self.height = TOP
        for track in sorted({track_of(e) for e in self.slices}):
            if track.process not in self.headings:
                self.headings[track.process] = self.height + HEADING - 8
                self.height += HEADING
            self.lanes[track] = self.height
            self.height += LANE + GAP

    def shows(self, begin, end):
        return end >= self.begin and begin <= self.end

    def x(self, time):
        part = (min(max(time, self.begin), self.end) - self.begin) / (self.end - self.begin)
        return LEFT + part * (WIDTH - LEFT - RIGHT)

    def add(self, line):
        self.lines.append(line)

    def axis(self):
        step = tick_width(self.end - self.begin)
        tick = 0.0
        while self.begin + tick <= self.end:
            x = self.x(self.begin + tick)
            self.add(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{self.height}" stroke="#eee"/>')
            self.add(f'<text x="{x:.1f}" y="{self.height + 14}" text-anchor="middle">'
                     f"{tick:g} us</text>")
            tick += step

    def labels(self):
        for process, y in self.headings.items():
            name = html.escape(self.processes[process])
            self.add(f'<text x="8" y="{y}" font-weight="bold">{name}</text>')
        for track, y in self.lanes.items():
            name = html.escape(self.threads[track])
            self.add(f'<text x="{LEFT - 8}" y="{y + LANE / 2 + 4}" text-anchor="end">{name}</text>')
            self.add(f'<line x1="{LEFT}" y1="{y + LANE}" x2="{WIDTH - RIGHT}" y2="{y + LANE}" '
                     'stroke="#ccc"/>')

    def slice(self, event):
        x, right = self.x(event["ts"]), self.x(event["ts"] + event["dur"])
        y = self.lanes[track_of(event)]
        width = max(right - x, 1.0)
        colour = COLOURS.get(event["cat"], "#888")
        told = ", ".join(f"{key} {value}" for key, value in event["args"].items())
        title = html.escape(f'{event["name"]}: {event["dur"]:.1f} us; {told}')
        self.add(f'<g><title>{title}</title><rect x="{x:.1f}" y="{y}" width="{width:.1f}" '
                 f'height="{LANE}" fill="{colour}" stroke="#fff" stroke-width="0.5"/>')
        if len(event["name"]) * LETTER + 6 < width:
            ink = "#fff" if event["cat"] in ("kernel", "memory", "host", "skipped") else "#333"
            self.add(f'<text x="{(x + right) / 2:.1f}" y="{y + LANE / 2 + 4}" fill="{ink}" '
                     f'text-anchor="middle">{html.escape(event["name"])}</text>')
        self.add("</g>")

    def arrow(self, start, end):
        if not (self.begin <= start["ts"] and end["ts"] <= self.end):
            return
        x1, x2 = self.x(start["ts"]), self.x(end["ts"])
        y1, y2 = self.lanes[track_of(start)], self.lanes[track_of(end)]
        y1, y2 = (y1 + LANE, y2) if y1 < y2 else (y1, y2 + LANE) if y1 > y2 else (y1, y1)
        bend = max(12.0, abs(x2 - x1) / 2)
        self.add(f'<path d="M{x1:.1f},{y1} C{x1 + bend:.1f},{y1} {x2 - bend:.1f},{y2} '
                 f'{x2:.1f},{y2}" fill="none" stroke="#d62728" stroke-width="1.5" '
                 'marker-end="url(#head)"/>')

    def legend(self):
        x, y = LEFT, self.height + 30
        for category in [c for c in COLOURS if any(e["cat"] == c for e in self.slices)]:
            self.add(f'<rect x="{x}" y="{y}" width="12" height="12" fill="{COLOURS[category]}"/>')
            self.add(f'<text x="{x + 17}" y="{y + 10}">{category}</text>')
            x += 90

    def svg(self):
        self.axis()
        self.labels()
        for event in self.slices:
            self.slice(event)
        for arrow in sorted(self.starts.keys() & self.ends.keys()):
            self.arrow(self.starts[arrow], self.ends[arrow])
        self.legend()
        height = self.height + 52
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" font-family="sans-serif" font-size="11">',
            '<defs><marker id="head" viewBox="0 0 6 6" refX="5" refY="3" markerWidth="6" '
            'markerHeight="6" orient="auto"><path d="M0,0 L6,3 L0,6 z" fill="#d62728"/></marker>'
            "</defs>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            *self.lines, "</svg>", ""])


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("trace")
    parser.add_argument("picture")
    parser.add_argument("--begin", type=float, help="microseconds; default: the first slice")
    parser.add_argument("--end", type=float, help="microseconds; default: the last slice's end")
    options = parser.parse_args()
    picture = Picture(read(options.trace), options.begin, options.end)
    with open(options.picture, "w", encoding="utf-8") as file:
        file.write(picture.svg())


if __name__ == "__main__":
    main()
