# SPDX-License-Identifier: Apache-2.0
"""Profilers of torch_npu and of torch on the emulated device."""

import ctypes
import datetime
import json
import threading
import types

import pytest
import torch
import torch_npu
from pending import NATIVE, native

from advance_step import _profiler


def delay(milliseconds):
    """What is asked for next is queued."""
    stream = ctypes.c_void_p(torch.npu.current_stream().npu_stream)
    runtime = ctypes.CDLL("libascendcl.so")
    assert runtime.advstepDelayStream(stream, ctypes.c_uint64(1000 * milliseconds)) == 0


def test_the_profiler_writes_a_trace_of_each_cycle(tmp_path):
    profiler = torch_npu.profiler
    kinds = profiler.ProfilerActivity
    values = torch.randn(8, 8, device="npu")
    with profiler.profile(
            activities=[kinds.CPU, kinds.NPU], with_stack=True, record_shapes=True,
            schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1),
            on_trace_ready=profiler.tensorboard_trace_handler(str(tmp_path), worker_name="mine"),
            experimental_config=profiler._ExperimentalConfig(
                profiler_level=profiler.ProfilerLevel.Level1)) as profile:
        profile.add_metadata("model", "small")
        for _ in range(10):
            delay(1)
            values @ values
            torch.npu.synchronize()
            profile.step()
    traces = sorted(tmp_path.glob("mine_*_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json"))
    assert len(traces) == 2
    for trace, steps in zip(traces, ({"ProfilerStep#3", "ProfilerStep#4"},
                                     {"ProfilerStep#7", "ProfilerStep#8"})):
        whole = json.loads(trace.read_text(encoding="utf-8"))
        events = [event for event in whole["traceEvents"] if event["ph"] == "X"]
        assert whole["model"] == "small"
        assert {event["name"] for event in events if event["name"].startswith("Prof")} == steps
        # On the thread that asked for it, and on those of the stream. The Python form has one thread.
        assert (len({event["tid"] for event in events if event["name"] == "aten::mm"}) > 1) == NATIVE


def test_the_profiler_without_a_schedule(tmp_path):
    profile = torch_npu.profiler.profile()
    profile.start()
    profile.add_metadata("model", 'the "small" one')
    for device in range(2):
        with torch.npu.device(device):
            values = torch.ones(3, device="npu")
            delay(20)
            values.add_(1)  # has not run when the profiler is asked to stop
            values + 1
    profile.stop()
    profile.export_chrome_trace(str(tmp_path / "trace.json"))
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert "small" in trace["model"]
    # Each as it was asked for and as it ran.
    names = [event["name"] for event in trace["traceEvents"]]
    assert (names.count("aten::add_"), names.count("aten::add")) == (4, 4)


def test_a_program_is_profiled_from_outside(program, tmp_path):
    """torch_npu watches the file in a process of its own, which ends with the program."""
    text = """
import json, pathlib, sys
import torch, torch_npu
from torch_npu.profiler import dynamic_profile

folder = pathlib.Path(FOLDER)
dynamic_profile.init(str(folder))
values = json.loads((folder / "profiler_config.json").read_text())
values.update(active=2, prof_dir=str(folder / "traces"))
(folder / "mine.json").write_text(json.dumps(values))
for step in range(8):
    if step == 3:
        dynamic_profile.start(str(folder / "mine.json"))
    torch.ones(3, device="npu") + 1
    dynamic_profile.step()
"""
    program.code(text.replace("FOLDER", repr(str(tmp_path))))
    traces = [*tmp_path.glob("traces/*_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json")]
    assert len(traces) == 1
    events = json.loads(traces[0].read_text(encoding="utf-8"))["traceEvents"]
    names = [event["name"] for event in events if event["ph"] == "X"]
    assert {name for name in names if name.startswith("Prof")} == {"ProfilerStep#3", "ProfilerStep#4"}
    assert names.count("aten::add") >= 2


@native  # the Python form raises the error at the call
def test_the_profiler_stops_when_work_has_failed():
    profile = torch_npu.profiler.profile()
    profile.start()
    delay(20)
    torch.arange(5, device="npu")[torch.full((2,), 9, device="npu")]
    with pytest.raises(RuntimeError, match="index 9 is out of bounds"):
        profile.stop()
    assert profile.events()


