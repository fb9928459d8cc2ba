# SPDX-License-Identifier: Apache-2.0
"""The extension for another torch than that of the wheel, which a first run compiles."""

import os
import shutil
import subprocess
import sys
import threading
import warnings

import pytest
from advance_step import _extension, _native, _report
from conftest import SOURCES

# Writes what it gets into the file that stands behind -o, and counts its runs.
WRITES = 'echo run >>"$RUNS"; all="$*"; while [ "$1" != -o ]; do shift; done; cat >"$2"; echo "$all" >>"$2"'
FAILS = 'echo run >>"$RUNS"; echo "no such header: torch.h"; exit 3'


class Wheel:
    """A wheel's package beside a torch, with a compiler that is lines of a shell."""

    def __init__(self, folder, monkeypatch):
        self.folder, self.package = folder, folder / "advance_step"
        (self.package / "torch_kernels/part").mkdir(parents=True)
        (self.package / "torch_kernels/part/one.cpp").write_text("int one;\n")
        (self.package / "torch_kernels/two.cpp").write_text("int two;\n")
        (folder / "cann/include/advance_step").mkdir(parents=True)
        (folder / "cann/include/advance_step/host_operator.h").write_text("int header;\n")
        (folder / "modules/torch").mkdir(parents=True)
        (folder / "modules/torch/__init__.py").touch()
        (folder / "modules/torch/version.py").write_text("git_version = '1'\n")
        monkeypatch.setattr(_extension, "_PACKAGE", self.package)
        monkeypatch.setattr(_extension, "_torch", lambda: folder / "modules/torch")
        monkeypatch.setattr(_extension, "prefix", lambda: folder / "cann")
        monkeypatch.setenv("XDG_CACHE_HOME", str(folder / "cache"))
        monkeypatch.setenv("CXX", str(folder / "compiler"))
        monkeypatch.setenv("RUNS", str(folder / "runs"))

    def compiler(self, commands):
        (self.folder / "compiler").write_text(f"#!/bin/sh\n{commands}\n")
        (self.folder / "compiler").chmod(0o755)

    def runs(self):
        runs = self.folder / "runs"
        return len(runs.read_text().splitlines()) if runs.exists() else 0

    def cached(self):
        return sorted(self.folder.glob("cache/advance_step/*.so"))


@pytest.fixture
def wheel(tmp_path, monkeypatch):
    made = Wheel(tmp_path, monkeypatch)
    made.compiler(WRITES)
    return made


def told(version):
    """Returns the warning of a version without an extension."""
    with pytest.warns(UserWarning, match=f"there is no extension for torch {version.split('+')[0]}") as caught:
        assert _extension.get(version) is None
    text = str(caught[0].message)
    assert text.endswith('So operators of torch run in their Python form, each at once, without graphs, "hccl" and '
                         "ADVANCE_STEP_HOST_OPERATORS=queue or aclnn")
    return text


