# SPDX-License-Identifier: Apache-2.0
"""Norms, rotary_mul, swiglu, geglu, format_cast and scatter_pa_kv_cache of the namespace `npu`.

run.sh runs this file in each mode of ADVANCE_STEP_HOST_OPERATORS.
"""

import math

import llm_reference as reference
import numpy as np
import pytest
import torch
import torch_npu
from llm_cases import TYPES, near, random

from advance_step import _host_operators

native = pytest.mark.skipif(_host_operators.form() != "native", reason="the Python form captures nothing")


@pytest.fixture(params=TYPES, ids=lambda dtype: str(dtype).replace("torch.", ""))
def dtype(request):
    return request.param


def check_gradients(run, plain, tensors, dtype=torch.float32):
    """Compares the gradients of `run` on "npu" with those of the plain formula in float64."""
    npu = [tensor.npu().requires_grad_() for tensor in tensors]
    cpu = [tensor.double().requires_grad_() for tensor in tensors]
    wanted, found = plain(*cpu), run(*npu)
    weights = random(*wanted.shape, seed=9).to(dtype)
    (wanted * weights.double()).sum().backward()
    (found * weights.npu()).sum().backward()
    for one, other in zip(npu, cpu):
        near(one.grad, other.grad.numpy(), dtype)


@pytest.mark.parametrize("dims", (1, 2))
def test_rms_norm(dtype, dims):
    x, gamma = random(2, 3, 4, dtype=dtype), random(4, seed=1, dtype=dtype)
    if dims == 2:
        gamma = random(3, 4, seed=1, dtype=dtype)
    wanted, rstd = reference.rms_norm(x.float(), gamma.float(), 1e-5)
    y, found = torch_npu.npu_rms_norm(x.npu(), gamma.npu(), epsilon=1e-5)
    near(y, wanted, dtype)
    near(found, rstd)
    check_gradients(lambda x, g: torch_npu.npu_rms_norm(x, g, 1e-5)[0],
                    lambda x, g: x * g * (x.square().mean(list(range(-dims, 0)), keepdim=True)
                                          + 1e-5).rsqrt(), (x, gamma), dtype)


def test_add_rms_norm(dtype):
    x1, x2, gamma = (random(5, 8, seed=s, dtype=dtype) for s in range(3))
    gamma = gamma[0].contiguous()
    total = (x1 + x2).float()
    wanted, rstd = reference.rms_norm(total, gamma.float(), 1e-6)
    y, found, x = torch_npu.npu_add_rms_norm(x1.npu(), x2.npu(), gamma.npu())
    near(y, wanted, dtype)
    near(found, rstd)
    near(x, total.numpy(), dtype)
    first, second = x1.npu(), x2.npu()
    near(torch.ops.npu.npu_add_rms_norm_v2(first, second, gamma.npu()), rstd)
    near(first, wanted, dtype)
    near(second, total.numpy(), dtype)


@pytest.mark.parametrize("mode", ("half", "interleave"))
@pytest.mark.parametrize("factors", ((2, 5, 1, 8), (1, 5, 1, 8), (1, 1, 3, 8)))
def test_rotary_mul(dtype, mode, factors):
    x = random(2, 5, 3, 8, dtype=dtype)
    r1, r2 = (random(*factors, seed=s, dtype=dtype) for s in (1, 2))
    near(torch_npu.npu_rotary_mul(x.npu(), r1.npu(), r2.npu(), mode),
         reference.rotary(x.float(), r1.float(), r2.float(), mode), dtype)

    def plain(x, r1, r2):
        order = list(range(4, 8)) + list(range(4)) if mode == "half" else [1, 0, 3, 2, 5, 4, 7, 6]
        signs = [-1] * 4 + [1] * 4 if mode == "half" else [-1, 1] * 4
        return x * r1 + x[..., order] * torch.tensor(signs) * r2

    if dtype == torch.float32:
        check_gradients(lambda *t: torch_npu.npu_rotary_mul(*t, mode), plain, (x, r1, r2))


def test_rotary_mul_with_a_matrix():
    x, r1, r2, rotate = random(1, 2, 3, 4), random(1, 2, 1, 4), random(1, 2, 1, 4), random(4, 4, seed=5)
    near(torch_npu.npu_rotary_mul(x.npu(), r1.npu(), r2.npu(), "half", rotate.npu()),
         (x * r1 + (x @ rotate) * r2).numpy())


