# SPDX-License-Identifier: Apache-2.0
"""libadvance_step from Python: the bookkeeping of a paged KV cache on an emulated Ascend device.

    import numpy as np
    from advance_step import advance_step

    advance_step(input_tokens, sampled_token_ids, input_positions, seq_lens, slot_mapping,
                 block_tables, num_seqs, num_queries, block_size)

The package calls libadvance_step.so by ctypes, so it needs no compiler; numpy and torch are
optional. It loads the file that ADVANCE_STEP_LIBRARY names, or the library in the folder of the
package, or the one that the loader finds. All functions may be called from any thread.
docs/python.md has more.
"""

from ._errors import AdvanceStepError, ArgumentError, DataError, NoProgressError
from ._launch import PreparedCall
from ._library import PATH as LIBRARY_PATH
from ._runtime import device_count, finalize, initialize, soc_name
from .device import Device, current_device
from .operators import (STATE_NAMES, Array, advance_step, advance_step_v2, prepare_advance_step,
                        prepare_step, step, step_paddle)
from .stream import Event, Stream, current_stream

__version__ = "0.2.0"

__all__ = [
    "LIBRARY_PATH", "STATE_NAMES", "AdvanceStepError", "ArgumentError", "Array", "DataError",
    "Device", "Event", "NoProgressError", "PreparedCall", "Stream", "advance_step",
    "advance_step_v2", "current_device", "current_stream", "device_count", "finalize",
    "initialize", "prepare_advance_step", "prepare_step", "soc_name", "step", "step_paddle",
]