@pytest.fixture
def silent():
    """Whatever has an extension warns of nothing."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def test_the_first_run_compiles_and_the_next_ones_find_it(wheel, capfd, silent):
    first = _extension.get("2.14.1+cu130")
    assert [first] == wheel.cached() and first.name.startswith("_torch_kernels-2.14.1-")
    text = first.read_text()
    assert f'#include "{wheel.package}/torch_kernels/part/one.cpp"' in text and "two.cpp" in text
    for flag in (f"-I{wheel.package}", f"-I{wheel.folder}/modules/torch/include", f"-L{wheel.folder}/modules/torch/lib",
                 f"-I{wheel.folder}/cann/include"):
        assert flag in text.splitlines()[-1].split()
    assert capfd.readouterr().err == (f"advance_step: compiles its extension for torch 2.14.1+cu130 into {first.parent}, "
                                      "once, in about a minute\n")
    assert _extension.get("2.14.1+cu130") == first == _extension.find("2.14.1+cu130")
    assert wheel.runs() == 1 and capfd.readouterr().err == ""
    assert sorted(path.suffix for path in first.parent.iterdir()) == [".lock", ".so"]


def test_what_the_wheel_has_comes_first(wheel, silent):
    own = wheel.package / "_torch_kernels-2.13.0.so"
    own.touch()
    assert _extension.get("2.13.0+cpu") == own and wheel.runs() == 0
    assert _extension.get("2.10.0") != own and wheel.runs() == 1


@pytest.mark.parametrize("changed", ("advance_step/torch_kernels/two.cpp", "modules/torch/version.py",
                                     "cann/include/advance_step/host_operator.h"))
def test_other_sources_or_another_torch_of_the_version_are_compiled_anew(wheel, silent, changed):
    first = _extension.get("2.12.1")
    (wheel.folder / changed).write_text("int other = 1\n")
    second = _extension.get("2.12.1")
    assert second != first and wheel.cached() == sorted((first, second)) and wheel.runs() == 2


def test_processes_that_come_meanwhile_wait(wheel, silent):
    os.mkfifo(wheel.folder / "held")
    wheel.compiler(f'timeout 30 cat "{wheel.folder}/held"; {WRITES}')
    got = []
    threads = [threading.Thread(target=lambda: got.append(_extension.get("2.14.0")), daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    with open(wheel.folder / "held", "w"):
        pass  # opened once a compiler runs, which goes on when it is closed
    for thread in threads:
        thread.join(60)
    assert got == wheel.cached() * 4 and wheel.runs() == 1


def test_a_compiler_that_fails_is_asked_once_and_told_each_time(wheel):
    wheel.compiler(FAILS)
    text = told("2.10.0")
    log, = wheel.folder.glob("cache/advance_step/*.log")
    assert f"{wheel.folder}/compiler failed to build it; {log} has its words, remove it to try again." in text
    assert log.read_text() == "no such header: torch.h\n"
    assert told("2.10.0") == text and wheel.runs() == 1
    log.unlink()
    told("2.10.0")
    assert wheel.runs() == 2


def test_another_compiler_is_tried_after_one_that_failed(wheel):
    wheel.compiler(FAILS)
    told("2.10.0")
    wheel.compiler(WRITES)
    assert _extension.get("2.10.0") is not None


def test_no_compiler(wheel, monkeypatch):
    monkeypatch.setenv("CXX", "compiler-of-tomorrow -Q")
    assert ("there is no C++ compiler compiler-of-tomorrow to build it; expected one for C++20 (Debian: g++), or its "
            "name in CXX") in told("2.10.0")
    assert wheel.cached() == []


def test_the_compiler_may_be_a_command_of_several_words(wheel, monkeypatch, silent):
    monkeypatch.setenv("CXX", f"env {wheel.folder}/compiler")
    assert _extension.get("2.10.0") is not None and wheel.runs() == 1


@pytest.mark.parametrize("version", ("2.8.0", "2.15.0+cpu", "unknown"))
def test_a_torch_of_another_time(wheel, version):
    assert "it is for torch 2.9 to 2.14." in told(version)
    assert wheel.runs() == 0


def test_a_package_without_sources(wheel):
    shutil.rmtree(wheel.package / "torch_kernels")
    assert f"no sources are in {wheel.package}/torch_kernels; expected the wheel" in told("2.10.0")


def test_a_folder_that_cannot_be_written(wheel):
    (wheel.folder / "cache").touch()
    assert f"it cannot be kept in {wheel.folder}/cache/advance_step: " in told("2.10.0")


def test_the_python_form_compiles_nothing(wheel, silent):
    class Torch:
        __version__ = "2.14.1"

    assert _native.load(Torch, "python") is None and wheel.runs() == 0


def test_the_folder_is_the_users_cache(monkeypatch):
    monkeypatch.setenv("HOME", "/of/a/user")
    for named in ("", "not/absolute"):
        monkeypatch.setenv("XDG_CACHE_HOME", named)
        assert str(_extension.cache()) == "/of/a/user/.cache/advance_step"


@pytest.mark.parametrize("built, torch, commands, words", (
    ("2.13.0", "2.13.0+cpu", WRITES, "for torch 2.13.0"),
    ("2.13.0", "not installed", WRITES, "for torch 2.13.0"),
    ("", "not installed", WRITES, "none in the wheel"),
    ("2.13.0", "2.14.1", WRITES, "for torch 2.13.0; compiled for torch 2.14.1 into {cache} by the first program that "
                                 "needs it"),
    ("", "2.8.0", WRITES, "none in the wheel; none for torch 2.8.0: it is for torch 2.9 to 2.14. So operators of torch "),
))
def test_the_report_says_where_it_is_or_what_is_lost(wheel, monkeypatch, built, torch, commands, words):
    monkeypatch.setattr(_report, "_HERE", wheel.package)
    monkeypatch.setattr(_report, "_version", lambda package: torch)
    if built:
        (wheel.package / f"_torch_kernels-{built}.so").touch()
    assert _report._extension_told().startswith(words.format(cache=_extension.cache()))


def test_the_report_names_the_one_that_a_first_run_has_compiled(wheel, monkeypatch, silent):
    monkeypatch.setattr(_report, "_HERE", wheel.package)
    monkeypatch.setattr(_report, "_version", lambda package: "2.14.1")
    compiled = _extension.get("2.14.1")
    assert _report._extension_told() == f"none in the wheel; {compiled}"


def test_the_compilers_file_needs_no_package():
    """setup.py loads it before there is a library."""
    text = "import runpy, sys; runpy.run_path(sys.argv[1]); print('advance_step' in sys.modules)"
    done = subprocess.run([sys.executable, "-I", "-c", text, str(SOURCES / "advance_step/_extension_compiler.py")],
                          capture_output=True, text=True)
    assert done.stdout == "False\n", done.stderr
