# SPDX-License-Identifier: Apache-2.0
"""Device "npu" in torch, and the honesty of the emulation."""

import copy
import io
import os
import pickle
import warnings

import pytest
from conftest import SOURCES

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import torch
    import torch_npu

EMULATION = SOURCES / "emulation"
NPU = "npu:0"

FACTORIES = {
    "arange": lambda d: torch.arange(3, device=d), "empty": lambda d: torch.empty(2, 3, device=d),
    "eye": lambda d: torch.eye(3, device=d), "full": lambda d: torch.full((2,), 7, device=d),
    "linspace": lambda d: torch.linspace(0, 1, 3, device=d),
    "ones": lambda d: torch.ones(2, device=d), "zeros": lambda d: torch.zeros((2, 2), device=d),
    "rand": lambda d: torch.rand(2, device=d), "randn": lambda d: torch.randn(2, device=d),
    "randint": lambda d: torch.randint(3, (4,), device=d),
    "randperm": lambda d: torch.randperm(4, device=d),
    "tensor": lambda d: torch.tensor([1, 2], device=d),
    "as_tensor": lambda d: torch.as_tensor([1, 2], device=d),
    "zeros_like": lambda d: torch.zeros_like(torch.ones(2), device=d),
    "full_like": lambda d: torch.full_like(torch.ones(2), 3, device=d),
    "new_zeros": lambda d: torch.ones(2).new_zeros(3, device=d),
    "new_tensor": lambda d: torch.ones(2).new_tensor([3], device=d),
    "to": lambda d: torch.ones(2).to(d), "to dtype": lambda d: torch.ones(2).to(d, torch.int32),
    "to keyword": lambda d: torch.ones(2).to(device=d, dtype=torch.int32, non_blocking=True),
    "to other": lambda d: torch.ones(2).to(torch.zeros(1, dtype=torch.int64, device=d)),
    "of npu": lambda d: torch.zeros_like(torch.ones(2).npu(), device=d),
    "tensor of npu": lambda d: torch.as_tensor(torch.ones(2).npu(), device=d),
}


@pytest.mark.parametrize("name", FACTORIES)
@pytest.mark.parametrize("device", ("npu", "npu:0", "npu:1"))
def test_factories(name, device):
    for spec in (device, torch.device(device)):
        torch.manual_seed(1)
        made = FACTORIES[name](spec)
        assert str(made.device) == ("npu:0" if device == "npu" else device)
        assert made.is_npu and made.device.type == "npu" and not made.is_cuda
        torch.manual_seed(1)
        wanted = FACTORIES[name]("cpu")
        assert not wanted.is_npu and wanted.device == torch.device("cpu")
        assert made.dtype == wanted.dtype and made.shape == wanted.shape
        if name != "empty":
            assert made.tolist() == wanted.tolist()


def test_moving_copies():
    host = torch.arange(4)
    device = host.npu()
    device += 1
    assert host.tolist() == [0, 1, 2, 3]
    back = device.cpu()
    back += 1
    assert device.tolist() == [1, 2, 3, 4] and back.tolist() == [2, 3, 4, 5]
    assert device.npu() is device and device.to("npu") is device and device.to(NPU) is device
    assert device.to("npu:1").tolist() == [1, 2, 3, 4]
    assert device.to(torch.float32).device == torch.device(NPU)
    assert device.to("cpu", torch.float32).dtype == torch.float32
    shared = torch.as_tensor(host, device="npu")
    shared[0] = 9
    assert host[0] == 0
    host.copy_(device)
    device.copy_(torch.zeros(4))
    assert host.tolist() == [1, 2, 3, 4] and device.tolist() == [0] * 4 and not host.is_npu


def test_results_stay_on_the_device():
    a = torch.arange(6, device="npu").reshape(2, 3)
    results = [a + 1, 1 + a, a.T, a[0], a[:, 1:], a.float() @ a.T.float(), torch.cat([a, a]),
               a.max(), a == a, a.clone(), *a.unbind(), *torch.max(a, dim=0), *a.split(1), *a,
               a.data, torch.where(a > 2, a, -a), a.new_zeros(2), torch.zeros_like(a), a.detach(),
               copy.deepcopy(a), a[torch.tensor([0, 1])], torch.nn.functional.relu(a)]
    assert {str(result.device) for result in results} == {NPU}
    assert type(torch.max(a, dim=0)).__name__ == "max"
    view = a.view(-1)
    view[0] = 100
    a[1] = torch.tensor([7, 8, 9])
    assert a.tolist() == [[100, 1, 2], [7, 8, 9]]
    out = torch.empty(2, 3, dtype=torch.int64, device="npu")
    assert torch.add(a, a, out=out) is out and out[0, 0] == 200
    assert a.zero_() is a
    assert isinstance(a.size(), torch.Size) and a.size() == (2, 3)


@pytest.mark.parametrize("mix", (
    lambda a, b: a + b, lambda a, b: b + a, lambda a, b: torch.cat([a, b]),
    lambda a, b: torch.cat([b, a]), lambda a, b: b.add_(a), lambda a, b: b[a],
    lambda a, b: torch.add(a, a, out=b), lambda a, b: a + a.to("npu:1")))
