# SPDX-License-Identifier: Apache-2.0
"""Programs of graph mode, which the tests of this folder compile."""

import subprocess

import aclnn

FOLDER = aclnn.ROOT / "tests/operators"
OPP = aclnn.ROOT / "opp/built-in/op_proto/inc"


def compiled(tmp_path_factory, name):
    """The program of NAME.cpp."""
    made = tmp_path_factory.mktemp(name) / name
    include = aclnn.ROOT / "include"
    subprocess.run(["g++", "-std=c++17", f"-I{include / 'graph'}", f"-I{include / 'ge'}", f"-I{include}", f"-I{OPP}",
                    FOLDER / f"{name}.cpp", "-o", made, f"-L{aclnn.LIBRARIES}", "-ladvance_step_graph",
                    "-ladvance_step", f"-Wl,-rpath,{aclnn.LIBRARIES}"], check=True)
    return made
