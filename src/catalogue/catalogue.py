# SPDX-License-Identifier: Apache-2.0
"""Reads the catalogue: the rows of functions/*.csv, their families, and the public headers.

A row says what no header says. The parameters of a function and its codes are those of its header.
"""
import csv
import dataclasses
import pathlib
import re
import typing

ROOT = pathlib.Path(__file__).resolve().parents[2]
STATES = ("yes", "kept", "refuses", "absent")
LIBRARY = "libadvance_step"
PREFIX = "prefix"
# What refusals return that no header declares: src/cann/bound_refusal.h has a function for each but "".
RETURNS = ("", "failed", "undefined", "zero", "object", "self", "handle", "operator", "text", "registration")
# The order of the folders in the lists that are made of the headers.
FOLDERS = ("acl", "aclnn", "aclnnop", "advance_step", "hccl")
PHASE_ONE = "GetWorkspaceSize"

DECLARATION = re.compile(r"ADVSTEP_(PREFIX_)?API\s+([\w\s*]*?)(\w+)\s*\(([^)]*)\)\s*;")
DOCUMENTED = re.compile(r"((?:^///[^\n]*\n)+)ADVSTEP_(?:PREFIX_)?API[^;{(]*?\b(\w+)\s*\(", re.M)
CODE = re.compile(r"\b(ACL_ERROR_\w+|ACLNN_ERR_\w+)\s*(?:=|\s)\s*(\d{6})\b")


@dataclasses.dataclass
class Family:
    """Functions of one kind; a section of the page, if it has a title."""
    family: str
    phases: str      # 2: a row is an operator, whose phase one has its name and GetWorkspaceSize
    defined_by: str  # LIBRARY, or PREFIX: the first library of the row
    libraries: str   # of the prefix like CANN's, for rows that name none
    mock: str        # the list of the mock, if the functions can be mocked
    faults: str      # calls: they are in the tables of tests/faults; or the test that has them
    refusal: str     # the message of its functions, if the build makes functions that only refuse
    title: str
    title_zh: str
    note: str
    note_zh: str


@dataclasses.dataclass
class Function:
    """A row of a table: one function, or both phases of an operator."""
    name: str
    header: str     # below include; empty if there is none
    since: str      # the version of acl, own, or private
    support: str    # one of STATES
    family: Family
    libraries: typing.Tuple[str, ...]
    clients: typing.Tuple[str, ...]
    returns: str    # what the refusal returns of a function that no header declares; one of RETURNS
    table: str      # the file that has the row

    @property
    def there(self):
        return self.support != "absent"

    def names(self):
        """The names of the functions that the row stands for."""
        return (self.name,) if self.family.phases == "1" else (self.name + PHASE_ONE, self.name)

    def exported_by(self):
        """The library that defines the functions."""
        return LIBRARY if self.family.defined_by == LIBRARY else self.libraries[0]


@dataclasses.dataclass
class Declaration:
    """A function as a public header declares it."""
    name: str
    header: str
    of_prefix: bool  # ADVSTEP_PREFIX_API
    result: str
    parameters: typing.List[str]
    variadic: bool


