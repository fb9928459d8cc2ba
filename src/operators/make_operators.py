#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the sources of CANN's operators, of signatures.csv and the tables of those that compute.

  make_operators.py entry FOLDER PARTS   functions of both phases, in PARTS sources, and their table
  make_operators.py kernels FOLDER       a source of kernels for each table, and their table
  make_operators.py headers FOLDER       aclnnop/*.h
  make_operators.py forwards FILE [FAMILY]  the names that a library of the prefix forwards
  make_operators.py calls FILE           the functions that torch_npu finds in every mode
  make_operators.py mock FILE            the functions that advance_step::mock_operators replaces
  make_operators.py page [--update]      says whether docs/aclnn_operators.md, or a number of operators on another
                                         page, is out of date, or writes it
  make_operators.py protos               writes the header of graph operators in opp
  make_operators.py types                what each type of graph operators is, as JSON
  make_operators.py list                 what each function is, as JSON, for tests and pages

README.md in this folder describes the lines of a table."""

import csv
import json
import pathlib
import re
import sys
import textwrap
from dataclasses import dataclass, field

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
CATALOGUE = HERE.parent / "catalogue" / "functions" / "aclnn.csv"

# The operators of the wheel's _aclnn_table.EVERY_MODE.
IN_EVERY_MODE = re.compile(r"aclnn(FusedInferAttentionScore|PromptFlashAttention|IncreFlashAttention)(V\d)?$")

# The pages that say how many operators compute, and such a number.
NUMBERED = {"README.md", "README.zh.md", "docs/ci.md", "docs/ci.zh.md", "docs/aclnn.md", "docs/coming_from_cann.md",
            "docs/coming_from_cann.zh.md"}
NUMBER = re.compile(r"[\d,]+<!-- operators: (computing|refusing|all) -->")

# Arguments without effect here: results are those of sums in float32 (docs/aclnn.md).
IGNORED = {"cubeMathType", "innerPrecise"}

KINDS = [  # declared type without const, kind, C++ type of the kernel's variable, accessor
    ("aclTensor*", "kTensor", "at::Tensor", "Tensor"),
    ("aclTensorList*", "kTensorList", "std::vector<at::Tensor>", "Tensors"),
    ("aclScalar*", "kScalar", "at::Scalar", "Scalar"),
    ("aclScalarList*", "kScalarList", "std::vector<at::Scalar>", "Scalars"),
    ("aclIntArray*", "kIntArray", "at::IntArrayRef", "Ints"),
    ("aclFloatArray*", "kFloatArray", "std::vector<double>", "Reals"),
    ("aclBoolArray*", "kBoolArray", "std::vector<bool>", "Flags"),
    ("aclDataType", "kDataType", "std::optional<at::ScalarType>", "Type"),
    ("char*", "kText", "std::string_view", "Text"),
    ("bool", "kFlag", "bool", "Flag"),
    ("double", "kReal", "double", "Real"),
    ("float", "kReal", "double", "Real"),
    ("uint64_t*", "kResult", "", ""),
]
KINDS += [(f"{sign}int{bits}_t", "kInt", "int64_t", "Int") for sign in ("", "u") for bits in (8, 16, 32, 64)]
KINDS += [("int", "kInt", "int64_t", "Int")]
KIND_OF = {declared: (kind, variable, accessor) for declared, kind, variable, accessor in KINDS}
# Functions of one call, which src/operators/entry defines by hand.
ONE_CALL = {
    "aclnn_trans_matmul_weight.h": [
        "ADVSTEP_API aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray* tensorShape, aclDataType dataType, "
        "uint64_t* weightTensorSize);\n"],
}
# Functions that no header declares and no library exports: what types of graphs need beside CANN's. Each has a line in
# table/graph.txt.
OF_GRAPHS = {"aclnnGraphNumbers": "const aclIntArray* numbers; aclTensor* out"}
OUTPUT_NAME = re.compile(r"out|output|\w+Out|\w+Ref")
OPTIONAL = {"kScalar": ("std::optional<at::Scalar>", "OptionalScalar"),
            "kIntArray": ("at::OptionalIntArrayRef", "OptionalInts")}


@dataclass
class Argument:
    declared: str  # the type, as the header has it
    name: str
    optional: bool = False
    access: str = "ADVSTEP_READS"

    @property
    def is_const(self):
        return self.declared.startswith("const ")

    @property
    def kind(self):
        return KIND_OF[self.declared.removeprefix("const ").replace(" *", "*")][0]


@dataclass
class Line:
    """A line of a table."""
    table: str
    computes: str
    flags: set = field(default_factory=set)  # elementwise, direct, clears, data
    lists: dict = field(default_factory=dict)  # optional, required, writes, ignores: names of arguments
    graph: list = field(default_factory=list)  # the types of graph_types.txt that call it
    note: str = ""


@dataclass
class Function:
    name: str
    header: str  # empty: of OF_GRAPHS
    family: str
    arguments: list
    line: Line = None
    kernel: int = -1

    def outputs(self):
        """The places of the outputs, in the order of the results."""
        writes = self.line.lists.get("writes") if self.line else None
        if writes:
            return [self.place(name) for name in writes]
        tensors = [(place, argument) for place, argument in enumerate(self.arguments)
                   if argument.kind in ("kTensor", "kTensorList")]
        # Some headers declare outputs as const.
        if self.name.startswith("aclnnInplace"):
            return [tensors[0][0]]
        return ([place for place, argument in tensors if not argument.is_const]
                or [place for place, argument in tensors if OUTPUT_NAME.fullmatch(argument.name)])

    def place(self, name):
        return [argument.name for argument in self.arguments].index(name)


def read_signatures():
    with open(CATALOGUE, newline="", encoding="utf-8") as file:
        elsewhere = {row["name"] for row in csv.DictReader(file)}
    functions = {}
    with open(HERE / "signatures.csv", newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["function"] in elsewhere:
                continue  # an operator of libadvance_step itself
            functions[row["function"]] = Function(row["function"], row["header"], row["family"],
                                                  read_arguments(row["arguments"]))
    for name, arguments in OF_GRAPHS.items():
        functions[name] = Function(name, "", "", read_arguments(arguments))
    return functions


def read_arguments(column):
    arguments = []
    for text in filter(None, (part.strip() for part in column.split(";"))):
        declared, name = re.fullmatch(r"(.*?)\s*(\w+)", text).groups()
        arguments.append(Argument(declared, name, optional="Optional" in name))
    return arguments


def read_line(table, number, text):
    columns = [column.strip() for column in text.split("|")]
    if len(columns) < 2 or len(columns) > 4:
        raise SystemExit(f"{table}:{number}: expected 2 to 4 columns")
    columns += [""] * (4 - len(columns))
    line = Line(table, columns[1], note=columns[3])
    for item in filter(None, (part.strip() for part in columns[2].split(";"))):
        word, *names = item.split()
        if word in ("elementwise", "direct", "clears", "data") and not names:
            line.flags.add(word)
        elif word in ("optional", "required", "writes", "ignores") and names:
            line.lists[word] = names
        else:
            raise SystemExit(f"{table}:{number}: unknown item {item}")
    return columns[0], line


def uses(line, name):
    return line.computes.startswith(":") or re.search(rf"\b{name}\b", line.computes) is not None


def apply(function, line, where):
    """Gives a function its line. Yields what is wrong with it."""
    function.line = line
    names = [argument.name for argument in function.arguments]
    wrong = [name for listed in line.lists.values() for name in listed if name not in names]
    if wrong:
        yield f"{where}: {function.name} has no {', '.join(wrong)}; it has {', '.join(names)}"
        return
    for name in line.lists.get("optional", []):
        function.arguments[function.place(name)].optional = True
    for argument in function.arguments if "required" in line.lists else ():
        argument.optional = argument.name not in line.lists["required"]
    outputs = function.outputs()
    if not outputs:
        yield f"{where}: {function.name} has no output; name it under writes: {', '.join(names)}"
    for place in outputs:
        argument = function.arguments[place]
        argument.access = "ADVSTEP_READS_AND_WRITES" if uses(line, argument.name) else "ADVSTEP_WRITES"
    for place, argument in enumerate(function.arguments):
        if (place not in outputs and not uses(line, argument.name) and argument.name not in IGNORED
                and argument.name not in line.lists.get("ignores", [])):
            yield (f"{where}: {function.name} does not use its argument {argument.name}; "
                   "it may be listed under ignores")


def read_functions():
    functions = read_signatures()
    kernel = 0
    faults = []
    for path in sorted((HERE / "table").glob("*.txt")):
        for number, text in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if not text.strip() or text.startswith("#"):
                continue
            name, line = read_line(path.stem, number, text)
            function = functions.get("aclnn" + name)
            if function is None:
                faults.append(f"{path.name}:{number}: aclnn{name} is no function of signatures.csv")
                continue
            if function.line:
                faults.append(f"{path.name}:{number}: aclnn{name} has a line in {function.line.table}")
            faults += apply(function, line, f"{path.name}:{number}")
            function.kernel = kernel
            kernel += 1
    if faults:
        raise SystemExit("\n".join(faults))
    return sorted(functions.values(), key=lambda function: function.name)


def read_public_functions():
    """Those of CANN's headers."""
    return [function for function in read_functions() if function.header]


def parameters(function):
    return "".join(f"{argument.declared} {argument.name}, " for argument in function.arguments)


def phase_one(function):
    return (f"aclnnStatus {function.name}GetWorkspaceSize({parameters(function)}"
            "uint64_t* workspaceSize, aclOpExecutor** executor)")


def phase_two(function):
    return (f"aclnnStatus {function.name}(void* workspace, uint64_t workspaceSize, "
            "aclOpExecutor* executor, aclrtStream stream)")


MADE = "// Made by src/operators/make_operators.py.\n"


def entry(folder, parts):
    functions = read_functions()
    specs = [MADE, '#include "src/operators/entry/functions.h"\n', "namespace advstep_operators {", "namespace {"]
    for function in functions:
        if function.arguments:
            rows = ", ".join(
                f'{{"{a.name}", Kind::{a.kind}, {"true" if a.optional else "false"}, {a.access}}}'
                for a in function.arguments)
            specs.append(f"constexpr ArgumentSpec k{function.name}[] = {{{rows}}};")
    specs.append("}  // namespace\n\nconst FunctionSpec kFunctions[] = {")
    for function in functions:
        arguments = f"k{function.name}" if function.arguments else "nullptr"
        specs.append(f'    {{"{function.name}", {arguments}, {len(function.arguments)}, {function.kernel}}},')
    specs.append("};\nconst AdvStepHostCallTable kHostCalls[] = {")
    for function in functions:
        specs.append(f'    {{sizeof(AdvStepHostCallTable), ADVSTEP_HOST_CALL_INTERFACE, "{function.name}", '
                     "&RunCall, &ReleaseCall},")
    specs.append(f"}};\nconst uint32_t kFunctionCount = {len(functions)};\n}}  // namespace advstep_operators")
    write(folder / "functions.cpp", specs)
    graph_types(folder / "graph_types.cpp")
    for part in range(parts):
        text = [MADE, '#include "src/operators/entry/call.h"', '#include "src/operators/entry/functions.h"\n',
                "using namespace advstep_operators;\n", 'extern "C" {']
        for place, function in enumerate(functions):
            if place % parts != part:
                continue
            names = ", ".join(argument.name for argument in function.arguments)
            exported = "ADVSTEP_API " if function.header else ""
            text.append(f"{exported}{phase_one(function)} {{\n    const Argument arguments[] = {{{names}}};\n"
                        f"    return PhaseOne(kFunctions[{place}], arguments, workspaceSize, executor);\n}}")
            text.append(f"{exported}{phase_two(function)} {{\n"
                        f"    return PhaseTwo(kFunctions[{place}], workspace, workspaceSize, executor, stream);\n}}")
        text.append("}")
        write(folder / f"entry_{part}.cpp", text)


def kernel_source(function):
    line = function.line
    name = "K" + function.name
    if line.computes.startswith(":"):
        return f"void {name}(Call& call) {{ {line.computes[1:].strip()}(call); }}"
    body = []
    for place, argument in enumerate(function.arguments):
        if not uses(line, argument.name):
            continue
        _, variable, accessor = KIND_OF[argument.declared.removeprefix("const ")]
        if argument.optional and argument.kind in OPTIONAL:
            variable, accessor = OPTIONAL[argument.kind]
        body.append(f"    const {variable} {argument.name} = call.{accessor}({place});")
    outputs = function.outputs()
    direct = line.flags & {"elementwise", "direct"}
    if len(outputs) > 1:
        places = ", ".join(map(str, outputs))
        body.append(f"    call.PutAll({line.computes}, {places});")
    elif direct:
        match = re.fullmatch(r"at::(\w+)\((.*)\)", line.computes)
        if match is None:
            raise SystemExit(f"{function.name}: elementwise and direct need one call of at::")
        body.append(f"    call.PutDirectly({outputs[0]}, {'true' if 'elementwise' in direct else 'false'},\n"
                    f"        [&] {{ return {line.computes}; }},\n"
                    f"        [&](at::Tensor& into) {{ at::{match[1]}_out(into, {match[2]}); }});")
    elif "clears" in line.flags:
        body.append(f"    if (!Cleared(call, {outputs[0]})) {{\n        call.Put({outputs[0]}, {line.computes});\n    }}")
    else:
        body.append(f"    call.Put({outputs[0]}, {line.computes});")
    return f"void {name}(Call& call) {{\n" + "\n".join(body) + "\n}"


def kernels(folder):
    functions = [function for function in read_functions() if function.line]
    functions.sort(key=lambda function: function.kernel)
    for table in sorted({function.line.table for function in functions}):
        text = [MADE, '#include "src/operators/aten/call.h"', '#include "src/operators/aten/helpers.h"']
        if (HERE / "aten" / f"{table}.h").exists():
            text.append(f'#include "src/operators/aten/{table}.h"')
        text.append("\nnamespace advstep_operators {")
        text += [kernel_source(function) for function in functions if function.line.table == table]
        text.append("}  // namespace advstep_operators")
        write(folder / f"kernels_{table}.cpp", text)
    text = [MADE, '#include "src/operators/aten/call.h"\n', "namespace advstep_operators {"]
    text += [f"void K{function.name}(Call& call);" for function in functions]
    text.append("const Kernel kKernels[] = {")
    text += [f"    {{&K{function.name}, {'true' if 'data' in function.line.flags else 'false'}}},"
             for function in functions]
    text.append(f"}};\nconst uint32_t kKernelCount = {len(functions)};\n}}  // namespace advstep_operators")
    write(folder / "kernel_table.cpp", text)


@dataclass
class GraphAttribute:
    name: str
    kind: str
    default: str  # empty: it is required
    fixed: bool  # it must have its default


@dataclass
class GraphType:
    """A type of graph operators: a line of graph_types.txt."""
    name: str
    inputs: list
    optional: set
    lists: set  # inputs and outputs that are dynamic
    read: dict  # input: the kind of its elements or dims, which are its value in expressions
    outputs: dict  # name: what has its dtype, or empty
    attributes: list
    calls: list  # (condition, definition or empty, function without aclnn, arguments)

    def tensors(self):
        return self.inputs + list(self.outputs)

    def facts(self):
        """The attributes of its tie."""
        return (self.attributes + [GraphAttribute(name, kind, "", False) for name, kind in self.read.items()]
                + [GraphAttribute(name, "list", "", False) for name in self.tensors() if name in self.lists])


GRAPH_CALL = re.compile(r"(?:(.*[^:]):\s)?\s*(\w+)\((.*)\)")
GRAPH_DEFINITION = re.compile(r"(\w+) = (.*)")
GRAPH_KINDS = {"Int": ("ADVSTEP_GRAPH_INT", "int64_t", "Int"), "Float": ("ADVSTEP_GRAPH_FLOAT", "double", "Real"),
               "Bool": ("ADVSTEP_GRAPH_BOOL", "bool", "Flag"), "ListInt": ("ADVSTEP_GRAPH_LIST_INT", "NumberList", "List"),
               "String": ("ADVSTEP_GRAPH_TEXT", "char* const", "Text"), "Type": ("ADVSTEP_GRAPH_TYPE", "int64_t", "Int"),
               # Of inputs: elements, the length of a list, and dims.
               "ints": ("ADVSTEP_GRAPH_INPUT_INTS", "NumberList", "List"),
               "number": ("ADVSTEP_GRAPH_INPUT_NUMBERS", "Number", "NumberOf"),
               "list": ("ADVSTEP_GRAPH_LIST_LENGTH", "TensorRun", "Run"),
               "dims": ("ADVSTEP_GRAPH_INPUT_DIMS", "NumberList", "List")}
# What makes an argument of an expression.
GRAPH_ARGUMENT = {"kTensor": "static_cast<const aclTensor*>({})", "kTensorList": "node.Tensors({})",
                  "kScalar": "node.Scalar({})", "kIntArray": "node.Array({})", "kInt": "node.Integer({})",
                  "kReal": "static_cast<double>({})", "kFlag": "static_cast<bool>({})", "kDataType": "node.Type({})",
                  "kText": "static_cast<const char*>({})"}
# Marks behind the name of an input, in README.md.
GRAPH_MARKS = {"!": "ints", "#": "number", "^": "dims"}


def split_arguments(text):
    parts, depth = [""], 0
    for letter in text:
        depth += {"(": 1, ")": -1, "{": 1, "}": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += letter
    return [part.strip() for part in parts]


def read_graph_type(where, text):
    columns = [column.strip() for column in text.split("|")]
    if len(columns) != 5:
        raise SystemExit(f"{where}: expected 5 columns")
    name, inputs, outputs, attributes, calls = columns
    bare = {word: word.rstrip("?*!#^") for word in inputs.split()}
    made = GraphType(name, list(bare.values()), {bare[word] for word in bare if "?" in word},
                     {bare[word] for word in bare if "*" in word},
                     {bare[word]: GRAPH_MARKS[mark] for word in bare for mark in GRAPH_MARKS if mark in word},
                     {}, [], [])
    for word in outputs.split():
        output, _, like = word.partition("=")
        made.outputs[output.rstrip("*")] = like
        made.lists |= {output.rstrip("*")} if output.endswith("*") else set()
    for attribute in filter(None, (part.strip() for part in attributes.split(", "))):
        word, kind, *rest = attribute.split()
        if kind not in GRAPH_KINDS:
            raise SystemExit(f"{where}: attribute {word} has kind {kind}")
        made.attributes.append(GraphAttribute(word, kind, rest[0] if rest else "", rest[1:] == ["!"]))
    for call in (part.strip() for part in calls.split(";")):
        match = GRAPH_CALL.fullmatch(call)
        if match is None:
            raise SystemExit(f"{where}: {call} is no call")
        made.calls.append((match[1] or "", match[2], split_arguments(match[3])))
    return made


def read_graph_types(functions):
    """The types, in the order of their lines. A function's line names those that it serves."""
    types, faults = [], []
    by_name = {function.name: function for function in functions}
    for number, text in enumerate((HERE / "graph_types.txt").read_text(encoding="utf-8").splitlines(), 1):
        if text.strip() and not text.startswith("#"):
            made = read_graph_type(f"graph_types.txt:{number}", text)
            if any(made.name == other.name for other in types):
                faults.append(f"graph_types.txt:{number}: {made.name} has two lines")
            types.append(made)
            for _, called, arguments in made.calls:
                function = by_name.get("aclnn" + called)
                if function is None or function.line is None or "data" in function.line.flags:
                    faults.append(f"graph_types.txt:{number}: aclnn{called} does not compute without data")
                elif len(function.arguments) != len(arguments):
                    faults.append(f"graph_types.txt:{number}: aclnn{called} has {len(function.arguments)} arguments")
                else:
                    function.line.graph.append(made.name)
    if faults:
        raise SystemExit("\n".join(faults))
    return types


def graph_make(made, functions):
    """The function that makes the call of a node."""
    places = {function.name: place for place, function in enumerate(functions)}
    names = made.tensors() + [attribute.name for attribute in made.attributes]
    word = re.compile(r"(?<![\w.\"])(" + "|".join(names) + r")\b(?![(\"])")

    def local(text):
        return word.sub(lambda match: f"of_{match[1]}", text)
    body = []
    for place, name in enumerate(made.tensors()):
        if name in made.lists:
            body.append(f"    [[maybe_unused]] const TensorRun of_{name} = node.Run({place});")
        elif name not in made.read:
            body.append(f"    [[maybe_unused]] const aclTensor* const of_{name} = node.Tensor({place});")
    for place, fact in enumerate(made.facts()):
        _, declared, accessor = GRAPH_KINDS[fact.kind]
        if fact.kind != "list":
            body.append(f"    [[maybe_unused]] const {declared} of_{fact.name} = node.{accessor}({place});")
        if fact.fixed:
            default = {"true": "1", "false": "0"}.get(fact.default, fact.default)
            given = f"of_{fact.name}" if fact.kind == "String" else f"static_cast<double>(of_{fact.name})"
            body.append(f'    node.Default("{fact.name}", {given}, {default});')
    for condition, called, arguments in made.calls:
        function = functions[places["aclnn" + called]]
        given = ", ".join(GRAPH_ARGUMENT[argument.kind].format(local(text))
                          for argument, text in zip(function.arguments, arguments))
        call = f"node.Call(kFunctions[{places[function.name]}], &{function.name}, {{{given}}});"
        definition = GRAPH_DEFINITION.fullmatch(condition)
        if definition:
            body.append(f"    const auto {definition[1]} = {local(definition[2])};")
            condition = ""
        body.append(f"    if ({local(condition)}) {{\n        {call}\n        return;\n    }}" if condition else f"    {call}")
    return f"void Make{made.name}(GraphNode& node) {{\n" + "\n".join(body) + "\n}"


def graph_rows(made, place):
    """The static data of a type."""
    name, tensors = made.name, made.tensors()
    rows = ", ".join(f'{{"{tensor}", {8 * at}, {int(tensor in made.outputs)}, {int(tensor in made.optional)}}}'
                     for at, tensor in enumerate(tensors))
    attributes = [attribute.name for attribute in made.attributes]
    outputs = []
    for output, words in made.outputs.items():
        like, _, choice = words.partition(",")
        by, _, other = choice.partition(":")
        kind, at = (("kResult", 0) if not like else ("kTensor", tensors.index(like)) if like in made.inputs
                    else ("kAttribute", attributes.index(like)) if like in attributes
                    else ("kFixed", "ACL_" + like))
        chosen = f", {attributes.index(by)}, ACL_{other}" if by else ""
        outputs.append(f"{{{tensors.index(output)}, GraphOutput::{kind}, {at}{chosen}}}")
    text = [f"constexpr AdvStepOperatorTensor kTensorsOf{name}[] = {{{rows}}};",
            f"constexpr GraphOutput kOutputsOf{name}[] = {{{', '.join(outputs)}}};"]
    facts = made.facts()
    if facts:
        text.append(f"constexpr AdvStepGraphAttribute kAttributesOf{name}[] = {{" + ", ".join(
            f'{{"{fact.name}", {GRAPH_KINDS[fact.kind][0]}, INT64_MIN, INT64_MAX}}' for fact in facts) + "};")
    rows_of_facts = "kAttributesOf" + name if facts else "nullptr"
    text.append(f"constexpr GraphType kType{name} = {{{{sizeof(AdvStepOperatorTable), ADVSTEP_OPERATOR_INTERFACE, "
                f'"aclnn{made.calls[0][1]}", kTensorsOf{name}, {len(tensors)}, {8 * len(tensors)}, 0}}, &Make{name}, '
                f"kOutputsOf{name}, {len(outputs)}, {rows_of_facts}, {len(facts)}}};")
    text.append(
        f"constexpr AdvStepGraphOperator kTie{name} = {{sizeof(AdvStepGraphOperator), {len(facts)}, "
        f'"{name}", &kType{name}.table, {rows_of_facts}, &Plan<kType{name}>, '
        f"&aclnn{made.calls[0][1]}, &Infer<kType{name}>, "
        f'{"&Choose<kType" + name + ">" if len(made.calls) > 1 else "nullptr"}, 0}};')
    return text


GRAPH_FUNCTIONS = """template <const GraphType& kType>
aclnnStatus Plan(const aclTensor* const* tensors, const AdvStepGraphValue* values, uint64_t* workspaceSize,
                 aclOpExecutor** executor) {
    return PlanNode(kType, tensors, values, workspaceSize, executor);
}
template <const GraphType& kType>
aclnnStatus Infer(const AdvStepTensorView* views, const AdvStepGraphValue* values, AdvStepGraphShape* shapes,
                  char* message, uint64_t messageBytes) {
    return InferNode(kType, views, values, shapes, message, messageBytes);
}
template <const GraphType& kType>
aclnnStatus Choose(const AdvStepTensorView* views, const AdvStepGraphValue* values, AdvStepGraphCalls* calls,
                   char* message, uint64_t messageBytes) {
    return ChooseCall(kType, views, values, calls, message, messageBytes);
}"""


def graph_types(path):
    """The ties of types of graph operators, which are made when the library is loaded."""
    functions = read_functions()
    types = read_graph_types(functions)
    called = sorted({"aclnn" + call[1] for made in types for call in made.calls})
    text = [MADE, '#include "src/operators/entry/functions.h"', '#include "src/operators/entry/graph_layers.h"',
            '#include "src/operators/entry/graph_node.h"', '#include "src/operators/entry/graph_shapes.h"\n',
            'extern "C" {', *(f"{'ADVSTEP_API ' if function.header else ''}{phase_two(function)};" for function in functions
                              if function.name in called),
            "}\n", "namespace advstep_operators {", "namespace {", GRAPH_FUNCTIONS]
    for place, made in enumerate(types):
        text += [graph_make(made, functions), *graph_rows(made, place)]
    text += ["constexpr const AdvStepGraphOperator* kTies[] = {", *(f"    &kTie{made.name}," for made in types), "};",
             "// A wrong tie is in the log, and graph mode refuses its type.",
             "[[maybe_unused]] const bool tied = [] {\n    for (const AdvStepGraphOperator* tie : kTies) {\n"
             "        (void)advstepTieGraphOperator(tie);\n    }\n    return true;\n}();",
             "}  // namespace\n}  // namespace advstep_operators"]
    write(path, text)


def protos(folder):
    """The header of the types for programs."""
    guard = "ADVSTEP_OP_PROTO_COMPUTED_OPS_H_"
    text = ["// SPDX-License-Identifier: Apache-2.0",
            "/// The types of CANN's operators that compute: src/operators/graph_types.txt.\n"
            "/// One file because it is made of one table.",
            f"#ifndef {guard}\n#define {guard}\n", '#include "graph/operator_reg.h"\n', "namespace ge {\n"]
    for made in read_graph_types(read_functions()):
        text.append(f"REG_OP({made.name})")
        for name in made.tensors():
            form = "OUTPUT" if name in made.outputs else "INPUT"
            kind = "DYNAMIC_" if name in made.lists else "OPTIONAL_" if name in made.optional else ""
            text.append(f"    .{kind}{form}({name}, TensorType::ALL())")
        for attribute in made.attributes:
            default = attribute.default.replace(",", ", ") + ("F" if attribute.kind == "Float" else "")
            text.append(f"    .ATTR({attribute.name}, {attribute.kind}, {default})" if attribute.default else
                        f"    .REQUIRED_ATTR({attribute.name}, {attribute.kind})")
        text.append(f"    .OP_END_FACTORY_REG({made.name})\n")
    text.append(f"}}  // namespace ge\n\n#endif  // {guard}")
    write(folder / "computed_ops.h", text)


def listed_types():
    rows = [{"type": made.name, "inputs": made.inputs, "optional": sorted(made.optional),
             "lists": sorted(made.lists), "read": sorted(name for name, kind in made.read.items() if kind != "dims"),
             "outputs": list(made.outputs),
             "attributes": [{"name": each.name, "kind": each.kind, "default": each.default, "fixed": each.fixed}
                            for each in made.attributes],
             "likes": {name: like for name, like in made.outputs.items() if like},
             "calls": [{"condition": condition, "function": "aclnn" + function, "arguments": arguments}
                       for condition, function, arguments in made.calls]}
            for made in read_graph_types(read_functions())]
    json.dump(rows, sys.stdout, indent=1)


def headers(folder):
    by_header = {}
    for function in read_public_functions():
        by_header.setdefault(function.header, []).append(function)
    for header, functions in by_header.items():
        path = folder / "aclnnop" / header.removeprefix("aclnnop/")
        guard = "ADVSTEP_ACLNNOP_" + re.sub(r"\W", "_", header).upper() + "_"
        text = ["// SPDX-License-Identifier: Apache-2.0",
                "/// " + ", ".join(function.name for function in functions) + ": docs/aclnn.md.",
                f"#ifndef {guard}\n#define {guard}\n", '#include "aclnn/aclnn_base.h"\n',
                '#ifdef __cplusplus\nextern "C" {\n#endif\n']
        for function in functions:
            text += [f"ADVSTEP_API {phase_one(function)};", f"ADVSTEP_API {phase_two(function)};\n"]
        text += ONE_CALL.get(header, [])
        text.append(f"#ifdef __cplusplus\n}}\n#endif\n\n#endif /* {guard} */")
        write(path, text)


