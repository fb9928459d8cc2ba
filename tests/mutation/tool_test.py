#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds changes.py against a small source: which changes there are, and what each of them does.

    tool_test.py CXX
"""
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))
import changes
import try_changes

SOURCE = r'''// A comment with 1 < 2 && 3 == 3; and a "quote
#include <cstdio>
#define TWICE(x) ((x) + (x))
namespace toy {
constexpr int kFirst = 1 + 0;
constexpr int Half(int value) { return value / 2; }
static_assert(Half(4) == 2, "1 + 1");
struct Pair {
    int first = 1;
    int Sum() const { return first + second; }
    int second{2};
};
template <typename Visit>
void Each(const int* values, int count, Visit&& visit) {
    for (int index = 0; index < count; ++index) {
        visit(values[index]);
    }
}
int Largest(const int* values, int count) {
    int largest = values[0];
    Each(values, count, [&](int value) {
        if (value > largest) {
            largest = value;  // the new one; not 5 < 6
        }
    });
    return largest;
}
int Kind(int value, bool odd) {
    switch (value) {
        case 7:
            return odd ? 1 : 2;
        default:
            if (value >= 10 &&
                odd) {
                return TWICE(value);
            }
            return '+' - '+';
    }
}
}  // namespace toy
int main() {
    const int values[] = {1, 3, 2, 9};  // the last one is not asked for
    const toy::Pair pair{};
    const bool good = toy::Largest(values, 3) == 3 && toy::Kind(7, true) == 1 && toy::Kind(10, true) == 20 &&
                      toy::Kind(10, false) == 0 && pair.Sum() == 3;
    std::puts("1 < 2 + 3");
    return good ? 0 : 1;
}
'''
# (line, change): whether main notices. Those of main itself are not looked at.
EXPECTED = {(10, "+ -> -"): True, (15, "< -> <="): True, (16, "left out"): True, (20, "0 -> 1"): False,
            (22, "> -> >="): False, (22, "negated"): True, (23, "left out"): True, (31, "1 -> 2"): True,
            (31, "2 -> 3"): False, (33, ">= -> >"): True, (33, "10 -> 11"): True, (33, "&& -> ||"): True,
            (33, "negated"): True, (37, "- -> +"): True}


def main(compiler):
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "toy.cpp").write_text(SOURCE)
        found = changes.find(root, "toy.cpp")
        assert len({change.key for change in found}) == len(found)
        begin = SOURCE[:SOURCE.index("int main")].count("\n") + 1
        mine = [change for change in found if change.line < begin]
        assert {(change.line, change.what) for change in mine} == set(EXPECTED), sorted(
            {(change.line, change.what) for change in mine} ^ set(EXPECTED))
        order = try_changes.shuffled(found, 1)
        assert order != found and order != try_changes.shuffled(found, 2), "the seed gives the order"
        assert try_changes.shuffled(mine, 1) == [change for change in order if change in mine], "others leave it"
        numbers = {change.key: number for number, change in enumerate(mine, 1)}
        text = changes.switched(SOURCE, mine, numbers)
        assert text.count("\n") == SOURCE.count("\n"), "lines keep their numbers"
        (root / "changed.cpp").write_text(f'#include "{HERE}/change.h"\n{text}')
        subprocess.run([compiler, "-std=c++17", "-w", "-o", root / "toy", root / "changed.cpp"], check=True)
        reached = root / "reached"
        reached.write_bytes(bytes(len(mine) + 1))
        done = subprocess.run([root / "toy"], env={**os.environ, "SMALL_CHANGES_REACHED": str(reached)}, check=False,
                              stdout=subprocess.DEVNULL)
        assert done.returncode == 0, "without a change"
        assert reached.read_bytes() == b"\0" + b"\1" * len(mine), "every place is reached"
        for change in mine:
            done = subprocess.run([root / "toy"], env={**os.environ, "SMALL_CHANGE": str(numbers[change.key])},
                                  check=False, stdout=subprocess.DEVNULL)
            noticed = EXPECTED[change.line, change.what]
            assert (done.returncode != 0) == noticed, (change, done.returncode)
    print(f"{len(mine)} changes as expected")


if __name__ == "__main__":
    main(sys.argv[1])
