# SPDX-License-Identifier: Apache-2.0
"""torch_npu's own queue, TASK_QUEUE_ENABLE: whether threads of torch_npu make the calls.

Such a thread has no lines of Python, and each stream has its own, so that the order of the calls is by
time. Under the sanitizer the threads of the program make them: findings show who has called, and are
the same in every run.
"""

from __future__ import annotations

import os


def sanitized() -> bool:
    """Returns whether the program runs under a check of ADVANCE_STEP_SANITIZE."""
    return os.environ.get("ADVANCE_STEP_SANITIZE", "") not in ("", "off")


def choose() -> None:
    """Turns the queue off under the sanitizer, whatever the program has chosen. torch_npu asks once."""
    if sanitized():
        os.environ["TASK_QUEUE_ENABLE"] = "0"
