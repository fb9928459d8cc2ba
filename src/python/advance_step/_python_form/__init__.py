# SPDX-License-Identifier: Apache-2.0
"""The host operators in Python: the form for a torch for which the wheel has no extension, and the
reference with which the tests compare the extension."""
