# SPDX-License-Identifier: Apache-2.0
"""Where CANN's operators differ from torch's, by values that are written here."""

import ctypes

import pytest
import torch

import aclnn
import test_families

NZ = 29


def run(device, name, *arguments):
    aclnn.call(device, "aclnn" + name, *arguments)
    return arguments


def test_a_float_alpha_serves_integers(device):
    out = torch.zeros(3, dtype=torch.int32)
    run(device, "Add", torch.tensor([1, 2, 3], dtype=torch.int32), torch.tensor([10, 20, 30], dtype=torch.int32), 2.0, out)
    assert out.tolist() == [21, 42, 63]


def test_mixed_dtypes_promote_and_are_cast_to_the_output(device):
    out = torch.zeros(2, dtype=torch.float16)
    run(device, "Add", torch.tensor([1, 2048], dtype=torch.float16), torch.tensor([0.5, 1.0]), 1, out)
    assert out.tolist() == [1.5, 2048.0]
    out = torch.zeros(2)
    run(device, "Mul", torch.tensor([-3, 4], dtype=torch.int8), torch.tensor([0.5, 0.25], dtype=torch.float16), out)
    assert out.tolist() == [-1.5, 1.0]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.int32, torch.bool])
def test_comparisons_into_any_dtype(device, dtype):
    one, other = torch.tensor([1.0, 5.0, 3.0]), torch.tensor([1.0, 4.0, 4.0])
    out = torch.full((3,), 1, dtype=dtype)
    run(device, "EqTensor", one, other, out)
    assert out.tolist() == [1, 0, 0]
    run(device, "GtScalar", one, 2.5, out)
    assert out.tolist() == [0, 1, 1]


def test_argmax_into_int32_of_more_dims(device):
    out = torch.zeros(1, 2, 1, dtype=torch.int32)
    run(device, "ArgMax", torch.tensor([[[[3.0, 9.0, 1.0], [7.0, 2.0, 4.0]]]]), -1, False, out)
    assert out.flatten().tolist() == [1, 0]


def test_scalars_do_not_promote(device):
    out = torch.zeros(2, dtype=torch.float16)
    run(device, "Muls", torch.tensor([2048, 3], dtype=torch.float16), 1.0009766, out)
    assert out.tolist() == [2050.0, 3.00390625]
    run(device, "Clamp", torch.tensor([-9, 9], dtype=torch.float16), float("-inf"), 4.5, out)
    assert out.tolist() == [-9.0, 4.5]


@pytest.mark.parametrize("count", [9, 10, 11])
def test_a_range_has_as_many_elements_as_the_output(device, count):
    """0.1 is a little more than a tenth in float32."""
    out = torch.zeros(count)
    run(device, "Arange", 0.0, 1.0, 0.1, out)
    torch.testing.assert_close(out, torch.arange(count) * 0.1)


def test_no_divisor_and_four_pads(device):
    image = torch.arange(16.0).reshape(1, 1, 4, 4)
    out = torch.zeros(1, 1, 2, 2)
    run(device, "AvgPool2d", image, aclnn.Array([2, 2]), aclnn.Array([2, 2]), aclnn.Array([0, 0]), False, True, 0, 0, out)
    assert out.flatten().tolist() == [2.5, 4.5, 10.5, 12.5]
    out = torch.zeros(1, 1, 2, 3)
    run(device, "MaxPool", image, aclnn.Array([2, 2]), aclnn.Array([2, 2]), 0, aclnn.Array([0, 1, 0, 1]),
        aclnn.Array([1, 1]), 0, out)
    assert out.flatten().tolist() == [4, 6, 7, 12, 14, 15]


def pool(device, paddings, out, *, kernel=(2, 2), whole=False, ceil=False):
    image = torch.arange(1.0, 10.0).reshape(1, 1, 3, 3)
    run(device, "AvgPool2d", image, aclnn.Array(list(kernel)), aclnn.Array([2, 2]), aclnn.Array(paddings), ceil, whole, 0, 0, out)
    return out.flatten().tolist()