def forwards(path, family=None):
    """Names for which the loader looks in the library that this one names as its filtee."""
    text = [MADE, "void advstepNotForwardedOperator(void) { __builtin_trap(); }\n",
            '#define FORWARD_OPERATOR(name) void name(void) __attribute__((alias("advstepNotForwardedOperator")));']
    if family in (None, "nn"):
        text.append("FORWARD_OPERATOR(aclnnCalculateMatmulWeightSizeV2)")
    for function in read_public_functions():
        if family in (None, function.family):
            text += [f"FORWARD_OPERATOR({function.name}GetWorkspaceSize)", f"FORWARD_OPERATOR({function.name})"]
    write(path, text)


CALLS = """#include <dlfcn.h>

#include "aclnn/aclnn_base.h"

// A dependency would not do: a look-up in this library by dlsym also finds the names of those.
static void *function_of(const char *name) {
    void *const operators = dlopen("libadvance_step_operators.so.0", RTLD_LAZY | RTLD_LOCAL);
    return operators == 0 ? 0 : dlsym(operators, name);
}

#define CALL(name, parameters, arguments)                                                       \\
    ADVSTEP_API aclnnStatus name parameters {                                                   \\
        static aclnnStatus(*known) parameters; /* the same by each thread */                    \\
        aclnnStatus(*function) parameters = __atomic_load_n(&known, __ATOMIC_ACQUIRE);          \\
        if (function == 0) {                                                                    \\
            *(void **)&function = function_of(#name);                                           \\
            __atomic_store_n(&known, function, __ATOMIC_RELEASE);                               \\
        }                                                                                       \\
        return function == 0 ? 561000 : function arguments;                                     \\
    }
"""


