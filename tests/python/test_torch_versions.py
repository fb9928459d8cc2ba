# SPDX-License-Identifier: Apache-2.0
"""The torch that the extension is built for, and versions of torch that lack names."""

import os
import pathlib
import runpy
import subprocess
import sys
import types

import pytest
import setuptools
from advance_step import _hccl, _parts, _torch_versions
from conftest import SOURCES


@pytest.mark.parametrize("version, can", (
    ("2.8.0", False), ("2.9.0", True), ("2.10.0+cpu", True), ("2.13.0+cpu", True), ("2.14.1+cu130", True),
    ("2.14.0a0", True), ("2.15.0", False), ("3.9.0", False), ("1.13.1", False), ("", False), ("unknown", False)))
def test_which_torch_the_extension_can_be_built_for(version, can):
    assert _torch_versions.can_build(version) == can
    assert (_torch_versions.unfit(version) == "") == can


@pytest.fixture
def build(tmp_path, monkeypatch):
    """Runs what setup.py does for the extension: beside a torch of a version, with a compiler of these lines of a
    shell. Returns the package's files and what is printed."""
    monkeypatch.setattr(setuptools, "setup", lambda **_: None)
    monkeypatch.setenv("ADVANCE_STEP_BUILD", str(tmp_path))
    for folder in ("cann/lib64", "package/cann/include", "modules/torch"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "cann/lib64/libascendcl.so").touch()
    compiler = tmp_path / "compiler"
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "modules"))
    # A file that changes twice in a second would be taken for the one that is compiled.
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")

    def run(version, commands="exit 1"):
        (tmp_path / "modules/torch/__init__.py").write_text(f"__version__ = {version!r}" if version else "import none")
        compiler.write_text(f"#!/bin/sh\n{commands}\n")
        compiler.chmod(0o755)
        runpy.run_path(str(SOURCES / "setup.py"))["add_extension"](tmp_path / "package")
        return sorted(file.name for file in (tmp_path / "package").glob("*.so"))

    return run


# Writes its arguments into the file that stands behind -o.
WRITES = 'all="$*"; while [ "$1" != -o ]; do shift; done; cat >/dev/null; echo "$all" >"$2"'


@pytest.mark.parametrize("version", ("2.9.1+cpu", "2.13.0+cpu", "2.14.1"))
def test_setup_builds_for_the_torch_that_is_there(build, tmp_path, version):
    name = f"_torch_kernels-{version.split('+')[0]}.so"
    assert build(version, WRITES) == [name]
    assert f"-I{tmp_path}/modules/torch/include" in (tmp_path / "package" / name).read_text()


def test_setup_keeps_nothing_of_another_version_in_the_same_folder(build):
    build("2.13.0", WRITES)
    assert build("2.14.1", WRITES) == ["_torch_kernels-2.14.1.so"]
    with pytest.raises(SystemExit):  # not what was compiled against the headers of another version
        build("2.14.0")
    assert build("2.8.0") == []


def test_setup_adds_the_sources_for_any_other_torch(build, tmp_path):
    runpy.run_path(str(SOURCES / "setup.py"))["add_sources"](tmp_path / "package")
    added = tmp_path / "package" / "torch_kernels"
    assert (added / "extension.cpp").read_bytes() == (SOURCES / "torch_kernels/extension.cpp").read_bytes()
    assert {file.suffix for file in added.rglob("*") if file.is_file()} == {".cpp", ".h"}


@pytest.mark.parametrize("version, told", (("2.8.0", "is: 2.8.0"), ("2.15.1", "is: 2.15.1"), ("", "is: none")))
def test_setup_says_why_there_is_no_extension(build, capfd, version, told):
    assert build(version) == []
    printed = capfd.readouterr().err
    assert f"{told}: the wheel has the sources alone, which a program's first run compiles" in printed
    assert "the extension is for torch 2.9 to 2.14, and that of" in printed


def test_setup_fails_where_the_extension_does_not_compile(build):
    with pytest.raises(SystemExit, match="the extension for torch 2.14.1 in .* cannot be compiled: .*status 1.* "
                                         "ADVANCE_STEP_EXTENSION=OFF builds a wheel without it"):
        build("2.14.1")


def fake(version, **names):
    return types.SimpleNamespace(__version__=version, **names)


def test_a_part_that_does_not_fit_is_a_warning(monkeypatch):
    monkeypatch.setattr(_parts, "_npu_version", lambda: "2.14.0")
    with pytest.warns(UserWarning, match="the backend: lost with torch 2.14.1 and torch_npu 2.14.0, because of "
                                         "AttributeError: .*'absent'; versions tried: 2.13.0"):
        assert _parts.attempt(fake("2.14.1"), "the backend", lambda torch: torch.absent, fake("2.14.1")) is None


def test_with_versions_that_were_tried_it_is_an_error(monkeypatch):
    monkeypatch.setattr(_parts, "_npu_version", lambda: "2.13.0")
    with pytest.raises(AttributeError, match="absent"):
        _parts.attempt(fake("2.13.0+cpu"), "the backend", lambda torch: torch.absent, fake("2.13.0+cpu"))
    assert _parts.attempt(fake("2.13.0"), "the backend", lambda value: value + 1, 2) == 3


def test_no_part_breaks_the_import_of_a_torch_without_any_name(run_python):
    done = run_python("import types; from advance_step import _parts; "
                      "_parts.register(types.SimpleNamespace(__version__='2.14.1')); print(len(_parts._MODULES))",
                      PYTORCH_NO_NPU_MEMORY_CACHING="1")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count(": lost with torch 2.14.1") == int(done.stdout), done.stderr


def test_a_group_without_one_of_the_methods_keeps_the_other():
    class Group:
        _device_types = ("npu",)

        def _get_sequence_number_for_group(self):
            return "torch's"

        def _get_backend(self, _):
            return types.SimpleNamespace(name=lambda: "hccl", _get_sequence_number_for_group=lambda: 7)

    _hccl._sequence_numbers(fake("2.14.1", device=str, distributed=types.SimpleNamespace(ProcessGroup=Group)))
    assert Group()._get_sequence_number_for_group() == 7
    assert not hasattr(Group, "_set_sequence_number_for_group")


def test_the_file_is_a_program_that_cmake_runs(tmp_path):
    program = pathlib.Path(_torch_versions.__file__)
    (tmp_path / "torch").mkdir()
    for version, status in (("2.10.0+cpu", 0), ("2.15.0", 1)):
        (tmp_path / "torch/__init__.py").write_text(f"__version__ = {version!r}")
        environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True)
        assert (done.returncode, done.stdout.strip()) == (status, "2.10.0" if status == 0 else "")
        assert ("and that of" in done.stderr) == bool(status)
