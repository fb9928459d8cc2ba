# SPDX-License-Identifier: Apache-2.0
"""torch_npu.profiler by torch's own profiler, because the device has no profiler.

The times are those of this CPU. A trace has each operator on the thread that asked for it, and once
more on the thread that ran it in the order of its stream; the Python form runs it at once, on the
first thread. Options of an NPU's profiler are accepted and have no effect.
"""

from __future__ import annotations

import ctypes
import datetime
import functools
import importlib
import json
import os
import pathlib
import socket
import sys
from typing import Any

_FOLDER = "ASCEND_PROFILER_OUTPUT"


class _TorchNames:
    """Names of torch as it is imported: transfer_to_npu writes torch_npu's in their place."""

    def __init__(self, torch: Any) -> None:
        self.action = torch.profiler.ProfilerAction
        self.plain = torch.profiler.profiler._KinetoProfile
        self.stepped = torch.profiler.profile
        kinds = torch.profiler.ProfilerActivity
        self.cpu, self.npu = kinds.CPU, kinds.PrivateUse1
        self.config = torch._C._profiler._ExperimentalConfig
        dynamic = importlib.import_module("torch_npu._C._profiler").ProfilerActivity
        self.dynamic = dynamic.CPU, dynamic.NPU


def _activities(torchs: _TorchNames) -> Any:
    """Returns the class of torch_npu's activities: torch's own, which transfer_to_npu may write into
    torch."""
    class ProfilerActivity:
        CPU, NPU = torchs.cpu, torchs.npu
        __members__ = {"CPU": torchs.cpu, "NPU": torchs.npu}

    return ProfilerActivity


def _options(torchs: _TorchNames, activities: Any, config: Any, names: Any) -> dict[str, Any]:
    """Returns what both of torch's classes take: all is work of "cpu", on all threads."""
    # dynamic_profile names those of torch_npu's own class.
    known = {*names.ProfilerActivity.__members__.values(), *torchs.dynamic}
    for activity in activities or ():
        if activity not in known:
            raise ValueError(f"torch_npu.profiler: activities has {activity!r}; expected members "
                             "of torch_npu.profiler.ProfilerActivity")
    if config is not None and not isinstance(config, names._ExperimentalConfig):
        raise TypeError(f"torch_npu.profiler: experimental_config is a {type(config).__name__}; "
                        "expected a torch_npu.profiler._ExperimentalConfig")
    return {"activities": [torchs.cpu],
            "experimental_config": torchs.config(profile_all_threads=True)}


def _schedule(torchs: _TorchNames, given: Any, first: Any) -> Any:
    """`first` returns the number of the schedule's first step."""
    if given is None:
        return None
    return lambda step: torchs.action[given(step - first()).name]


def _wait(torch: Any) -> None:
    """Waits for the devices that have a context: one of another device would not be torch_npu's."""
    has_context = ctypes.CDLL("libascendcl.so").aclrtGetPrimaryCtxState
    for index in range(torch.npu.device_count()):
        flags, active = ctypes.c_uint32(), ctypes.c_int32()
        if has_context(index, ctypes.byref(flags), ctypes.byref(active)) == 0 and active.value:
            torch.npu.synchronize(index)


def _classes(torch: Any, torchs: _TorchNames, names: Any) -> dict[str, Any]:
    plain: Any = torchs.plain
    stepped: Any = torchs.stepped

    class Common:
        """Metadata may be given before the start, and is in each trace of a schedule. A trace ends
        when the work that has been queued has run."""

        def add_metadata(self: Any, key: str, value: str) -> None:
            self.add_metadata_json(key, json.dumps(value))

        def add_metadata_json(self: Any, key: str, value: str) -> None:
            self.preset_metadata_json(key, value)
            if self.profiler is not None:
                super().add_metadata_json(key, value)  # type: ignore[misc]

        def stop_trace(self: Any) -> None:
            try:
                _wait(torch)
            finally:
                super().stop_trace()  # type: ignore[misc]

    class _KinetoProfile(Common, plain):  # type: ignore[misc]
        def __init__(self, *, activities: Any = None, experimental_config: Any = None,
                     **options: Any) -> None:
            super().__init__(**_options(torchs, activities, experimental_config, names), **options)

    class profile(Common, stepped):  # type: ignore[misc]
        def __init__(self, *, activities: Any = None, schedule: Any = None, use_cuda: Any = None,
                     experimental_config: Any = None, **options: Any) -> None:
            self._first_step = 0
            super().__init__(**_options(torchs, activities, experimental_config, names),
                             schedule=_schedule(torchs, schedule, lambda: self._first_step),
                             **options)

        def _set_step_num_offset_for_dynamic_prof(self, first: int) -> None:
            """Counts the steps from `first`, before the start. dynamic_profile calls it."""
            self._first_step = self.step_num = first
            self.current_action = self.schedule(first)

        @staticmethod
        def enable_profiler_in_child_thread(**options: Any) -> None:
            """All threads are recorded."""

        @staticmethod
        def disable_profiler_in_child_thread() -> None:
            """All threads are recorded."""

    return {"_KinetoProfile": _KinetoProfile, "profile": profile}


def tensorboard_trace_handler(dir_name: str | None = None, worker_name: str | None = None,
                              analyse_flag: bool = True, async_mode: bool = False) -> Any:
    """Returns a function for `on_trace_ready` that writes the trace where torch_npu's does:
    dir_name/WORKER_TIME_ascend_pt/ASCEND_PROFILER_OUTPUT/trace_view.json."""
    folder = pathlib.Path(dir_name or os.environ.get("ASCEND_WORK_PATH") or os.getcwd())

    def write(profiler: Any) -> None:
        worker = worker_name or f"{socket.gethostname()}_{os.getpid()}"
        now = datetime.datetime.now()
        while True:
            time = now.strftime("%Y%m%d%H%M%S%f")[:-3]
            output = folder / f"{worker}_{time}_ascend_pt" / _FOLDER
            try:
                output.mkdir(parents=True)
                break
            except FileExistsError:  # of another thread or rank in the same millisecond
                now += datetime.timedelta(milliseconds=1)
        profiler.export_chrome_trace(str(output / "trace_view.json"))

    return write


def _without_device(torch: Any, torchs: _TorchNames) -> None:
    """Makes torch's own profilers record "cpu" where they would ask for a profiler of the device."""
    supported = torch.autograd._supported_activities
    torch.autograd._supported_activities = lambda: supported() - {torchs.npu}
    inner = torch.autograd.profiler.profile
    begin = inner.__init__

    @functools.wraps(begin)
    def begin_on_host(self: Any, *arguments: Any, use_device: Any = None, use_cpu: bool = True,
                      **options: Any) -> None:
        if use_device == torch._C._get_privateuse1_backend_name():
            use_device, use_cpu = None, True
        begin(self, *arguments, use_device=use_device, use_cpu=use_cpu, **options)

    inner.__init__ = begin_on_host


def register(torch: Any) -> None:
    """Takes the place of torch_npu's classes, which need a profiler of the device."""
    module = importlib.import_module("torch_npu.profiler")
    inner = importlib.import_module("torch_npu.profiler.profiler")
    torchs = _TorchNames(torch)
    _without_device(torch, torchs)
    replaced = {**_classes(torch, torchs, module), "ProfilerActivity": _activities(torchs),
                "tensorboard_trace_handler": tensorboard_trace_handler}
    places = [module, inner]
    if dynamic := sys.modules.get("torch_npu.profiler.dynamic_profile"):
        places.append(dynamic)
    for name, value in replaced.items():
        for place in places:
            setattr(place, name, value)