def calls(path):
    """Functions that load the library of the operators when they are called."""
    text = [MADE, CALLS]
    for function in read_public_functions():
        if IN_EVERY_MODE.match(function.name):
            names = "".join(f"{argument.name}, " for argument in function.arguments)
            for declared, given in ((phase_one(function), names + "workspaceSize, executor"),
                                    (phase_two(function), "workspace, workspaceSize, executor, stream")):
                name, _, rest = declared.removeprefix("aclnnStatus ").partition("(")
                text.append(f"CALL({name}, ({rest}, ({given}))")
    write(path, text)


def listed():
    functions = read_functions()
    read_graph_types(functions)
    functions = [function for function in functions if function.header]
    rows = [{"function": function.name, "header": function.header, "family": function.family,
             "computes": function.line.computes if function.line else None,
             "table": function.line.table if function.line else None,
             "graph": function.line.graph if function.line else [],
             "note": function.line.note if function.line else "",
             "outputs": function.outputs() if function.line else [],
             "arguments": [{"type": argument.declared, "name": argument.name, "kind": argument.kind,
                            "optional": argument.optional, "access": argument.access}
                           for argument in function.arguments]}
            for function in functions]
    json.dump(rows, sys.stdout, indent=1)


def mock(path):
    text = ["// SPDX-License-Identifier: Apache-2.0", "// CANN's operators, for a mock. " + MADE[3:].strip(),
            "// Each entry is ADVSTEP_OPERATOR_FUNCTION(name, (parameters), (arguments)), with commas at the ends."]
    for function in read_public_functions():
        names = "".join(f"{argument.name}, " for argument in function.arguments)
        text.append(f"ADVSTEP_OPERATOR_FUNCTION({function.name}, ({parameters(function).strip()}), ({names.strip()}))")
    write(path, text)


