#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the lists that the build reads, of the catalogue of functions and the public headers.

make_lists.py prefix TEMPLATE FOLDER LIBRARY...  the names of libraries of the prefix like CANN's, LIBRARY.c
make_lists.py prefix_refused FOLDER LIBRARY...   functions of these libraries that only refuse, LIBRARY_refused.cpp
make_lists.py mock FOLDER                        the functions that advance_step::mock replaces, *.inc
make_lists.py faults FILE                        calls for the test of failing allocations
make_lists.py refused FILE                       functions that only refuse
make_lists.py refused_cases FILE                 calls of those, for their test

--depfile FILE OUTPUT in front writes what was read, as ninja and make want it, for the first output. A file that
would be the same is left alone, so that nothing is compiled again.
"""
import json
import pathlib
import re
import sys
import textwrap

from catalogue import Catalogue

METHOD_PARAMETERS = 15  # GoogleMock's MOCK_METHOD takes no more
INC_HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// {purpose} Made by src/catalogue/make_lists.py.
"""
FUNCTIONS_HEAD = INC_HEAD + """//
// Each entry is ADVSTEP_FUNCTION(result, name, (parameters), (arguments)), or ADVSTEP_LONG_FUNCTION
// with the same arguments if a GoogleMock method cannot have so many parameters.
"""

# The calls that the test of failing allocations makes for a function without a row in its tables.
FAULT_TABLES = "tests/faults/*_calls.cpp"
FAULT_ROW = re.compile(r'(?:\{\s*"|ADVSTEP_(?:PLAIN|MAKES|TAKES)\(\s*|,\s*")(\w+)')
# The test itself asks for the faults with these.
OF_THE_FAULT_TEST = ("advstepFailAllocations", "advstepReadFaultCounts", "advstepClearFaults")
SCENE = {"aclrtContext": "s.context", "aclrtStream": "s.stream", "aclrtEvent": "s.event", "aclrtNotify": "s.notify"}
DEVICE = re.compile(r"(?:const )?u?int32_t \w*[dD]ev(?:ice)?[iI]d$")
OUTPUT = re.compile(r"(?!const |void|char)(\w+)\* (?:const )?\w+$")
CODES = {"aclError": "PlainCalls", "aclnnStatus": "PlainAclnnCalls"}
FAULTS_HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Calls of functions that no table of this folder has. Made by src/catalogue/make_lists.py.
#include "faults/scene.h"

