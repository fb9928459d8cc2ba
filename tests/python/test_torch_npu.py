# SPDX-License-Identifier: Apache-2.0
"""The emulation of torch_npu: the operator, its order among torch functions, streams."""

import copy
import threading
import warnings

import advance_step
import pytest
import reference
from batches import NAMES, as_torch, batch, expect_state
from test_streams import held

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch
    import torch_npu


def on_npu(state, index=0):
    return as_torch(state, NAMES, f"npu:{index}")


def ready(seed=1, index=0):
    """A batch whose tensors have been used once."""
    state, *sizes = batch(seed, num_seqs=12, num_queries=9, block_size=4, columns=16)
    state["seq_lens"] = [3] * 12
    tensors = on_npu(state, index)
    torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
    torch.npu.synchronize(index)
    return reference.advance(state, *sizes), sizes, tensors


CALLS = {
    "torch_npu": lambda *a, **k: torch_npu.npu_advance_step_flashattn(*a, **k),
    "torch.ops": lambda *a, **k: torch.ops.npu.npu_advance_step_flashattn(*a, **k),
    "overload": lambda *a, **k: torch.ops.npu.npu_advance_step_flashattn.default(*a, **k),
}


def test_documentation_example():
    """As a user would type it."""
    for seed in range(20):
        torch.manual_seed(seed)
        num_seqs = 16
        num_queries = 8
        block_size = 8

        input_tokens = torch.randint(10, size=(num_seqs,), dtype=torch.int64, device="npu")
        sampled_token_ids = torch.randint(10, size=(num_queries, 1), dtype=torch.int64,
                                          device="npu")
        input_positions = torch.randint(10, size=(num_seqs,), dtype=torch.int64, device="npu")
        seq_lens = torch.randint(10, size=(num_seqs,), dtype=torch.int64, device="npu")
        slot_mapping = torch.randint(10, size=(num_seqs,), dtype=torch.int64, device="npu")
        block_tables = torch.randint(10, size=(num_seqs, torch.max(seq_lens) // block_size + 1),
                                     dtype=torch.int64, device="npu")
        tensors = (input_tokens, sampled_token_ids, input_positions, seq_lens, slot_mapping,
                   block_tables)
        state = {name: tensor.cpu().tolist() for name, tensor in zip(NAMES, tensors)}
        state["sampled_token_ids"] = [row[0] for row in state["sampled_token_ids"]]

        torch_npu.npu_advance_step_flashattn(input_tokens, sampled_token_ids, input_positions,
                                             seq_lens, slot_mapping, block_tables, num_seqs,
                                             num_queries, block_size)
        expect_state(tensors, reference.advance(state, num_seqs, num_queries, block_size))


def test_speculative_example():
    """Random positions usually leave the table: a data error, and nothing is written."""
    torch.manual_seed(0)
    num_seqs, spec, block_size = 16, 2, 8
    rows = num_seqs * (spec + 1)

    def draw(*size):
        return torch.randint(10, size=size, dtype=torch.int64, device="npu")

    input_tokens, input_positions, seq_lens, slot_mapping = (draw(rows) for _ in range(4))
    sampled, spec_token, accepted = draw(num_seqs, spec + 1), draw(num_seqs, spec), draw(num_seqs)
    narrow, wide = draw(num_seqs, 2), draw(num_seqs, 4)
    arguments = (input_tokens, sampled, input_positions, seq_lens, slot_mapping)
    before = [tensor.tolist() for tensor in arguments]
    torch_npu.npu_advance_step_flashattn(*arguments, narrow, num_seqs, num_seqs, block_size,
                                         spec_token=spec_token, accepted_num=accepted)
    with pytest.raises(RuntimeError, match="of blockTables; expected column < maxBlocks = 2"):
        torch.npu.synchronize()
    assert before == [tensor.tolist() for tensor in arguments]
    positions = (input_positions + accepted.repeat_interleave(spec + 1) + 1).tolist()
    torch_npu.npu_advance_step_flashattn(*arguments, wide, num_seqs, num_seqs, block_size,
                                         spec_token=spec_token, accepted_num=accepted)
    assert input_positions.tolist() == positions


@pytest.mark.parametrize("how", CALLS)
def test_random_batches(how):
    for seed in range(60):
        state, *sizes = batch(seed)
        tensors = on_npu(state)
        try:
            wanted = reference.advance(state, *sizes)
        except reference.DataFault:
            continue
        assert CALLS[how](*tensors, *sizes) is None
        expect_state(tensors, wanted)


@pytest.mark.parametrize("how", CALLS)
def test_one_optional_tensor_alone(how):
    state, sizes, tensors = ready()
    with pytest.raises(RuntimeError, match="acceptedNum is null") as caught:
        CALLS[how](*tensors, *sizes, spec_token=tensors[5])
    assert caught.value.code == 161001
    expect_state(tensors, state)


def test_schema():
    schema = torch.ops.npu.npu_advance_step_flashattn.default._schema
    written = [argument.name for argument in schema.arguments
               if argument.alias_info is not None and argument.alias_info.is_write]
    assert written == ["input_tokens", "input_positions", "seq_lens", "slot_mapping"]
    assert [argument.name for argument in schema.arguments] == [
        *NAMES, "num_seqs", "num_queries", "block_size", "spec_token", "accepted_num"]
    assert [argument.kwarg_only for argument in schema.arguments] == [False] * 9 + [True] * 2
    assert not schema.returns


def test_call_by_names():
    state, sizes, tensors = ready()
    names = dict(zip(("num_seqs", "num_queries", "block_size"), sizes))
    torch_npu.npu_advance_step_flashattn(**dict(zip(NAMES, tensors)), **names)
    expect_state(tensors, reference.advance(state, *sizes))


@pytest.mark.parametrize("how", CALLS)
@pytest.mark.parametrize("at", range(6))
def test_tensors_elsewhere(how, at):
    state, sizes, tensors = ready()
    for spoilt, where in ((tensors[at].cpu(), "cpu"), (tensors[at].to("npu:1"), "npu:1")):
        given = [*tensors[:at], spoilt, *tensors[at + 1:]]
        with pytest.raises(RuntimeError, match="is on .*; expected npu:"):
            CALLS[how](*given, *sizes)
    expect_state(tensors, state)


def test_all_tensors_on_the_cpu():
    state, *sizes = batch(1)
    tensors = as_torch(state)
    with pytest.raises(RuntimeError, match="input_tokens is on cpu; expected npu:0"):
        torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
    expect_state(tensors, state)


@pytest.mark.parametrize("spoil, text", (
    (lambda t: t[0].to(torch.int32), "inputTokens has dtype"),
    (lambda t: t[0][:-1].clone(), "inputTokens has shape"),
    (lambda t: t[0].repeat_interleave(2)[::2], "inputTokens"),
    (lambda t: t[2], "overlap"),
))
def test_refusals(spoil, text):
    state, sizes, tensors = ready()
    with pytest.raises(advance_step.ArgumentError, match=text):
        torch_npu.npu_advance_step_flashattn(spoil(tensors), *tensors[1:], *sizes)
    expect_state(tensors, state)


READS = {
    "sum": lambda t: t[3].sum().item(), "int": lambda t: int(t[3][0]), "repr": lambda t: repr(t[3]),
    "add": lambda t: (t[3] + 1).tolist(), "cpu": lambda t: t[3].cpu().tolist(),
    "iterate": lambda t: [int(entry) for entry in t[3]], "format": lambda t: f"{t[3][0]:d}",
    "max": lambda t: torch.max(t[3]).item(), "stack": lambda t: torch.stack(t[2:5]).tolist(),
    "copy_": lambda t: torch.zeros(12, dtype=torch.int64).copy_(t[3]).tolist(),
    "deepcopy": lambda t: copy.deepcopy(t[3]).tolist(), "to": lambda t: t[3].to("npu:1").tolist(),
    "as_tensor": lambda t: torch.as_tensor(t[3], device="cpu").tolist(),
    "new_tensor": lambda t: t[3].new_tensor(t[3].tolist()).tolist(),
    "tensor of parts": lambda t: torch.tensor([t[3][0], t[3][1]]).tolist(),
    "size": lambda t: torch.zeros(2, t[3][0]).shape,
}


@pytest.mark.parametrize("name", READS)
def test_torch_functions_come_after_queued_work(name):
    state, sizes, tensors = ready()
    wanted = reference.advance(state, *sizes)
    expected = READS[name]([torch.tensor(wanted[name]) for name in NAMES])
    with held(torch.npu.current_stream()) as gate:
        torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
        opener = threading.Timer(0.02, gate.open)
        opener.start()
        got = READS[name](tensors)
        assert opener.finished.is_set()
    assert (got.replace(", device='npu:0'", "") if name == "repr" else got) == expected


@pytest.mark.parametrize("name", ("tensor", "as_tensor"))
def test_parts_that_were_taken_before(name):
    state, sizes, tensors = ready()
    parts = [tensors[3][0], tensors[3][1]]
    with held(torch.npu.current_stream()) as gate:
        torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
        threading.Timer(0.02, gate.open).start()
        wanted = reference.advance(state, *sizes)["seq_lens"]
        assert getattr(torch, name)(parts).tolist() == wanted[:2]


def test_torch_functions_come_after_events_of_other_streams():
    state, sizes, tensors = ready()
    first, second = torch.npu.Stream(), torch.npu.Stream()
    with held(first) as gate:
        with torch.npu.stream(first):
            torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
        second.wait_stream(first)
        with torch.npu.stream(second):
            threading.Timer(0.02, gate.open).start()
            assert tensors[3].tolist() == reference.advance(state, *sizes)["seq_lens"]


def test_attributes_do_not_wait():
    _, sizes, tensors = ready()
    with held(torch.npu.current_stream()) as gate:
        torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
        assert tensors[0].shape == (12,) and tensors[0].dtype == torch.int64
        assert str(tensors[0].device) == "npu:0" and tensors[0].is_npu and not tensors[0].is_cpu
        assert torch.npu.current_stream().dirty
        gate.open()


def test_data_error_shows_at_the_next_torch_function():
    state, sizes, tensors = ready()
    tensors[3][4] = state["seq_lens"][4] = 64
    torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
    with pytest.raises(RuntimeError, match="query 4: position 64"):
        tensors[0].tolist()
    expect_state(tensors, state)


def test_two_streams():
    state, sizes, tensors = ready()
    first, second = torch.npu.Stream(), torch.npu.Stream()
    with held(first) as gate:
        with torch.npu.stream(first):
            assert torch.npu.current_stream() is first
            torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
            event = torch.npu.Event()
            event.record()
        with torch.npu.stream(second):
            second.wait_event(event)
            torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
            assert not second.query() and not event.query()
            gate.open()
            got = [tensor.tolist() for tensor in tensors]  # waits for the second stream only
    assert torch.npu.current_stream() is torch.npu.default_stream()
    wanted = reference.advance(reference.advance(state, *sizes), *sizes)
    assert got[2:5] == [wanted[name] for name in NAMES[2:5]]


def test_second_device():
    state, sizes, tensors = ready(index=1)
    assert {str(tensor.device) for tensor in tensors} == {"npu:1"}
    with torch.npu.device(1):
        assert torch.npu.current_device() == 1
        assert torch.zeros(2, device="npu").device == torch.device("npu:1")
        torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
    expect_state(tensors, reference.advance(state, *sizes))
    torch.npu.set_device("npu:1")
    assert torch.zeros(2).npu().device == torch.device("npu", 1)
    torch.npu.set_device(0)


def test_threads_share_the_default_stream():
    """What one thread queues there comes before what another does later."""
    state, *sizes = batch(1, num_seqs=12, num_queries=9, block_size=100000, columns=1)
    state["seq_lens"] = [0] * 12
    tensors = on_npu(state)
    turns = threading.Semaphore(1)

    def work():
        for _ in range(100):
            with turns:
                torch_npu.npu_advance_step_flashattn(*tensors, *sizes)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tensors[3].tolist() == [400] * 9 + [0] * 3


def test_tensors_may_go_while_work_is_queued():
    stream = torch.npu.current_stream()
    _, sizes, tensors = ready()
    with held(stream) as gate:
        for _ in range(50):
            _, _, tensors = batch(3), sizes, [tensor for tensor in tensors]
            torch_npu.npu_advance_step_flashattn(*tensors, *sizes)
        del tensors
        junk = [torch.full((12,), -1) for _ in range(100)]
        gate.open()
    assert all(int(part[0]) == -1 for part in junk)


def test_elapsed_time():
    start, end = (torch.npu.Event(enable_timing=True) for _ in range(2))
    start.record()
    end.record()
    torch.npu.synchronize()
    assert start.elapsed_time(end) >= 0
    with pytest.raises(RuntimeError, match="enable_timing"):
        start.elapsed_time(torch.npu.Event())


def test_new_runtime(machine):
    _, sizes, _ = ready()
    before = torch.npu.current_stream()
    machine(DEVICES=1)
    assert torch.npu.device_count() == 1
    state, sizes, tensors = ready()
    assert torch.npu.current_stream() is not before
    expect_state(tensors, state)
    with pytest.raises(RuntimeError, match="npu:1 does not exist"):
        torch.zeros(1, device="npu:1")