PAGE_HEAD = """# Operators that compute

Made of [src/operators](../src/operators/README.md). How to get and use them: [CANN's operators](aclnn.md). Each name
stands for its two calls, `aclnnNAMEGetWorkspaceSize` and `aclnnNAME`.
"""


def page(update=""):
    functions = read_public_functions()
    text = [PAGE_HEAD, "| library | compute | refuse |", "| --- | --- | --- |"]
    for family in ("math", "nn", "transformer", "cv"):
        own = [function for function in functions if function.family == family]
        computing = sum(function.line is not None for function in own)
        text.append(f"| libopapi_{family}.so | {computing} | {len(own) - computing} |")
    computing = sum(function.line is not None for function in functions)
    text.append(f"| all (libopapi.so) | {computing} | {len(functions) - computing} |")
    for table in sorted({function.line.table for function in functions if function.line}):
        head = (HERE / "table" / f"{table}.txt").read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        own = [function for function in functions if function.line and function.line.table == table]
        text += ["", f"## {table}", "", head, "", wrapped(own)]
        notes = [f"- {function.name.removeprefix('aclnn')}: {function.line.note}." for function in own if function.line.note]
        text += ["", *notes] if notes else []
    text += ["", "## Refused", "", "Phase one returns 361001, and the message names the function.", "",
             wrapped([function for function in functions if not function.line])]
    stale = numbers_of_pages({"computing": computing, "refusing": len(functions) - computing, "all": len(functions)},
                             update)
    path = ROOT / "docs" / "aclnn_operators.md"
    if update:
        write(path, text)
    elif path.read_text(encoding="utf-8") != "\n".join(text) + "\n":
        stale.append("docs/aclnn_operators.md is out of date")
    if stale:
        raise SystemExit("\n".join(stale) + "\nmake_operators.py page --update writes them")