def test_pads_that_differ_on_two_sides(device):
    """Top, left, bottom and right."""
    assert pool(device, [0, 1, 1, 0], torch.zeros(1, 1, 2, 2)) == [2.5, 4, 7, 8.5]
    assert pool(device, [0, 1, 1, 0], torch.zeros(1, 1, 2, 2), whole=True) == [1.25, 4, 1.75, 4.25]
    out = torch.zeros(1, 1, 2, 2)
    run(device, "Convolution", torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2), None, aclnn.Array([1, 1]), aclnn.Array([1, 0, 0, 1]),
        aclnn.Array([1, 1]), False, aclnn.Array([0, 0]), 1, out, 0)
    assert out.flatten().tolist() == [2, 1, 4, 2]


def test_a_last_window_in_the_pads_alone_is_left_out(device):
    """As with torch's pads; one in front of them that is not full counts."""
    out = torch.zeros(1, 1, 2, 1)
    run(device, "MaxPool", torch.arange(1.0, 10.0).reshape(1, 1, 3, 3), aclnn.Array([2, 2]), aclnn.Array([2, 3]), 0,
        aclnn.Array([0, 0, 0, 1]), aclnn.Array([1, 1]), 1, out)
    assert out.flatten().tolist() == [5, 8]


@pytest.mark.parametrize("kernel, paddings, text", (
    ((2, 2), [0, 0, 0, 3], "paddings has 0 in front and 3 behind; expected an element of self in each window of 2"),
    ((2, 2), [2, 0, 0, 0], "paddings has 2 in front and 0 behind; expected an element of self"),
    ((2, 2), [0, -1, 0, 0], "paddings has -1; expected pads of at least 0"),
    ((), [0, 1, 0, 0], "kernelSize has no numbers")))
def test_pads_that_are_refused(device, kernel, paddings, text):
    with pytest.raises(aclnn.Failed, match=text):
        pool(device, paddings, torch.zeros(1, 1, 2, 3), kernel=kernel)


def test_a_convolution_refuses_pads_below_zero(device):
    with pytest.raises(aclnn.Failed, match="padding has -1; expected pads of at least 0"):
        run(device, "Convolution", torch.ones(1, 1, 2, 2), torch.ones(1, 1, 2, 2), None, aclnn.Array([1, 1]),
            aclnn.Array([1, -1, 0, 1]), aclnn.Array([1, 1]), False, aclnn.Array([0, 0]), 1, torch.zeros(1, 1, 2, 1), 0)


def test_a_scalar_object_that_is_passed_three_times(device):
    x, out = torch.tensor([-1.0, 2.0]), torch.zeros(2)
    with aclnn.Call(device, "aclnnElu", (x, 1.0, 1.0, 1.0, out)) as call:
        call.values[2] = call.values[3] = call.values[1]
        call.run()
        call.read()
    torch.testing.assert_close(out, torch.tensor([-0.6321206, 2.0]))


def test_sums_into_a_wider_dtype_over_all_dims(device):
    out = torch.zeros(1, dtype=torch.int64)
    run(device, "ReduceSum", torch.full((2, 3), 2_000_000_000, dtype=torch.int32), aclnn.Array([0, 1]), False, torch.int64, out)
    assert out.item() == 12_000_000_000


def test_rstd_has_a_shape_of_as_many_elements(device):
    y, rstd = torch.zeros(2, 2), torch.zeros(2)
    run(device, "RmsNorm", torch.tensor([[3.0, 4.0], [0.0, 2.0]]), torch.tensor([1.0, 10.0]), 0.0, y, rstd)
    torch.testing.assert_close(rstd, torch.tensor([0.2828427, 0.7071068]))
    torch.testing.assert_close(y, torch.tensor([[0.8485281, 11.3137085], [0.0, 14.1421356]]))


