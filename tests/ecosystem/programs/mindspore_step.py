# SPDX-License-Identifier: Apache-2.0
"""A training step by MindSpore on its second Ascend device, against numpy, and two streams."""

import mindspore
import numpy
from mindspore import Parameter, Tensor, mint

mindspore.set_device("Ascend", 1)
dice = numpy.random.default_rng(0)
x, w1, b1, w2, b2 = (dice.standard_normal(shape) for shape in ((4, 8), (16, 8), (16,), (2, 16), (2,)))
labels = numpy.array([0, 1, 1, 0])


def with_numpy():
    """Returns the loss and the gradients, in float64."""
    hidden = x @ w1.T + b1
    active = numpy.maximum(hidden, 0)
    logits = active @ w2.T + b2
    likely = numpy.exp(logits - logits.max(1, keepdims=True))
    likely /= likely.sum(1, keepdims=True)
    loss = -numpy.log(likely[range(4), labels]).mean()
    by_logits = likely.copy()
    by_logits[range(4), labels] -= 1
    by_logits /= 4
    by_hidden = by_logits @ w2 * (hidden > 0)
    return loss, [by_hidden.T @ x, by_hidden.sum(0), by_logits.T @ active, by_logits.sum(0)]


def close(found, wanted):
    return numpy.allclose(found.asnumpy(), wanted, rtol=1e-4, atol=1e-5)


parameters = [Parameter(Tensor(one.astype(numpy.float32))) for one in (w1, b1, w2, b2)]


def loss_of(given):
    hidden = mint.nn.functional.relu(mint.nn.functional.linear(given, parameters[0], parameters[1]))
    return mint.nn.functional.cross_entropy(mint.nn.functional.linear(hidden, parameters[2], parameters[3]),
                                            Tensor(labels))


loss, gradients = mindspore.value_and_grad(loss_of, None, parameters)(Tensor(x.astype(numpy.float32)))
wanted, slopes = with_numpy()
assert close(loss, wanted), (loss, wanted)
assert all(close(found, slope) for found, slope in zip(gradients, slopes))
mint.optim.AdamW(parameters, lr=0.1, weight_decay=0.5)(gradients)
# The first step of AdamW: the moments are those of the gradient itself.
for parameter, before, slope in zip(parameters, (w1, b1, w2, b2), slopes):
    assert close(parameter, before * 0.95 - 0.1 * slope / (numpy.abs(slope) + 1e-8))

# Work of another stream between two events.
ready, done, other = mindspore.runtime.Event(), mindspore.runtime.Event(), mindspore.runtime.Stream()
number = Tensor(numpy.ones(6, numpy.float32)) + 1
ready.record()
with mindspore.runtime.StreamCtx(other):
    ready.wait()
    twice = number * 2
    done.record()
done.wait()
assert (twice + 1).asnumpy().tolist() == [5] * 6
assert "device_id:1" in str(other)
print("right")
