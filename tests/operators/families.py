# SPDX-License-Identifier: Apache-2.0
"""The families of operators of language models: for each function arguments and a reference.

A maker takes dice (random.Random) and returns arguments by name; outputs are left out. The reference returns
the outputs by name: a tensor of float64 or of the output's dtype, loops.Near for rounded numbers, or None for
an output that the call leaves out. torch's own random numbers are seeded before."""

import random

import family_attention
import family_distribute
import family_experts
import family_flash
import family_gates
import family_mx
import family_norms
import family_optimizers
import family_quant
import family_rotary
import family_sampling
import loops

MODULES = (family_norms, family_rotary, family_gates, family_quant, family_mx, family_experts, family_sampling,
           family_flash, family_attention, family_optimizers, family_distribute)
CASES = {f"aclnn{name}": case for module in MODULES for name, case in module.CASES.items()}
TABLES = {"norms", "rotary", "gates", "quant", "experts", "cache", "sampling", "flash", "attention",
          "optimizers", "distribute"}


def arguments(name, seed=1):
    return CASES[name][0](random.Random(seed))


def expected(name, values):
    """The outputs by name, without loops.Near."""
    results = CASES[name][1](values)
    return {word: result.tensor() if isinstance(result, loops.Near) else result for word, result in results.items()}