def test_the_triangle_comes_second(device):
    solution, copy = torch.zeros(2, 1), torch.zeros(2, 2)
    triangle = torch.tensor([[2.0, 1.0], [99.0, 4.0]])
    run(device, "TriangularSolve", torch.tensor([[4.0], [8.0]]), triangle, True, False, False, solution, copy)
    assert solution.flatten().tolist() == [1.0, 2.0]
    assert torch.equal(copy, triangle)


def test_zeros_replace_infinities(device):
    matrix = torch.full((2, 2), float("-inf"))
    run(device, "InplaceTriu", matrix, 1)
    assert matrix.tolist() == [[0.0, float("-inf")], [0.0, 0.0]]


def test_destination_first(device):
    into = torch.zeros(3, dtype=torch.float16)
    run(device, "InplaceCopy", into, torch.tensor([1.0, 2.0, 70000.0]))
    assert into.tolist() == [1.0, 2.0, float("inf")]


def test_strides_of_dims_of_one_mean_nothing(device):
    out = torch.zeros(1, 3)
    with aclnn.Call(device, "aclnnAbs", (torch.tensor([[-1.0, 2.0, -3.0]]), out)) as call:
        tensor, memory = call.tensors[0]
        made = device.acl.aclCreateTensor(call.longs([1, 3]), ctypes.c_uint64(2), 0, call.longs([-77, 1]),
                                          ctypes.c_int64(0), 2, call.longs([3]), ctypes.c_uint64(1), memory.address)
        call.destroy.append(("aclDestroyTensor", made))
        call.values[0] = ctypes.c_void_p(made)
        call.run()
        call.read()
    assert out.tolist() == [[1.0, 2.0, 3.0]]


def test_fractal_nz_has_the_bytes_of_nd(device):
    out = torch.zeros(2, 2)
    weight = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    with aclnn.Call(device, "aclnnMm", (torch.eye(2), weight, out, 2)) as call:
        memory = call.tensors[1][1]
        made = device.acl.aclCreateTensor(call.longs([2, 2]), ctypes.c_uint64(2), 0, call.longs([2, 1]),
                                          ctypes.c_int64(0), NZ, call.longs([4]), ctypes.c_uint64(1), memory.address)
        call.destroy.append(("aclDestroyTensor", made))
        call.values[1] = ctypes.c_void_p(made)
        call.run()
        call.read()
    assert torch.equal(out, weight)


def test_outputs_that_overlap_inputs(device):
    memory = torch.arange(6.0)
    run(device, "Add", memory[:5], memory[:5], 1, memory[1:])
    assert memory.tolist() == [0, 0, 2, 4, 6, 8]
    matrix = torch.arange(4.0).reshape(2, 2)
    run(device, "Permute", matrix, aclnn.Array([1, 0]), matrix)
    assert matrix.tolist() == [[0.0, 2.0], [1.0, 3.0]]
    run(device, "Mm", matrix, matrix, matrix, 0)
    assert matrix.tolist() == [[2.0, 6.0], [3.0, 11.0]]


def test_an_output_that_overlaps_itself_is_refused(device):
    out = torch.zeros(3).expand(2, 3)
    with pytest.raises(aclnn.Failed, match="out has stride 0 along dim 0 of size 2; expected memory of its own"):
        run(device, "Abs", torch.ones(2, 3), out)


def test_objects_end_with_phase_one(device):
    """Tensors, the list with its members, and the array are gone before the work runs."""
    one, other, out = torch.ones(2), torch.full((3,), 2.0), torch.zeros(5)
    with aclnn.Call(device, "aclnnCat", ([one, other], 0, out)) as call:
        executor = call.phase_one()
        for function, made in reversed(call.destroy):
            device.check(getattr(device.acl, function)(ctypes.c_void_p(made)))
        call.destroy.clear()
        device.check(device.operators.aclnnCat(None, ctypes.c_uint64(0), executor, device.stream))
        device.synchronize()
        call.read()
    assert out.tolist() == [1, 1, 2, 2, 2]


