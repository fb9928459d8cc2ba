# SPDX-License-Identifier: Apache-2.0
"""Starts vLLM's server on the emulated device, asks it, and compares with transformers on "cpu".

    python -m advance_step.vllm examples/vllm/server.py MODEL [OPTION ...]

MODEL is a folder of tiny_models.py, and the options are those of `vllm serve`, such as
--tensor-parallel-size 2 or --data-parallel-size 2. Four clients ask at a time for greedy tokens, which must
be equal, and one asks in a chat. The exit status is 1 if not.
"""

import concurrent.futures
import json
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from generate import PROMPTS, with_transformers

TOKENS = 32
LIMIT = 400  # seconds for the start


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """A server of a model with options of `vllm serve`, which ends with the block."""

    def __init__(self, model, options, **variables):
        self.model, self.port, self.begin = model, free_port(), time.monotonic()
        self.process = subprocess.Popen(
            [sys.executable, "-m", "advance_step.vllm", "serve", model, "--host", "127.0.0.1", "--port",
             str(self.port), "--dtype", "float32", "--max-model-len", "256", "--max-num-seqs", "8", *options],
            env={**os.environ, **variables})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()

    def ask(self, path, question=None):
        """Returns the answer to a question, or an empty text where the answer is one."""
        data = None if question is None else json.dumps(question).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data,
                                         {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=LIMIT) as answer:
            text = answer.read()
        return json.loads(text) if text else ""

    def wait(self):
        """Returns after how many seconds it was ready. RuntimeError: it has ended, or is not ready in time."""
        while self.process.poll() is None and time.monotonic() < self.begin + LIMIT:
            try:
                self.ask("/health")
                return time.monotonic() - self.begin
            except (urllib.error.URLError, ConnectionError):
                time.sleep(0.5)
        raise RuntimeError(f"the server was not ready within {LIMIT} s, or has ended: {self.process.poll()}")

    def complete(self, given, tokens=TOKENS, **more):
        """Returns the answer to a prompt of tokens: `tokens` greedy ones."""
        return self.ask("/v1/completions", {
            "model": self.model, "prompt": given, "temperature": 0, "max_tokens": tokens, "min_tokens": tokens,
            "return_token_ids": True, **more})

    def converse(self):
        """Returns how many tokens a chat has answered."""
        answer = self.ask("/v1/chat/completions", {
            "model": self.model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8, "min_tokens": 8})
        return answer["usage"]["completion_tokens"]


def encode(model):
    """Returns the tokens of each prompt."""
    from transformers import AutoTokenizer

    words = AutoTokenizer.from_pretrained(model)
    return [words(prompt, add_special_tokens=False).input_ids for prompt in PROMPTS]


def compare(model, answers, text):
    """Prints how many answers have transformers' tokens, and the text. Returns whether all have."""
    found = [answer["choices"][0]["token_ids"] for answer in answers]
    wanted = with_transformers(model, found, 0, (None,) * len(PROMPTS))
    equal = sum(one == other for one, other in zip(found, wanted))
    print(f"{model}: {equal} of {len(PROMPTS)} prompts equal, {TOKENS} tokens each; {text}", flush=True)
    return equal == len(PROMPTS)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    model = sys.argv[1]
    prompts = encode(model)
    with Server(model, sys.argv[2:] or ["--enforce-eager"]) as server:
        ready = server.wait()
        with concurrent.futures.ThreadPoolExecutor(len(prompts)) as clients:
            answers = list(clients.map(server.complete, prompts))
        answered = server.converse()
    equal = compare(model, answers, f"a chat answered {answered} tokens; start {ready:.1f} s")
    return 0 if equal and answered == 8 else 1


if __name__ == "__main__":
    sys.exit(main())
