# SPDX-License-Identifier: Apache-2.0
"""Devices and their properties, tensors to and from them, streams and events."""

import pytest
import torch
import torch_npu  # noqa: F401
from decode import Decode


def test_devices():
    assert torch.npu.is_available() and torch.npu.device_count() == 2
    for index in range(2):
        assert torch.npu.get_device_name(index) == "Ascend910B3"
        properties = torch.npu.get_device_properties(index)
        assert properties.name == "Ascend910B3"
        assert properties.total_memory == 64 << 30
        assert (properties.cube_core_num, properties.vector_core_num) == (20, 40)
        assert properties.L2_cache_size == 192 << 20
    uuids = {str(torch.npu.get_device_properties(index).uuid) for index in range(2)}
    assert len(uuids) == 2 and "00000000-0000-0000-0000-000000000000" not in uuids


def test_memory_before_any_tensor(program):
    done = program.forked("import torch; print(*torch.npu.mem_get_info())")
    free, total = map(int, done.stdout.split())
    assert total == 64 << 30 and total - (1 << 30) < free <= total


@pytest.mark.parametrize("soc, cores", (("Ascend910B1", (24, 48)), ("Ascend910B4", (20, 40)),
                                        ("Ascend910_9391", (24, 48))))
def test_other_socs(program, soc, cores):
    text = ("import torch; p = torch.npu.get_device_properties(0);"
            "print(p.name, p.cube_core_num, p.vector_core_num, torch.ones(2).npu().cpu().sum())")
    done = program.forked(text, ADVANCE_STEP_SOC=soc)
    assert done.stdout.split() == [soc, *map(str, cores), "tensor(2.)"]


@pytest.mark.parametrize("visible, count", (("1", 1), ("0,1", 2), ("0", 1), ("1,0", 0), ("5", 0)))
def test_visible_devices(program, visible, count):
    text = """
import torch, torch_npu
print(torch.npu.device_count(), torch.npu.is_available())
for index in range(torch.npu.device_count()):
    assert torch.arange(4, device="cpu").to(f"npu:{index}").cpu().tolist() == [0, 1, 2, 3]
"""
    done = program.forked(text, ASCEND_RT_VISIBLE_DEVICES=visible)
    assert done.stdout.split() == [str(count), str(count > 0)]


@pytest.mark.parametrize("dtype", (torch.float32, torch.float16, torch.bfloat16, torch.int64,
                                   torch.int32, torch.int8, torch.uint8, torch.bool))
def test_tensors_to_and_from(dtype):
    generator = torch.Generator().manual_seed(3)
    for shape in ((), (0,), (1,), (7, 5), (3, 1, 33)):
        tensor = torch.randint(0, 2, shape, generator=generator).to(dtype)
        for device in ("npu", "npu:0", "npu:1"):
            there = tensor.to(device)
            assert there.is_npu and there.device.type == "npu" and there.shape == tensor.shape
            assert torch.equal(there.cpu(), tensor)
    assert torch.equal(tensor.npu().to("npu:1").to("npu:0").cpu(), tensor)


def test_pinned_memory_and_many_streams():
    streams = [torch.npu.Stream() for _ in range(8)]
    source = [torch.arange(20000 + i).pin_memory() for i in range(8)]
    target = [torch.empty_like(tensor).pin_memory() for tensor in source]
    assert all(tensor.is_pinned() for tensor in source + target)
    for stream, given, taken in zip(streams, source, target):
        with torch.npu.stream(stream):
            there = given.to("npu", non_blocking=True)
            taken.copy_(there, non_blocking=True)
    for stream in streams:
        stream.synchronize()
        assert stream.query()
    assert all(torch.equal(*pair) for pair in zip(source, target))


def test_events_order_streams_and_measure_time():
    first, second = torch.npu.Stream(), torch.npu.Stream()
    start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    decode = Decode.steady(2)
    torch.npu.synchronize()
    start.record(first)
    with torch.npu.stream(first):
        decode.launch()
        middle = torch.npu.Event()
        middle.record()
    with torch.npu.stream(second):
        second.wait_event(middle)
        decode.launch()
    second.wait_stream(first)
    first.wait_stream(second)
    end.record(first)
    end.synchronize()
    assert end.query() and 0 <= start.elapsed_time(end) < 60000
    decode.check()


def test_external_stream():
    stream = torch.npu.Stream()
    external = torch.npu.ExternalStream(stream.npu_stream)
    decode = Decode.steady(3)
    torch.npu.synchronize()
    with torch.npu.stream(external):
        decode.launch()
    stream.synchronize()
    decode.check()


def test_record_stream():
    side = torch.npu.Stream()
    for seed in range(20):
        decode = Decode.steady(seed)
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            decode.launch()
        for tensor in decode.tensors:
            tensor.record_stream(side)
        kept, state = decode.tensors[3], decode.state["seq_lens"]
        del decode  # the memory of the others may be used again only after the work of the side
        Decode.steady(seed + 100)
        torch.npu.current_stream().wait_stream(side)
        assert kept.cpu().tolist() == state
