# SPDX-License-Identifier: Apache-2.0
"""A stand-in for ModelScope's client, which tests/e2e imports."""

import huggingface_hub


def snapshot_download(name, **_):
    """Returns the folder of the model. Nothing is downloaded."""
    return huggingface_hub.snapshot_download(name, local_files_only=True)
