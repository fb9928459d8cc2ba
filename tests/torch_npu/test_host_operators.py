# SPDX-License-Identifier: Apache-2.0
"""Operators of torch on "npu" tensors: values, stream order, errors, graphs, memory.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import ctypes
import gc
import weakref

import pytest
import torch
from decode import Decode
from pending import NATIVE, RUNTIME, begin, hold, kept_pending, native, same  # noqa: F401

from advance_step import _host_operators


@pytest.mark.parametrize("dtype", (torch.float32, torch.float64, torch.float16, torch.bfloat16,
                                   torch.int8, torch.int64, torch.bool, torch.complex64))
def test_element_wise_of_every_dtype(begin, dtype):
    cpu = torch.arange(12).to(dtype).reshape(3, 4)
    npu = cpu.npu()
    same(npu + npu if dtype != torch.bool else npu | npu,
         cpu + cpu if dtype != torch.bool else cpu | cpu)
    same(npu.to(torch.float32) if not dtype.is_complex else npu.real.contiguous(),
         cpu.to(torch.float32) if not dtype.is_complex else cpu.real.contiguous())
    same(npu == npu, cpu == cpu)


def test_in_place_out_and_views(begin):
    cpu = torch.arange(24.).reshape(4, 6)
    npu = cpu.npu()
    for tensor in (cpu, npu):
        tensor[1:3].add_(5)
        tensor.t()[2].mul_(3)
        tensor.view(2, 12)[:, ::2].neg_()
        torch.add(tensor, 1, out=tensor)
        tensor[:, 0] = 7
    same(npu, cpu)
    out = torch.empty(0, device="npu")
    assert torch.mul(npu, 2, out=out) is out
    same(out, cpu * 2)
    same(npu.expand(2, 4, 6).sum(0), cpu.expand(2, 4, 6).sum(0))
    same(npu.t().contiguous(), cpu.t().contiguous())
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.ones(1, device="npu").expand(3).add_(1)
        torch.npu.synchronize()


def test_views_in_place(begin):
    cpu = torch.arange(6.).reshape(2, 3) + 1
    npu = cpu.npu() + 0
    for tensor in (cpu, npu):
        tensor.transpose_(0, 1).unsqueeze_(0).squeeze_(0).t_().t_().mul_(2)
    same(npu, cpu)
    assert torch.equal(torch.rot90(npu, 1, [0, 1]).cpu(), torch.rot90(cpu, 1, [0, 1]))


def test_broadcasting_scalars_and_devices(begin):
    cpu = torch.arange(6.).reshape(2, 3)
    npu = cpu.npu()
    same(npu + torch.tensor(2), cpu + torch.tensor(2))  # a scalar of "cpu"
    same(npu * npu[:, :1] + npu[0], cpu * cpu[:, :1] + cpu[0])
    same(npu.to(torch.int32) * 2.5, cpu.to(torch.int32) * 2.5)
    same(npu[torch.tensor([1, 0])], cpu[torch.tensor([1, 0])])
    same(torch.empty(0, 3, device="npu").sum(0), torch.zeros(3))
    with pytest.raises(RuntimeError, match="same device"):
        npu + cpu
    with pytest.raises(RuntimeError, match="same device"):
        npu + npu.to("npu:1")
    written = torch.tensor(1.)  # a scalar of "cpu" that is written
    for write in (lambda: written.add_(npu[0, 1]), lambda: written.lerp_(npu[0, 1], npu[0, 2]),
                  lambda: torch.add(npu[0, 1], npu[0, 2], out=written),
                  lambda: torch._foreach_add_([written], [npu[0, 1]])):
        with pytest.raises(RuntimeError, match="same device"):
            write()
    torch.npu.synchronize()
    assert written == 1


def test_lists_and_channels_last(begin):
    cpu = [torch.full((size,), float(size)) for size in (1, 5, 0, 3)]
    npu = [tensor.npu() for tensor in cpu]
    torch._foreach_mul_(npu, 2)
    torch._foreach_mul_(cpu, 2)
    for one, other in zip(torch._foreach_add(npu, npu, alpha=3), torch._foreach_add(cpu, cpu, alpha=3)):
        same(one, other)
    image = torch.arange(48.).reshape(1, 3, 4, 4)
    same(image.npu().to(memory_format=torch.channels_last),
         image.to(memory_format=torch.channels_last))
    for one, other in zip(torch.split(image.npu().max(1)[0], 2), torch.split(image.max(1)[0], 2)):
        assert torch.equal(one.cpu(), other)


def test_shapes_that_depend_on_data(begin):
    cpu = torch.tensor([3, 0, 3, 1])
    npu = cpu.npu()
    assert torch.equal(torch.nonzero(npu).cpu(), torch.nonzero(cpu))
    assert torch.equal(npu[npu > 1].cpu(), cpu[cpu > 1])
    assert torch.equal(torch.unique(npu).cpu(), torch.unique(cpu))
    assert npu.sum().item() == 7 and bool((npu == npu).all())


def test_operators_and_advance_step_keep_the_order_of_the_stream():
    decode = Decode.steady(1)
    positions = decode.tensors[2]
    seen = []
    hold(5)
    for _ in range(20):
        decode.launch()
        seen.append((positions + 0, decode.state["input_positions"]))
    decode.check()
    assert all(found.cpu().tolist() == expected for found, expected in seen)


def test_streams_and_events_order_operators():
    side, total = torch.npu.Stream(), torch.zeros(1000, device="npu")
    for _ in range(50):
        hold(1)
        total.add_(1)
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            total.mul_(2).remainder_(1021)
        torch.npu.current_stream().wait_stream(side)
    expected = 0
    for _ in range(50):
        expected = (expected + 1) * 2 % 1021
    assert total.cpu().unique().tolist() == [expected]


@native
def test_queued_operators_do_not_wait():
    tensor = torch.ones(100, device="npu")
    (tensor * 2 + tensor).sum()  # torch imports modules at the first use of a shape function
    hold(1)
    (tensor * 2 + tensor).sum()
    torch.npu.synchronize()
    with kept_pending():
        total = (tensor * 2 + tensor).sum()
        assert not torch.npu.current_stream().query()
    assert total.item() == 300


@native
def test_an_error_of_queued_work_names_its_operator():
    tensor = torch.arange(10, device="npu")
    far = torch.tensor([3, 20]).npu()
    with kept_pending():
        tensor[far]
    with pytest.raises(RuntimeError, match=r"aten::index.Tensor: index 20 is out of bounds"):
        torch.npu.synchronize()
    same(tensor + 1, torch.arange(10) + 1)


@native
@pytest.mark.parametrize("ended", (False, True))
def test_an_error_of_queued_work_is_named_by_copies(ended):
    tensor, far = torch.arange(10, device="npu"), torch.tensor([3, 20]).npu()
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    for copy in (lambda found: found.cpu(), lambda found: found.tolist(),
                 lambda found: found.copy_(torch.ones(2, dtype=torch.int64)),
                 lambda found: torch.nn.Buffer(found).to("cpu")):
        with kept_pending():
            hold(20)  # so that it is pending when the copy is asked for
            found, status = tensor[far], ctypes.c_int(1)
        while ended and status.value:
            assert RUNTIME.aclrtStreamQuery(stream, ctypes.byref(status)) == 0
        with pytest.raises(RuntimeError, match=r"aten::index.Tensor: index 20 is out of bounds"):
            copy(found)
        same(tensor + 1, torch.arange(10) + 1)


@native
def test_a_tensor_of_cpu_is_named_at_the_first_call(program):
    """torch's Python kernels for "meta" import modules at their first call, and have words of their own."""
    text = """
import torch
for first in (torch.ones(3).npu(), torch.ones(300, 300).npu()):
    for call in (torch.add, torch.eq, torch.mul, torch.minimum):
        try:
            call(first, torch.ones(first.shape))
        except RuntimeError as error:
            assert "npu:0 and cpu! (aten::" in str(error), error
print("right")
"""
    assert program.code(text).stdout == "right\n"


