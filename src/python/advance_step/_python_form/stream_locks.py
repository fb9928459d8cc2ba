# SPDX-License-Identifier: Apache-2.0
"""Locks that keep the operators of several threads in one stream apart."""

from __future__ import annotations

import contextlib
import os
import threading
from typing import Any, Callable


class StreamLocks:
    """Locks of streams. A thread takes a generator's lock within one of these."""

    def __init__(self, torch: Any) -> None:
        self.torch = torch
        self.locks: dict[tuple[int, int], Any] = {}  # by device and stream
        os.register_at_fork(after_in_child=self.locks.clear)  # their owners do not live there

    @contextlib.contextmanager
    def of(self, devices: list[Any], wait: Callable[[Any], None]) -> Any:
        """Waits for the current streams, and keeps the operators of other threads out of them.

        An operator has no place in its stream, so another thread would take the stream for idle. The
        locks are taken in the order of the streams, and again by an operator within an operator.
        """
        streams = [self.torch.npu.current_stream(device) for device in devices]
        with contextlib.ExitStack() as held:
            for key in sorted({(stream.device_index, stream.stream_id) for stream in streams}):
                held.enter_context(self.locks.setdefault(key, threading.RLock()))
            for device in devices:
                with self.torch.npu.device(device):
                    wait(device)
            yield
