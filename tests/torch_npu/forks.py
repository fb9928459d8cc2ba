# SPDX-License-Identifier: Apache-2.0
"""A process that has imported torch and torch_npu, and becomes one program after another by forks.

It has used no device, so a program finds the variables of the runtime as it sets them, and ends as
any other does. Each line of its input is an order in JSON, for one program or for the ranks of one, and each
of its output a list of their exit statuses.
"""

import gc
import json
import os
import sys

import torch  # noqa: F401
import torch_npu  # noqa: F401

# The collector of a child would visit a million objects of torch, and copy their pages.
gc.freeze()


def next_order():
    """Returns an order and the rank, in a child of its own, or None at the end of the input."""
    assert len(os.listdir("/proc/self/task")) == 1, "a fork would lose the other threads"
    for line in sys.stdin:
        order = json.loads(line)
        children = []
        for rank in range(order["ranks"]):
            children.append(os.fork())
            if children[-1] == 0:
                return order, rank
        print(json.dumps([os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]),
              flush=True)
    return None


got = next_order()
if got is not None:
    order, rank = got
    os.chdir(order["folder"])
    for number, name in enumerate((os.devnull, "stdout", "stderr")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_APPEND), number)
    for name, value in order["environment"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    if order["ranks"] > 1:
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(order["ranks"]))
        torch.set_num_threads(1)
    # In this namespace, so that the program's objects live until the interpreter ends.
    exec(compile(order["text"], "program.py", "exec"))  # noqa: S102
