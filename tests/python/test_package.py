# SPDX-License-Identifier: Apache-2.0
"""The search for the library, the needs of the package, and its installation."""

import importlib.metadata
import importlib.util
import os
import shutil
import subprocess
import sys

import advance_step
import pytest
from conftest import ROOT, SOURCES

LIBRARY = os.environ["ADVANCE_STEP_LIBRARY"]
USE = """
import array, sys
import advance_step
rows = ([1, 2], [7], [3, 4], [5, 6], [8, 9], [10, 11, 20, 21])
a = [array.array("q", numbers) for numbers in rows]
column = memoryview(a[1]).cast("B").cast("q", (1, 1))
table = memoryview(a[5]).cast("B").cast("q", (2, 2))
advance_step.advance_step(a[0], column, a[2], a[3], a[4], table, 2, 1, 4)
assert [part.tolist() for part in (a[0], *a[2:5])] == [[7, 0], [5, 0], [6, 6], [45, -1]], a
print(advance_step.LIBRARY_PATH)
"""


def test_neither_numpy_nor_torch_is_needed(run_python):
    done = run_python("import sys\nsys.modules.update(numpy=None, torch=None)\n" + USE)
    assert done.returncode == 0, done.stderr
    done = run_python(USE + "assert 'numpy' not in sys.modules and 'torch' not in sys.modules")
    assert done.returncode == 0, done.stderr


def test_library_that_is_named(run_python, tmp_path):
    named = tmp_path / "other.so"
    shutil.copy(LIBRARY, named)
    assert run_python(USE, ADVANCE_STEP_LIBRARY=str(named)).stdout.strip() == str(named)
    done = run_python(USE, ADVANCE_STEP_LIBRARY=str(tmp_path / "none.so"))
    assert done.returncode == 1
    assert "none.so: cannot open" in done.stderr and "Set ADVANCE_STEP_LIBRARY" in done.stderr


def test_library_beside_the_package_comes_before_the_loaders(run_python, tmp_path):
    shutil.copytree(SOURCES / "advance_step", tmp_path / "advance_step")
    shutil.copy(LIBRARY, tmp_path / "libadvance_step.so.0")
    loader = {"LD_LIBRARY_PATH": str(tmp_path), "ADVANCE_STEP_LIBRARY": ""}
    done = run_python(USE, path=(tmp_path,), **loader)
    assert done.stdout.strip() == "libadvance_step.so.0", done.stderr
    beside = tmp_path / "advance_step" / "libadvance_step.so.0"
    shutil.copy(LIBRARY, beside)
    assert run_python(USE, path=(tmp_path,), **loader).stdout.strip() == str(beside)


def test_another_library_is_refused(run_python):
    done = run_python(USE, ADVANCE_STEP_LIBRARY=_libc())
    assert "ImportError" in done.stderr and "it is not the library of this package" in done.stderr


def _libc():
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return next(line.split()[-1] for line in maps if "libc.so" in line)


END = """
import threading
import numpy, torch, advance_step
from advance_step import prepare_advance_step
stream = advance_step.Stream(1)
arrays = [numpy.zeros(shape, numpy.int64) for shape in (4, (3, 1), 4, 4, 4, (4, 9))]
call = prepare_advance_step(*arrays, 4, 3, 8, stream=stream)
def work():
    for _ in range(5):
        call(wait=False)
        advance_step.advance_step(*[part.copy() for part in arrays], 4, 3, 8)
threads = [threading.Thread(target=work) for _ in range(3)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
tensors = [torch.from_numpy(part) for part in arrays]
advance_step.advance_step(*tensors, 4, 3, 8)
memory = advance_step.Device().allocate(100)
event = stream.record_event()
"""


def test_interpreter_ends_silently_with_work_queued(run_python):
    done = run_python(END)
    assert (done.returncode, done.stderr, done.stdout) == (0, "", "")


def test_command_line(run_python):
    done = run_python("-m", "advance_step")
    first, *rows = done.stdout.splitlines()
    assert first == f"advance_step {advance_step.__version__}, library {LIBRARY}"
    told = dict(row.strip().split(": ", 1) for row in rows)
    assert set(told) >= {"python", "prefix", "CANN's operators", "extension", "torch", "torch_npu", "numpy"}
    assert told["numpy"].strip() == importlib.metadata.version("numpy")
    assert told["ADVANCE_STEP_LIBRARY"].strip() == os.environ["ADVANCE_STEP_LIBRARY"]


def test_a_wrong_mode_of_host_operators_is_the_last_line(run_python):
    reason = "ADVANCE_STEP_HOST_OPERATORS is 'foo'; expected one of 0, 1, queue, python, aclnn"
    for program in (("-m", "advance_step.torch_npu", "-c", "print(1)"), ("import advance_step.torch_npu",)):
        done = run_python(*program, ADVANCE_STEP_HOST_OPERATORS="foo")
        assert done.returncode == 1 and done.stdout == "", done.stdout
        assert done.stderr.splitlines()[-1].endswith(reason), done.stderr