def test_addresses_of_a_repeatable_executor(device):
    """Of a tensor, and of the second tensor of a list."""
    first, second, third = torch.ones(2), torch.full((2,), 5.0), torch.full((2,), 9.0)
    out = torch.zeros(4)
    with aclnn.Call(device, "aclnnCat", ([first, second], 0, out)) as call, \
            aclnn.Call(device, "aclnnAbs", (third, torch.zeros(2))) as other:
        executor = call.phase_one()
        device.check(device.acl.aclSetAclOpExecutorRepeatable(executor))
        run_again = lambda: device.check(device.operators.aclnnCat(None, ctypes.c_uint64(0), executor, device.stream))
        run_again()
        device.synchronize()
        device.check(device.acl.aclSetDynamicInputTensorAddr(
            executor, ctypes.c_size_t(0), ctypes.c_size_t(1), call.values[0], other.tensors[0][1].address))
        run_again()
        device.synchronize()
        call.read()
        device.check(device.acl.aclDestroyAclOpExecutor(executor))
    assert out.tolist() == [1, 1, 9, 9]


def test_a_graph_replays_with_new_contents(device):
    x, out = torch.tensor([1.0, -2.0]), torch.zeros(2)
    with aclnn.Call(device, "aclnnAbs", (x, out)) as call:
        model = ctypes.c_void_p()
        device.check(device.acl.aclmdlRICaptureBegin(device.stream, 1))
        device.check(device.operators.aclnnAbs(None, ctypes.c_uint64(0), call.phase_one(), device.stream))
        device.check(device.acl.aclmdlRICaptureEnd(device.stream, ctypes.byref(model)))
        later = torch.tensor([-7.0, 8.0])
        ctypes.memmove(call.tensors[0][1].address, later.data_ptr(), 8)
        device.check(device.acl.aclmdlRIExecuteAsync(model, device.stream))
        device.synchronize()
        call.read()
        device.check(device.acl.aclmdlRIDestroy(model))
    assert out.tolist() == [7.0, 8.0]


def test_an_index_that_is_none_writes_nothing(device):
    out = torch.full((2,), 7.0)
    with pytest.raises(aclnn.Failed, match="aclnnIndexSelect: .*index.*out of range"):
        run(device, "IndexSelect", torch.ones(3), 0, torch.tensor([1, 9]), out)
    assert out.tolist() == [7, 7]


@pytest.mark.parametrize("name", ["FmodTensor", "RemainderTensorTensor", "FloorDivide"])
def test_integers_by_zero_are_named(device, name):
    out = torch.full((3,), 7, dtype=torch.int64)
    with pytest.raises(aclnn.Failed, match=f"aclnn{name}: other has 0 as its element 1 of 3"):
        run(device, name, torch.ones(3, dtype=torch.int64), torch.tensor([1, 0, 2]), out)
    with pytest.raises(aclnn.Failed, match="the least integer of its dtype and other has -1"):
        run(device, name, torch.full((3,), -2 ** 63), torch.tensor([1, -1, 2]), out)
    assert out.tolist() == [7, 7, 7]


@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_narrow_products_sum_in_float32(device, rows, transposed, dtype):
    torch.manual_seed(1)
    x, weight = torch.randn(rows, 300).to(dtype), torch.randn(300, 500).to(dtype)
    weight = weight.t().contiguous().t() if transposed else weight
    out = torch.zeros(rows, 500, dtype=dtype)
    run(device, "Mm", x, weight, out, 2)
    wanted = (x.double() @ weight.double()).to(dtype)
    torch.testing.assert_close(out, wanted, rtol=2 ** -7 if dtype == torch.bfloat16 else 2 ** -10, atol=1e-3)


