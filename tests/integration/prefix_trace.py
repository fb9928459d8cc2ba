#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prints a trace in Mooncake's format whose prompts begin alike: prefix_trace.py REQUESTS [at-once]

Some begin with one of three system prompts, others are an earlier one or go on with it, and some are
their own. Ends of prompts are at, before and behind those of the parts that ids stand for, and some lines
have fewer ids than their prompts have parts. The same arguments give the same trace.
"""
import json
import random
import sys

chance = random.Random(5)
system = [[1, 2, 3], [4], [5, 6]]
earlier = []
unused = 100
time = 0
for _ in range(int(sys.argv[1])):
    time += 0 if "at-once" in sys.argv else chance.randrange(900)
    if earlier and chance.random() < 0.5:
        ids = list(chance.choice(earlier))
    else:
        ids = list(chance.choice(system)) if chance.random() < 0.7 else []
    tokens = 512 * len(ids) + chance.choice([0 if ids else 1, 1, 40, 300, 511, 512, 513, 700, 1500])
    while 512 * len(ids) < tokens:
        ids.append(unused)
        unused += 1
    earlier = [*earlier, ids[:tokens // 512]][-12:]
    if chance.random() < 0.1:
        ids = ids[:chance.randrange(len(ids) + 1)]
    print(json.dumps({"timestamp": time, "input_length": tokens,
                      "output_length": chance.choice([1, 2, 20, 150, 400]), "hash_ids": ids}))
