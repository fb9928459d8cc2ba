# SPDX-License-Identifier: Apache-2.0
"""Shapes, strides and dtypes of results, which are kept from call to call, and large results, which
are written in place."""

import ctypes
import signal
import sys

import pytest
import torch
import torch_npu  # noqa: F401

from advance_step import _host_operators

RUNTIME = ctypes.CDLL("libascendcl.so")


@pytest.fixture(params=(0, 5), ids=("idle", "pending"), autouse=True)
def begin(request):
    """Begins with an idle stream, or with work pending there."""
    torch.npu.synchronize()
    if request.param:
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        assert RUNTIME.advstepDelayStream(stream, ctypes.c_uint64(request.param * 1000)) == 0
    return request.param


def both(function, *tensors):
    """Compares the results of two equal calls on "npu" with that of "cpu"."""
    cpu = function(*tensors)
    there = [tensor.npu() for tensor in tensors]
    for _ in range(2):
        npu = function(*there)
        assert (npu.dtype, npu.shape, npu.stride()) == (cpu.dtype, cpu.shape, cpu.stride())
        assert torch.equal(npu.cpu(), cpu)


def test_shapes_and_strides():
    torch.manual_seed(1)
    for shape in ((3, 4), (4, 3), (12,), (1, 3, 4), (3, 1, 4), (0, 4)):
        both(torch.neg, torch.randn(shape))
        both(torch.add, torch.randn(shape), torch.randn(shape[-1:]))
    wide = torch.randn(3, 8)
    both(torch.neg, wide[:, :4])
    both(torch.neg, wide[:, :4].t())
    both(torch.neg, wide.t())
    both(lambda x: x.sum(0), wide)
    both(lambda x: x.sum(1), wide)
    both(lambda x: x.sum((0, 1), keepdim=True), wide)


def test_dtypes():
    whole = torch.arange(1, 7)
    both(lambda x: x + 2, whole)
    both(lambda x: x + 2.5, whole)
    both(lambda x: x + torch.tensor(2.5, dtype=torch.float64), whole)
    both(lambda x: x / 2, whole)
    both(lambda x: x.sum(), whole)
    both(lambda x: x.sum(dtype=torch.float32), whole)
    both(lambda x: x.to(torch.int8) + x, whole)
    both(torch.add, whole.half(), torch.tensor(2.5))
    both(torch.add, whole.half(), torch.tensor([2.5]))
    try:
        for dtype in (torch.float64, torch.float32):
            torch.set_default_dtype(dtype)
            both(lambda x: x / 2, whole)
    finally:
        torch.set_default_dtype(torch.float32)


def test_numbers_in_tensors_of_cpu():
    given = torch.arange(6.)
    for number in (1., 2.):
        both(lambda x, number=number: x + torch.tensor(number), given)
    for index in (1, 4):
        both(lambda x, index=index: x[torch.tensor([index, 0])], given)
    for mask in ([True] * 6, [True, False] * 3):
        both(lambda x, mask=mask: x[torch.tensor(mask)], given)


def test_lists():
    given = torch.arange(12.).reshape(3, 4)
    for count in (2, 3):
        both(lambda x, count=count: torch.cat([x] * count), given)
        both(lambda x, count=count: torch.stack([x, x + 1] * count), given)


def test_normalisation_of_every_dtype():
    """What layer_norm and batch_norm keep for the gradient has another dtype on "cpu" than on "meta"."""
    torch.manual_seed(4)
    functional = torch.nn.functional
    for dtype in (torch.float32, torch.bfloat16):
        given, ones = torch.randn(2, 4, 8).to(dtype), torch.ones(4, dtype=dtype)
        both(lambda x: functional.layer_norm(x, (8,)), given)
        both(lambda x: functional.rms_norm(x, (8,)), given)
        both(lambda x: functional.group_norm(x, 2), given)
        both(functional.instance_norm, given)
        for training in (True, False):
            both(lambda x, one, training=training: functional.batch_norm(
                x, one.clone(), one.clone(), one, one, training), given, ones)


