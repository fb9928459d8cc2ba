#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the dashboard as briefly as it can and holds its JSON against its list of rows.

    check_dashboard.py DASHBOARD
"""

import json
import pathlib
import subprocess
import sys
import tempfile

MEASURED = {"median", "quartiles", "other_cores", "library_ns", "library_runs", "baseline_ns",
            "baseline_runs"}
ALWAYS = {"row", "what", "baseline", "figure", "sense", "goal", "verdict"}


def run(*command):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          check=False)


def check_row(row):
    if row["verdict"] == "skipped":
        assert set(row) == ALWAYS | {"why"} and row["why"], row
        return
    holds = row["median"] <= row["goal"] if row["sense"] == "<=" else row["median"] >= row["goal"]
    assert row["verdict"] == ("holds" if holds else "does not hold"), row
    assert set(row) == ALWAYS | MEASURED, row
    assert len(row["library_ns"]) == 1 and row["library_ns"][0] > 0, row
    assert len(row["baseline_ns"]) == (1 if row["baseline"] else 0), row


def check_compare(dashboard, path):
    """Rows of an earlier run: far below, the same, far above, wide quartiles, and never measured."""
    def earlier(median, quartiles):
        return {"row": "task_cv", "median": median, "quartiles": quartiles}

    cases = (("worse", earlier(1e-9, [1e-9, 1e-9])), ("better", earlier(1e9, [1e9, 1e9])),
             ("", earlier(1e-9, [0, 1e9])), ("", {"row": "other", "median": 1, "quartiles": [1, 1]}),
             ("", {"row": "task_cv", "verdict": "skipped"}))
    for word, row in cases:
        (path / "old.json").write_text(json.dumps({"rows": [row]}))
        done = run(dashboard, "--row", "task_cv", "--quick", "--compare", path / "old.json")
        assert done.returncode == 0, done.stderr
        last = done.stdout.splitlines()[-1]
        assert f"{1 if word else 0} rows moved beyond" in done.stdout, done.stdout
        assert not word or last.split()[:2] == ["task_cv", word], done.stdout
    (path / "old.json").write_text("[]")
    refused = run(dashboard, "--row", "task_cv", "--quick", "--compare", path / "old.json")
    assert refused.returncode == 1 and "is not a file of --json" in refused.stderr, refused


def main(dashboard):
    help_ = run(dashboard, "--help")
    assert help_.returncode == 0 and "--row" in help_.stdout, help_
    names = run(dashboard, "--list").stdout.split()
    assert len(names) > 30 and len(set(names)) == len(names), names
    # Those of 10^7 sequences take 9 GB and a minute.
    names = [name for name in names if not name.startswith("memory_")]

    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        peers = {"peer_numpy": {"library_ns": [1.0], "library_runs": 1,
                                "baseline_ns": [30.0], "baseline_runs": 1,
                                "other_cores": 0.5},
                 "peer_torch": {"why": "not installed"}}
        (path / "peers.json").write_text(json.dumps(peers))
        (path / "torch.json").write_text(json.dumps(
            {"torch_matmul": {**peers["peer_numpy"], "library_ns": [60.0]},
             "graph_loop_8": {**peers["peer_numpy"], "library_ns": [2029.0]},
             "graph_loop_256": {**peers["peer_numpy"], "library_ns": [2031.0]}}))
        table = run(dashboard, "--row", *names, "--quick", "--peers", path / "peers.json", "--peers",
                    path / "torch.json", "--json", path / "out.json")
        assert table.returncode == 0, table.stderr
        result = json.loads((path / "out.json").read_text())
        unwritable = run(dashboard, "--row", "task_cv", "--quick", "--json", path / "none" / "out")
        assert unwritable.returncode == 1 and "cannot write" in unwritable.stderr, unwritable

        check_compare(dashboard, path)

        (path / "peers.json").write_text("[")
        refused = run(dashboard, "--row", "peer_numpy", "--peers", path / "peers.json")
        assert refused.returncode == 1 and "is not a file" in refused.stderr, refused

    rows = {row["row"]: row for row in result["rows"]}
    assert [row["row"] for row in result["rows"]] == names
    for row in result["rows"]:
        check_row(row)
        assert sum(line.split()[0] == row["row"] for line in table.stdout.splitlines()) == 1, row
    assert rows["peer_numpy"]["verdict"] == "holds", rows["peer_numpy"]
    assert rows["torch_matmul"]["verdict"] == "does not hold", rows["torch_matmul"]
    assert rows["graph_loop_8"]["verdict"] == "holds", rows["graph_loop_8"]
    assert rows["graph_loop_256"]["verdict"] == "does not hold", rows["graph_loop_256"]
    assert rows["peer_numpy"]["other_cores"] == 0.5, rows["peer_numpy"]
    assert rows["peer_torch"]["why"] == "not installed", rows["peer_torch"]

    assert run(dashboard, "--row", "task_cv", "--iterations", "10").returncode == 0
    assert run(dashboard, "--row", "no_such_row").returncode == 1
    assert run(dashboard, "--row", "task_cv", "busy_p99", "--iterations", "10").returncode == 1


if __name__ == "__main__":
    main(sys.argv[1])