@pytest.mark.parametrize("module, content, options, ends, told", (
    ("wheel", "raise ImportError", (), True, "has no wheel; expected"),
    ("torch", "__version__ = '2.8.0+cpu'", (), True, "is for torch 2.9 to 2.14, and that of"),
    ("torch", "__version__ = '2.15.0'", (), True, "is: 2.15.0. Graphs and \"hccl\" of torch_npu need it"),
    ("torch", "raise ImportError", (), True, "is: none"),
    ("torch", "raise ImportError", ("-DADVANCE_STEP_PYTHON_EXTENSION=OFF",), False, "has no extension for torch: the "),
    ("torch", "__version__ = '2.13.0+cpu'", (), False, "has the extension for torch 2.13.0"),
    ("torch", "__version__ = '2.14.1'", (), False, "has the extension for torch 2.14.1"),
))
def test_configuring_tells_what_the_wheel_will_lack(tmp_path, module, content, options, ends, told):
    for name in ("wheel", "torch"):  # what the environment has does not count
        (tmp_path / "modules" / name).mkdir(parents=True)
        (tmp_path / "modules" / name / "__init__.py").write_text(content if name == module else "")
    done = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path / "build", "-DADVANCE_STEP_BUILD_PYTHON=ON",
         "-DADVANCE_STEP_BUILD_EXAMPLES=OFF", "-DADVANCE_STEP_BUILD_OPERATORS=OFF", f"-DPython3_EXECUTABLE={sys.executable}",
         *options], env={**os.environ, "PYTHONPATH": str(tmp_path / "modules")}, capture_output=True, text=True)
    assert (done.returncode != 0) == ends, done.stderr
    assert told in " ".join((done.stdout + done.stderr).split())


def test_the_active_environment_builds_the_wheel_also_of_a_folder_that_was_configured_before(tmp_path):
    python = tmp_path / "env/bin/python3"
    python.parent.mkdir(parents=True)
    python.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
    python.chmod(0o755)
    (tmp_path / "modules/wheel").mkdir(parents=True)
    (tmp_path / "modules/wheel/__init__.py").write_text("raise ImportError")
    command = ["cmake", "-S", ROOT, "-B", tmp_path / "build", "-DADVANCE_STEP_BUILD_EXAMPLES=OFF",
               "-DADVANCE_STEP_BUILD_OPERATORS=OFF"]
    outside = {name: value for name, value in os.environ.items() if name not in ("VIRTUAL_ENV", "CONDA_PREFIX")}
    subprocess.run(command, env=outside, capture_output=True, check=True)
    done = subprocess.run([*command, "-DADVANCE_STEP_BUILD_PYTHON=ON"], capture_output=True, text=True,
                          env={**outside, "VIRTUAL_ENV": str(tmp_path / "env"), "PYTHONPATH": str(tmp_path / "modules")})
    assert done.returncode != 0
    assert f"{python} has no wheel; expected" in " ".join(done.stderr.split())


def test_operators_compute_with_the_torch_of_the_wheels_python(tmp_path):
    torch = tmp_path / "modules/torch"
    for name in ("include/ATen/ATen.h", "lib/libtorch_cpu.so", "lib/libc10.so", "__init__.py"):
        (torch / name).parent.mkdir(parents=True, exist_ok=True)
        (torch / name).touch()
    (torch / "__init__.py").write_text("__version__ = '2.13.0'")
    done = subprocess.run(
        ["cmake", "-S", ROOT, "-B", tmp_path / "build", "-DADVANCE_STEP_BUILD_PYTHON=ON", "-DADVANCE_STEP_BUILD_EXAMPLES=OFF",
         f"-DPython3_EXECUTABLE={sys.executable}"],
        env={**os.environ, "PYTHONPATH": str(tmp_path / "modules")}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"CANN's operators compute with libtorch in {torch}/lib" in " ".join(done.stdout.split())


def test_pip_install_without_network(run_python, tmp_path):
    for module in ("pip", "setuptools", "wheel"):
        if importlib.util.find_spec(module) is None:
            pytest.skip(f"no {module}")
    source, target = tmp_path / "source", tmp_path / "target"
    shutil.copytree(SOURCES, source, ignore=shutil.ignore_patterns("build", "*.egg-info"))
    done = run_python("-m", "pip", "install", "--no-index", "--no-build-isolation", "--no-deps",
                      "--target", target, source)
    assert done.returncode == 0, done.stderr
    environment = {"ADVANCE_STEP_LIBRARY": ""}
    done = run_python(USE, path=(target,), **environment)
    prefix = target / "advance_step" / "cann"
    assert done.stdout.strip() == str(prefix / "lib64" / "libadvance_step.so.0"), done.stderr
    assert (prefix / "set_env.sh").is_file() and (prefix / "lib64" / "libascendcl.so").is_file()
    assert (prefix / "python" / "site-packages" / "acl" / "rt.py").is_file()
    assert (prefix / "opp" / "vendors").is_dir() and os.access(prefix / "bin" / "npu-smi", os.X_OK)


def test_the_wheel_of_cmake_has_all_files():
    listed = (SOURCES / "CMakeLists.txt").read_text(encoding="utf-8").split()
    for file in (*SOURCES.glob("advance_step/**/*.py"), *SOURCES.glob("torch_kernels/*/*.[ch]*")):
        assert str(file.relative_to(SOURCES)) in [name.rstrip(")") for name in listed]


def test_versions_agree():
    cmake = (ROOT / "CMakeLists.txt").read_text(encoding="utf-8")
    assert f"project(advance_step VERSION {advance_step.__version__} " in cmake


def test_types(run_python):
    pytest.importorskip("mypy")
    done = run_python("-m", "mypy", "--strict", "--cache-dir", os.devnull,
                      SOURCES / "advance_step", MYPYPATH=str(SOURCES))
    assert done.returncode == 0, done.stdout
