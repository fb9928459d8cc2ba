# SPDX-License-Identifier: Apache-2.0
"""Published packages, unchanged, and what their training loops use: "npu" equals "cpu"."""

import copy
import pathlib

import pytest
import torch
import torch_npu

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"


def configuration(transformers, kind):
    small = {"vocab_size": 96, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2,
             "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 64,
             "bos_token_id": 1, "eos_token_id": None, "pad_token_id": 0}
    if kind == "Mixtral":
        small.update(num_local_experts=4, num_experts_per_tok=2)
    return getattr(transformers, f"{kind}Config")(**small)


@pytest.mark.parametrize("kind", ["Llama", "Qwen2", "Qwen3", "Mixtral"])
def test_transformers_generates_the_tokens_of_cpu(kind):
    import transformers

    torch.manual_seed(5)
    model = getattr(transformers, f"{kind}ForCausalLM")(configuration(transformers, kind)).eval()
    prompt = torch.randint(2, 96, (2, 7))
    mask = torch.ones_like(prompt)
    mask[0, :3] = 0  # padding on the left
    options = {"max_new_tokens": 8, "do_sample": False, "return_dict_in_generate": True,
               "output_logits": True}
    expected = model.generate(prompt, attention_mask=mask, **options)
    model.npu()
    for cache in ("dynamic", "static"):
        found = model.generate(prompt.npu(), attention_mask=mask.npu(), cache_implementation=cache,
                               disable_compile=True, **options)
        assert torch.equal(found.sequences.cpu(), expected.sequences), cache
        # The tokens of random weights change with large errors only.
        for mine, wanted in zip(found.logits, expected.logits, strict=True):
            torch.testing.assert_close(mine.cpu(), wanted, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.float32])
def test_histc_counts_integers_too(dtype):
    values = torch.randint(0, 6, (100,), generator=torch.Generator().manual_seed(4))
    mine = torch.histc(values.to(dtype).npu(), bins=6, min=0, max=5)
    assert mine.dtype == dtype and mine.cpu().tolist() == torch.bincount(values, minlength=6).tolist()


def small_network():
    torch.manual_seed(2)
    return torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.GELU(), torch.nn.LayerNorm(32),
                               torch.nn.Linear(32, 3))


def batches():
    generator = torch.Generator().manual_seed(3)
    return [(torch.randn(16, 8, generator=generator),
             torch.randint(0, 3, (16,), generator=generator)) for _ in range(4)]


def same_parameters(mine, expected):
    for one, other in zip(mine.parameters(), expected.parameters(), strict=True):
        assert torch.equal(one.detach().cpu(), other.detach())


def test_accelerate_trains_as_on_cpu():
    import accelerate

    model = small_network()
    expected = copy.deepcopy(model)
    optimizer = torch.optim.SGD(expected.parameters(), lr=0.1)
    for values, labels in batches():
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(expected(values), labels).backward()
        torch.nn.utils.clip_grad_norm_(expected.parameters(), 1.0)
        optimizer.step()
    accelerator = accelerate.Accelerator()
    assert accelerator.device.type == "npu"
    model, optimizer, loader = accelerator.prepare(
        model, torch.optim.SGD(model.parameters(), lr=0.1),
        torch.utils.data.DataLoader(batches(), batch_size=None))
    for values, labels in loader:
        assert values.device.type == "npu"
        optimizer.zero_grad()
        accelerator.backward(torch.nn.functional.cross_entropy(model(values), labels))
        accelerator.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
    same_parameters(accelerator.unwrap_model(model), expected)


