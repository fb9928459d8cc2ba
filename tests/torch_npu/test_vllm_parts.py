# SPDX-License-Identifier: Apache-2.0
"""What vLLM needs beside operators, without vLLM: its settings, the launcher, the kernel for slots.

tests/vllm runs vLLM itself.
"""

import types

import pytest
import torch

from advance_step._vllm import kernels, settings

NAME = "vllm.v1.worker.block_table"


def host(folder, available, limit=None, used=None):
    """Writes the files of a host with this memory, and with a limit in a control group."""
    (folder / "proc/self").mkdir(parents=True)
    (folder / "proc/meminfo").write_text(f"MemTotal: 99999999 kB\nMemAvailable: {available // 1024} kB\n")
    (folder / "proc/self/cgroup").write_text("0::/a/b\n")
    if limit is not None:
        group = folder / "sys/fs/cgroup/a/b"
        group.mkdir(parents=True)
        (group / "memory.max").write_text(f"{limit}\n")
        (group / "memory.current").write_text(f"{used}\n")
    return folder


@pytest.mark.parametrize("limit, used, free", ((None, None, 8 << 30), ("max", 5, 8 << 30), (3 << 30, 1 << 30, 2 << 30),
                                               (1 << 30, 2 << 30, 0), (90 << 30, 0, 8 << 30)))
def test_free_memory(tmp_path, limit, used, free):
    assert settings.free_memory(host(tmp_path, 8 << 30, limit, used)) == free


def test_a_device_has_an_eighth_but_never_nothing():
    assert [settings.memory(free) for free in (20 << 30, 4 << 20, 0)] == ["2560M", "256M", "256M"]


def test_what_the_user_has_set_stays():
    made, line = settings.variables({"ADVANCE_STEP_MEMORY": "2G", "VLLM_DISABLE_COMPILE_CACHE": "0",
                                     "ADVANCE_STEP_DEVICES": "3", "ADVANCE_STEP_HCCL": "gloo"})
    assert made == {"TORCHINDUCTOR_AUTOGRAD_CACHE": "0"} and line == ""
    made, line = settings.variables({})
    assert made["VLLM_DISABLE_COMPILE_CACHE"] == "1" and made["ADVANCE_STEP_DEVICES"] == "8"
    assert made["ADVANCE_STEP_HCCL"] == "c"
    assert made["ADVANCE_STEP_MEMORY"] in line


def test_the_launcher_sets_memory_and_says_so_once(program):
    text = """
import os, subprocess, sys
print(os.environ["ADVANCE_STEP_MEMORY"], os.environ["VLLM_DISABLE_COMPILE_CACHE"], sys.argv[1:])
child = "import os, torch_npu, torch; print(os.environ['ADVANCE_STEP_MEMORY'], torch.ones(2).npu().sum().item())"
print(subprocess.run([sys.executable, "-c", child], capture_output=True, text=True).stdout)
"""
    file = program.folder / "program.py"
    file.write_text(text)
    done = program.run(file, "serve", launcher=("-m", "advance_step.vllm"), ADVANCE_STEP_MEMORY=None)
    size = done.stdout.split()[0]
    assert done.stdout == f"{size} 1 ['serve']\n{size} 2.0\n\n"
    assert done.stderr.count("advance_step.vllm: each device has") == 1 and size in done.stderr
    done = program.run("-c", "import advance_step.vllm, os; print(os.environ['ADVANCE_STEP_MEMORY'])", launcher=(),
                       ADVANCE_STEP_MEMORY="1G")
    assert done.stdout == "1G\n" and "each device has" not in done.stderr


def test_a_word_that_is_no_program_is_a_command_of_vllm(program):
    module = program.folder / "vllm" / "entrypoints" / "cli"
    module.mkdir(parents=True)
    for folder in (module, module.parent, module.parent.parent):
        (folder / "__init__.py").write_text("")
    (module / "main.py").write_text("import sys; print('command', sys.argv[1:])")
    done = program.run("serve", "MODEL", "--port", "1", launcher=("-m", "advance_step.vllm"))
    assert done.stdout == "command ['serve', 'MODEL', '--port', '1']\n"
    done = program.run("-m", "vllm.entrypoints.cli.main", "bench", launcher=("-m", "advance_step.vllm"))
    assert done.stdout == "command ['bench']\n"


def kernel(name="_compute_slot_mapping_kernel"):
    function = types.FunctionType((lambda: None).__code__, {"__name__": NAME}, name)
    function.__module__, function.__qualname__ = NAME, name
    return kernels.jit(function)


@pytest.mark.parametrize("ranks, rank, piece", ((1, 0, 1), (2, 0, 1), (2, 1, 2)))
def test_slot_mapping(ranks, rank, piece):
    """3 requests with 2, 0 and 3 tokens; a block has 4 tokens of each rank."""
    table = torch.tensor([[5, 2, 7], [0, 0, 0], [1, 3, 4]], dtype=torch.int32)
    starts, positions = torch.tensor([0, 2, 2, 5], dtype=torch.int32), torch.tensor([3, 4, 7, 8, 9])
    slots = torch.full((9,), 77, dtype=torch.int64, device="npu")
    kernel()[(4,)](5, 8, starts.npu(), positions.npu(), table.npu(), 3, 4, slots, TOTAL_CP_WORLD_SIZE=ranks,
                   TOTAL_CP_RANK=rank, CP_KV_CACHE_INTERLEAVE_SIZE=piece, PAD_ID=-1, BLOCK_SIZE=1024)
    wanted = []
    for token, position in enumerate(positions.tolist()):
        block = table[0 if token < 2 else 2, position // (4 * ranks)].item()
        within = position % (4 * ranks)
        mine = within // piece % ranks == rank
        wanted.append(block * 4 + within // (ranks * piece) * piece + within % piece if mine else -1)
    assert slots.tolist() == [*wanted, -1, -1, -1, 77]


def test_other_kernels_are_named():
    with pytest.raises(NotImplementedError, match=rf"^{NAME}._other_kernel is a Triton kernel that"):
        kernel("_other_kernel")[(1,)]
    with pytest.raises(NotImplementedError, match=r"expected a launch, kernel\[grid\]\(...\)"):
        kernel()(1)
    assert kernels.jit(do_not_specialize=["x"])(test_other_kernels_are_named).__name__ == (
        "test_other_kernels_are_named")


def test_triton_stays_where_it_is_found():
    for found in (True, False):
        module = types.SimpleNamespace(HAS_TRITON=found, triton=types.SimpleNamespace(jit=None))
        kernels.replace(module)
        assert module.triton.jit is (None if found else kernels.jit)


def test_modules_are_extended_only_where_they_are_imported(program):
    """A program that imports torchvision where there is no vLLM sees nothing of it; transformers imports it
    alone in the environment of vLLM."""
    folder = program.folder / "torchvision"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "_meta_registrations.py").write_text(
        "import torch\nprint('torchvision::nms' in torch._C._dispatch_get_all_op_names())\n")
    text = "import torchvision._meta_registrations"
    assert program.code(text).stdout == "False\n"
    (program.folder / "vllm.py").write_text("")
    assert program.code(text).stdout == "True\n"
    assert program.code("import vllm; " + text).stdout == "True\n"
