#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the five pictures of docs/paged_kv_cache.md.

    draw_kv_cache.py FOLDER
    draw_kv_cache.py --check        the pictures beside this file are those that it draws

The pictures are narrow, so that they can be read on a phone. tests/python/test_pictures.py runs the
states below through the library, so what the pictures show after a call is what the call does.
"""
import html
import pathlib
import sys

WIDTH, CELL, ROW = 400, 34, 30
INK, SOFT, LINE = "#1c2430", "#5b6675", "#8a96a3"
NEW, GONE, EMPTY = "#2f9e64", "#c4492d", "#ffffff"
COLOURS = {"A": "#cfe3f7", "B": "#d5f0dc", "C": "#f7e3cf", "": "#eef0f3"}
BLOCK_SIZE = 4
NAMES = "ABC"

# AdvanceStep. Row 2 is padding.
TABLES = [[5, 2], [7, -1], [0, 0]]
SAMPLED = [41, 87]
BEFORE = {"inputTokens": [17, 35, 0], "inputPositions": [5, 2, 0], "seqLens": [6, 3, 0],
          "slotMapping": [9, 30, -1]}
AFTER = {"inputTokens": [41, 87, 0], "inputPositions": [6, 3, 0], "seqLens": [7, 4, 0],
         "slotMapping": [10, 31, -1]}

# Step, as calls of (tables, tokens in the cache, stopped slots, free list, preempted slots). The
# host's allocator owns column 0 of each row.
HAND_OUT = (
    ([[5, 2, -1, -1], [7, -1, -1, -1], [1, 6, -1, -1]], [7, 4, 6], [2], [0, 3], []),
    ([[5, 2, -1, -1], [7, 6, -1, -1], [1, -1, -1, -1]], [7, 4, 6], [2], [0, 3], []))
PREEMPT = (
    ([[5, 2, 6, -1], [7, 3, -1, -1], [1, 4, -1, -1]], [12, 8, 5], [], [], []),
    ([[5, -1, -1, -1], [7, 3, 6, -1], [1, 4, -1, -1]], [0, 8, 5], [0], [2], [0]))
RECOVER = (
    ([[5, -1, -1, -1], [7, 3, 6, -1], [1, 4, -1, -1]], [0, 9, 6], [0, 1], [2], [0]),
    ([[5, 6, 3, 2], [7, -1, -1, -1], [1, 4, -1, -1]], [0, 9, 6], [1], [], []))


class Picture:
    """The parts of one picture, from the top down."""

    def __init__(self, title):
        self.title = title
        self.parts = []
        self.y = 14

    def text(self, x, y, words, more="", fill=SOFT):
        self.parts.append(
            f'<text x="{x:g}" y="{y:g}" fill="{fill}" {more}>{html.escape(str(words))}</text>')

    def line(self, words, bold=False):
        self.text(12, self.y + 14, words, 'font-weight="600"' if bold else "", INK if bold else SOFT)
        self.y += 24

    def cell(self, x, y, words, fill, stroke=LINE, more="", width=CELL):
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{width - 4:g}" height="24" rx="4" '
                          f'fill="{fill}" stroke="{stroke}" {more}/>')
        self.text(x + width / 2 - 2, y + 17, words, 'text-anchor="middle"', INK)

    def arrow(self, x1, y1, x2, y2):
        self.parts.append(f'<path d="M{x1:g} {y1:g}L{x2:g} {y2:g}" stroke="{SOFT}" '
                          'stroke-width="2" marker-end="url(#tip)"/>')

    def drawn(self):
        height = self.y + 8
        return "\n".join([
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" '
            f'width="{WIDTH}" height="{height:g}" font-family="Helvetica, Arial, sans-serif" '
            'font-size="14">',
            f"<title>{html.escape(self.title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="6" '
            f'markerHeight="6" orient="auto"><path d="M0 0L8 4L0 8z" fill="{SOFT}"/></marker></defs>',
            f'<rect width="{WIDTH}" height="{height:g}" fill="#ffffff"/>',
            *self.parts, "</svg>"]) + "\n"


def owner(block):
    return next((NAMES[row] for row in range(2) if block in TABLES[row]), "")


def draw_blocks():
    picture = Picture("Blocks and the block table")
    picture.line("Two sequences", bold=True)
    for name, tokens in (("A", 6), ("B", 3)):
        picture.text(12, picture.y + 17, name, 'font-weight="600"', INK)
        for token in range(tokens):
            picture.cell(40 + token * CELL + 8 * (token // BLOCK_SIZE), picture.y, token,
                         COLOURS[name])
        picture.y += ROW
    picture.line("positions of their tokens, a block for every four")
    picture.y += 8
    picture.line("The block table", bold=True)
    for row, name in enumerate("AB"):
        picture.text(12, picture.y + 17, name, 'font-weight="600"', INK)
        for column, block in enumerate(TABLES[row]):
            picture.cell(40 + column * CELL, picture.y, block if block >= 0 else "",
                         COLOURS[name] if block >= 0 else EMPTY)
        picture.y += ROW
    picture.y += 8
    picture.line("The cache: 8 blocks of 4 tokens", bold=True)
    filled = {"A": 6, "B": 3}
    for block in range(8):
        x, y = (12 + block % 2 * 194), picture.y + block // 2 * ROW
        name = owner(block)
        picture.text(x, y + 17, block, 'font-weight="600"' if name else "", INK if name else SOFT)
        for offset in range(BLOCK_SIZE):
            position = (TABLES[NAMES.index(name)].index(block) * BLOCK_SIZE + offset) if name else 0
            used = name and position < filled[name]
            picture.cell(x + 24 + offset * CELL, y, f"{name}{position}" if used else "",
                         COLOURS[name] if used else COLOURS[""] if not name else EMPTY)
    picture.y += 4 * ROW
    picture.line("Grey blocks are free.")
    return picture


def draw_slot():
    picture = Picture("The slot of a position")
    picture.line("Where is position 5 of sequence A?", bold=True)
    picture.line("column = 5 / 4 = 1")
    picture.line("offset = 5 % 4 = 1")
    y = picture.y + 22
    picture.text(12, y + 17, "row A of the block table")
    for column, block in enumerate(TABLES[0]):
        chosen = column == 1
        picture.cell(200 + column * 2 * CELL, y, block, COLOURS["A"], NEW if chosen else LINE,
                     'stroke-width="2.5"' if chosen else "")
        picture.text(200 + column * 2 * CELL + 15, y - 4, f"column {column}",
                     'text-anchor="middle" font-size="12"')
    picture.arrow(200 + 2 * CELL + 15, y + 28, 200 + 2 * CELL - 30, y + 62)
    y += 86
    picture.text(12, y + 17, "block 2 of the cache")
    for offset in range(BLOCK_SIZE):
        chosen = offset == 1
        picture.cell(200 + offset * 44, y, 2 * BLOCK_SIZE + offset, COLOURS["A"] if offset < 2 else
                     EMPTY, NEW if chosen else LINE, 'stroke-width="2.5"' if chosen else "", width=44)
        picture.text(200 + offset * 44 + 20, y - 6, f"+{offset}", 'text-anchor="middle" font-size="12"')
    picture.y = y + 40
    picture.text(200 + 44 + 20, picture.y + 4, "slot 9", 'text-anchor="middle" font-weight="600"', NEW)
    picture.y += 14
    picture.line("slot = block * block_size + offset", bold=True)
    picture.line("9 = 2 * 4 + 1")
    return picture


def draw_decode():
    picture = Picture("A decode step: AdvanceStep")
    picture.line("The model sampled 41 for A and 87 for B", bold=True)
    picture.y += 2
    for when, state in (("before", BEFORE), ("after", AFTER)):
        y = picture.y
        picture.text(12, y + 14, when, 'font-weight="600"', INK)
        for row, name in enumerate(("A", "B", "padding")):
            picture.text(186 + row * 72, y + 14, name, 'text-anchor="middle"', INK)
        y += 22
        for key in BEFORE:
            picture.text(12, y + 17, key)
            for row in range(3):
                changed = when == "after" and AFTER[key][row] != BEFORE[key][row]
                picture.cell(152 + row * 72, y, state[key][row],
                             COLOURS[NAMES[row]] if row < 2 else COLOURS[""],
                             NEW if changed else LINE, 'stroke-width="2.5"' if changed else "",
                             width=72)
            y += ROW
        picture.y = y + 8
        if when == "before":
            picture.arrow(186 + 72, picture.y - 4, 186 + 72, picture.y + 18)
            picture.text(186 + 90, picture.y + 12, "AdvanceStep")
            picture.y += 26
    picture.line("A: position 6 is in column 1, block 2: 2 * 4 + 2 = 10")
    picture.line("B: position 3 is in column 0, block 7: 7 * 4 + 3 = 31")
    return picture


def state_rows(picture, state, before, notes):
    tables, _, stopped, free, preempted = state
    for row, table in enumerate(tables):
        y = picture.y
        picture.text(12, y + 17, NAMES[row], 'font-weight="600"', INK)
        for column, block in enumerate(table):
            was = before[0][row][column] if before else block
            x = 40 + column * CELL
            dashed = 'stroke-dasharray="3 3" stroke-width="1.5"'
            if block < 0 <= was:
                picture.cell(x, y, was, EMPTY, GONE, dashed)
            elif block < 0:
                picture.cell(x, y, "", EMPTY, "#d5dae0")
            else:
                fill = COLOURS[""] if row in stopped and row not in preempted else COLOURS[NAMES[row]]
                picture.cell(x, y, block, fill, NEW if was != block else LINE,
                             'stroke-width="2.5"' if was != block else "")
        picture.text(40 + 4 * CELL + 10, y + 17, notes[row])
        picture.y += ROW
    picture.text(12, picture.y + 17, "free")
    for index, block in enumerate(free):
        picture.cell(48 + index * CELL, picture.y, block, "#fdf1e4")
    if not free:
        picture.text(48, picture.y + 17, "none")
    picture.y += ROW + 6


def step_arrow(picture):
    picture.arrow(110, picture.y - 4, 110, picture.y + 18)
    picture.text(124, picture.y + 12, "Step")
    picture.y += 26


def legend(picture):
    y = picture.y
    picture.cell(12, y, "", EMPTY, NEW, 'stroke-width="2.5"')
    picture.text(50, y + 17, "handed out")
    picture.cell(150, y, "", EMPTY, GONE, 'stroke-dasharray="3 3" stroke-width="1.5"')
    picture.text(188, y + 17, "taken back")
    picture.y += ROW


def draw_hand_out():
    picture = Picture("Blocks are handed out and freed: Step")
    picture.line("C has finished, and B needs a block", bold=True)
    state_rows(picture, HAND_OUT[0], None,
               ["7 of 8 tokens", "4 of 4 tokens: full", "finished"])
    step_arrow(picture)
    state_rows(picture, HAND_OUT[1], HAND_OUT[0],
               ["7 of 8 tokens", "4 of 8 tokens", "block 1 is the host's"])
    legend(picture)
    return picture


def draw_preemption():
    picture = Picture("Preemption and recovery: Step")
    picture.line("A and B need a block, and none is free", bold=True)
    state_rows(picture, PREEMPT[0], None, ["12 tokens: full", "8 tokens: full", "5 tokens"])
    step_arrow(picture)
    picture.line("A has the most blocks, so A is preempted", bold=True)
    state_rows(picture, PREEMPT[1], PREEMPT[0], ["waits for 3 blocks", "8 of 12 tokens", "5 tokens"])
    picture.line("Later, B has finished", bold=True)
    step_arrow(picture)
    picture.line("A recovers: it computes its 13 tokens anew", bold=True)
    state_rows(picture, RECOVER[1], RECOVER[0], ["prefills 13 tokens", "finished", "6 tokens"])
    legend(picture)
    return picture


def main():
    if len(sys.argv) != 2:
        raise SystemExit("usage: draw_kv_cache.py FOLDER, or draw_kv_cache.py --check")
    here = pathlib.Path(__file__).resolve().parent
    wrong = []
    for number, draw in enumerate(
            (draw_blocks, draw_slot, draw_decode, draw_hand_out, draw_preemption), start=1):
        name = f"kv_cache_{number}.svg"
        if sys.argv[1] != "--check":
            (pathlib.Path(sys.argv[1]) / name).write_text(draw().drawn(), encoding="utf-8")
        elif (here / name).read_text(encoding="utf-8") != draw().drawn():
            wrong.append(f"{name} is another one: run docs/images/draw_kv_cache.py docs/images")
    print("\n".join(wrong), end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
