# SPDX-License-Identifier: Apache-2.0
"""What streams hold for their queued work, and the streams of each device.

A synchronisation of a device has to know both, and not what else a stream is.
"""

from __future__ import annotations

import threading
import weakref
from typing import Any

from ._arguments import OneOwner

# A synchronisation that returns one of these codes has not waited: the work may still be queued.
NOT_WAITED = frozenset((107002, 107003, 107017, 107027, 207000))


class WorkHolder(OneOwner):
    """Holds the plans and arrays of the queued work of one stream."""

    # _lock: held while a call queues work, and also while it then waits, so that the call raises
    # only a failure of its own work. _held: plans and arrays of queued work, by plan; they must
    # exist until a synchronisation has waited for the work. _newest: the number of the latest run.
    # dirty: work has been queued since the start of the last synchronisation.
    __slots__ = ("dirty", "_lock", "_held", "_newest", "__weakref__")

    def __init__(self) -> None:
        self.dirty = False
        self._lock = threading.RLock()
        self._held: dict[int, Any] = {}
        self._newest = 0

    def _take_held(self) -> dict[int, Any]:
        """Returns what is held, and holds nothing any more."""
        with self._lock:
            held, self._held, self.dirty = self._held, {}, False
            return held

    def _hold_again(self, held: dict[int, Any]) -> None:
        """Takes back what _take_held returned, because the work may still be queued."""
        with self._lock:
            self._held = {**held, **self._held}
            self.dirty = True


_streams: dict[int, tuple[weakref.ref[WorkHolder], ...]] = {}  # by device; a change replaces the tuple
# Guards changes of _streams. A finalizer or a signal handler that runs meanwhile may make streams.
_streams_lock = threading.RLock()


def streams_of(device: int) -> list[WorkHolder]:
    """Returns the living streams of a device in the order of their creation."""
    return [stream for reference in _streams.get(device, ()) if (stream := reference()) is not None]


def enlist(device: int, stream: WorkHolder) -> None:
    """Makes the synchronisation of its device know a new stream."""
    reference = weakref.ref(stream)
    with _streams_lock:
        while True:
            known = _streams.get(device, ())
            living = (*(old for old in known if old() is not None), reference)
            # Nothing can run between the look and the change.
            if _streams.get(device, ()) is known:
                _streams[device] = living
                return