@pytest.mark.parametrize("batch", (1, 2))
def test_layouts_of_images(batch):
    """torch's kernels for "meta" forget the layout of many of these."""
    torch.manual_seed(5)
    functional = torch.nn.functional
    image = torch.randn(batch, 8, 6, 5).to(memory_format=torch.channels_last)
    volume = torch.randn(batch, 8, 4, 4, 4).to(memory_format=torch.channels_last_3d)
    weight = torch.randn(4, 8, 3, 3)
    for given in (image, image.contiguous()):
        for filters in (weight, weight.to(memory_format=torch.channels_last)):
            both(functional.conv2d, given, filters)
            both(lambda *two: torch.autograd.functional.vjp(
                functional.conv2d, two, torch.ones(batch, 4, 4, 3, device=two[0].device))[1][0],
                given, filters)
    both(functional.conv_transpose2d, image, torch.randn(8, 4, 3, 3))
    both(functional.conv3d, volume, torch.randn(4, 8, 3, 3, 3))
    both(lambda x: functional.group_norm(x, 4), image)
    both(lambda x: functional.logsigmoid(x), image)
    both(lambda x: torch.roll(x, (1, 2), (2, 3)), image)
    both(lambda x: functional.pixel_shuffle(x, 2), image)
    both(lambda x: functional.channel_shuffle(x, 4), image)
    both(lambda x: functional.max_unpool2d(*functional.max_pool2d(x, 2, return_indices=True), 2,
                                           output_size=x.shape[2:]), image)
    both(lambda x: torch.fft.irfft2(x.to(torch.complex64).mT), image)
    for mode in ("reflect", "replicate", "circular"):
        both(lambda x, mode=mode: functional.pad(x, (1, 1, 1, 1), mode=mode), image)
        both(lambda x, mode=mode: functional.pad(x, (1,) * 6, mode=mode), volume)


def test_layouts_of_sequences():
    """torch composes max_pool1d by the type of the device, and by whether there is a gradient."""
    torch.manual_seed(7)
    pool, leaf = torch.nn.functional.max_pool1d, lambda x: x.detach().requires_grad_()
    for shape in ((3, 8), (2, 3, 8), (1, 3, 8), (2, 1, 8), (0, 3, 8)):
        for given in (torch.randn(shape).mT.contiguous().mT, torch.randn(shape).bfloat16(),
                      torch.randn(shape)[..., ::2]):
            for options in ({}, {"stride": 1, "padding": 1}, {"dilation": 2, "ceil_mode": True}):
                both(lambda x, options=options: pool(x, 2, **options), given)
                both(lambda x, options=options: pool(leaf(x), 2, **options).detach(), given)


