# SPDX-License-Identifier: Apache-2.0
"""Operators of the namespace `npu` that are a line or two of torch's operations."""

import pytest
import torch
import torch_npu

functional = torch.nn.functional
npu = torch.ops.npu


@pytest.fixture
def given():
    return torch.tensor([[-1., 2, 3, 4], [0, 5, -6, 7]], device="npu", requires_grad=True)


def gradients(result, *leaves):
    return torch.autograd.grad(result.square().sum(), leaves)


def close(found, expected):
    return all(torch.allclose(one, other) for one, other in zip(found, expected))


def test_silu(given):
    assert torch.equal(npu.npu_silu(given), functional.silu(given))
    assert close(gradients(npu.npu_silu(given), given), gradients(functional.silu(given), given))
    plain = given.detach().clone()
    assert npu.npu_silu_(plain) is plain and torch.equal(plain, functional.silu(given))


def test_linear(given):
    weight, bias = (torch.randn(*shape).npu().requires_grad_() for shape in ((3, 4), (3,)))
    for arguments in ((given, weight, bias), (given, weight)):
        assert close([torch_npu.npu_linear(*arguments)], [functional.linear(*arguments)])
        assert close(gradients(torch_npu.npu_linear(*arguments), *arguments),
                     gradients(functional.linear(*arguments), *arguments))


@pytest.mark.parametrize("name", ("max", "min"))
def test_extrema_have_indices_of_int32(given, name):
    for arguments in ((1,), (0, True)):
        values, indices = getattr(npu, f"npu_{name}").dim(given, *arguments)
        expected = getattr(torch, name)(given, *arguments)
        assert indices.dtype == torch.int32 and torch.equal(indices.long(), expected.indices)
        assert close(gradients(values, given), gradients(expected.values, given))


def test_slice(given):
    tensor = given.detach()
    assert torch.equal(torch_npu.npu_slice(tensor, [0, 1], [2, -1]), tensor[:, 1:])
    out = torch.empty(1, 2, device="npu")
    assert npu.npu_slice.out(tensor, [1, 0], [1, 2], out=out) is out
    assert torch.equal(out, tensor[1:, :2])
    for offsets, size, name in (([0], [1, 1], "offsets"), ([0, 5], [1, 1], "offsets"),
                                ([0, 1], [1, 4], "size"), ([0, 0], [1], "size")):
        with pytest.raises(ValueError, match=f"npu_slice: {name} is"):
            torch_npu.npu_slice(tensor, offsets, size)


def test_dropout_keeps_what_its_mask_says():
    given = torch.ones(5, 60, device="npu", requires_grad=True)
    torch.npu.manual_seed(5)
    kept, mask = torch_npu._npu_dropout(given, 0.25)
    assert mask.dtype == torch.uint8 and mask.numel() == 384 // 8
    gradient, = torch.autograd.grad(kept.sum(), given)
    assert torch.equal(gradient, kept) and set(kept.unique().tolist()) == {0, torch.tensor(4 / 3).item()}
    assert 180 < kept.count_nonzero().item() < 270
    assert torch.equal(npu.npu_dropout_do_mask(given, mask, 0.25)[0], kept)
    torch.npu.manual_seed(5)
    again = torch_npu.npu_dropout_gen_mask([300], p=0.25, device="npu")
    assert torch.equal(again, mask)
    with pytest.raises(ValueError, match="npu_dropout_backward: mask is .*; expected 48 elements"):
        npu.npu_dropout_backward(given, mask[1:], 0.25)


def test_a_mask_of_a_seed_follows_from_it():
    like, before = torch.ones(1, device="npu"), torch.npu.get_rng_state()

    def make(seed, offset):
        return npu._npu_dropout_gen_mask.Tensor(like, [300], 0.3, seed, offset)

    assert torch.equal(make(5, 0), make(5, 0)) and not torch.equal(make(5, 0), make(6, 0))
    assert not torch.equal(make(5, 0), make(5, 160))
    assert torch.equal(torch.npu.get_rng_state(), before)


def test_batch_norm_reduce():
    given = torch.randn(2, 3, 4).half()
    total, squares = npu.batch_norm_reduce(given.npu(), 1e-5)
    assert close((total.cpu(), squares.cpu()),
                 (given.float().sum((0, 2)), given.float().square().sum((0, 2))))


