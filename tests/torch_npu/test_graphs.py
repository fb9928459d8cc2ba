# SPDX-License-Identifier: Apache-2.0
"""torch.npu.NPUGraph: capture, replay, shared pools, updates, host functions."""

import ctypes
import json

import pytest
import torch
import torch_npu
from decode import Decode, SpeculativeDecode


def capture(decode, **options):
    graph = torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(graph, **options):
        torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
    return graph


def test_capture_runs_nothing_and_replays_run():
    decode = Decode.steady(1)
    graph = capture(decode)
    decode.check()
    for _ in range(20):
        graph.replay()
        decode.expect_one_more()
    decode.check()


def test_speculative_form():
    decode = SpeculativeDecode(block_size=16)
    graph = torch.npu.NPUGraph()
    before = dict(decode.state)
    with torch.npu.graph(graph):
        decode.launch()
    after, decode.state = decode.state, before
    decode.check()
    graph.replay()
    decode.state = after
    decode.check()


def test_several_graphs_on_one_pool():
    decodes = [Decode.steady(seed) for seed in range(4)]
    pool = torch.npu.graph_pool_handle()
    graphs = [capture(decode, pool=pool) for decode in decodes]
    for turn in (0, 1, 2, 3, 3, 1, 0):
        graphs[turn].replay()
        decodes[turn].expect_one_more()
    for decode in decodes:
        decode.check()


def test_two_streams_in_one_graph():
    first, second = Decode.steady(5), Decode.steady(6)
    graph, side = torch.npu.NPUGraph(), torch.npu.Stream()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        side.wait_stream(torch.npu.current_stream())
        with torch.npu.stream(side):
            torch_npu.npu_advance_step_flashattn(*second.tensors, *second.sizes)
        torch_npu.npu_advance_step_flashattn(*first.tensors, *first.sizes)
        torch.npu.current_stream().wait_stream(side)
    for _ in range(5):
        graph.replay()
        first.expect_one_more()
        second.expect_one_more()
    first.check()
    second.check()


def test_eager_work_between_replays():
    decode = Decode.steady(7)
    graph = capture(decode)
    for _ in range(5):
        graph.replay()
        decode.expect_one_more()
        decode.launch()
    decode.check()


def test_new_contents_of_captured_tensors():
    decode, other = Decode.steady(8), Decode.steady(9)
    graph = capture(decode)
    for old, new in zip(decode.tensors, other.tensors):
        old.copy_(new)
    decode.state = other.state
    graph.replay()
    decode.expect_one_more()
    decode.check()


def test_update_of_a_task_group():
    first, second = Decode.steady(10), Decode.steady(11)
    graph, side = torch.npu.NPUGraph(), torch.npu.Stream()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        stream = torch.npu.current_stream()
        torch.npu.graph_task_group_begin(stream)
        torch_npu.npu_advance_step_flashattn(*first.tensors, *first.sizes)
        handle = torch.npu.graph_task_group_end(stream)
    graph.replay()
    first.expect_one_more()
    torch.npu.synchronize()
    with torch.npu.stream(side):
        torch.npu.graph_task_update_begin(side, handle)
        torch_npu.npu_advance_step_flashattn(*second.tensors, *second.sizes)
        torch.npu.graph_task_update_end(side)
    side.synchronize()
    graph.replay()
    second.expect_one_more()
    first.check()
    second.check()


def test_an_update_after_the_replay_that_waits_for_it():
    first, second = Decode.steady(13), Decode.steady(14)
    graph, side, event = torch.npu.NPUGraph(), torch.npu.Stream(), torch.npu.ExternalEvent()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        stream = torch.npu.current_stream()
        event.wait(stream)
        event.reset(stream)
        torch.npu.graph_task_group_begin(stream)
        torch_npu.npu_advance_step_flashattn(*first.tensors, *first.sizes)
        handle = torch.npu.graph_task_group_end(stream)
    for decode in (second, first, second):
        graph.replay()
        with torch.npu.stream(side):
            torch.npu.graph_task_update_begin(side, handle)
            torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
            torch.npu.graph_task_update_end(side)
            event.record(side)
        torch.npu.synchronize()
        decode.expect_one_more()
    first.check()
    second.check()


@pytest.mark.parametrize("end", (lambda graphs: graphs.clear(), lambda graphs: graphs[0].reset()),
                         ids=("dropped", "reset"))
def test_a_graph_that_ends_before_its_replay_leaves_no_model(end):
    runtime, model = ctypes.CDLL("libascendcl.so"), ctypes.c_void_p()
    decode, graphs = Decode.steady(15), [torch.npu.NPUGraph()]
    torch.npu.synchronize()
    with torch.npu.graph(graphs[0]):
        stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
        runtime.aclmdlRICaptureGetInfo(stream, ctypes.byref(ctypes.c_int()), ctypes.byref(model))
        torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    assert runtime.advstepDelayStream(stream, ctypes.c_uint64(100_000)) == 0
    graphs[0].replay()
    end(graphs)  # torch_npu warns
    capture(decode)
    assert runtime.aclmdlRIGetId(model, ctypes.byref(ctypes.c_uint32())) == 107017
    decode.expect_one_more()
    decode.check()


def test_a_failing_capture_leaves_the_stream_usable():
    decode = Decode.steady(12)
    graph = torch.npu.NPUGraph()
    try:
        with torch.npu.graph(graph):
            decode.tensors[0].cpu()  # a synchronisation
    except RuntimeError:
        pass
    else:
        raise AssertionError("the capture took a synchronisation")
    decode.launch()
    decode.check()


def test_host_functions_in_a_graph():
    """They run on a thread that torch_npu subscribes to the stream, in order, at each replay."""
    seen, stream = [], torch.npu.Stream()
    decode = Decode.steady(13)
    torch.npu._subscribe_report(stream)
    try:
        graph = torch.npu.NPUGraph()
        torch.npu.synchronize()
        with torch.npu.graph(graph, stream=stream):
            torch.npu._launch_host_func(stream, seen.append, "before")
            torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
            torch.npu._launch_host_func(stream, seen.append, "after")
        assert seen == []
        with torch.npu.stream(stream):
            for _ in range(3):
                graph.replay()
                decode.expect_one_more()
        stream.synchronize()
    finally:
        torch.npu._unsubscribe_report(stream)
    assert seen == ["before", "after"] * 3
    decode.check()


def test_a_dump_is_one_that_torch_npu_reads(tmp_path):
    given, graph = torch.ones(2, device="npu"), torch.npu.NPUGraph()
    torch.npu.synchronize()
    with torch.npu.graph(graph):
        torch.cat((given + 1, given, given))
    graph.debug_dump(str(tmp_path / "graph.json"))
    assert sorted(file.name for file in tmp_path.iterdir()) == ["graph.aligned.json", "graph.json"]

    def members(pairs):
        assert len({name for name, _ in pairs}) == len(pairs), "a reader keeps one of the same name"
        return dict(pairs)

    events = json.loads((tmp_path / "graph.json").read_text(encoding="utf-8"), object_pairs_hook=members)
    assert any("aten::cat" in event["name"] for event in events)
    assert all(event["tid"] == "stream0" and event["dur"] > 0 for event in events)
