# SPDX-License-Identifier: Apache-2.0
"""The imports among the modules of the package go one way."""

import ast
import graphlib

import pytest
from conftest import SOURCES

PACKAGE = "advance_step"


def sources(folder):
    """Returns the text of each module by name."""
    files = [*folder.glob("*.py"), *folder.glob(f"{PACKAGE}/**/*.py")]
    return {".".join(file.relative_to(folder).with_suffix("").parts): file.read_text(encoding="utf-8")
            for file in files if file.name != "setup.py"}


def imported(module, node, modules):
    """Yields the modules that an import names. A module that is taken out of a package counts, and the
    package itself does not."""
    if isinstance(node, ast.Import):
        names = [(alias.name, None) for alias in node.names]
    else:
        parts = module.split(".")
        base = parts[:len(parts) - node.level] if node.level else []
        if module + ".__init__" in modules and node.level:
            base = parts[:len(parts) - node.level + 1]
        whole = ".".join([*base, *(node.module or "").split(".")]).strip(".")
        names = [(whole, alias.name) for alias in node.names]
    for whole, name in names:
        for candidate in (f"{whole}.{name}", whole, f"{whole}.__init__"):
            if candidate in modules:
                yield candidate
                break


def imports(modules):
    """Returns the modules that each imports anywhere: for types and within functions, too."""
    return {module: {name for node in ast.walk(ast.parse(text))
                     if isinstance(node, (ast.Import, ast.ImportFrom))
                     for name in imported(module.removesuffix(".__init__"), node, modules)}
            for module, text in modules.items()}


def test_no_module_imports_itself_by_way_of_others():
    graph = imports(sources(SOURCES))
    assert graph[f"{PACKAGE}.stream"] >= {f"{PACKAGE}._runtime", f"{PACKAGE}.device"}
    assert f"{PACKAGE}._python_form.operators" in graph[f"{PACKAGE}._host_operators"]
    tuple(graphlib.TopologicalSorter(graph).static_order())


@pytest.mark.parametrize("line", ("from .b import name", "from . import b",
                                  "if TYPE_CHECKING:\n    from .b import name",
                                  "def function():\n    import advance_step.b"))
def test_a_circle_is_found(line):
    modules = {f"{PACKAGE}.a": line, f"{PACKAGE}.b": "from .a import name"}
    with pytest.raises(graphlib.CycleError):
        tuple(graphlib.TopologicalSorter(imports(modules)).static_order())


@pytest.mark.parametrize("module", ("device", "_runtime"))
def test_lower_modules_do_not_know_streams(module):
    graph = imports(sources(SOURCES))
    reached, pending = set(), [f"{PACKAGE}.{module}"]
    while pending:
        for name in graph[pending.pop()] - reached:
            reached.add(name)
            pending.append(name)
    assert f"{PACKAGE}.stream" not in reached
