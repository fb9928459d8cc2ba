# SPDX-License-Identifier: Apache-2.0
"""Begin and end of the runtime, settings, device memory."""

import advance_step
import numpy as np
import pytest
import reference
from batches import expect_state
from test_streams import ready


def test_the_runtime_ends_and_begins(machine):
    state, sizes, arrays = ready()
    stream = advance_step.Stream()
    call = advance_step.prepare_advance_step(*arrays, *sizes)
    memory = advance_step.Device().allocate(64)
    machine(SOC="sim:5", DEVICES=3)
    assert not stream.valid
    assert advance_step.device_count() == 3
    assert advance_step.soc_name() == "sim:5"
    with pytest.raises(advance_step.AdvanceStepError) as caught:
        advance_step.advance_step(*arrays, *sizes, stream=stream)
    assert caught.value.code == 361001
    with pytest.raises(RuntimeError, match="has ended"):
        call()
    expect_state(arrays, state)
    advance_step.advance_step(*arrays, *sizes)
    expect_state(arrays, reference.advance(state, *sizes))
    del memory


def test_settings_file(machine, tmp_path):
    machine()
    settings = tmp_path / "settings.json"
    settings.write_text('{"advance_step": {"ADVANCE_STEP_DEVICES": 7}}')
    advance_step.initialize(settings)
    assert advance_step.device_count() == 7
    with pytest.raises(advance_step.AdvanceStepError) as caught:
        advance_step.initialize(settings)
    assert caught.value.code == 100002


def test_bad_setting(machine):
    machine(CONFORMANCE="other")
    with pytest.raises(advance_step.AdvanceStepError, match="ADVANCE_STEP_CONFORMANCE") as caught:
        advance_step.current_stream()
    assert caught.value.code == 100008


def test_memory_of_a_device():
    memory = np.frombuffer(advance_step.Device(0).allocate(80), dtype=np.int64)
    memory[:] = 7
    assert memory.sum() == 70
    with pytest.raises(advance_step.AdvanceStepError) as caught:
        advance_step.Device(0).allocate(1 << 60)
    assert caught.value.code == 207001
    with pytest.raises(advance_step.AdvanceStepError):
        advance_step.Device(0).allocate(0)