namespace faults {
namespace {

template <typename Value>
[[maybe_unused]] Value* Output(Scene& s) {
    static_assert(sizeof(Value) <= sizeof(s.host));
    return reinterpret_cast<Value*>(s.host);
}

}  // namespace
"""


# The functions of families with a refusal.
REFUSED_HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Functions that only refuse. Made by src/catalogue/make_lists.py.
{includes}#include "src/base/boundary.h"

namespace {{

void Refuse(const char* call, const char* refusal) noexcept {{
    advstep::RecordAclFailure(call, {code}, refusal);
}}

}}  // namespace

extern "C" {{

"""
REFUSED_CASES_HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// Calls of the functions that only refuse. Made by src/catalogue/make_lists.py.
{includes}#include "conformance/refused_cases.h"

extern "C" {{
{undeclared}}}

namespace conformance {{

std::vector<RefusedCase> RefusedCases() {{
    return {{
{cases}    }};
}}

}}  // namespace conformance
"""
PREFIX_REFUSED_HEAD = """\
// SPDX-License-Identifier: Apache-2.0
// The functions of {library}.so that only refuse. Made by src/catalogue/make_lists.py.
#include "src/cann/bound_refusal.h"

// Callers of a mangled name get the object that C++ returns for it.
#ifdef __clang__
#pragma clang diagnostic ignored "-Wreturn-type-c-linkage"
#endif

using namespace advstep::cann;

extern "C" {{

"""
# What a refusal returns: (function of bound_refusal.h, type of the result, parameters).
PREFIX_REFUSED = {"": ("RefuseCode", "int32_t", ""), "failed": ("RefuseFailed", "uint32_t", ""),
                  "undefined": ("RefuseUndefined", "int32_t", ""), "zero": ("RefuseZero", "uint64_t", ""),
                  "object": ("RefuseObject", "void*", ""), "self": ("RefuseSelf", "void*", "void* object"),
                  "handle": ("RefuseHandle", "void", "void* object"),
                  "operator": ("RefuseOperator", "OperatorObject", ""), "text": ("RefuseText", "OldText", ""),
                  "registration": ("RefuseRegistration", "void", "")}
REFUSED_CODE = "ACL_ERROR_RT_FEATURE_NOT_SUPPORT"
# What a function returns that returns no code.
REFUSED_VALUES = {"aclDataType": "ACL_DT_UNDEFINED", "acltdtTensorType": "-1", "size_t": "size_t{0}"}


def write(path, text):
    path = pathlib.Path(path)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def make_prefix(catalogue, template, folder, libraries):
    made = catalogue.prefix_names()
    unknown = sorted(set(made) - set(libraries))
    if unknown:
        sys.exit(f"src/catalogue has functions of {', '.join(unknown)}; src/cann/CMakeLists.txt makes no such library")
    text = pathlib.Path(template).read_text(encoding="utf-8")
    for library in libraries:
        forwards = [f"FORWARD({name})" for name, own in sorted(made.get(library, {}).items()) if not own]
        write(f"{folder}/{library}.c", text.replace("@library@", library).replace("@forwards@", "\n".join(forwards)))


def prefix_refused(function):
    """The definition of a function of the prefix that only refuses, for callers with whatever arguments."""
    call, result, parameters = PREFIX_REFUSED[function.returns]
    arguments = f"\"{function.name}\", {json.dumps(function.family.refusal)}"
    if function.returns == "registration":
        return (f"ADVSTEP_API void {function.name}() {{\n    static std::atomic<bool> told{{false}};\n"
                f"    {call}({arguments}, told);\n}}\n")
    passed = f"{arguments}, object" if parameters else arguments
    return f"ADVSTEP_API {result} {function.name}({parameters}) {{ return {call}({passed}); }}\n"


def make_prefix_refused(catalogue, folder, libraries):
    for library in libraries:
        functions = [prefix_refused(function) for function in catalogue.refusing(library)]
        write(f"{folder}/{library}_refused.cpp",
              PREFIX_REFUSED_HEAD.format(library=library) + "\n".join(functions) + '\n}  // extern "C"\n')


def mock_entry(function):
    kind = "ADVSTEP_LONG_FUNCTION" if len(function.parameters) > METHOD_PARAMETERS else "ADVSTEP_FUNCTION"
    parameters = []
    for parameter in function.parameters:
        # A const of the parameter itself has no meaning for the caller.
        parameter = re.sub(r"^const (\w+ \w+)$", r"\1", parameter)
        parameters.append(re.sub(r"\* const (\w+)$", r"* \1", parameter))
    # An array has brackets after its name.
    words = ", ".join(re.search(r"(\w+)(?:\[\w*\])*$", parameter)[1] for parameter in parameters)
    # A tilde stands for a space at which the line must not be broken.
    text = ", ".join(parameters).replace(" ", "~").replace(",~", ", ")
    text = f"{kind}({function.result.replace(' ', '~')}, {function.name}, ({text}), ({words}))"
    return "\n".join(textwrap.wrap(text, 100, subsequent_indent="    ", break_long_words=False,
                                   break_on_hyphens=False)).replace("~", " ") + "\n"


def mocked(catalogue):
    """{list: declarations in the order of the headers}; a function with "..." cannot be passed on."""
    lists = {name: function.family.mock for function in catalogue.functions for name in function.names()}
    found = {name: [] for name in lists.values() if name}
    for declaration in catalogue.declarations.values():
        if lists.get(declaration.name) and not declaration.variadic:
            found[lists[declaration.name]].append(declaration)
    return found


def make_mock(catalogue, folder):
    headers = set()
    for name, declarations in mocked(catalogue).items():
        headers |= {declaration.header for declaration in declarations}
        head = FUNCTIONS_HEAD.format(purpose="The functions that can be mocked.")
        write(f"{folder}/{name}_functions.inc", head + "".join(map(mock_entry, declarations)))
    head = INC_HEAD.format(purpose="The headers of the functions that can be mocked.")
    write(f"{folder}/function_headers.inc", head + "".join(f'#include "{header}"\n' for header in sorted(headers)))


def argument_in_scene(parameter):
    """The argument for a parameter, of tests/faults/scene.h, or None."""
    words = parameter.split()
    if len(words) == 2 and words[0] in SCENE:
        return SCENE[words[0]]
    if DEVICE.match(parameter):
        return "0"
    output = OUTPUT.match(parameter)
    return f"Output<{output[1]}>(s)" if output else None


def plain_calls(catalogue):
    """({table: calls}, problems) of the functions that have no row in a table of tests/faults."""
    rows = set(OF_THE_FAULT_TEST)
    for table in catalogue.root.glob(FAULT_TABLES):
        rows |= set(FAULT_ROW.findall(table.read_text(encoding="utf-8")))
    calls = {table: [] for table in CODES.values()}
    problems = []
    for function in catalogue.functions:
        for name in function.names() if function.there and function.family.faults == "calls" else ():
            declaration = catalogue.declarations.get(name)
            if name in rows or declaration is None:
                continue
            arguments = [argument_in_scene(parameter) for parameter in declaration.parameters]
            if None in arguments or declaration.result not in CODES:
                problems.append(f"{name} has arguments that tests/faults does not know; add a row to a table "
                                f"{FAULT_TABLES}")
            else:
                calls[CODES[declaration.result]].append(f"ADVSTEP_PLAIN({name}, {', '.join(arguments)})")
    return calls, problems


def make_faults(catalogue, path):
    calls, problems = plain_calls(catalogue)
    if problems:
        sys.exit("\n".join(problems))
    text = FAULTS_HEAD
    for table, entries in calls.items():
        text += f"\nstd::vector<Call> {table}() {{\n    return {{\n"
        text += "".join(f"        {entry},\n" for entry in entries) + "    };\n}\n"
    write(path, text + "\n}  // namespace faults\n")


def refused_value(declaration):
    """(type, value) of what the function returns; one that no header declares returns a code."""
    result = declaration.result if declaration else "aclError"
    null = "nullptr" if result.endswith("*") else ""
    return result, REFUSED_CODE if result == "aclError" else REFUSED_VALUES.get(result, null)


def refused_function(function, declaration):
    """The definition; a function that no header declares takes no arguments, which its callers do not notice."""
    result, value = refused_value(declaration)
    # The parameters stay without names.
    parameters = [re.sub(r"\w+$", "", parameter).strip() for parameter in declaration.parameters] if declaration else []
    return (f"ADVSTEP_API {result} {function.name}({', '.join(parameters)}) {{\n"
            f"    Refuse(\"{function.name}\",\n           {json.dumps(function.family.refusal)});\n"
            f"    return {value};\n}}\n\n")


def refused_case(function, declaration):
    arguments = ", ".join(["{}"] * len(declaration.parameters)) if declaration else ""
    return (f'        {{"{function.name}", {json.dumps(function.family.refusal)},\n'
            f"         [] {{ return {function.name}({arguments}) == {refused_value(declaration)[1]}; }}}},\n")


def refused(catalogue):
    """(functions that only refuse, each with its declaration or None; the includes that declare them)."""
    functions = [(function, catalogue.declarations.get(function.name)) for function in catalogue.refused()]
    headers = sorted({declaration.header for _, declaration in functions if declaration})
    return functions, "".join(f'#include "{header}"\n' for header in headers)


def make_refused(catalogue, path):
    functions, includes = refused(catalogue)
    text = REFUSED_HEAD.format(includes=includes, code=REFUSED_CODE)
    write(path, text + "".join(refused_function(*entry) for entry in functions) + '}  // extern "C"\n')


def make_refused_cases(catalogue, path):
    functions, includes = refused(catalogue)
    undeclared = "".join(f"aclError {function.name}();\n" for function, declaration in functions if not declaration)
    cases = "".join(refused_case(*entry) for entry in functions)
    write(path, REFUSED_CASES_HEAD.format(includes=includes, undeclared=undeclared, cases=cases))


def write_depfile(path, output, read):
    output, *read = (str(file).replace(" ", "\\ ") for file in [output, *read])
    pathlib.Path(path).write_text(f"{output}: {' '.join(read)}\n", encoding="utf-8")


def main():
    arguments = sys.argv[1:]
    catalogue = Catalogue()
    if arguments[:1] == ["--depfile"]:
        tables = catalogue.root.glob(FAULT_TABLES) if arguments[3:4] == ["faults"] else ()
        write_depfile(*arguments[1:3], [*catalogue.files_read(), *sorted(tables)])
        arguments = arguments[3:]
    makers = {"prefix": lambda template, folder, *libraries: make_prefix(catalogue, template, folder, libraries),
              "prefix_refused": lambda folder, *libraries: make_prefix_refused(catalogue, folder, libraries),
              "mock": lambda folder: make_mock(catalogue, folder),
              "faults": lambda file: make_faults(catalogue, file),
              "refused": lambda file: make_refused(catalogue, file),
              "refused_cases": lambda file: make_refused_cases(catalogue, file)}
    if not arguments or arguments[0] not in makers:
        sys.exit(__doc__)
    makers[arguments[0]](*arguments[1:])


if __name__ == "__main__":
    main()