@pytest.mark.parametrize("dim", (-1, 0, 1))
def test_swiglu(dtype, dim):
    x = random(4, 6, 8, dtype=dtype)
    near(torch_npu.npu_swiglu(x.npu(), dim), reference.swiglu(x.float(), dim), dtype)

    def plain(x):
        first, second = x.chunk(2, dim)
        return first * torch.sigmoid(first) * second

    check_gradients(lambda x: torch_npu.npu_swiglu(x, dim=dim), plain, (x,), dtype)


GELU = (lambda x: x * (1 + math.erf(x / math.sqrt(2))) / 2,
        lambda x: x * (1 + math.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3))) / 2)


@pytest.mark.parametrize("dim, approximate, left", ((-1, 1, False), (0, 0, False), (1, 1, True), (2, 0, True)))
def test_geglu(dtype, dim, approximate, left):
    x = random(4, 6, 8, dtype=dtype)
    options = {"dim": dim, "approximate": approximate, "activate_left": left}
    for found, wanted in zip(torch_npu.npu_geglu(x.npu(), **options),
                             reference.geglu(x.float(), dim, GELU[approximate], left)):
        near(found, wanted, dtype)

    def plain(x):
        plain, gate = x.chunk(2, dim)[::-1] if left else x.chunk(2, dim)
        return plain * torch.nn.functional.gelu(gate, approximate=("none", "tanh")[approximate])

    check_gradients(lambda x: torch_npu.npu_geglu(x, **options)[0], plain, (x,), dtype)


def test_geglu_has_diffusers_defaults():
    x = random(3, 8)
    near(torch_npu.npu_geglu(x.npu())[0], reference.geglu(x, -1, GELU[1])[0])


def test_format_cast():
    x = torch.arange(6.).reshape(2, 3)
    for acl_format in (2, 29, 30):
        near(torch_npu.npu_format_cast(x.npu(), acl_format), x.numpy())
        near(torch_npu.npu_format_cast_(x.npu(), acl_format), x.numpy())
    near(torch.ops.npu.npu_format_cast.Tensor(x.npu(), torch.zeros(1, device="npu")), x.numpy())
    near(torch_npu.npu_format_cast_(torch.zeros(2, 3, device="npu"), x.npu()), x.numpy())
    with pytest.raises(NotImplementedError, match="customize_dtype"):
        torch_npu.npu_format_cast(x.npu(), 29, customize_dtype=1)


