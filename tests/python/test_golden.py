# SPDX-License-Identifier: Apache-2.0
"""AdvanceStep and AdvanceStepV2 against the golden vectors, with numpy arrays and torch tensors."""

import advance_step
import pytest
from batches import NAMES, V2_NAMES, as_numpy, as_torch, expect_state
from conftest import golden_cases

KINDS = {"numpy": as_numpy, "torch": as_torch}


def _one_token(arrays, sizes):
    advance_step.advance_step(*arrays, *sizes)


def _speculative(arrays, sizes):
    *six, spec_token, accepted_num = arrays
    advance_step.advance_step_v2(*six, *sizes, spec_token=spec_token, accepted_num=accepted_num)


def _hold(kind, golden, names, call):
    arrays = KINDS[kind](golden["in"], names)
    sizes = (golden["numSeqs"], golden["numQueries"], golden["blockSize"])
    errors = {"plan_error": (advance_step.ArgumentError, 561002),
              "data_error": (advance_step.DataError, 507035)}
    if golden["expect"] == "ok":
        call(arrays, sizes)
    else:
        error, code = errors[golden["expect"]]
        with pytest.raises(error) as caught:
            call(arrays, sizes)
        assert caught.value.code == code
    expect_state(arrays, {**golden["in"], **golden.get("out", {})}, names)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("conformance", ("standard", "vllm", "exact"))
def test_advance_step(machine, kind, conformance):
    cases = [case for case in golden_cases("advance_step.jsonl")
             if case["conformance"] == conformance]
    assert cases
    for cores in sorted({case["cores"] for case in cases}):
        machine(CONFORMANCE=conformance, SOC=f"sim:{cores}")
        for golden in cases:
            if golden["cores"] == cores:
                _hold(kind, golden, NAMES, _one_token)


@pytest.mark.parametrize("kind", KINDS)
def test_advance_step_v2(machine, kind):
    machine(CONFORMANCE="standard")
    for golden in golden_cases("advance_step_v2.jsonl"):
        assert golden["conformance"] == "standard"
        _hold(kind, golden, V2_NAMES, _speculative)
