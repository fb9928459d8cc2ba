# SPDX-License-Identifier: Apache-2.0
"""A process that has imported torch and torch_npu, and becomes one program after another by forks.

It has used no device, so a program finds the variables of the runtime as it sets them, and ends as
any other does. Each line of its input is an order in JSON, and each of its output an exit status.
"""

import json
import os
import sys

import torch  # noqa: F401
import torch_npu  # noqa: F401


def next_order():
    """Returns an order in a child of its own, or None at the end of the input."""
    assert len(os.listdir("/proc/self/task")) == 1, "a fork would lose the other threads"
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            return json.loads(line)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
    return None


order = next_order()
if order is not None:
    os.chdir(order["folder"])
    for number, name in enumerate((os.devnull, "stdout", "stderr")):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT), number)
    for name, value in order["environment"].items():
        if value is None:
            os.environ.pop(name, None)
        else:
            os.environ[name] = value
    # In this namespace, so that the program's objects live until the interpreter ends.
    exec(compile(order["text"], "program.py", "exec"))  # noqa: S102