class Scatter:
    """Keys and values [tokens, heads, dim] and zeroed caches of 4 blocks of 8."""

    def __init__(self, dtype=torch.float32, nz=False, slots=(3, 31, 0, 9), slot_type=torch.int64):
        self.tokens = [random(len(slots), 2, size, seed=size, dtype=dtype) for size in (16, 32)]
        shapes = [(4, 2 * size // 16, 8, 16) if nz else (4, 8, 2, size) for size in (16, 32)]
        self.caches = [torch.zeros(shape, dtype=dtype, device="npu") for shape in shapes]
        self.slots = torch.tensor(slots, dtype=slot_type, device="npu")
        self.on_npu = [tokens.npu() for tokens in self.tokens]

    def launch(self, **options):
        torch_npu.npu_scatter_pa_kv_cache(*self.on_npu, *self.caches, self.slots, **options)

    def check(self, slots, nz=False):
        for tokens, cache in zip(self.tokens, self.caches):
            wanted = np.zeros(cache.shape)
            for row, slot in enumerate(slots):
                token = tokens[row].float().numpy()
                if nz:
                    wanted[slot // 8, :, slot % 8] = token.reshape(-1, 16)
                else:
                    wanted[slot // 8, slot % 8] = token
            np.testing.assert_array_equal(cache.cpu().float().numpy(), wanted)


@pytest.mark.parametrize("slot_type", (torch.int32, torch.int64))
@pytest.mark.parametrize("mode", ("Norm", None, "PA_NZ"))
def test_scatter(dtype, mode, slot_type):
    scatter = Scatter(dtype, nz=mode == "PA_NZ", slot_type=slot_type)
    scatter.launch(cache_mode=mode)
    scatter.check((3, 31, 0, 9), nz=mode == "PA_NZ")


def test_scatter_takes_a_cache_for_its_shape():
    """A cache that format_cast was to make NZ keeps its shape."""
    scatter = Scatter()
    scatter.caches = [torch_npu.npu_format_cast(cache, 29) for cache in scatter.caches]
    scatter.launch()
    scatter.check((3, 31, 0, 9))


@pytest.mark.parametrize("slot", (32, -1, 1 << 40))
def test_a_wrong_slot_is_named_and_nothing_is_written(slot):
    scatter = Scatter(slots=(3, 31, slot, 9))
    with pytest.raises((RuntimeError, IndexError),
                       match=rf"npu_scatter_pa_kv_cache.*row 2 has slot {slot}; expected "
                       r"0 <= slot < 32, the number of slots \(4 blocks of 8\)"):
        scatter.launch(cache_mode="Norm")
        torch.npu.synchronize()
    scatter.check(())
    scatter.slots.copy_(torch.tensor([3, 31, 0, 9]))
    scatter.launch(cache_mode="Norm")
    scatter.check((3, 31, 0, 9))


@native
def test_scatter_in_a_graph_and_a_wrong_slot_of_a_replay():
    scatter, graph = Scatter(), torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        scatter.launch(cache_mode="Norm")
    scatter.check(())
    for slots in ((1, 2, 3, 4), (31, 30, 0, 8)):
        for cache in scatter.caches:
            cache.zero_()
        scatter.slots.copy_(torch.tensor(slots))
        graph.replay()
        scatter.check(slots)
    scatter.slots.copy_(torch.tensor([1, 2, 3, 99]))
    graph.replay()
    with pytest.raises(RuntimeError, match="row 3 has slot 99; expected 0 <= slot < 32"):
        torch.npu.synchronize()
    scatter.check((31, 30, 0, 8))


@pytest.mark.parametrize("change, name", (
    (lambda s: s.launch(seq_lens=s.slots), "seq_lens"),
    (lambda s: s.launch(cache_mode="ND"), "cache_mode"),
    (lambda s: torch_npu.npu_scatter_pa_kv_cache(*s.on_npu, *s.caches, s.slots[:2]), "slot_mapping"),
    (lambda s: torch_npu.npu_scatter_pa_kv_cache(*s.on_npu, s.caches[1], s.caches[1], s.slots),
     "key_cache"),
    (lambda s: torch_npu.npu_scatter_pa_kv_cache(s.on_npu[0][0], s.on_npu[1], *s.caches, s.slots), "key"),
    (lambda s: torch_npu.npu_rms_norm(s.on_npu[0], s.on_npu[0][0, 0, :3]), "gamma"),
    (lambda s: torch_npu.npu_rms_norm(s.slots, s.slots), "input"),
    (lambda s: torch_npu.npu_rotary_mul(s.on_npu[0], s.on_npu[0], s.on_npu[1]), "r2"),
    (lambda s: torch_npu.npu_rotary_mul(*[s.on_npu[0]] * 3, "third"), "rotary_mode"),
    (lambda s: torch_npu.npu_swiglu(s.on_npu[0], 7), "dim"),
    (lambda s: torch_npu.npu_swiglu(s.on_npu[0][..., :3]), "input"),
    (lambda s: torch_npu.npu_geglu(s.on_npu[0], -4), "dim"),
    (lambda s: torch_npu.npu_geglu(s.on_npu[0], approximate=2), "approximate"),
    (lambda s: torch_npu.npu_geglu(s.slots), "input"),
))
def test_bad_arguments_are_named(change, name):
    with pytest.raises((ValueError, NotImplementedError), match=rf"^npu_\w+: {name} is "):
        change(Scatter())
    torch.npu.synchronize()


@native
def test_a_layer_in_a_graph():
    x, gamma = torch.zeros(3, 8, device="npu"), random(8).npu()
    graph = torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        normed = torch_npu.npu_rms_norm(x, gamma)[0]
        result = torch_npu.npu_swiglu(torch_npu.npu_rotary_mul(normed, gamma, gamma))
    for seed in range(3):
        fresh = random(3, 8, seed=seed)
        x.copy_(fresh)
        graph.replay()
        wanted = reference.rms_norm(fresh, gamma.cpu(), 1e-6)[0]
        near(result, reference.swiglu(reference.rotary(wanted, gamma.cpu(), gamma.cpu(), "half"), -1))


def test_autocast_changes_no_result():
    x, gamma = random(4, 8), random(8, seed=1)
    with torch.autocast("npu", dtype=torch.bfloat16):
        near(torch_npu.npu_rms_norm(x.npu(), gamma.npu())[0], reference.rms_norm(x, gamma, 1e-6)[0])
        q = random(1, 3, 8).npu()
        near(torch_npu.npu_fused_infer_attention_score(q, q, q, num_heads=2)[0],
             reference.attend(*[q.cpu()[0].reshape(3, 2, 4)] * 3, 1.0,
                              lambda *_: False)[0].reshape(1, 3, 8))