def test_two_devices(mix):
    with pytest.raises(RuntimeError, match="tensors are on .* and .*; expected all of them"):
        mix(torch.arange(3, device="npu"), torch.arange(3))


def test_numbers_of_the_cpu():
    assert (torch.arange(3, device="npu") + torch.tensor(1)).tolist() == [1, 2, 3]


def test_numpy_and_pickle_are_refused():
    import numpy

    a = torch.arange(3, device="npu")
    for refused in (a.numpy, lambda: numpy.asarray(a), lambda: numpy.array(a)):
        with pytest.raises(TypeError, match="no numpy array"):
            refused()
    with pytest.raises(NotImplementedError, match="not pickled"):
        pickle.dumps(a)
    with pytest.raises(NotImplementedError, match="not pickled"):
        torch.save(a, io.BytesIO())
    assert a.cpu().numpy().tolist() == [0, 1, 2]


def test_text():
    assert repr(torch.arange(2, device="npu")) == "tensor([0, 1], device='npu:0')"
    assert (repr(torch.ones(1, dtype=torch.int32, device="npu:1"))
            == "tensor([1], device='npu:1', dtype=torch.int32)")
    assert torch.ones(1, device="npu").type() == "torch.npu.FloatTensor"
    assert torch.ones(1, device="npu").get_device() == 0
    assert f"{torch.tensor(1.5, device='npu'):.2f}" == "1.50"


def test_devices():
    device = torch.device("npu:1")
    assert (device.type, device.index, str(device)) == ("npu", 1, "npu:1")
    assert repr(device) == "device(type='npu', index=1)"
    assert torch.device("npu", 1) == device == torch.device(device)
    assert device != torch.device("npu") and device != torch.device("cpu")
    assert len({device, torch.device("npu:1")}) == 1
    assert isinstance(device, torch.device) and isinstance(torch.ones(1).device, torch.device)
    assert not isinstance("npu", torch.device) and issubclass(type(device), torch.device)
    assert torch.device("cuda:1").index == 1 and torch.device(type="cpu").type == "cpu"
    assert pickle.loads(pickle.dumps(device)) == device
    for bad in ("npu:", "npu:x", "npu:-1", "npu:9", "npux"):
        with pytest.raises(RuntimeError):
            torch.device(bad)
    assert torch.npu.is_available() and torch.npu.device_count() == 2
    assert "emulated" in torch.npu.get_device_name()


def test_missing_names_are_named():
    for module, name in ((torch_npu, "torch_npu.npu_format_cast"),
                         (torch.npu, "torch.npu.memory_allocated")):
        with pytest.raises(AttributeError, match=f"{name} is not emulated; .* has "):
            getattr(module, name.rsplit(".", 1)[1])
    assert not hasattr(torch_npu, "npu_fusion_attention")
    with pytest.raises(NotImplementedError, match="with torch.device"):
        with torch.device("npu"):
            pass


def test_it_says_that_it_is_an_emulation(run_python):
    done = run_python(
        "import warnings\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import torch_npu, torch\n"
        "    import torch_npu\n"
        "said = [w for w in caught if w.category.__name__ == 'EmulationWarning']\n"
        "print(len(said), said[0].filename, said[0].message)\n"
        "print(torch_npu.__version__, torch_npu.IS_EMULATION, torch.npu.IS_EMULATION)\n",
        path=(EMULATION,))
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("1 <string> torch_npu is an emulation on the CPU")
    assert second == "0.1.0+emulation True True"


@pytest.mark.parametrize("kind", ("module", "package", "distribution"))
@pytest.mark.parametrize("order", (1, -1), ids=("emulation first", "emulation last"))
def test_a_real_torch_npu_is_not_shadowed(run_python, tmp_path, kind, order):
    if kind == "module":
        (tmp_path / "torch_npu.py").write_text("REAL = True")
    elif kind == "package":
        (tmp_path / "torch_npu").mkdir()
        (tmp_path / "torch_npu" / "__init__.py").write_text("REAL = True")
    else:
        (tmp_path / "torch_npu-2.1.dist-info").mkdir()
        metadata = tmp_path / "torch_npu-2.1.dist-info" / "METADATA"
        metadata.write_text("Name: torch_npu\nVersion: 2.1\n")
    done = run_python("import torch_npu; print(torch_npu.REAL)",
                      path=(EMULATION, tmp_path)[::order])
    if order == -1 and kind != "distribution":
        assert done.stdout == "True\n"
    else:
        assert "torch_npu is installed" in done.stderr and done.returncode == 1


def test_it_is_on_no_default_path(run_python):
    done = run_python("import advance_step, torch_npu")
    assert "No module named 'torch_npu'" in done.stderr
    done = run_python("-m", "advance_step", "--emulation")
    assert os.path.samefile(done.stdout.strip(), EMULATION), done.stderr


def test_torch_without_the_emulation_is_untouched(run_python):
    done = run_python("import advance_step, torch\n"
                      "print(torch.device.__module__, hasattr(torch, 'npu'))")
    assert done.stdout.split() == ["torch", "False"], done.stderr
