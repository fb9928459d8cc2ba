# SPDX-License-Identifier: Apache-2.0
"""The programs in the documents run, in the order in which they stand."""

import re
import warnings

import pytest
from conftest import ROOT


@pytest.mark.parametrize("page", ("docs/python.md",))
def test_programs(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert blocks
    names = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for block in blocks:
            exec(compile(block, page, "exec"), names)