def test_views_of_eight_dims(device):
    x = torch.randn(2, 1, 3, 1, 2, 1, 2, 2)
    out = torch.zeros(2, 1, 3, 4, 2, 1, 2, 2)
    run(device, "Add", x, torch.zeros(1, 1, 1, 4, 1, 1, 1, 1), 1, out)
    assert torch.equal(out, x.expand_as(out))


def test_the_size_of_a_weight_in_nz(device):
    """One call: 2 x 17 x 5 of float16 is 2 x 32 x 16."""
    size = ctypes.c_uint64()
    with aclnn.Call(device, "aclnnPermute", (torch.zeros(1), aclnn.Array([2, 17, 5]), torch.zeros(1))) as call:
        device.check(device.operators.aclnnCalculateMatmulWeightSizeV2(call.values[1], 1, ctypes.byref(size)))
        assert size.value == 2 * 32 * 16 * 2
        for wrong, word in ((28, "dataType is 28"), (29, "dataType")):
            with pytest.raises(aclnn.Failed, match=word):
                device.check(device.operators.aclnnCalculateMatmulWeightSizeV2(call.values[1], wrong, ctypes.byref(size)))
    with pytest.raises(aclnn.Failed, match="tensorShape is null"):
        device.check(device.operators.aclnnCalculateMatmulWeightSizeV2(None, 1, ctypes.byref(size)))


def test_more_than_one_is_subtracted_from_the_count(device):
    """The squares of 1, 2, 4, 8 around 3.75 sum up to 28.75."""
    x, out = torch.tensor([[1.0, 2.0, 4.0, 8.0]]), torch.zeros(1)
    run(device, "VarCorrection", x, aclnn.Array([1]), 2, False, out)
    assert out.item() == 14.375
    run(device, "Std", x, aclnn.Array([1]), 3, False, out)
    assert out.item() == pytest.approx(28.75 ** 0.5)


def test_no_dims_are_all_dims(device):
    out = torch.ones(1, dtype=torch.bool)
    run(device, "All", torch.tensor([[True, False]]), aclnn.Array(), False, out)
    assert not out.item()
    run(device, "Any", torch.tensor([[True, False]]), aclnn.Array(), False, out)
    assert out.item()
    out = torch.zeros(1)
    run(device, "LogSumExp", torch.zeros(2, 2), aclnn.Array(), False, out)
    assert out.item() == pytest.approx(1.3862944)


def test_quotients_of_mixed_integers(device):
    out = torch.zeros(3, dtype=torch.int64)
    run(device, "FloorDivide", torch.tensor([0, 5, 7], dtype=torch.int32), torch.tensor([-1, 2, -3]), out)
    assert out.tolist() == [0, 2, -3]


def test_the_gradient_of_weights_has_their_shape(device):
    grads = torch.zeros(1, 2, 2), torch.zeros(2)
    run(device, "PreluBackward", torch.ones(1, 2, 2), torch.tensor([[[-1.0, 2.0], [-3.0, -4.0]]]), torch.tensor([0.5, 0.25]), *grads)
    assert grads[0].flatten().tolist() == [0.5, 1.0, 0.25, 0.25]
    assert grads[1].tolist() == [-1.0, -7.0]


def test_a_summand_times_zero_is_not_read(device):
    out = torch.zeros(2, 2)
    run(device, "Gemm", torch.eye(2), torch.ones(2, 2), torch.full((2, 2), float("nan")), 2.0, 0.0, 0, 0, out, 0)
    assert out.tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_one_is_added_to_gamma_in_float32(device):
    y, rstd = torch.zeros(1, 2), torch.zeros(1)
    run(device, "GemmaRmsNorm", torch.ones(1, 2, dtype=torch.bfloat16), torch.full((2,), 0.001, dtype=torch.bfloat16), 0.0, y, rstd)
    torch.testing.assert_close(y, torch.full((1, 2), 1.001), rtol=1e-5, atol=0)


