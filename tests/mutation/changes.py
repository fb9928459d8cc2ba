# SPDX-License-Identifier: Apache-2.0
"""Finds small changes of a C++ source, and writes the source with chosen ones behind switches."""
import collections
import dataclasses
import hashlib
import re

# The code is formatted, so operators with two operands stand between spaces, and templates' brackets do not.
OPERATORS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "&&": "||", "||": "&&", "+": "-",
             "-": "+", "*": "+", "/": "*", "%": "*", "+=": "-=", "-=": "+=", "<<": ">>", ">>": "<<", "++": "--",
             "--": "++", "true": "false", "false": "true", "std::min": "std::max", "std::max": "std::min"}
TOKEN = re.compile(r"(?<![\w:])(?:true|false|std::min|std::max)\b(?!\s*=)|\+\+|--"
                   r"|(?<=\s)(?:[<>=!]=|[+\-]=|<<|>>|&&|\|\||[<>+\-*/%])(?=\s)")
NUMBER = re.compile(r"(?<![\w.'])\d+(?=[uUlL]*(?![\w.']))")
QUOTED = r'"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\''
COMMENT = r"//[^\n]*|/\*.*?\*/"
DIRECTIVE = r"(?m:^[ \t]*#(?:[^\n\\]|\\\n|\\.)*)"
LABELS = re.compile(r"(?:(?:case\s+(?:\w|::)+|default)\s*:(?!:)\s*)*")
LAMBDA = re.compile(r"\]\s*(?:\(.*\))?\s*(?:mutable|noexcept|->[^{}]*|\s)*$", re.DOTALL)
DECLARED = re.compile(r"(?:const\s+)?(?!return\b)[\w:]+(?:<[\w:<>,\s*&]*>)?(?:\s*\*)*(?:\s+|\s*[*]\s*)(?:const\s+)?\w+\s*=\s(?=\S)")
NO_STATEMENT = re.compile(r"(?:if|for|while|switch|else|do|case|default|using|typedef|static|static_assert|constexpr|break"
                          r"|continue|goto|throw|delete|template|Log|friend|extern|public|private|protected|catch|namespace)\b")
EXPRESSION = re.compile(r"[*(]?[\w:]+(?:\s*(?:\.|->)|\(|\[|\s*[+\-*/|&]?= |\+\+|--)|\+\+|--")


@dataclasses.dataclass(frozen=True)
class Change:
    file: str
    line: int  # the first and the last of the place, from 1
    last: int
    begin: int  # of the place, in characters
    end: int
    whole: bool  # the place is a statement; else an expression
    after: str  # what takes its place
    before: str  # what is there, in one line
    what: str  # the change itself, for people
    key: str


def blanked(pattern, text):
    """Returns the text, as long as before, with blanks where the pattern matches."""
    return re.sub(pattern, lambda found: re.sub(r"[^\n]", " ", found.group(0)), text, flags=re.DOTALL)


def closing(plain, begin):
    """Returns where the bracket that opens at begin is closed."""
    depth = 0
    for at in range(begin, len(plain)):
        depth += {"(": 1, ")": -1}.get(plain[at], 0)
        if depth == 0:
            return at
    return len(plain)


def opens(header, inside):
    """Says what a brace after the header opens: a body of code, a scope of declarations or a list of values."""
    if LAMBDA.search(header) and "[" in header:
        return "lambda"
    if inside != "body" and re.search(r"\b(?:class|struct|union|enum|namespace|extern)\b", header) and not header.endswith(")"):
        return "scope"
    if header in ("else", "do", "try", "") and inside in ("body", "lambda") or header.endswith(("else", "do", "try")):
        return "body"
    if "(" in header and re.search(r"[)}]\s*(?:const|noexcept|override|final|->\s*[\w:<>*& ]+|\s)*$", header):
        return "body"
    return "list"


def statements(plain):
    """Yields (begin, end) of the statements that have no brace in them, outside what is computed while compiling."""
    frames = [["scope", 0, 0, False, False]]  # kind, begin of the statement, depth, has a brace, constexpr
    for at, sign in enumerate(plain):
        frame = frames[-1]
        if sign in "([":
            frame[2] += 1
        elif sign in ")]":
            frame[2] -= 1
        elif sign == "{":
            header = plain[frame[1]:at].strip()
            kind = opens(header, frame[0])
            if kind == "body" and frame[2] > 0:
                kind = "list"
            frame[3] = True
            frames.append([kind, at + 1, 0, False, frame[4] or "constexpr" in header])
        elif sign == "}" and len(frames) > 1:
            kind = frames.pop()[0]
            if kind in ("body", "scope"):
                frames[-1][1:4] = [at + 1, 0, False]
        elif sign == ";" and frame[2] == 0:
            if frame[0] in ("body", "lambda") and not frame[3] and not frame[4]:
                begin = frame[1] + len(plain[frame[1]:at]) - len(plain[frame[1]:at].lstrip())
                yield begin + LABELS.match(plain, begin, at).end() - begin, at + 1
            frame[1], frame[3] = at + 1, False


