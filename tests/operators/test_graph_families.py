# SPDX-License-Identifier: Apache-2.0
"""Types of graph operators of language models: the cases of families.py as graphs of one node."""

import itertools
import random
import re

import pytest
import torch

import aclnn
import families
from test_families import check
from test_graph_types import Node, of_families, program, run, types  # noqa: F401  a fixture

LITERALS = {"true": True, "false": False, "nullptr": None}


def word_of(expression, row):
    """The output, input or attribute that an expression is made of, or the expression: node.Given(name) is made of name."""
    words = re.findall(r'(?<![.\w"])[\w-]+(?![\w(."])', expression)
    for names in (row["outputs"], row["inputs"], [each["name"] for each in row["attributes"]], words):
        for word in words:
            if word in names:
                return word
    return expression


def same(given, expected):
    """Whether an argument has a value. A number that is left out is 0."""
    return not isinstance(given, (torch.Tensor, list)) and (given or 0) == (expected or 0)


def files_of(value):
    """Whether files of whole bytes hold the tensors."""
    return not any(isinstance(one, aclnn.Int4) for one in (value if isinstance(value, list) else [value]))


def node_of(kind, call, values, wanted):
    """The node that makes the call, and its outputs by name; None if the type has no such call."""
    row = types()[kind]
    inputs, attributes, outputs = dict.fromkeys(row["inputs"]), {}, {}
    kinds = {each["name"]: each["kind"] for each in row["attributes"]}
    for argument, expression in zip(aclnn.functions()[call["function"]]["arguments"], call["arguments"], strict=True):
        word, value = word_of(expression, row), values.get(argument["name"])
        if word in row["outputs"]:
            outputs[word] = (argument["name"], wanted.get(argument["name"]))
        elif word in kinds:
            if value is not None:
                attributes[word] = {"Bool": bool, "Float": float, "String": str, "Int": int, "ListInt": list}[kinds[word]](value)
        elif word not in inputs:
            if wanted.get(argument["name"]) is not None or not same(value, int(word) if word.isdigit() else
                                                                     LITERALS.get(word, word)):
                return None
        elif not files_of(value):
            return None
        else:
            inputs[word] = torch.tensor(value, dtype=torch.int64) if word in row["read"] and value is not None else value
    for word, like in row["likes"].items():
        if like in kinds and isinstance(outputs[word][1], torch.Tensor):
            attributes[like] = aclnn.DTYPES[outputs[word][1].dtype]
    refused = re.findall(r"Without\((\w+)", call["condition"])
    if "IsFloating(query" in call["condition"] and not inputs["query"].is_floating_point():
        return None
    if any(inputs[word] for word in refused if word in row["lists"]) or any(
            inputs[word] is not None for word in refused if word not in row["lists"]) or not all(
            files_of(wanted) for _, wanted in outputs.values()):
        return None
    lists = [outputs[word][1] for word in row["outputs"] if word in row["lists"]]
    if any(len(parts) not in (1, len(inputs["x"])) for parts in lists):
        return None  # only the groups tell the shapes
    return Node(kind, list(inputs.values()), parts=len(lists[0]) if lists else 1, **attributes), outputs


def cases(kind):
    """Six nodes for each call of a type, with the arguments that families.py draws."""
    for call in types()[kind]["calls"]:
        made = 0
        for seed in itertools.count(1):
            torch.manual_seed(seed)
            values = families.CASES[call["function"]][0](random.Random(seed))
            wanted = families.CASES[call["function"]][1](values)
            found = node_of(kind, call, values, wanted)
            if found is not None:
                yield call["function"], *found
                made += 1
            if made == 6:
                break
            assert seed < 200, f"{kind} makes few of the calls of {call['function']}"


@pytest.mark.parametrize("kind", of_families())
def test_a_node_computes_what_loops_do(program, tmp_path, kind):  # noqa: F811
    drawn = list(cases(kind))
    for (function, node, outputs), found in zip(drawn, run(program, tmp_path, [node for _, node, _ in drawn]), strict=True):
        assert not isinstance(found, str), (found, node.attributes, node.inputs)
        given = iter(found)
        for word in types()[kind]["outputs"]:
            argument, wanted = outputs[word]
            if wanted is None:
                assert next(given).numel() == 0, word
            else:
                check(function, argument, [next(given) for _ in wanted] if isinstance(wanted, list) else next(given), wanted)