def test_whole_ranges_are_exact(device):
    out = torch.zeros(3, dtype=torch.int64)
    long = [(2 ** 53 + place, torch.int64) for place in (1, 4)]
    run(device, "Arange", *long, (1, torch.int64), out)
    assert out.tolist() == [2 ** 53 + place for place in (1, 2, 3)]
    with pytest.raises(aclnn.Failed, match="out has 3 elements; expected 1e\\+1[25]"):
        run(device, "Arange", 0.0, 1e15, 1.0, out)


def test_integers_are_pooled_with_pads(device):
    out = torch.zeros(1, 1, 2, 2, dtype=torch.int64)
    run(device, "MaxPool", torch.full((1, 1, 2, 2), -5), aclnn.Array([2, 2]), aclnn.Array([2, 2]), 0, aclnn.Array([1, 1]),
        aclnn.Array([1, 1]), 0, out)
    assert out.flatten().tolist() == [-5] * 4
    with pytest.raises(aclnn.Failed, match="autoPad is 1; expected 0"):
        run(device, "MaxPool", torch.ones(1, 1, 2, 2), aclnn.Array([2, 2]), aclnn.Array([2, 2]), 1, aclnn.Array([1, 1]),
            aclnn.Array([1, 1]), 0, torch.zeros(1, 1, 2, 2))


def test_outputs_are_all_checked_before_one_is_written(device):
    """Those of Unique2, whose shapes depend on data."""
    outs = [torch.full((count,), 7) for count in (2, 3, 5)]
    with pytest.raises(aclnn.Failed, match="countsOut has shape"):
        run(device, "Unique2", torch.tensor([4, 4, 9]), True, True, True, *outs)
    assert [out.unique().tolist() for out in outs] == [[7], [7], [7]]


def test_places_outside_a_plane_are_refused(device):
    """ATen writes at them without a check."""
    grad = torch.zeros(1, 1, 4, 4)
    with pytest.raises(aclnn.Failed, match="indices has values from -3 to 99; expected 0 to 15"):
        run(device, "MaxPool2dWithIndicesBackward", torch.ones(1, 1, 2, 2), torch.ones(1, 1, 4, 4),
            torch.tensor([[[[0, 99], [-3, 1]]]]), *[aclnn.Array([number] * 2) for number in (2, 2, 0, 1)], False, grad)
    with pytest.raises(aclnn.Failed, match="indices has values from 0 to 16; expected 0 to 15"):
        run(device, "AdaptiveMaxPool2dBackward", torch.ones(1, 1, 1, 2), torch.ones(1, 1, 4, 4),
            torch.tensor([[[[0, 16]]]]), grad)
    with pytest.raises(aclnn.Failed, match="indices has values from -1 to 7; expected 0 to 2"):
        run(device, "EmbeddingDenseBackward", torch.ones(2, 3), torch.tensor([-1, 7]), 3, 2 ** 64 - 1, True, torch.zeros(3, 3))


def test_gradients_of_evaluation_need_no_saved_statistics(device):
    """torch_npu passes those of its forward pass, which are empty."""
    grad, x, weight = torch.randn(2, 3, 4), torch.randn(2, 3, 4), torch.randn(3)
    mean, var, empty = torch.randn(3), torch.rand(3) + 1, torch.empty(0)
    outs = torch.zeros(2, 3, 4), torch.zeros(3), torch.zeros(3)
    run(device, "BatchNormBackward", grad, x, weight, mean, var, empty, empty, False, 1e-5, None, *outs)
    wide = grad.double() / (var.double() + 1e-5).sqrt()[:, None]
    centred = x.double() - mean.double()[:, None]
    for found, wanted in zip(outs, (wide * weight.double()[:, None], (wide * centred).sum((0, 2)), grad.double().sum((0, 2)))):
        assert torch.allclose(found.double(), wanted, rtol=1e-4, atol=1e-5)


