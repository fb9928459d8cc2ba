# SPDX-License-Identifier: Apache-2.0
"""Puts the prefix in the shape of CANN's into the wheel, and the library with it.

It is installed from the build folder that ADVANCE_STEP_BUILD names, or else from the one of the
library that ADVANCE_STEP_LIBRARY names, or else from that of the release preset.
"""

import os
import pathlib
import shutil
import subprocess
import tempfile

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

RELEASE = pathlib.Path(__file__).resolve().parents[2] / "build" / "release"


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


class BuildWithPrefix(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib, "advance_step", "cann")
        shutil.rmtree(target, ignore_errors=True)
        with tempfile.TemporaryDirectory() as scratch:
            prefix = pathlib.Path(scratch, "cann")
            subprocess.run(["cmake", "--install", build_folder(), "--prefix", prefix, "--component",
                            "cann"], check=True, stdout=subprocess.DEVNULL)
            library = prefix / "lib64" / "libadvance_step.so.0"
            real = library.resolve()
            shutil.copytree(prefix, target, symlinks=True)
            # The folder of the installation is not known yet, and this one ends here.
            script = target / "set_env.sh"
            script.write_text(script.read_text().replace(str(prefix), ""))
        # A wheel has no links: the library is there once, by its SONAME.
        library = target / "lib64" / library.name
        for link in library.parent.glob("libadvance_step.so*"):
            if link.is_symlink():
                link.unlink()
        (library.parent / real.name).rename(library)


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on this platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True  # so the package is installed as platform-dependent


setup(distclass=PlatformDistribution,
      cmdclass={"build_py": BuildWithPrefix, "bdist_wheel": PlatformWheel})
