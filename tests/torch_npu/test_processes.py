# SPDX-License-Identifier: Apache-2.0
"""Every way to start a program on the emulated device, its children, and its end."""

import os
import subprocess
import sys

import pytest
from conftest import variables_of_programs

USE = """
import torch, torch_npu
from advance_step import _host_operators
assert _host_operators.form()
assert torch.arange(5).npu().cpu().tolist() == [0, 1, 2, 3, 4]
"""
CHECK = USE + "print('right')\n"
FIRST = "import torch_npu, torch\n"  # in the order in which torch's autoload is off


def test_the_sanitizer_finds_a_race_of_two_streams(program):
    """Also where operators run at once without it."""
    race = ("import torch, torch_npu\nside = torch.npu.Stream()\na = torch.zeros(1000, device='npu')\n"
            "torch.npu.synchronize()\nwith torch.npu.stream(side):\n    a.add_(1)\n{}a.mul_(2)\n"
            "torch.npu.synchronize()\nprint('end')\n")
    settings = {"ADVANCE_STEP_SANITIZE": "all", "ADVANCE_STEP_SANITIZE_ACTION": "fail", "ADVANCE_STEP_HOST_OPERATORS": "1"}
    done = subprocess.run([sys.executable, "-m", "advance_step.torch_npu", "-c", race.format("")],
                          env={**variables_of_programs(), **settings}, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "end\n"), done.stderr
    assert "sanitizer: race: race: aten::add_.Tensor on stream" in done.stderr
    assert "and aten::mul_.Tensor on stream" in done.stderr
    ordered = program.run("-c", race.format("torch.npu.current_stream().wait_stream(side)\n"), **settings)
    assert "sanitizer" not in ordered.stderr


def test_code_module_file_and_input(program):
    assert program.run("-c", FIRST + CHECK).stdout == "right\n"
    (program.folder / "mine.py").write_text(
        "print('right')\nimport sys; print(sys.argv[1:], __name__, __spec__.name)", encoding="utf-8")
    done = program.run("-m", "mine", "-x", "y")
    assert done.stdout == "right\n['-x', 'y'] __main__ mine\n"
    text = "import sys\nprint(sys.argv[1:], __name__, sys.path[0], __file__)\n"
    done = program.code(text, "a", "-b", "--c=d")
    folder = program.folder
    assert done.stdout == f"['a', '-b', '--c=d'] __main__ {folder} {folder / 'program.py'}\n"


def test_options_of_the_interpreter(program):
    done = program.run("-c", "import sys; print(sys.flags.optimize, sys.flags.utf8_mode, sys.argv)", "z",
                       launcher=("-O", "-X", "utf8", "-m", "advance_step.torch_npu"))
    assert done.stdout == "1 1 ['-c', 'z']\n"
    done = program.run("-c", "import sys; print(sys.flags.optimize)",
                       launcher=("-Om", "advance_step.torch_npu"))
    assert done.stdout == "1\n"


def test_exit_status(program):
    program.run("-c", "import sys; sys.exit(7)", status=7)
    assert "ZeroDivisionError" in program.run("-c", "1 / 0", status=1).stderr


def test_first_import(program):
    assert program.run("-c", "import advance_step.torch_npu\n" + FIRST + CHECK, launcher=(),
                       TORCH_DEVICE_BACKEND_AUTOLOAD="0").stdout == "right\n"
    done = program.run("-c", "import advance_step.torch_npu\nimport torch\n"
                       "print(torch.arange(3).npu().cpu())", launcher=())
    assert done.stdout == "tensor([0, 1, 2])\n"


def test_script_that_sets_the_environment(program):
    import subprocess

    import advance_step

    home = os.path.join(os.path.dirname(advance_step.__file__), "cann")
    variables = {name: value for name, value in os.environ.items()
                 if name not in ("LD_LIBRARY_PATH", "ASCEND_HOME_PATH", "ASCEND_OPP_PATH")}
    for shell, before in (("bash", ""), ("sh", f"ASCEND_HOME_PATH={home}; ")):
        done = subprocess.run([shell, "-c", f'{before}. {home}/set_env.sh && exec "$0" -c "$1"',
                               sys.executable, FIRST + CHECK], env=variables, capture_output=True, text=True,
                              timeout=300)
        assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


CHILDREN = """
import multiprocessing, sys
import torch, torch_npu
from torch import multiprocessing as torch_multiprocessing

def work(index, results):
    torch.npu.set_device(index)
    results.put((index, torch.full((3,), float(index)).npu().cpu().tolist()))

if __name__ == "__main__":
    context = torch_multiprocessing.get_context(sys.argv[1])
    results = context.Queue()
    children = [context.Process(target=work, args=(index, results)) for index in range(2)]
    for child in children:
        child.start()
    assert sorted(results.get(timeout=300) for _ in children) == [(0, [0.0] * 3), (1, [1.0] * 3)]
    for child in children:
        child.join()
        assert child.exitcode == 0
    print("right")
"""


@pytest.mark.parametrize("method, launcher", (("spawn", ("-m", "advance_step.torch_npu")),
                                              ("spawn", ()), ("forkserver", ())))
def test_children(program, method, launcher):
    text = CHILDREN if launcher else "import advance_step.torch_npu\n" + CHILDREN
    assert program.code(text, method, launcher=launcher).stdout == "right\n"


def test_children_by_fork_before_the_first_use(program):
    text = CHILDREN.replace("results = context.Queue()",
                            "assert torch.npu.device_count() == 2; results = context.Queue()")
    assert program.code(text, "fork").stdout == "right\n"


