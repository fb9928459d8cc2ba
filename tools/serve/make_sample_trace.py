#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes sample_trace.csv: made-up requests, the same ones at every run.

Half a minute of a service with bursts: mostly short chats, some long documents, some requests
that want a single token, and several arrivals at one time.
"""
import pathlib

REQUESTS = 256
TICKS_PER_SECOND = 10_000_000


class Random:
    """A linear congruential generator, so that the file never depends on Python's own."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        self.state = (self.state * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.state >> 33) * limit >> 31


def request(random):
    kind = random.below(10)
    if kind == 0:
        return 2000 + random.below(3000), 50 + random.below(150)
    if kind == 1:
        return 1 + random.below(600), 1
    return 1 + random.below(700), 2 + random.below(60 if kind < 6 else 300)


def main():
    random = Random(20240229)
    ticks = 0
    lines = ["TIMESTAMP,ContextTokens,GeneratedTokens"]
    for number in range(REQUESTS):
        burst = number % 64 < 24
        if number % 16 != 1:
            ticks += random.below(TICKS_PER_SECOND // (40 if burst else 4))
        seconds, fraction = divmod(ticks, TICKS_PER_SECOND)
        prompt, generated = request(random)
        lines.append(f"2024-02-29 23:59:{seconds:02}.{fraction:07},"
                     f"{prompt},{generated}")
    assert seconds < 60, "the day is over"
    path = pathlib.Path(__file__).with_name("sample_trace.csv")
    path.write_text("\n".join(lines) + "\n", encoding="ascii")


if __name__ == "__main__":
    main()
