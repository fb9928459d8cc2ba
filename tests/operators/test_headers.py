# SPDX-License-Identifier: Apache-2.0
"""The headers of all functions, together, as C and as C++."""

import shutil
import subprocess
import sys

import pytest

import aclnn


@pytest.mark.parametrize("compiler, suffix, standard", [("gcc", "c", "c99"), ("g++", "cpp", "c++11")])
def test_headers_compile(tmp_path, compiler, suffix, standard):
    if shutil.which(compiler) is None:
        pytest.skip(f"{compiler} is missing")
    subprocess.run([sys.executable, aclnn.ROOT / "src/operators/make_operators.py", "headers", tmp_path], check=True)
    source = tmp_path / f"all.{suffix}"
    headers = sorted((tmp_path / "aclnnop").iterdir())
    assert len(headers) > 800
    source.write_text("".join(f'#include "aclnnop/{header.name}"\n' for header in headers))
    subprocess.run([compiler, f"-std={standard}", "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only",
                    f"-I{tmp_path}", f"-I{aclnn.ROOT / 'include'}", source], check=True)
