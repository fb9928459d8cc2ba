# SPDX-License-Identifier: Apache-2.0
"""Adds by MindSpore on its Ascend device."""

import numpy
import mindspore

mindspore.set_device("Ascend")
x = mindspore.Tensor(numpy.ones(3, numpy.float32))
assert (x + x).asnumpy().tolist() == [2, 2, 2]
print("right")
