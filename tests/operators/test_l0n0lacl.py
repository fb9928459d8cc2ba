# SPDX-License-Identifier: Apache-2.0
"""The published package l0n0lacl, unchanged, on pyACL and the operators of an installed prefix."""

import os
import pathlib
import subprocess
import sys

import pytest

BUILD = pathlib.Path(os.environ["LIBRARIES_OF_OPERATORS"]).parent
PACKAGES = ("l0n0lacl==2.4.0", "colorama==0.4.6")
PROGRAM = """
from l0n0lacl import *
import ctypes
import numpy as np

rng = np.random.default_rng(1)
values = rng.uniform(-2, 2, 1024).astype(np.float32)
out = 算子运行器('Abs')(张量(values), 张量(np.zeros_like(values)))
assert np.array_equal(out[1].numpy(), np.abs(values))

added = 算子运行器('Add')(张量(values), 张量(values[::-1].copy()), 标量(1.5), 张量(np.zeros_like(values)))
assert np.allclose(added[3].numpy(), values + 1.5 * values[::-1])

bias, matrix, vector = (rng.uniform(-1, 1, shape).astype(np.float32) for shape in (3, (3, 400), 400))
out = 算子运行器('Addmv')(bias, matrix, vector, 1.2, 标量(1.1), np.zeros(3, np.float32), ctypes.c_int8(0))
assert np.allclose(out[-2].numpy(), 1.1 * bias + 1.2 * (matrix @ vector), atol=1e-4)
print(设备.设备数量, "right")
"""


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    folder = tmp_path_factory.mktemp("prefix") / "cann"
    subprocess.run(["cmake", "--install", BUILD, "--prefix", folder, "--component", "cann"], check=True,
                   stdout=subprocess.DEVNULL)
    return folder


@pytest.fixture(scope="module")
def packages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("packages")
    done = subprocess.run([sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", "install",
                           "--no-deps", "--target", folder, *PACKAGES], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        assert not os.environ.get("CI"), done.stderr
        pytest.skip(f"the package index does not give {' '.join(PACKAGES)}")
    return folder


def test_operators_of_the_published_package(prefix, packages):
    script = f'. "{prefix}/set_env.sh" && PYTHONPATH=$PYTHONPATH:{packages} exec "{sys.executable}" -c "$1"'
    environment = {name: value for name, value in os.environ.items()
                   if not name.startswith(("ADVANCE_STEP_", "ASCEND_", "PYTHONPATH"))}
    done = subprocess.run(["bash", "-c", script, "bash", PROGRAM], env=environment, capture_output=True, text=True,
                          timeout=600, check=False)
    assert done.returncode == 0 and done.stdout.endswith("2 right\n"), done.stdout + done.stderr