def test_an_error_without_pending_work_is_the_exception_of_cpu():
    tensor = torch.arange(10, device="npu")
    torch.npu.synchronize()
    if _host_operators.mode() != "queue":
        with pytest.raises(IndexError, match="index 20 is out of bounds"):
            tensor[torch.tensor([3, 20]).npu()]
    with pytest.raises(RuntimeError, match="size of tensor"):
        tensor + tensor[:3]


def test_launch_blocking_raises_at_once(program):
    text = """
import torch
tensor = torch.arange(10, device="npu")
try:
    tensor[torch.tensor([20]).npu()]
except IndexError as error:
    print("index 20" in str(error))
"""
    assert program.code(text, ASCEND_LAUNCH_BLOCKING="1").stdout == "True\n"


@native
def test_queued_work_needs_no_interpreter_lock(program):
    """torch_npu waits with that lock held here."""
    text = """
import ctypes, torch
delay = ctypes.CDLL("libascendcl.so").advstepDelayStream
delay.argtypes = (ctypes.c_void_p, ctypes.c_uint64)
stream = torch.npu.current_stream().npu_stream
for _ in range(3):
    tensor = torch.ones(1000, device="npu")
    delay(stream, 50000)
    other = tensor + 1
    del tensor, other
    torch.npu.empty_cache()
delay(stream, 50000)
kept = torch.ones(10, device="npu") * 2
print("right")
"""
    assert program.forked(text).stdout == "right\n"