def test_labels_and_statistics_are_checked(device):
    out = torch.zeros(2), torch.zeros(2, 4, 3)
    with pytest.raises(aclnn.Failed, match="targets has values from 1 to 1000000; expected 0 to 4"):
        run(device, "CtcLoss", torch.zeros(4, 2, 5), torch.tensor([[1], [10 ** 6]]), aclnn.Array([4, 4]), aclnn.Array([1, 1]), 0,
            False, *out)
    x, channels = torch.ones(2, 3, 4), torch.ones(3)
    with pytest.raises(aclnn.Failed, match="saveMean or saveInvstd is null"):
        run(device, "BatchNormBackward", x, x, channels, channels, channels, None, None, True, 1e-5, None, x.clone(), channels.clone(),
            channels.clone())
    with pytest.raises(aclnn.Failed, match="weight has 2 elements; expected 3, the channels of input"):
        run(device, "BatchNorm", x, torch.ones(2), channels, channels, channels, True, 0.1, 1e-5, x.clone(), channels.clone(), channels.clone())
    with pytest.raises(aclnn.Failed, match="mean and rstd have 1 and 6 elements; expected 6"):
        run(device, "LayerNormBackward", x, x, aclnn.Array([4]), torch.ones(1), torch.ones(6), torch.ones(4), torch.ones(4), None,
            x.clone(), torch.ones(4), torch.ones(4))


def test_a_list_of_scalars_has_no_holes(device):
    with pytest.raises(aclnn.Failed, match="scalars has null as a member; expected a scalar") as info:
        run(device, "ForeachAddScalarList", [torch.ones(2)], [None], [torch.zeros(2)])
    assert info.value.code == 161001


@pytest.mark.parametrize("dtype, wanted", [(torch.float16, 1.8623046875), (torch.bfloat16, 1.6484375)])
def test_a_product_is_rounded_once(device, dtype, wanted):
    """Float16: 1.009765625 ^ 64 = 1.86257; bfloat16: 1.0078125 ^ 64 = 1.64554. Rounded at each step they are 1.8447 and 1.625."""
    x, out = torch.full((64,), 1.01, dtype=dtype), torch.zeros(1, dtype=dtype)
    run(device, "ProdDim", x, 0, True, dtype, out)
    assert out.item() == wanted
    out = torch.zeros((), dtype=dtype)
    run(device, "Prod", x, dtype, out)
    assert out.item() == wanted


def test_float8_is_converted(device):
    x, out = torch.tensor([1.0, -0.3, 448.0, 1.0625]), torch.zeros(4).to(torch.float8_e4m3fn)
    run(device, "Cast", x, torch.float8_e4m3fn, out)
    assert out.view(torch.uint8).tolist() == [0x38, 0xAA, 0x7E, 0x38]  # 1.0625 lies between 1 and 1.125
    back = torch.zeros(4)
    run(device, "Cast", out, torch.float32, back)
    assert back.tolist() == [1.0, -0.3125, 448.0, 1.0]
    with pytest.raises(aclnn.Failed, match="not implemented for 'Float8_e4m3fn'"):
        run(device, "Add", out, out, 1.0, out.clone())


def test_a_block_of_float8(device):
    """The example of the specification's text: 8, 64 and 512 become powers of two of E4M3."""
    x = torch.tensor([[0.0, 8.0, 64.0, 512.0]])
    y, scale = torch.zeros(1, 4).to(torch.float8_e4m3fn), torch.full((1, 1, 2), 9, dtype=torch.uint8).view(torch.float8_e8m0fnu)
    run(device, "DynamicMxQuant", x, -1, "rint", 36, 32, 0, y, scale)
    assert scale.view(torch.uint8).flatten().tolist() == [128, 0]  # 2^(9 - 8)
    assert y.float().tolist() == [[0.0, 4.0, 32.0, 256.0]]
    with pytest.raises(aclnn.Failed, match="scaleAlg is 2; expected 0 to 1"):
        run(device, "DynamicMxQuant", x, -1, "rint", 36, 32, 2, y, scale)
    with pytest.raises(aclnn.Failed, match="blocksize is 16; expected a multiple of 32"):
        run(device, "DynamicMxQuant", x, -1, "rint", 36, 16, 0, y, scale)
    with pytest.raises(aclnn.Failed, match="dstType is 35; expected the number of the dtype of yOut, 36"):
        run(device, "DynamicMxQuant", x, -1, "rint", 35, 32, 0, y, scale)
    with pytest.raises(aclnn.Failed, match="roundModeOptional is floor; expected rint"):
        run(device, "DynamicMxQuant", x, -1, "floor", 36, 32, 0, y, scale)