SHARED = """
import sys
import torch, torch_npu
from torch import multiprocessing

def write(tensors, done):
    tensor = tensors.get()
    seen = tensor.cpu().tolist()
    tensor.copy_(torch.arange(8) * 7)
    torch.npu.synchronize()
    done.put(seen)
    del tensor

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    tensors, done = context.Queue(), context.Queue()
    child = context.Process(target=write, args=(tensors, done))
    child.start()
    tensor = torch.arange(8).npu()
    tensors.put(tensor)
    assert done.get(timeout=300) == list(range(8))
    assert tensor.cpu().tolist() == list(range(0, 56, 7))  # the child wrote into the same memory
    child.join()
    assert child.exitcode == 0
    print("right")
"""


@pytest.mark.parametrize("segments", ("False", "True"))
def test_tensors_of_another_process(program, segments):
    done = program.code(SHARED, PYTORCH_NPU_ALLOC_CONF=f"expandable_segments:{segments}")
    assert done.stdout == "right\n"


EVENTS = """
import torch, torch_npu
from torch import multiprocessing

def add(tensors, handles, said, ended):
    tensor = tensors.get()
    event = torch.npu.Event.from_ipc_handle(torch.device("npu:0"), handles.get())
    stream = torch.npu.Stream()
    stream.wait_event(event)
    with torch.npu.stream(stream):
        tensor.mul_(2)
    event.record(stream)  # the latest record is now this process's
    assert not event.query()
    said.put("queued")
    stream.synchronize()
    assert event.query()
    said.put(tensor.cpu().tolist())
    ended.wait(100)

if __name__ == "__main__":
    context = multiprocessing.get_context("spawn")
    tensors, handles, said = context.Queue(), context.Queue(), context.Queue()
    ended = context.Event()
    child = context.Process(target=add, args=(tensors, handles, said, ended))
    child.start()
    tensor = torch.ones(8).npu()
    tensors.put(tensor)
    torch.npu.synchronize()
    stream, event = torch.npu.Stream(), torch.npu.Event(interprocess=True)
    gate = []
    # The child's work is queued before this stream may go on.
    torch.npu._subscribe_report(stream)
    torch.npu._launch_host_func(stream, lambda _: gate.append(said.get(timeout=300)), None)
    with torch.npu.stream(stream):
        tensor.add_(4)
    event.record(stream)
    handles.put(event.ipc_handle())
    event.synchronize()
    assert said.get(timeout=300) == [10.0] * 8
    torch.npu.current_stream().wait_event(event)
    assert (tensor + 1).cpu().tolist() == [11.0] * 8
    torch.npu._unsubscribe_report(stream)
    assert gate == ["queued"]
    ended.set()
    child.join()
    assert child.exitcode == 0
    print("right")
"""


@pytest.mark.parametrize("mode", ("1", "queue"))
def test_events_of_another_process(program, mode):
    assert program.code(EVENTS, ADVANCE_STEP_HOST_OPERATORS=mode).stdout == "right\n"


def test_torchrun(program):
    (program.folder / "rank.py").write_text(
        "import os\n" + USE + "torch.npu.set_device(int(os.environ['LOCAL_RANK']))\n"
        "print('rank', os.environ['RANK'], torch.arange(2).npu().device.index, flush=True)\n",
        encoding="utf-8")
    done = program.run("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", "rank.py")
    assert sorted(done.stdout.split("\n")) == ["", "rank 0 0", "rank 1 1"]


def test_pytest(program):
    (program.folder / "test_mine.py").write_text(
        "def test_device():\n" + USE.replace("\n", "\n    "), encoding="utf-8")
    options = ("-q", "-p", "no:cacheprovider", "test_mine.py")
    assert "1 passed" in program.run("-m", "pytest", *options).stdout
    done = program.run("-p", "advance_step.torch_npu", *options, launcher=("-m", "pytest"))
    assert "1 passed" in done.stdout


ENDS = {
    "nothing queued": "pass",
    "work queued": "decode.launch()",
    "a bad query that nobody asked for": """
decode.tensors[3].copy_(torch.tensor([-1] * 12))
torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)""",
    "an error that was caught": """
decode.tensors[3].copy_(torch.tensor([-1] * 12))
try:
    torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
    torch.npu.synchronize()
except RuntimeError:
    print("caught")""",
    "out of memory": """
try:
    torch.empty(1 << 40, dtype=torch.uint8, device="npu")
except torch.OutOfMemoryError:
    print("caught")""",
    "a graph": """
graph = torch.npu.NPUGraph()
torch.npu.synchronize()
with torch.npu.graph(graph):
    torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
graph.replay()""",
    "a capture under way": """
stream = torch.npu.Stream()
torch.npu.synchronize()
with torch.npu.stream(stream):
    graph = torch.npu.NPUGraph()
    graph.capture_begin()
    torch_npu.npu_advance_step_flashattn(*decode.tensors, *decode.sizes)
    graph.capture_end()""",
    "threads that work": """
import threading
# Not daemons: the interpreter ends those inside a destructor of torch's, which ends the process.
def work():
    mine = Decode.steady(2)
    while threading.main_thread().is_alive():
        torch_npu.npu_advance_step_flashattn(*mine.tensors, *mine.sizes)
        mine.tensors[3].copy_(torch.tensor([3] * 12))
for _ in range(2):
    threading.Thread(target=work).start()""",
    "an operator that is not there": """
try:
    (decode.tensors[0] + 1).cpu()
except RuntimeError:
    print("caught")""",
}


@pytest.mark.parametrize("end", ENDS)
def test_end_of_the_process(program, end):
    program.forked("import torch, torch_npu\nfrom decode import Decode\ndecode = Decode.steady(1)\n"
                   "decode.launch()\n" + ENDS[end])
