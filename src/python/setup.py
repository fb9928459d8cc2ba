# SPDX-License-Identifier: Apache-2.0
"""Puts libadvance_step.so into the wheel, beside the package.

The library is the file that ADVANCE_STEP_LIBRARY names, or else that of the release preset.
"""

import os
import pathlib
import shutil

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # before setuptools 70
    from wheel.bdist_wheel import bdist_wheel

NAME = "libadvance_step.so.0"
RELEASE = pathlib.Path(__file__).resolve().parents[2] / "build" / "release" / "lib" / NAME


def library():
    named = os.environ.get("ADVANCE_STEP_LIBRARY")
    path = pathlib.Path(named) if named else RELEASE
    if not path.is_file():
        raise SystemExit(f"no library at {path}; build the release preset, or set "
                         "ADVANCE_STEP_LIBRARY to libadvance_step.so")
    return path


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        target = pathlib.Path(self.build_lib, "advance_step")
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy(library(), target / NAME)  # it follows links and copies the file itself


class PlatformWheel(bdist_wheel):
    """A wheel for any Python 3 on this platform."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


class PlatformDistribution(Distribution):
    def has_ext_modules(self):
        return True  # so the package is installed as platform-dependent


setup(distclass=PlatformDistribution,
      cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": PlatformWheel})
