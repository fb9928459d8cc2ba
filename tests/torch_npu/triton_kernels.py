# SPDX-License-Identifier: Apache-2.0
"""Kernels of Triton on "npu" tensors; test_triton.py runs them, where Triton is on the path."""

import threading

import pytest
import torch
import torch_npu  # noqa: F401
import triton
import triton.language as tl


@triton.jit
def add(x, y, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = places < n
    tl.store(out + places, tl.load(x + places, mask=inside) + tl.load(y + places, mask=inside), mask=inside)


@triton.jit
def scale_rows(matrix, stride, factor, COLUMNS: tl.constexpr):
    places = tl.program_id(0) * stride + tl.arange(0, COLUMNS)
    tl.store(matrix + places, tl.load(matrix + places) * factor)


@triton.jit
def fails(x):
    tl.static_assert(False, "on purpose")


@triton.autotune(configs=[triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 128})], key=["n"])
@triton.jit
def tuned(x, out, n, BLOCK: tl.constexpr):
    places = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + places, tl.load(x + places, mask=places < n) * 2, mask=places < n)


def launch_add(x, y, **options):
    out = torch.empty_like(x)
    add[(triton.cdiv(x.numel(), 256),)](x, y, out, x.numel(), BLOCK=256, **options)
    return out


def test_the_driver_has_the_numbers_of_the_soc():
    driver, known = triton.runtime.driver.active, torch.npu.get_device_properties(0)
    found = driver.utils.get_device_properties(driver.get_current_device())
    assert found["num_aicore"] == known.cube_core_num and found["num_vectorcore"] == known.vector_core_num
    assert found["max_shared_mem"] == 192 * 1024
    target = driver.get_current_target()
    assert (target.backend, target.arch) == ("npu", torch.npu.get_device_name(0))
    assert driver.get_current_stream(0) == torch.npu.current_stream().npu_stream
    with pytest.raises(ValueError, match="device is 99"):
        driver.utils.get_device_properties(99)


def test_kernels_compute():
    x, y = torch.randn(1000).npu(), torch.randn(1000).npu()
    assert torch.equal(launch_add(x, y), x + y)
    # Views of a storage, and memory that is not the tensor's first.
    assert torch.equal(launch_add(x[300:500], y[1:201]), x[300:500] + y[1:201])
    matrix = torch.ones(4, 64).npu()
    scale_rows[(4,)](matrix[:, 32:], matrix.stride(0), 3.0, COLUMNS=32)
    assert torch.equal(matrix.cpu(), torch.cat((torch.ones(4, 32), torch.full((4, 32), 3.0)), 1))
    # Tensors of "cpu" are the interpreter's business.
    assert torch.equal(launch_add(x.cpu(), y.cpu()), (x + y).cpu())


def test_options_of_an_npu_are_dropped():
    x = torch.randn(300).npu()
    found = launch_add(x, x, num_warps=4, multibuffer=True, enable_auto_bind_sub_block=False, unit_flag=True)
    assert torch.equal(found, x + x)
    with pytest.raises(TypeError):  # a parameter that is missing is no option
        add[(1,)](x, x, x, BLOCK=256)


def test_a_launch_is_work_of_the_current_stream():
    stream, other = torch.npu.Stream(), torch.npu.Stream()
    x = torch.zeros(1 << 12).npu()
    torch.npu.synchronize()
    for round in range(3):
        with torch.npu.stream(stream):
            for _ in range(50):
                x += 1
            out = launch_add(x, x)
            out += 1
            event = stream.record_event()
        other.wait_event(event)
        with torch.npu.stream(other):
            again = launch_add(out, x)
        assert again.unique().tolist() == [150.0 * (round + 1) + 1]


def test_a_capture_refuses_by_name_and_goes_on():
    x = torch.ones(300).npu()
    graph = torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        y = x + 1
        with pytest.raises(RuntimeError, match="add cannot be captured.*outside the capture"):
            launch_add(x, x)
        z = y + 1
    graph.replay()
    assert z.unique().tolist() == [3.0]
    assert torch.equal(launch_add(x, x), x + x)


def test_tensors_of_another_device_are_refused():
    x = torch.ones(300, device="npu:1")
    with pytest.raises(ValueError, match="add: a tensor is on npu:1; expected .* npu:0"):
        launch_add(x, x)
    with torch.npu.device(1):
        assert torch.equal(launch_add(x, x), x + x)


def test_an_error_of_a_kernel_is_an_exception():
    x = torch.ones(300).npu()
    with pytest.raises(Exception, match="on purpose"):
        fails[(1,)](x)
    assert torch.equal(launch_add(x, x), x + x)


def test_autotuned_kernels_run():
    x = torch.randn(1000).npu()
    out = torch.empty_like(x)
    tuned[lambda meta: (triton.cdiv(1000, meta["BLOCK"]),)](x, out, 1000)
    assert torch.equal(out, x * 2)


def test_threads_take_turns():
    x = torch.randn(2000).npu()
    results, torch_device = [None] * 4, torch.npu.current_device()

    def run(place):
        torch.npu.set_device(torch_device)
        results[place] = launch_add(x, x)

    threads = [threading.Thread(target=run, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(torch.equal(result, x + x) for result in results)