def test_a_million_operators_do_not_grow(begin):
    def resident():
        with open("/proc/self/statm", encoding="ascii") as file:
            return int(file.read().split()[1]) * 4096

    tensor = torch.ones(8, device="npu")
    for _ in range(2000):
        tensor + 1
    torch.npu.synchronize()
    gc.collect()  # what other tests have left
    held, before = torch.npu.memory_allocated(), resident()
    count = 20000 if _host_operators.mode() == "1" else 3000
    for index in range(count):
        if index % 1000 == 0 and NATIVE:
            hold(1)
        tensor + 1
        if index % 1000 == 999:
            torch.npu.synchronize()
    assert torch.npu.memory_allocated() == held
    assert resident() - before < 16 << 20


def test_tensors_end_with_their_last_name():
    tensor = torch.ones(1 << 20, device="npu")
    torch.npu.synchronize()
    gc.collect()  # what other tests have left
    before = torch.npu.memory_allocated()
    if NATIVE:
        hold(50)
    other = tensor + 1
    seen = weakref.ref(other)
    del other
    gc.collect()
    assert seen() is None
    assert torch.npu.memory_allocated() == before


@pytest.mark.parametrize("wrong", (5, -1, 1 << 40))
def test_a_target_that_is_no_class_is_named_with_its_row(begin, wrong):
    """torch's kernels for "cpu" would read and write beyond the classes."""
    loss, chances = torch.nn.functional.ctc_loss, torch.zeros(10, 2, 5)
    for targets in (lambda last: [[1, 2, 9], [3, last, 9]], lambda last: [1, 2, 3, last]):
        for lengths in (((10, 10), (2, 2)), (torch.tensor((10, 10)), torch.tensor((2, 2)))):
            npu = chances.npu().requires_grad_()
            with pytest.raises(IndexError, match=f"row 1, target 1 is {wrong}; expected 0 <= target < 5"):
                loss(npu, torch.tensor(targets(wrong)).npu(), *lengths)
            right = torch.tensor(targets(4))
            same(loss(npu, right.npu(), *lengths).detach(), loss(chances, right, *lengths))


def test_off(program):
    text = """
import torch
from advance_step import _host_operators
print(_host_operators.form() == "")
try:
    (torch.ones(2).npu() * 2).cpu()
except RuntimeError as error:
    print("cannot run by its name" in str(error))
"""
    done = program.code(text, ADVANCE_STEP_HOST_OPERATORS="0")
    assert done.stdout.split() == ["True", "True"]