def conditions(plain):
    """Yields (begin, end) of the conditions of if, while and for."""
    for found in re.finditer(r"\b(if|while|for) \(", plain):
        begin, end = found.end(), closing(plain, found.end() - 1)
        inner = plain[begin:end]
        if "{" in inner:
            continue
        if found.group(1) == "for":
            parts = inner.split(";")
            if len(parts) != 3:
                continue
            begin += len(parts[0]) + 1
            end = begin + len(parts[1])
        else:
            begin += inner.rfind(";") + 1
        begin += len(plain[begin:end]) - len(plain[begin:end].lstrip())
        if plain[begin:end].strip() and not DECLARED.match(plain, begin, end):
            yield begin, end


def in_constexpr(plain):
    """Returns the ranges of functions that are computed while compiling."""
    ranges = []
    for found in re.finditer(r"\bconstexpr\b[^;{}=]*\)[^;{}=]*\{", plain):
        depth = 1
        at = found.end()
        while depth > 0 and at < len(plain):
            depth += {"{": 1, "}": -1}.get(plain[at], 0)
            at += 1
        ranges.append((found.start(), at))
    return ranges


def replaced(plain, code, begin, end):
    """Yields (text, what) with one token of the place replaced."""
    for found in TOKEN.finditer(plain, begin, end):
        after = OPERATORS[found.group()]
        yield code[begin:found.start()] + after + code[found.end():end], f"{found.group()} -> {after}", found.start()
    for found in NUMBER.finditer(plain, begin, end):
        after = str(int(found.group()) + 1)
        yield code[begin:found.start()] + after + code[found.end():end], f"{found.group()} -> {after}", found.start()


def places(plain):
    """Yields (begin, end, whole) of all places that can be changed, none inside another."""
    constant = in_constexpr(plain)
    for begin, end in conditions(plain):
        if not any(first <= begin < last for first, last in constant):
            yield begin, end, False
    for begin, end in statements(plain):
        text = plain[begin:end]
        declared = DECLARED.match(plain, begin, end)
        if NO_STATEMENT.match(text) or re.match(r"\s*;", text):
            continue
        if text.startswith("return"):
            yield begin, end, True
        elif declared and " auto&" not in text:
            yield declared.end(), end - 1, False
        elif not declared and EXPRESSION.match(text):
            yield begin, end, True


def find(root, file):
    """Returns the changes of a file. Their keys stay the same while the changed statements do."""
    text = (root / file).read_text()
    code = re.sub(f"({QUOTED})|{COMMENT}", lambda found: found.group(1) or re.sub(r"[^\n]", " ", found.group(0)), text,
                  flags=re.DOTALL)
    plain = blanked(DIRECTIVE, blanked(QUOTED, code))
    seen = collections.Counter()
    changes = []
    for begin, end, whole in places(plain):
        options = list(replaced(plain, code, begin, end))
        if not whole and re.search(r"\b(?:if|while) \((?:[^;()]*;)?\s*$", plain[max(0, begin - 200):begin]):
            if not re.fullmatch(r"[^&|]* [=!]= [^&|]*", plain[begin:end]):  # that is among them already
                options.append((f"!({code[begin:end]})", "negated", begin))
        if whole and code.startswith("return Error(", begin):
            options = [("return {};", "no error", begin)]
        elif whole and not code.startswith("return", begin):
            options.append((";", "left out", begin))
        first, last = text.count("\n", 0, begin) + 1, text.count("\n", 0, end) + 1
        for after, what, at in dict((option[1:], option) for option in options).values():
            name = f"{file}\n{' '.join(code[begin:end].split())}\n{what}\n{at - begin}"
            seen[name] += 1
            key = hashlib.sha1(f"{name}\n{seen[name]}".encode()).hexdigest()[:10]
            changes.append(Change(file, first, last, begin, end, whole, " ".join(after.split("\n")),
                                  " ".join(code[begin:end].split()), what, key))
    return changes


def switched(text, changes, numbers):
    """Returns the text with all these changes of it, each of which takes place if its number is chosen."""
    at_place = collections.defaultdict(list)
    for change in changes:
        at_place[change.begin, change.end, change.whole].append(change)
    for (begin, end, whole), there in sorted(at_place.items(), reverse=True):
        before = text[begin:end]
        if whole:
            new = "".join(f"if (AdvStepChange({numbers[change.key]})) {{ {change.after} }} else " for change in there)
            new += f"{{ {before} }}"
        else:
            new = "".join(f"AdvStepChange({numbers[change.key]}) ? ({change.after}) : " for change in there)
            new = f"({new}({before}))"
        text = text[:begin] + new + text[end:]
    return text
