# SPDX-License-Identifier: Apache-2.0
"""Kills a worker of an engine on two devices while it generates.

    python -m advance_step.vllm tests/vllm/killed_worker.py MODEL

The engine must end with vLLM's exception, and its log must name the worker.
"""

import os
import signal
import sys

import psutil
from vllm import LLM, SamplingParams
from vllm.v1.engine.exceptions import EngineDeadError

NAME = "Worker_TP1"


def worker():
    for child in psutil.Process().children(recursive=True):
        if NAME in " ".join(child.cmdline()):
            return child.pid
    raise RuntimeError(f"no child's title has {NAME}")


def main():
    engine = LLM(sys.argv[1], dtype="float32", max_model_len=256, max_num_seqs=8, enforce_eager=True,
                 tensor_parallel_size=2).llm_engine
    engine.add_request("one", {"prompt_token_ids": [1, 2, 3]},
                       SamplingParams(temperature=0, max_tokens=200, min_tokens=200))
    pid = worker()
    try:
        for step in range(200):
            engine.step()
            if step == 8:
                os.kill(pid, signal.SIGKILL)
    except EngineDeadError as error:
        print(f"EngineDeadError: {error}", flush=True)
        return 0
    print("the engine has generated without the worker", flush=True)
    return 1


if __name__ == "__main__":
    sys.exit(main())