def steps(device, dtype, scaled):
    """Trains under autocast, with a gradient that overflows in the second step."""
    model = small_network().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    scaler = torch.amp.GradScaler(device, init_scale=2.0**10, growth_interval=2, enabled=scaled)
    scales = []
    for step, (values, labels) in enumerate(batches()):
        optimizer.zero_grad()
        with torch.autocast(device, dtype=dtype):
            out = model(values.to(device))
            assert out.dtype == (torch.float32 if dtype is None else dtype)
            loss = torch.nn.functional.cross_entropy(out, labels.to(device))
        scaler.scale(loss * (float("inf") if scaled and step == 1 else 1)).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        scales.append(scaler.get_scale())
    return model, scales


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("scaled", [False, True])
def test_autocast_and_grad_scaler(dtype, scaled):
    mine, scales = steps("npu", dtype, scaled)
    expected, wanted = steps("cpu", dtype, scaled)
    assert scales == wanted
    # torch_npu and "cpu" have lists of their own of what autocast lowers.
    for one, other in zip(mine.parameters(), expected.parameters(), strict=True):
        torch.testing.assert_close(one.detach().cpu(), other.detach(), rtol=2e-2, atol=2e-2)


def test_checkpointing_keeps_gradients_and_draws():
    from torch.utils.checkpoint import checkpoint

    def gradients(use):
        torch.manual_seed(7)
        model = torch.nn.Sequential(torch.nn.Linear(8, 32), torch.nn.Dropout(0.5),
                                    torch.nn.Linear(32, 3)).npu()
        values = batches()[0][0].npu().requires_grad_()
        torch.npu.manual_seed(11)
        use(model, values).square().sum().backward()
        return [values.grad.cpu(), *(parameter.grad.cpu() for parameter in model.parameters())]

    expected = gradients(lambda model, values: model(values))
    for reentrant in (False, True):
        mine = gradients(lambda model, values: checkpoint(model, values, use_reentrant=reentrant))
        assert all(map(torch.equal, mine, expected)), reentrant


def test_compile_with_the_eager_backend():
    model = small_network()
    values, labels = batches()[0]

    def run(model, values, labels):
        out = model(values)
        if out.sum() > 1e6:  # a break of the graph
            out = out * 0
        return torch.nn.functional.cross_entropy(out, labels)

    expected = run(model, values, labels)
    expected.backward()
    wanted = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    model.npu()
    loss = torch.compile(run, backend="eager")(model, values.npu(), labels.npu())
    loss.backward()
    assert torch.equal(loss.cpu(), expected)
    for parameter, grad in zip(model.parameters(), wanted, strict=True):
        assert torch.equal(parameter.grad.cpu(), grad)


@pytest.mark.parametrize("backend", ["aot_eager", "npugraphs", "npugraph_ex"])
def test_compile_for_inference(backend, monkeypatch):
    torch._dynamo.reset()
    replays = []
    replay = torch.npu.NPUGraph.replay
    monkeypatch.setattr(torch.npu.NPUGraph, "replay", lambda graph: replays.append(1) or replay(graph))
    model = small_network().npu()
    compiled = torch.compile(model, backend=backend)
    with torch.no_grad():
        for seed in range(4):
            values = torch.randn(5, 8, generator=torch.Generator().manual_seed(seed)).npu()
            torch.testing.assert_close(compiled(values), model(values))
    assert bool(replays) == (backend != "aot_eager")


OPTIMIZERS = {"Adadelta": {}, "Adafactor": {}, "Adagrad": {}, "Adam": {"amsgrad": True}, "AdamW": {},
              "Adamax": {}, "ASGD": {}, "NAdam": {}, "RAdam": {}, "RMSprop": {"momentum": 0.9},
              "Rprop": {}, "SGD": {"momentum": 0.9, "nesterov": True}}


@pytest.mark.parametrize("foreach", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_optimizers(name, foreach):
    def trained(device):
        model = small_network().to(device)
        optimizer = getattr(torch.optim, name)(model.parameters(), lr=0.01, foreach=foreach,
                                               **OPTIMIZERS[name])
        for values, labels in batches()[:3]:
            optimizer.zero_grad()
            torch.nn.functional.cross_entropy(model(values.to(device)),
                                              labels.to(device)).backward()
            optimizer.step()
        return model

    same_parameters(trained("npu"), trained("cpu"))


def test_the_example_of_two_ranks(program):
    done = program.run(EXAMPLES / "torch_npu_train.py", OMP_NUM_THREADS="1")
    assert "2 ranks, 50 steps: loss" in done.stdout