def test_layouts_of_large_and_expanded_arguments():
    torch.manual_seed(6)
    for count in (4, 200):
        given = torch.rand(count, count).t()
        both(lambda x: torch.copysign(x, torch.tensor(-1.)), given)
        both(lambda x: torch.div(x, 3., rounding_mode="floor"), given)
        both(lambda x: (x * 9).to(torch.int32) // 3, given)
        both(lambda x: torch.logical_and(x > 0.5, torch.ones_like(x)), given)
        both(lambda x: x[0, 0].bfloat16().expand(x.shape) * x.bfloat16(), given)
        both(lambda x: (x > 0.5) ** True, given)
        both(lambda x: (x > 0.5) ** 2, given)
        for exponent in (True, [True], 2, 2.5):
            both(lambda x, exponent=exponent: torch._foreach_pow([x > 0.5], exponent)[0], given)


def test_losses_of_one_sample_that_are_not_reduced():
    functional, given = torch.nn.functional, torch.tensor([0.5, -1, 2, 0, 1])
    for x in (given, given[None]):
        classes = torch.tensor([1, 0, -1, 2, 3]).expand(x.shape).clone()
        for reduction in ("none", "mean"):
            both(lambda *two, kind=reduction: functional.multilabel_margin_loss(
                *two, reduction=kind), x, classes)
            both(lambda *two, kind=reduction: functional.multi_margin_loss(
                *two, reduction=kind), x, torch.tensor(1).expand(x.shape[:-1]).clone())


def test_dropout_draws_from_the_generator_of_the_device():
    given = torch.ones(50)
    torch.manual_seed(9)
    expected = torch.nn.functional.dropout(given, 0.5)
    torch.manual_seed(9)
    state = torch.get_rng_state()
    there = given.npu()
    assert torch.equal(torch.nn.functional.dropout(there, 0.5).cpu(), expected)
    assert not torch.equal(torch.nn.functional.dropout(there, 0.5).cpu(), expected)
    assert torch.equal(torch.get_rng_state(), state)
    torch.npu.manual_seed(9)
    assert torch.equal(torch.nn.functional.dropout(there, 0.5).cpu(), expected)
    assert torch.nn.functional.dropout(there, 1.0).cpu().count_nonzero() == 0
    assert torch.equal(torch.nn.functional.dropout(there, 0.5, training=False).cpu(), given)
    numbers = torch.arange(120.).reshape(2, 3, 4, 5)
    for given in (numbers.permute(2, 0, 3, 1), numbers.to(memory_format=torch.channels_last),
                  numbers.bfloat16()):
        torch.manual_seed(9)
        expected = torch.nn.functional.dropout(given, 0.4)
        torch.npu.manual_seed(9)
        assert torch.equal(torch.nn.functional.dropout(given.npu(), 0.4).cpu(), expected)


def test_large_results_are_right():
    torch.manual_seed(2)
    a, b = torch.randn(256, 256), torch.randn(256, 256)
    both(torch.matmul, a, b)
    both(torch.matmul, a.t(), b)
    both(torch.addmm, b[0], a, b)
    both(torch.bmm, a.reshape(4, 64, 256), b.reshape(4, 256, 64))
    both(lambda x: torch.softmax(x, -1), a)
    both(torch.add, a.t(), b)
    both(torch.gt, a, b)
    both(lambda x, y: torch.cat([x, y], 1), a, b.bfloat16().float())
    both(lambda x: torch.view_as_complex(x.reshape(-1, 2)).conj().abs(), a)
    with pytest.raises(RuntimeError, match="shapes cannot be multiplied|size mismatch"):
        torch.mm(a.npu(), b[1:].npu())


def test_large_gradients_are_right():
    torch.manual_seed(3)
    weights, given = torch.randn(256, 256), torch.randn(128, 256)
    gradients = []
    for device in ("cpu", "npu"):
        leaf = weights.detach().to(device).requires_grad_()
        torch.nn.functional.gelu(given.to(device) @ leaf).square().sum().backward()
        gradients.append(leaf.grad.cpu())
    assert torch.equal(*gradients)


@pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form asks for no shapes")
def test_ctrl_c_while_shapes_are_asked_for_is_not_lost(begin):
    """Python raises it in the middle of the kernel for "meta", which is Python."""
    # Large and of a new size, so that shapes are asked for in each mode.
    first = torch.ones(67 + begin, 301, device="npu")

    def press(frame, event, _):
        if event == "call" and frame.f_code.co_filename.endswith("_meta_registrations.py"):
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    # A process of several that run tests ignores Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        sys.setprofile(press)
        try:
            torch.mm(first, first.t())
        finally:
            sys.setprofile(None)
            signal.signal(signal.SIGINT, before)
    assert torch.mm(first, first.t()).cpu().unique().tolist() == [301]
    with pytest.raises(RuntimeError, match="size|shape"):  # its own refusal is that of the kernel
        torch.mm(first, first)
