#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Simulates serve on counts of blocks and tokens, and prints the keys of its summary as JSON.

It knows requests and numbers only: no block ids, no device, no text, and nothing of serve's code.
"""
import argparse
import calendar
import json
import math
import re

TICKS = 10_000_000  # a second


def read_trace(path):
    """[(arrival, line, prompt, generated, ids)] by arrival, in ticks since the first."""
    requests = []
    if open(path, encoding="ascii").read(1) == "{":
        for line, text in enumerate(open(path, encoding="ascii"), 1):
            r = json.loads(text)
            requests.append((r["timestamp"] * (TICKS // 1000), line, r["input_length"],
                             r["output_length"], r["hash_ids"]))
        return [(r[0] - min(requests)[0], *r[1:]) for r in sorted(requests)]
    for line, text in enumerate(open(path, encoding="ascii").read().splitlines(), 1):
        stamp, prompt, generated = text.split(",")
        if line > 1:
            parts = [int(part) for part in re.findall(r"\d+", stamp[:19])]
            fraction = int(stamp[20:].ljust(7, "0") or 0)
            arrival = calendar.timegm(tuple(parts)) * TICKS + fraction
            requests.append((arrival, line, int(prompt), int(generated), []))
    requests.sort(key=lambda request: request[:2])
    return [(r[0] - requests[0][0], *r[1:]) for r in requests]


def summary(values):
    values = sorted(values)
    total = 0
    for value in values:
        total += value
    rank = lambda percent: values[-(-percent * len(values) // 100) - 1]
    return {"mean": total / len(values), "p50": rank(50), "p90": rank(90), "p95": rank(95),
            "p99": rank(99), "max": values[-1]} if values else dict.fromkeys(
                ("mean", "p50", "p90", "p95", "p99", "max"), 0)


def in_seconds(ticks):
    return {key: value / TICKS for key, value in summary(ticks).items()}


def mix(x):
    """The finaliser of SplitMix64, of which the draft model makes its mistakes."""
    x = (x + 0x9E3779B97F4A7C15) % 2**64
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    x = (x ^ x >> 27) * 0x94D049BB133111EB % 2**64
    return x ^ x >> 31


class Prompts:
    """The blocks of prompts: a name for each that others may share, None for each other one."""

    def __init__(self, blocks, size):
        self.blocks, self.size, self.private = blocks, size, 0
        self.holders, self.idle = {}, []  # of names; names that nobody holds, by age

    def names(self, request):
        """Of the full blocks that the ids cover: what the prompt is up to their ends."""
        _, _, prompt, _, ids = request
        ends = range(self.size, min(prompt, 512 * len(ids)) + 1, self.size)
        return [(end, *ids[:-(-end // 512)]) for end in ends]

    def found(self, request):
        names = self.names(request)[:(request[2] - 1) // self.size]
        return names[:next((i for i, name in enumerate(names) if name not in self.holders), len(names))]

    def held(self):
        return self.private + len(self.holders) - len(self.idle)

    def fits(self, request):
        found = self.found(request)
        missing = -(-request[2] // self.size) - len(found)
        return missing <= self.blocks - self.held() - sum(name in self.idle for name in found)

    def take(self, request):
        found = self.found(request)
        for name in found:
            self.holders[name] += 1
            if name in self.idle:
                self.idle.remove(name)
        missing = -(-request[2] // self.size) - len(found)
        self.private += missing
        while self.private + len(self.holders) > self.blocks:
            del self.holders[self.idle.pop(0)]
        return found + [None] * missing

    def publish(self, s, tokens):
        for i, name in enumerate(self.names(s.request)):
            if s.blocks[i] is None and name not in self.holders and name[0] <= tokens:
                self.private, self.holders[name], s.blocks[i] = self.private - 1, 1, name

    def give(self, s):
        for name in reversed(s.blocks):
            if name is None:
                self.private -= 1
                continue
            self.holders[name] -= 1
            if self.holders[name] == 0:
                self.idle.append(name)


class Sequence:
    def __init__(self, request, now, blocks, size):
        self.request, self.admitted, self.blocks, self.first = request, now, blocks, len(blocks)
        self.arrival, self.line, self.prompt, self.generated, _ = request
        self.shared = size * sum(name is not None for name in blocks)
        self.cached, self.used = self.shared, 0  # tokens, blocks of the device
        self.want = self.prompt - self.shared    # tokens to prefill; 0: it decodes
        self.times = []              # of its tokens
        self.preempted = False

    def ends(self):
        return len(self.times) + self.sampled == self.generated


class Simulator:
    def __init__(self, requests, o):
        self.o, self.arrivals, self.waiting, self.live, self.stack = o, requests, [], {}, []
        self.now = self.iterations = self.blocks_sum = self.running_sum = 0
        self.dynamic = math.floor(o.blocks * o.free_ratio + 0.5)  # of the device
        self.free, self.prompts = self.dynamic, Prompts(o.blocks - self.dynamic, o.block_size)
        self.counts = dict.fromkeys(
            ("preemptions", "recoveries", "replayed_tokens", "sheds", "lost_prompt_tokens",
             "lost_generated_tokens", "peak_seqs", "peak_blocks", "spec_tokens",
             "accepted_tokens", "cached_prompt_tokens"), 0)
        self.shed_lines, self.done = set(), []
        self.waits = dict.fromkeys(
            ("iteration", "slots", "budget", "prompt_blocks", "growth_blocks", "shed"), 0)

    def blocks(self, tokens):
        return -(-tokens // self.o.block_size)

    def admit(self):
        while self.arrivals and self.arrivals[0][0] <= self.now:
            self.waits["iteration"] += self.now - self.arrivals[0][0]
            self.waiting.append(self.arrivals.pop(0))
        self.reason = "growth_blocks"
        tokens, chunked = 0, self.o.scheduler == "chunked"
        while self.waiting and not any(s.preempted for s in self.live.values()):
            prompt = self.waiting[0][2] - len(self.prompts.found(self.waiting[0])) * self.o.block_size
            running = [s for s in self.live.values() if not s.preempted]
            full = (sum(s.want or 1 + self.o.speculative for s in running) >= self.o.token_budget if chunked
                    else tokens and tokens + prompt > self.o.token_budget)
            self.reason = ("slots" if len(self.live) == self.o.max_seqs else "budget" if full else
                           "prompt_blocks" if not self.prompts.fits(self.waiting[0]) else None)
            if self.reason:
                break
            tokens += prompt
            slot = next(i for i in range(self.o.max_seqs) if i not in self.live)
            request = self.waiting.pop(0)
            self.live[slot] = Sequence(request, self.now, self.prompts.take(request), self.o.block_size)
            self.counts["cached_prompt_tokens"] += self.live[slot].shared

    def run(self):
        while self.arrivals or self.waiting or self.live:
            self.admit()
            if self.live:
                self.iterate()
            else:
                self.now = self.arrivals[0][0]

    def iterate(self):
        waiting, self.shed_admissions = len(self.waiting), []
        running = [s for s in self.live.values() if not s.preempted]
        rows = sum(s.want == 0 for s in running) * (self.o.speculative + 1)
        left = self.o.token_budget - rows if self.o.scheduler == "chunked" else math.inf
        prefill = context = 0
        for s in self.live.values():
            s.sampled = s.ran = s.proposed = s.filled = 0
        for s in sorted(running, key=lambda s: (s.arrival, s.line)):
            chunk = max(min(s.want, left), 0)
            left, prefill = left - chunk, prefill + chunk
            s.ran = 1 if s.want == 0 or chunk else 0
            s.sampled = 1 if s.want == chunk else 0
            context += s.cached if s.ran else 0
            if s.want == 0:
                s.proposed = self.o.speculative
                s.sampled = self.accepted(s) + 1
            s.cached, s.want = s.cached + (chunk or s.sampled), s.want - chunk
            s.filled = s.cached if chunk else 0  # before a Step that may take it all
        running = sum(s.ran for s in running)
        while not self.step():
            self.shed()
        picoseconds = sum(cost * count for cost, count in
                          zip(self.o.costs, (1, prefill, rows, context)))
        ticks = max((picoseconds + 50_000) // 100_000, 1)
        self.now += ticks
        if waiting:
            self.waits[self.reason] += waiting * ticks
        self.waits["shed"] += sum(self.now - admitted for admitted in self.shed_admissions)
        used = self.prompts.held() + self.dynamic - self.free
        self.blocks_sum, self.iterations = self.blocks_sum + used, self.iterations + 1
        self.running_sum += running
        for key, value in (("peak_seqs", running), ("peak_blocks", used)):
            self.counts[key] = max(self.counts[key], value)
        for slot, s in sorted(self.live.items()):
            self.prompts.publish(s, s.filled)
            s.times += [self.now] * s.sampled
            self.counts["spec_tokens"] += s.proposed
            self.counts["accepted_tokens"] += s.sampled - 1 if s.proposed else 0
            if len(s.times) == s.generated:
                self.done.append(self.live.pop(slot))
                self.prompts.give(s)
            elif s.preempted:  # it claims no more than it can ever use
                s.used = min(s.used, self.blocks(s.prompt + s.generated - 1) - s.first - 1)

    def accepted(self, s):
        """Spec tokens of a pass: the first that is wrong, is the last, or has no block ends them."""
        count, length = 0, s.cached + 1  # tokens known before the next one is sampled
        while count < self.o.speculative and length < s.prompt + s.generated - 1 and (
                mix(mix(s.line) ^ mix(length)) % 4 and
                length // self.o.block_size < s.first + s.used):
            count, length = count + 1, length + 1
        return count

    def step(self):
        """Release, preempt, dispatch, recover; False, and nothing has changed, without progress."""
        running = {i: s for i, s in sorted(self.live.items()) if not s.preempted}
        ended = [i for i, s in running.items() if s.ends()]
        free = self.free + sum(running.pop(i).used for i in ended)
        needy = [i for i, s in running.items() if s.cached // self.o.block_size >= s.first + s.used]
        victims, longest = [], self.o.max_len // self.o.block_size
        while len(needy) > free:
            able = [i for i, s in running.items() if s.used > 0 and i not in victims]
            able = [i for i in able if running[i].used != longest] or able
            if not able:
                return False
            victims.append(max(able, key=lambda i: (running[i].used, -i)))
            free += running[victims[-1]].used
            needy = [i for i in needy if i != victims[-1]]
        for i in victims:
            running[i].preempted, running[i].cached = True, 0
            self.stack.append(running[i])
        for i in needy:
            running[i].used += 1
        free -= len(needy)
        while self.stack:
            s = self.stack[-1]
            grant = min(s.used + 1, max(s.used, self.blocks(self.o.max_len) - s.first))
            if grant > free:
                break
            free -= grant
            s.used, s.preempted, s.want = grant, False, s.prompt + len(s.times) + s.sampled
            self.counts["recoveries"] += 1
            self.counts["replayed_tokens"] += s.want - 1
            self.stack.pop()
        self.counts["preemptions"] += len(victims)
        self.free = free
        return True

    def shed(self):
        able = {i: s for i, s in self.live.items() if not s.preempted and not s.ends()}
        s = self.live.pop(max(able, key=lambda i: (able[i].arrival, able[i].line)))
        self.free += s.used
        self.prompts.give(s)
        self.counts["cached_prompt_tokens"] -= s.shared
        self.waiting.insert(0, s.request)
        self.shed_lines.add(s.line)
        self.shed_admissions.append(s.admitted)
        for key, value in (("sheds", 1), ("lost_prompt_tokens", s.prompt - s.shared),
                           ("lost_generated_tokens", len(s.times))):
            self.counts[key] += value

    def result(self):
        gaps = [[b - a for a, b in zip(s.times, s.times[1:])] for s in self.done]
        itl = [gap for of_request in gaps for gap in of_request]
        return dict(
            self.counts, iterations=self.iterations, completed=len(self.done),
            shed_requests=len(self.shed_lines), virtual_seconds=self.now / TICKS,
            wait_seconds={reason: ticks / TICKS for reason, ticks in self.waits.items()},
            mean_blocks=self.blocks_sum / self.iterations,
            mean_seqs=self.running_sum / self.iterations,
            generated_tokens=sum(s.generated for s in self.done),
            admission_seconds=summary([(s.admitted - s.arrival) / TICKS for s in self.done]),
            ttft_seconds=summary([(s.times[0] - s.arrival) / TICKS for s in self.done]),
            tpot_seconds=summary([sum(g) / TICKS / len(g) for g in gaps if g]),
            itl_seconds=dict(in_seconds(itl), mean=sum(itl) / len(itl) / TICKS if itl else 0),
            e2e_seconds=summary([(s.times[-1] - s.arrival) / TICKS for s in self.done]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace")
    for name, default in (("max-seqs", 256), ("block-size", 128), ("blocks", 0),
                          ("max-len", 16384), ("token-budget", 8192), ("speculative", 0)):
        parser.add_argument("--" + name, type=int, default=default)
    parser.add_argument("--free-ratio", type=float, default=0.175)
    parser.add_argument("--scheduler", choices=("prefill-first", "chunked"), default="prefill-first")
    parser.add_argument("--prefix-caching", action="store_true")
    parser.add_argument("--time-model", type=argparse.FileType())
    options = parser.parse_args()
    costs = json.load(options.time_model) if options.time_model else dict(
        iteration_us=20_000, prefill_token_us=100, decode_row_us=100, context_token_us=0)
    options.costs = [math.floor(costs[name + "_us"] * 1e6 + 0.5) for name in
                     ("iteration", "prefill_token", "decode_row", "context_token")]
    options.blocks = options.blocks or -(-524288 // options.block_size)
    requests = read_trace(options.trace)
    if not options.prefix_caching:
        requests = [(*request[:4], []) for request in requests]
    simulator = Simulator(requests, options)
    simulator.run()
    print(json.dumps(simulator.result(), indent=1))


if __name__ == "__main__":
    main()
