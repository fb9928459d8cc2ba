# SPDX-License-Identifier: Apache-2.0
"""Puts the prefix in the shape of CANN's into the wheel, and the library with it; also the host
operators of torch, for the torch of the interpreter that builds (--no-build-isolation).

It is installed from the build folder that ADVANCE_STEP_BUILD names, or else from the one of the
library that ADVANCE_STEP_LIBRARY names, or else from that of the release preset. With
ADVANCE_STEP_EXTENSION=OFF it has no extension, whatever torch is there.
"""

import hashlib
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

FLAGS = ("-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden",
         "-fvisibility-inlines-hidden", "-w")
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


def load_versions():
    """Returns the module advance_step._torch_versions, without the package, which needs the library."""
    spec = importlib.util.spec_from_file_location(
        "_torch_versions", HERE / "advance_step" / "_torch_versions.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def compile_kernels(version, torch, include, sources, output):
    # As one source, because torch's headers take most of the time.
    whole = "".join(f'#include "{source}"\n' for source in sources)
    try:
        subprocess.run([os.environ.get("CXX", "c++"), *FLAGS, f"-I{HERE}", f"-I{torch}/include",
                        f"-I{torch}/include/torch/csrc/api/include", f"-I{include}",
                        "-x", "c++", "-", "-o", output, f"-L{torch}/lib", "-ltorch_cpu", "-lc10"],
                       input=whole, text=True, check=True)
    except (OSError, subprocess.CalledProcessError) as error:
        raise SystemExit(f"the extension for torch {version} in {torch} cannot be compiled: {error}. Above is what "
                         "the compiler says; ADVANCE_STEP_EXTENSION=OFF builds a wheel without it") from None


def build_kernels(version, torch, include, target):
    """Compiles the host operators, and keeps the result for the next wheel of the same sources."""
    sources = sorted(KERNELS.rglob("*.cpp"))
    texts = [*sources, *sorted(KERNELS.rglob("*.h")),
             *sorted(pathlib.Path(include, "advance_step").glob("host_operator.h"))]
    digest = hashlib.sha256(f"{version} {torch} {FLAGS}".encode())
    for text in texts:
        digest.update(text.read_bytes())
    kept = build_folder() / "torch_kernels" / f"{digest.hexdigest()[:16]}.so"
    if not kept.is_file():
        kept.parent.mkdir(exist_ok=True)
        made = kept.with_suffix(f".{os.getpid()}")
        compile_kernels(version, torch, include, sources, made)
        made.rename(kept)
    shutil.copy(kept, target)


def add_extension(package):
    """Puts the extension into the package that is built, or says why there is none."""
    for earlier in package.glob("_torch_kernels-*.so"):  # of a build in the same folder, beside another torch
        earlier.unlink()
    if os.environ.get("ADVANCE_STEP_EXTENSION", "ON").upper() in ("OFF", "0", "NO", "FALSE"):
        reason = "no extension is wanted"
    else:
        versions = load_versions()
        version, torch = versions.found()
        reason = versions.unfit(version)
        if not reason:
            build_kernels(version, torch, package / "cann" / "include", package / versions.file_name(version))
            return
    print(f"{reason}: the wheel has the Python form of the host operators only", file=sys.stderr)


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