def test_traces_of_one_moment_have_folders_of_their_own(tmp_path, monkeypatch):
    still = types.SimpleNamespace(now=lambda: datetime.datetime(2026, 1, 1))
    monkeypatch.setattr(_profiler, "datetime",
                        types.SimpleNamespace(datetime=still, timedelta=datetime.timedelta))
    monkeypatch.setenv("ASCEND_WORK_PATH", str(tmp_path))
    write, written = torch_npu.profiler.tensorboard_trace_handler(worker_name="mine"), []
    for _ in range(2):
        write(types.SimpleNamespace(export_chrome_trace=written.append))
    assert written == [
        str(tmp_path / f"mine_{time}_ascend_pt" / "ASCEND_PROFILER_OUTPUT" / "trace_view.json")
        for time in ("20260101000000000", "20260101000000001")]


def test_the_profilers_of_torch_record_the_cpu_alone():
    values, kinds = torch.ones(3, device="npu"), torch.profiler.ProfilerActivity
    assert kinds.PrivateUse1 not in torch.profiler.supported_activities()
    for whole in (torch.profiler.profile(), torch.profiler.profile(activities=[kinds.PrivateUse1]),
                  torch.profiler.profile(activities=[kinds.CPU, kinds.PrivateUse1]),
                  torch.autograd.profiler.profile(use_device="npu"),
                  torch_npu.profiler.profile()):
        with whole:
            values * 2
        events = whole.events() if hasattr(whole, "events") else whole.function_events
        assert "aten::mul" in [event.name for event in events]


def test_marks_and_ranges_are_in_the_trace(capfd):
    mstx, stream = torch_npu.npu.mstx, torch.npu.current_stream()
    mstx.range_start("of no profiler")
    with torch_npu.profiler.profile() as profile:
        mstx.mark("a mark", stream, "mine")
        ranges = mstx.range_start("the first", stream), mstx.range_start("the second")
        assert (mstx.range_push("outer"), mstx.range_push("inner", stream)) == (0, 1)
        assert (mstx.range_pop(), mstx.range_pop()) == (1, 0)
        thread = threading.Thread(target=lambda: [mstx.range_end(one) for one in ranges])
        thread.start()
        thread.join()
        with mstx.annotate("a block"):
            torch.ones(3, device="npu")
        last = mstx.range_start("cut off")
    names = [event.name for event in profile.events()]
    wanted = ["mine: a mark", "the first", "the second", "outer", "inner", "a block", "cut off"]
    assert [name for name in names if name in wanted or "no profiler" in name] == wanted, names
    with torch_npu.profiler.profile() as profile:
        mstx.range_end(last)
        mstx.range_end(last + 1)
        assert mstx.range_pop() < 0
        mstx.mark("another")
    assert "another" in [event.name for event in profile.events()]
    assert not any("mstx" in text or "Call" in text for text in capfd.readouterr())


def test_programs_for_cuda_are_profiled(program):
    """transfer_to_npu writes torch_npu's activities and actions into torch's."""
    text = """
import warnings
import torch, torch_npu
warnings.simplefilter("ignore")
from torch_npu.contrib import transfer_to_npu
values, seen = torch.ones(3, device="cuda"), []
for module, other in ((torch.profiler, "CUDA"), (torch_npu.profiler, "NPU")):
    kinds = module.ProfilerActivity
    with module.profile(activities=[kinds.CPU, getattr(kinds, other)]) as whole:
        values * 2
    seen.append("aten::mul" in [event.name for event in whole.events()])
    with module.profile(activities=[kinds.CPU, getattr(kinds, other)],
                        schedule=module.schedule(wait=1, warmup=1, active=2),
                        on_trace_ready=lambda profile: seen.append(len(profile.events()) > 0)) as stepped:
        for _ in range(4):
            values * 2
            stepped.step()
print(seen)
"""
    assert program.forked(text).stdout.endswith("[True, True, True, True]\n")


def test_the_profiler_accepts_options_of_an_npu_and_refuses_others():
    torch_npu.profiler.profile.enable_profiler_in_child_thread(with_stack=True)
    torch_npu.profiler.profile.disable_profiler_in_child_thread()
    with pytest.raises(ValueError, match="activities has 'NPU'; expected members of torch_npu.profiler"):
        torch_npu.profiler.profile(activities=["NPU"])
    with pytest.raises(TypeError, match="experimental_config is a dict; expected"):
        torch_npu.profiler._KinetoProfile(experimental_config={})
