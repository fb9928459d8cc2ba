# SPDX-License-Identifier: Apache-2.0
"""A stand-in for ModelScope's client, which tests/e2e imports: a model is what takes its place."""

from vllm.transformers_utils.utils import maybe_model_redirect


def snapshot_download(name, **_):
    """Returns the folder of the tiny model. OSError: the model has none."""
    folder = maybe_model_redirect(name)
    if folder == name:
        raise OSError(f"modelscope: nothing is downloaded, and {name} has no tiny model in ascend_models.txt")
    return folder