def test_what_experts_made_is_rounded_before_the_norm(device):
    """1366 * 1.5 = 2049 is no number of float16: 2048. With 1 more that is 2049, and 2048 again; not 2050."""
    tokens, columns = 2, 4
    rows, residual = torch.full((tokens, columns), 1366.0).half(), torch.ones(tokens, 1, columns).half()
    values = {"expandX": rows, "expertIds": torch.zeros(tokens, 1, dtype=torch.int32),
              "assistInfoForCombine": torch.tensor([[0, token, 0] for token in range(tokens)], dtype=torch.int32).flatten(),
              "epSendCounts": torch.tensor([tokens], dtype=torch.int32), "expertScales": torch.full((tokens, 1), 1.5),
              "residualX": residual, "gamma": torch.ones(columns).half(), "groupEp": "group", "epWorldSize": 1, "moeExpertNum": 1,
              "normEps": 1e-5}
    outs = {"yOut": torch.zeros_like(residual), "rstdOut": torch.zeros(tokens, 1, 1), "xOut": torch.zeros_like(residual)}
    function = "aclnnMoeDistributeCombineAddRmsNorm"
    aclnn.call(device, function, *test_families.arguments_of(function, values, outs))
    assert (outs["xOut"] == 2048).all() and (outs["yOut"] == 1).all()


def f(*numbers):
    return torch.tensor(numbers, dtype=torch.float32)


@pytest.mark.parametrize("name, arguments, wanted", [
    ("SquaredRelu", (f(-2, 0, 3),), [0, 0, 9]), ("AddRelu", (f(-3, 1), f(1, 1), 2.0), [0, 3]), ("Softsign", (f(-1, 3),), [-0.5, 0.75]),
    ("AddV3", ((2.0, torch.float32), f(1, 3), 3.0), [5, 11]), ("Rsub", (f(1, 2), f(5, 5), 2.0), [3, 1]),
    ("MaskedScale", (f(2, 3), torch.tensor([1, 0], dtype=torch.uint8), 1.5), [3, 0]),
    ("L1LossBackward", (f(6), f(1, 2, 3), f(3, 2, 1), 1), [-2, 0, 2]), ("TruncateDiv", (f(-7), f(3)), [-2]),
    ("TruncateMod", (f(-7), f(3)), [-1]), ("FastGeluV2", (f(0, 100, -100),), [0, 100, 0]),
    ("CumsumV2", (f(1, 2, 4), 0, True, True), [6, 4, 0]), ("LogitGrad", (f(0.5, 0.25), f(1, 3), -1.0), [4, 16]),
    ("HardshrinkBackward", (f(5, 7), f(0.25, 2), 0.5), [0, 7]), ("Histc", (f(0, 1, 1.5, 9), 2, 0.0, 2.0), [1, 2]),
    ("Bucketize", (f(0.5, 1), f(0.5, 1), False, True), [1, 2]), ("Median", (f(5, 1, 3, 4), 0, True, "values"), [3]),
])
def test_what_a_line_means(device, name, arguments, wanted):
    """Where the line of the table is all that the other tests know."""
    out = torch.zeros(len(wanted))
    if arguments[-1] == "values":
        run(device, name, *arguments[:-1], out, torch.zeros(1, dtype=torch.int64))
    else:
        run(device, name, *arguments, out)
    torch.testing.assert_close(out, f(*wanted))
