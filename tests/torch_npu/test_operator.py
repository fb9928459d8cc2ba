# SPDX-License-Identifier: Apache-2.0
"""npu_advance_step_flashattn in both forms, against plain loops and the documentation."""

import io
import threading
from contextlib import redirect_stdout

import numpy as np
import pytest
import reference
import torch
import torch_npu
from decode import NAMES, Decode, SpeculativeDecode, check

CALLS = {
    "torch_npu": lambda *a, **k: torch_npu.npu_advance_step_flashattn(*a, **k),
    "torch.ops": lambda *a, **k: torch.ops.npu.npu_advance_step_flashattn(*a, **k),
    "overload": lambda *a, **k: torch.ops.npu.npu_advance_step_flashattn.default(*a, **k),
}


@pytest.mark.parametrize("how", CALLS)
def test_random_batches(how):
    ran = 0
    for seed in range(60):
        decode = Decode(seed)
        try:
            reference.advance(decode.state, *decode.sizes)
        except reference.DataFault:
            continue
        decode.launch(CALLS[how])
        decode.check()
        ran += 1
    assert ran >= 40


@pytest.mark.parametrize("how", CALLS)
def test_speculative_form(how):
    for block_size in (1, 8, 16):
        decode = SpeculativeDecode(block_size=block_size, seqs=5 if block_size > 1 else 1)
        decode.launch(CALLS[how])
        decode.check()


def snippets():
    """The programs of the operator's own documentation, as it has them."""
    text = torch_npu.npu_advance_step_flashattn.__doc__
    starts = [i for i in range(len(text)) if text.startswith("import numpy as np", i)]
    assert len(starts) == 2
    return [text[begin:text.index("\n\n", text.index("torch_npu.npu_advance", begin))]
            if "\n\n" in text[text.index("torch_npu.npu_advance", begin):] else text[begin:]
            for begin in starts]


def test_documentation_snippet_word_for_word():
    for seed in range(10):
        np.random.seed(seed)
        names = {}
        code = snippets()[0]
        # What the call gets, seen just before it.
        marker = "torch_npu.npu_advance_step_flashattn("
        before, call = code[:code.index(marker)], code[code.index(marker):]
        exec(before, names)  # noqa: S102  the text is the subject of the test
        tensors = [names[name] for name in NAMES]
        state = {name: tensor.cpu().tolist() for name, tensor in zip(NAMES, tensors)}
        state["sampled_token_ids"] = [row[0] for row in state["sampled_token_ids"]]
        exec(call, names)  # noqa: S102
        check(tensors, reference.advance(state, 16, 8, 8), NAMES)


def test_speculative_snippet_of_the_documentation():
    """Its random positions may leave the table: then the message names the row."""
    legal = 0
    for seed in range(10):
        np.random.seed(seed)
        names = {}
        exec(snippets()[1], names)  # noqa: S102
        try:
            torch.npu.synchronize()
            legal += 1
        except RuntimeError as error:
            assert "of blockTables; expected column < maxBlocks" in str(error)
    assert legal < 10


def test_schema():
    schema = torch.ops.npu.npu_advance_step_flashattn.default._schema
    written = [argument.name for argument in schema.arguments
               if argument.alias_info is not None and argument.alias_info.is_write]
    assert written == ["input_tokens", "input_positions", "seq_lens", "slot_mapping"]


@pytest.mark.parametrize("conformance", ("standard", "exact"))
def test_conformance(program, conformance):
    text = f"""
import sys
sys.path[:0] = {[str(path) for path in __import__("sys").path if "tests" in path]!r}
from decode import Decode, torch_npu
for seed in range(30):
    decode = Decode(seed, num_seqs=60, num_queries=30, block_size=16, columns=3)
    torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
    decode.expect_one_more(conformance={conformance!r})
    decode.check()
print("right")
"""
    assert "right" in program.forked(text, ADVANCE_STEP_CONFORMANCE=conformance).stdout


def test_many_threads_on_streams_of_their_own():
    failures = []

    def work(seed):
        try:
            torch.npu.set_device(seed % 2)
            stream = torch.npu.Stream()
            with torch.npu.stream(stream):
                decode = Decode.steady(seed, f"npu:{seed % 2}")
                for _ in range(40):
                    decode.launch()
                decode.check()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures


def test_second_device_and_between():
    first = Decode.steady(1, "npu:1")
    with torch.npu.device(1):
        first.launch()
    first.check()
    first.tensors = [tensor.to("npu:0") for tensor in first.tensors]
    first.launch()
    first.check()
    assert {str(tensor.device) for tensor in first.tensors} == {"npu:0"}


def test_printing_a_tensor():
    out = io.StringIO()
    with redirect_stdout(out):
        print(torch.tensor([1, 2, 3]).npu().cpu())
    assert out.getvalue() == "tensor([1, 2, 3])\n"
