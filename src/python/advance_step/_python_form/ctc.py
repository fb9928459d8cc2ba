# SPDX-License-Identifier: Apache-2.0
"""The targets of CTC losses: torch's kernels for "cpu" use them as indices, and check none."""

from __future__ import annotations

from typing import Any


def check_targets(operator: str, given: dict[str, Any]) -> None:
    """Raises an IndexError with the row of a target that is no class of log_probs, because torch's
    kernels would read and write beyond their memory. Shapes and lengths are left to these kernels.

    Args:
        given: the arguments by name, on "cpu".
    """
    chances, targets = given["log_probs"], given["targets"]
    if chances.dim() != 3 or targets.dim() not in (1, 2):
        return
    classes, begin, values = chances.shape[2], 0, targets.tolist()
    for row, count in enumerate(map(int, given["target_lengths"])):
        if targets.dim() == 2:
            these = values[row][:max(count, 0)] if row < len(values) else []
        else:
            these = values[begin:begin + max(count, 0)]
            begin += len(these)
        for index, target in enumerate(these):
            if not 0 <= target < classes:
                raise IndexError(f"targets of {operator}: row {row}, target {index} is {target}; "
                                 f"expected 0 <= target < {classes}, the number of classes")
