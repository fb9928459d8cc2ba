# SPDX-License-Identifier: Apache-2.0
"""Puts the prefix in the shape of CANN's into the wheel, and the library with it; also the host
operators of torch, for the torch of the interpreter that builds (--no-build-isolation), and their sources
for any other torch.

It is installed from the build folder that ADVANCE_STEP_BUILD names, or else from the one of the
library that ADVANCE_STEP_LIBRARY names, or else from that of the release preset. With
ADVANCE_STEP_EXTENSION=OFF it has no extension, whatever torch is there.
"""

import importlib.util
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

NEAR_TORCH = b"$ORIGIN:$ORIGIN/../../../torch/lib"  # the run path of libadvance_step_aten.so begins so
HERE = pathlib.Path(__file__).resolve().parent
KERNELS = HERE / "torch_kernels"
RELEASE = HERE.parents[1] / "build" / "release"


def build_folder():
    named = os.environ.get("ADVANCE_STEP_BUILD")
    library = os.environ.get("ADVANCE_STEP_LIBRARY")
    folder = RELEASE
    if named or library:
        folder = pathlib.Path(named) if named else pathlib.Path(library).resolve().parents[1]
    if not (folder / "cann" / "lib64" / "libascendcl.so").is_file():
        raise SystemExit(f"no libraries in {folder / 'cann' / 'lib64'}; build the release preset, "
                         "or set ADVANCE_STEP_BUILD to a build folder")
    return folder


def load(name):
    """Returns a module of the package, without the package, which needs the library."""
    spec = importlib.util.spec_from_file_location(name, HERE / "advance_step" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def build_kernels(version, torch, include, target):
    """Compiles the host operators, and keeps the result for the next wheel of the same sources."""
    compiler = load("_extension_compiler")
    torch = pathlib.Path(torch)
    kept = build_folder() / "torch_kernels" / f"{compiler.key(version, torch, KERNELS, include)}.so"
    if not kept.is_file():
        kept.parent.mkdir(exist_ok=True)
        made = kept.with_suffix(f".{os.getpid()}")
        try:
            compiler.build(torch, KERNELS, include, made)
        except compiler.Failed as error:
            raise SystemExit(f"the extension for torch {version} in {torch} cannot be compiled: {error}. Above is what "
                             "the compiler says; ADVANCE_STEP_EXTENSION=OFF builds a wheel without it") from None
        made.rename(kept)
    shutil.copy(kept, target)


def add_sources(package):
    """Puts the sources of the extension into the package, for a torch that is not the one of the build."""
    target = package / KERNELS.name
    shutil.rmtree(target, ignore_errors=True)
    shutil.copytree(KERNELS, target, ignore=shutil.ignore_patterns("*.md"))


def add_extension(package):
    """Puts the extension into the package that is built, or says why there is none."""
    for earlier in package.glob("_torch_kernels-*.so"):  # of a build in the same folder, beside another torch
        earlier.unlink()
    if os.environ.get("ADVANCE_STEP_EXTENSION", "ON").upper() in ("OFF", "0", "NO", "FALSE"):
        reason = "no extension is wanted"
    else:
        versions = load("_torch_versions")
        version, torch = versions.found()
        reason = versions.unfit(version)
        if not reason:
            build_kernels(version, torch, package / "cann" / "include", package / versions.file_name(version))
            return
    print(f"{reason}: the wheel has the sources alone, which a program's first run compiles", file=sys.stderr)


def keep_soname(folder, name):
    """Leaves one file of a library, by its SONAME, because a wheel has no links."""
    for library in folder.glob(f"{name}.so.0"):
        real = library.resolve()
        for link in folder.glob(f"{name}.so*"):
            if link.is_symlink():
                link.unlink()
        real.rename(library)


def forget_torch(module):
    """Takes the folder of the torch of the build off the module's run path, which ends with it."""
    if module.is_file():
        data = module.read_bytes()
        begin = data.index(NEAR_TORCH) + len(NEAR_TORCH)
        end = data.index(b"\0", begin)
        module.write_bytes(data[:begin] + bytes(end - begin) + data[end:])


class BuildWithPrefix(build_py):
    def run(self):
        super().run()
        pathlib.Path(self.build_lib, "advance_step.pth").write_text("import _advance_step_startup\n")
        target = pathlib.Path(self.build_lib, "advance_step", "cann")
        shutil.rmtree(target, ignore_errors=True)
        with tempfile.TemporaryDirectory() as scratch:
            prefix = pathlib.Path(scratch, "cann")
            subprocess.run(["cmake", "--install", build_folder(), "--prefix", prefix, "--component",
                            "cann"], check=True, stdout=subprocess.DEVNULL)
            shutil.copytree(prefix, target, symlinks=True)
            # The folder of the installation is not known yet. The scratch folder is removed here.
            script = target / "set_env.sh"
            script.write_text(script.read_text().replace(str(prefix), ""))
        folder = target / "lib64"
        keep_soname(folder, "libadvance_step")
        keep_soname(folder, "libadvance_step_operators")
        forget_torch(folder / "libadvance_step_aten.so")
        add_sources(target.parent)
        add_extension(target.parent)


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on this platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True  # so the package is installed as platform-dependent


setup(distclass=PlatformDistribution,
      cmdclass={"build_py": BuildWithPrefix, "bdist_wheel": PlatformWheel})
