#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the pictures of docs/internals/benchmarking.md from a JSON file of the dashboard.

    plot.py results.json FOLDER
"""

import argparse
import json
import pathlib

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402 (after the choice of the backend)
from matplotlib.ticker import EngFormatter  # noqa: E402

COLOURS = {"libadvance_step": "#1f6fb4", "B0": "#7f7f7f", "SEED": "#7f7f7f", "numpy": "#54a24b",
           "torch": "#e45756"}


def calls(curves):
    """Name to (rows, ns of a row)."""
    lines = {"libadvance_step": [(p["n"], p["library_ns"] / p["n"]) for p in curves["call"]],
             "B0": [(p["n"], p["baseline_ns"] / p["n"]) for p in curves["call"]]}
    for peer, points in curves["peers"].items():
        lines[peer] = [(p["n"], p["peer_ns"] / p["n"]) for p in points]
    return lines


def steps(curves):
    """Name to (slots, us of a step)."""
    return {"libadvance_step": [(p["n"], p["library_ns"] / 1000) for p in curves["step"]],
            "SEED": [(p["n"], p["baseline_ns"] / 1000) for p in curves["step"]]}


def draw(lines, title, size, value, path):
    figure, axes = plt.subplots(figsize=(7.2, 4.2))
    for name, points in lines.items():
        if not points:
            continue
        sizes, values = zip(*points)
        axes.loglog(sizes, values, marker="o", markersize=3.5, color=COLOURS[name], label=name,
                    linewidth=2 if name == "libadvance_step" else 1.3)
    axes.set_title(title, loc="left", fontsize=11)
    axes.set_xlabel(size)
    axes.set_ylabel(value)
    axes.xaxis.set_major_formatter(EngFormatter(sep=""))
    axes.yaxis.set_major_formatter(EngFormatter(sep=""))
    axes.grid(True, which="major", linewidth=0.5, alpha=0.4)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    plt.close(figure)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("results", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    curves = json.loads(options.results.read_text(encoding="utf-8")).get("curves")
    if curves is None:
        parser.error(f"{options.results} has no curves; make it with run.sh --plot")
    # Text stays text, and the same numbers make the same file.
    plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "advance_step",
                         "font.family": "sans-serif", "font.size": 10})
    options.folder.mkdir(parents=True, exist_ok=True)
    draw(calls(curves), "AdvanceStep: a full call", "sequences in the batch",
         "ns per sequence", options.folder / "call_time.svg")
    draw(steps(curves), "Step: a tenth of the batch preempted", "slots in the batch",
         "us per step", options.folder / "step_time.svg")


if __name__ == "__main__":
    main()
