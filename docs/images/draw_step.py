#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws what examples/step.cpp prints: the block tables before and after each call of aclnnStep.

    step_example | draw_step.py step.svg
"""

import html
import re
import sys

CELL, ROW, LEFT, TOP, PANEL, HEAD = 44, 30, 104, 30, 352, 58
COLOURS = {"running": "#d7e8f7", "preempted": "#efe3fb", "stopped": "#e8eaed"}
NEW, GONE = "#2f9e64", "#c4492d"


def read(text):
    """Titles, rows (state, tokens in the cache, blocks) and the free list of each state."""
    states = []
    for part in re.split(r"\n\n", text.strip()):
        lines = part.splitlines()
        rows = [re.match(r" +\d+  (\w+) +(\d+) +\d+ +(.*)", line) for line in lines]
        free = re.search(r"free list:(.*)", part)
        if free is None:
            continue
        states.append({"title": lines[0], "free": free.group(1).split(), "rows": [
            (m.group(1), int(m.group(2)), m.group(3).split()) for m in rows if m]})
    return states


def text(x, y, words, more=""):
    return f'<text x="{x:.0f}" y="{y:.0f}" {more}>{html.escape(words)}</text>'


def cell(x, y, words, fill, stroke="#8a96a3", more=""):
    return (f'<rect x="{x}" y="{y}" width="{CELL - 4}" height="{ROW - 6}" rx="4" fill="{fill}" '
            f'stroke="{stroke}" {more}/>' + text(x + CELL / 2 - 2, y + 16, words,
                                                 'text-anchor="middle" fill="#1c2430"'))


def wrapped(words, most=42):
    lines = [""]
    for word in words.split():
        if len(lines[-1]) + len(word) > most:
            lines.append("")
        lines[-1] = (lines[-1] + " " + word).strip()
    return lines


def panel(x, y, state, before):
    out = [text(x, y + 16 + 16 * i, line, 'font-weight="600" fill="#1c2430"')
           for i, line in enumerate(wrapped(state["title"]))]
    y += HEAD
    for index, (name, tokens, blocks) in enumerate(state["rows"]):
        top = y + index * ROW
        out.append(text(x, top + 16, f"slot {index}, {name}"))
        for column, block in enumerate(blocks):
            left = x + LEFT + 24 + column * CELL
            was = before["rows"][index][2][column] if before else block
            if block == "-1":
                lost = was != "-1"
                out.append(cell(left, top, was if lost else "", "#ffffff",
                                GONE if lost else "#d5dae0",
                                'stroke-dasharray="3 3" stroke-width="1.5"' if lost else ""))
            else:
                new = was != block
                out.append(cell(left, top, block, COLOURS[name], NEW if new else "#8a96a3",
                                'stroke-width="2.5"' if new else ""))
        out.append(text(x + LEFT + 32 + len(blocks) * CELL, top + 16, f"{tokens}"))
    bottom = y + len(state["rows"]) * ROW + 6
    out.append(text(x, bottom + 16, "free list"))
    for index, block in enumerate(state["free"]):
        out.append(cell(x + LEFT + 24 + index * CELL, bottom, block, "#fdf1e4"))
    return out


def main():
    states = read(sys.stdin.read())
    if len(states) != 4:
        raise SystemExit(f"{len(states)} states; expected those of examples/step.cpp")
    width, height = 2 * PANEL + 60, TOP + 2 * 210 + 40
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
           f'width="{width}" height="{height}" font-family="Helvetica, Arial, sans-serif" '
           'font-size="12.5" fill="#5b6675">',
           "<title>aclnnStep on the block table, before and after</title>",
           f'<rect width="{width}" height="{height}" fill="#ffffff"/>']
    for call in range(2):
        y = TOP + call * 210
        before, after = states[2 * call], states[2 * call + 1]
        out += panel(20, y, before, None) + panel(PANEL + 50, y, after, before)
        out.append(f'<path d="M{PANEL + 4} {y + 100}h30m-8-6l8 6l-8 6" fill="none" '
                   'stroke="#5b6675" stroke-width="2"/>')
    y = height - 20
    out += [text(20, TOP - 8, "block ids of each slot, and its tokens in the cache"),
            cell(20, y - 16, "", "#ffffff", NEW, 'stroke-width="2.5"'),
            text(70, y, "handed out"),
            cell(170, y - 16, "", "#ffffff", GONE, 'stroke-dasharray="3 3" stroke-width="1.5"'),
            text(220, y, "given back"), "</svg>"]
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n")


if __name__ == "__main__":
    main()