def numbers_of_pages(counts, update):
    """Writes the numbers in front of marks such as <!-- operators: computing -->, or returns what is wrong with them."""
    stale = []
    marked = set()
    for path in sorted([*ROOT.glob("README*.md"), *(ROOT / "docs").glob("*.md")]):
        text = path.read_text(encoding="utf-8")
        marked |= {path.relative_to(ROOT).as_posix()} if NUMBER.search(text) else set()
        renewed = NUMBER.sub(lambda match: f"{counts[match[1]]:,}<!-- operators: {match[1]} -->", text)
        if renewed != text and update:
            path.write_text(renewed, encoding="utf-8")
        elif renewed != text:
            stale.append(f"{path.relative_to(ROOT)} has another number of operators")
    return stale + [f"{page} has no number of operators with a mark such as <!-- operators: computing -->"
                    for page in sorted(NUMBERED - marked)]


def wrapped(functions):
    return textwrap.fill(", ".join(function.name.removeprefix("aclnn") for function in functions) + ".", 118)


def write(path, lines):
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main():
    what, *rest = sys.argv[1:]
    if what == "entry":
        entry(pathlib.Path(rest[0]), int(rest[1]))
    elif what == "kernels":
        kernels(pathlib.Path(rest[0]))
    elif what == "headers":
        headers(pathlib.Path(rest[0]))
    elif what == "forwards":
        forwards(pathlib.Path(rest[0]), *rest[1:])
    elif what == "calls":
        calls(pathlib.Path(rest[0]))
    elif what == "mock":
        mock(pathlib.Path(rest[0]))
    elif what == "page":
        page(*rest)
    elif what == "protos":
        protos(ROOT / "opp" / "built-in" / "op_proto" / "inc")
    elif what == "types":
        listed_types()
    elif what == "list":
        listed()
    else:
        raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
