# SPDX-License-Identifier: Apache-2.0
"""Starts vLLM's server on the emulated device, asks it, and compares with transformers on "cpu".

    python -m advance_step.vllm examples/vllm/server.py MODEL [OPTION ...]

MODEL is a folder of tiny_models.py, and the options are those of `vllm serve`, such as
--tensor-parallel-size 2 or --data-parallel-size 2. Four clients ask at a time for greedy tokens, which must
be equal, and one asks in a chat. The exit status is 1 if not.
"""

import concurrent.futures
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from generate import PROMPTS, with_transformers

TOKENS = 32
LIMIT = 240  # seconds for the start


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def ask(port, path, question=None):
    """Returns the answer to a question, or an empty text where the answer is one."""
    data = None if question is None else json.dumps(question).encode()
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=LIMIT) as answer:
        text = answer.read()
    return json.loads(text) if text else ""


def wait(server, port):
    """Returns when the server is ready. RuntimeError: it has ended, or is not ready in time."""
    end = time.monotonic() + LIMIT
    while server.poll() is None and time.monotonic() < end:
        try:
            ask(port, "/health")
            return
        except (urllib.error.URLError, ConnectionError):
            time.sleep(0.5)
    raise RuntimeError(f"the server was not ready within {LIMIT} s, or has ended: {server.poll()}")


def encode(model):
    """Returns the tokens of each prompt."""
    from transformers import AutoTokenizer

    words = AutoTokenizer.from_pretrained(model)
    return [words(prompt, add_special_tokens=False).input_ids for prompt in PROMPTS]


def complete(port, model, given):
    """Returns the tokens after those of a prompt."""
    answer = ask(port, "/v1/completions", {
        "model": model, "prompt": given, "temperature": 0, "max_tokens": TOKENS, "min_tokens": TOKENS,
        "return_token_ids": True})
    return answer["choices"][0]["token_ids"]


def converse(port, model):
    """Returns how many tokens a chat has answered."""
    answer = ask(port, "/v1/chat/completions", {
        "model": model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 8, "min_tokens": 8})
    return answer["usage"]["completion_tokens"]


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    model, port = sys.argv[1], free_port()
    prompts = encode(model)
    begin = time.monotonic()
    server = subprocess.Popen([sys.executable, "-m", "advance_step.vllm", "serve", model, "--port", str(port),
                               "--host", "127.0.0.1", "--dtype", "float32", "--max-model-len", "256",
                               "--max-num-seqs", "8", *(sys.argv[2:] or ["--enforce-eager"])])
    try:
        wait(server, port)
        ready = time.monotonic() - begin
        with concurrent.futures.ThreadPoolExecutor(len(PROMPTS)) as clients:
            found = list(clients.map(lambda prompt: complete(port, model, prompt), prompts))
        answered = converse(port, model)
    finally:
        server.terminate()
        server.wait()
    wanted = with_transformers(model, found, 0, (None,) * len(PROMPTS))
    equal = sum(one == other for one, other in zip(found, wanted))
    print(f"{model}: {equal} of {len(PROMPTS)} prompts equal, {TOKENS} tokens each; a chat answered {answered} "
          f"tokens; start {ready:.1f} s", flush=True)
    return 0 if equal == len(PROMPTS) and answered == 8 else 1


if __name__ == "__main__":
    sys.exit(main())
