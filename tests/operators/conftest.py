# SPDX-License-Identifier: Apache-2.0
"""The device of all tests of this folder."""

import pytest

import aclnn


@pytest.fixture(scope="session")
def device():
    return aclnn.Device()