class Catalogue:
    """All rows and declarations of a checkout. Wrong rows are reported by problems()."""

    def __init__(self, root=ROOT):
        self.root = pathlib.Path(root)
        self.folder = self.root / "src/catalogue"
        self.families = {row["family"]: Family(**row) for row in read_table(self.folder / "families.csv")}
        self.wrong = []
        self.functions = []
        for path in sorted((self.folder / "functions").glob("*.csv")):
            for row in read_table(path):
                self._add(row, path.relative_to(self.root).as_posix())
        self.headers = [header for folder in FOLDERS
                        for header in sorted((self.root / "include" / folder).rglob("*.h"))]
        self.declarations = {}
        for header in self.headers:
            for declaration in read_declarations(header, self.root / "include"):
                self.declarations[declaration.name] = declaration

    def _add(self, row, table):
        family = self.families.get(row["family"])
        if family is None or row["support"] not in STATES or not row["since"] or None in row:
            self.wrong.append(f"{table}: the row of {row['name']} has an unknown family or support, no version, or too "
                              "many columns; src/catalogue/README.md says what they are")
            return
        libraries = tuple((row["libraries"] or family.libraries).split())
        if family.defined_by == PREFIX and not libraries:
            self.wrong.append(f"{table}: the row of {row['name']} has no library that could define it; add one")
            return
        self.functions.append(Function(row["name"], row["header"], row["since"], row["support"], family, libraries,
                                       tuple(row["clients"].split()), row.get("returns", ""), table))

    def files_read(self):
        """The files that the catalogue was read from, and the folder of tables, for the sake of a new one."""
        tables = self.folder / "functions"
        return [self.folder / "families.csv", tables, *sorted(tables.glob("*.csv")), *self.headers]

    def exported(self, library):
        """The names that a library defines, but not those that a * stands for."""
        return {name for function in self.functions if function.there and function.exported_by() == library
                for name in function.names()}

    def prefix_names(self):
        """{library of the prefix: {name: whether the library itself defines it}}."""
        found = {}
        for function in self.functions:
            for library in function.libraries if function.there else ():
                for name in function.names():
                    found.setdefault(library, {})[name] = function.exported_by() == library
        return found

    def refused(self):
        """The functions of libadvance_step that the build makes, because they only refuse."""
        return [function for function in self.refusing() if function.exported_by() == LIBRARY]

    def refusing(self, library=None):
        """The functions that the build makes, because they only refuse: of all libraries, or of one."""
        return [function for function in self.functions
                if function.family.refusal and library in (None, function.exported_by())]

    def problems(self):
        """What is wrong with the rows, each with the file and a remedy."""
        yield from self.wrong
        for function in self.refusing():
            if function.returns not in RETURNS:
                yield f"{function.table}: {function.name} returns \"{function.returns}\"; expected one of {RETURNS}"
            if function.support != "refuses" or function.family.phases != "1":
                yield (f"{function.table}: {function.name} is of the family {function.family.family}, whose functions "
                       "only refuse; move the row to another family")
        for family in self.families.values():
            if family.faults not in ("", "calls") and not (self.root / family.faults).is_file():
                yield f"src/catalogue/families.csv: {family.family} names {family.faults}, which is no file; correct it"
        seen = {}
        for function in self.functions:
            for name in function.names():
                if name in seen:
                    yield f"{function.table}: {name} has another row in {seen[name]}; remove one"
                seen[name] = function.table
                yield from self._compare(name, function)
        for name in sorted(set(self.declarations) - set(seen)):
            yield (f"include/{self.declarations[name].header} declares {name}, which has no row in "
                   "src/catalogue/functions; add one")

    def _compare(self, name, function):
        declared = self.declarations.get(name)
        where = f"include/{declared.header}" if declared else "no public header"
        if (declared.header if declared else "") != (function.header if function.there else ""):
            yield (f"{function.table}: {name} is said to be {function.support} in \"{function.header}\", and "
                   f"{where} declares it; correct the row")
        elif declared and declared.of_prefix != (function.family.defined_by == PREFIX):
            mark = "ADVSTEP_PREFIX_API" if function.family.defined_by == PREFIX else "ADVSTEP_API"
            yield f"{where}: {name} is not declared with {mark}, as its family {function.family.family} is"


def read_table(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, restval=""))


def read_declarations(header, include):
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.S)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    for of_prefix, result, name, parameters in DECLARATION.findall(text):
        split = [" ".join(parameter.split()) for parameter in parameters.split(",")]
        yield Declaration(name, header.relative_to(include).as_posix(), bool(of_prefix),
                          " ".join(result.split()).replace(" *", "*"),
                          [parameter for parameter in split if parameter not in ("", "void")], "..." in parameters)


def read_comment(comment, begin):
    """[match, text] of each line of a /// comment that `begin` matches, with the lines that continue it.

    The last group of `begin` is the text.
    """
    found = []
    going_on = False
    for line in comment.splitlines():
        text = line[3:].strip()
        match = begin.match(text)
        if match:
            found.append([match, match[match.lastindex]])
        elif going_on and text and not text.startswith("@"):
            found[-1][1] += " " + text
        going_on = bool(match) or (going_on and bool(text) and not text.startswith("@"))
    return found