def test_quarters_of_a_rotary_embedding_turn_alone():
    given, r1, r2 = (torch.randn(1, 2, 1, 8).npu().requires_grad_() for _ in range(3))

    def expected():
        one, two, three, four = given.chunk(4, -1)
        return given * r1 + torch.cat((-two, one, -four, three), -1) * r2

    found = torch_npu.npu_rotary_mul(given, r1, r2, "quarter")
    assert close([found], [expected()])
    assert close(gradients(found, given, r1, r2), gradients(expected(), given, r1, r2))
    with pytest.raises(ValueError, match="expected a last dimension that 4 divides"):
        torch_npu.npu_rotary_mul(*(tensor[..., :6] for tensor in (given, r1, r2)), "quarter")


@pytest.mark.parametrize("maximize", (False, True))
@pytest.mark.parametrize("amsgrad", (False, True))
def test_apply_adam_w_is_the_step_of_torchs_optimizer(maximize, amsgrad):
    """Two steps; torch's own AdamW is the reference."""
    here = torch.nn.Parameter(torch.linspace(-2, 2, 12).reshape(3, 4))
    optimizer = torch.optim.AdamW([here], lr=0.1, betas=(0.8, 0.95), eps=1e-6, weight_decay=0.02, maximize=maximize)
    out = [here.detach().clone().npu(), torch.zeros(3, 4).npu(), torch.zeros(3, 4).npu()]
    for step in range(2):
        grad = torch.sin(torch.arange(12.).reshape(3, 4) + step)
        here.grad = grad
        optimizer.step()
        largest = torch.zeros(3, 4).npu() if amsgrad else None
        result = torch_npu.npu_apply_adam_w(0.8 ** step, 0.95 ** step, 0.1, 0.02, 0.8, 0.95, 1e-6, grad.npu(),
                                            largest, amsgrad, maximize, out=out)
        assert close([out[0].cpu()], [here.detach()])
        assert [one.data_ptr() for one in result] == [one.data_ptr() for one in out]
    with pytest.raises(ValueError, match="npu_apply_adam_w: max_grad_norm is None; expected a tensor"):
        torch_npu.npu_apply_adam_w(0.8, 0.9, 0.1, 0., 0.8, 0.9, 1e-6, out[1], None, True, False, out=out)


def test_the_largest_moment_divides_with_amsgrad():
    out = [torch.zeros(2).npu(), torch.zeros(2).npu(), torch.zeros(2).npu()]
    torch_npu.npu_apply_adam_w(0., 0., 1., 0., 0.5, 0.75, 0., torch.ones(2).npu(), torch.tensor([4., 0.25]).npu(), True,
                               False, out=out)
    assert out[0].tolist() == [-0.25, -1] and out[1].tolist() == [0.5, 0.5] and out[2].tolist() == [4, 0.25]


def test_bert_apply_adam():
    out = [torch.tensor([1., -2.]).npu(), torch.tensor([0.5, 0.]).npu(), torch.tensor([1., 0.]).npu()]
    result = torch_npu.npu_bert_apply_adam(0.1, 0.5, 0.75, 0.5, torch.tensor([4., -2.]).npu(), 2., 4., 0.25, out=out)
    # The norm of 4 becomes 2, so the gradient is [2, -1]: m = [1.25, -0.5], v = [1.75, 0.25].
    root = 1.75 ** 0.5
    assert close([result[0].cpu()], [torch.tensor([1 - 0.1 * (1.25 / (root + 0.5) + 0.25),
                                                   -2 - 0.1 * (-0.5 / (0.5 + 0.5) - 0.5)])])
    assert out[1].tolist() == [1.25, -0.5] and out[2].tolist() == [1.75, 0.25]
    torch_npu.npu_bert_apply_adam(0.1, 0.5, 0.75, 0.5, torch.tensor([4., -2.]).npu(), -1., 4., 0.25, out=out)
    assert out[1].tolist() == [2.625, -1.25]  # nothing is cut
    with pytest.raises(NotImplementedError, match="npu_bert_apply_adam: adam_mode is 1"):
        torch_npu.npu_bert_apply_adam(0.1, 0.5, 0.75, 0.5, out[1], -1., 4., 0.25, adam_mode=1, out=out)
    with pytest.raises(ValueError, match="npu_bert_apply_adam: m is a float32 tensor of shape \\[3\\]"):
        torch_npu.npu_bert_apply_adam(0.1, 0.5, 0.75, 0.5, out[0], -1., 4., 0., out=[out[0], torch.zeros(3).npu(), out[2]])
