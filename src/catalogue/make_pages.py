#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the pages of docs that are tables of the catalogue of functions and of the public headers.

make_pages.py --update  writes them anew
make_pages.py           says which of them are out of date

These are supported_calls.md, also in Chinese; error_causes.md, the codes of each call; in docs/operators each
table that follows a line `<!-- arguments: aclnn_step.h -->`; and advance_step/version.h, which has the version of
project() in CMakeLists.txt.
"""
import collections
import re
import sys

from catalogue import CODE, DOCUMENTED, STATES, Catalogue, read_comment

ENGLISH = {
    "file": "docs/supported_calls.md",
    "head": """# Supported calls

Every function of acl, aclrt, aclmdlRI and aclnn that the project knows of. The table is made of the
[catalogue of functions](../src/catalogue/README.md), and a test compares that with what the library exports.
[中文](supported_calls.zh.md)

| support | meaning |
| --- | --- |
| yes | does what it is for |
| kept | checks its arguments and keeps what it is given, for getters where there are some; it has no other effect |
| refuses | has no effect, and returns an error with a message that says why |
| absent | the library has no such function |

The interface is the version of acl that the signature and the codes follow, or "own" for an interface of the
project. A name with * stands for all
functions that begin so.
""",
    "title": "title",
    "note": "note",
    "columns": "| function | support | interface |\n| --- | --- | --- |",
    "states": {"yes": "yes", "kept": "kept", "refuses": "refuses", "absent": "absent"},
    "counts": "\n{all} functions: {yes} yes, {kept} kept, {refuses} refuse, {absent} absent.\n",
    "census": """
## Clients

The functions beyond the usual ones of devices, streams, events, memory and capture, by the published clients
that use them, as far as their sources or their binaries tell. Functions that are absent are named. "examples" are
those of CANN.

The table counts names of these functions, and nothing else. It does not say that a client runs: a published wheel may
bind names of other libraries, so that it is not even imported. Of Mooncake, 22 names are those of its sources; the
others are C++ names of [the transfer engine](transfer_engine.md), with which its wheel runs.

| client | present of used | refuse | absent |
| --- | --- | --- | --- |
""",
    "none": "none",
}
CHINESE = {
    "file": "docs/supported_calls.zh.md",
    "head": """# 支持的调用

本项目所知的 acl、aclrt、aclmdlRI 与 aclnn 的全部函数。此表由[函数目录](../src/catalogue/README.md)生成，
并有测试将其与库的导出符号对照。[English](supported_calls.md)

| 支持 | 含义 |
| --- | --- |
| 支持 | 实现其功能 |
| 仅保存 | 检查参数并保存所给的值，有 getter 时可读回；没有其他效果 |
| 拒绝 | 没有效果，返回错误与说明原因的消息 |
| 没有 | 库中没有此函数 |

“接口”是签名与返回码所依据的 acl 版本，own 表示本项目自己的接口。带 * 的名字代表以此开头的全部函数。
""",
    "title": "title_zh",
    "note": "note_zh",
    "columns": "| 函数 | 支持 | 接口 |\n| --- | --- | --- |",
    "states": {"yes": "支持", "kept": "仅保存", "refuses": "拒绝", "absent": "没有"},
    "counts": "\n共 {all} 个函数：支持 {yes}，仅保存 {kept}，拒绝 {refuses}，没有 {absent}。\n",
    "census": """
## 客户程序

除设备、流、事件、内存与捕获的常用函数之外，已发布的客户程序（依其源码或二进制所知）还使用下列函数；缺少的函数列出名字。
“examples” 是 CANN 的示例。

此表只统计这些函数的名字，并不表示客户程序能够运行：已发布的 wheel 可能还绑定其他库的名字，以致无法导入。
Mooncake 的名字中有 22 个取自源码，其余是[传输引擎](transfer_engine.md)的 C++ 名字；其 wheel 借此运行。

| 客户程序 | 已有 / 使用 | 拒绝 | 缺少 |
| --- | --- | --- | --- |
""",
    "none": "无",
}
CAUSES_HEAD = """# The codes of each call

The public headers describe the codes of each call; this table is made of them, by `src/catalogue/make_pages.py`.
[Errors](errors.md) says what each code means, which calls have it beside those listed, and what to do.
"""
VERSION_FILE = "include/advance_step/version.h"
VERSION_HEADER = """// SPDX-License-Identifier: Apache-2.0
/// The version of the project. This interface is the project's own. src/catalogue/make_pages.py
/// makes the file of the version in CMakeLists.txt.
#ifndef ADVSTEP_ADVANCE_STEP_VERSION_H_
#define ADVSTEP_ADVANCE_STEP_VERSION_H_

#include "acl/acl_base.h"

/// The first number of the version of these headers.
#define ADVSTEP_VERSION_MAJOR {major}
/// The second number.
#define ADVSTEP_VERSION_MINOR {minor}
/// The third number.
#define ADVSTEP_VERSION_PATCH {patch}
/// All three as a text.
#define ADVSTEP_VERSION_STRING "{major}.{minor}.{patch}"
/// All three as one number for comparisons, such as `#if ADVSTEP_VERSION_NUMBER >= 2000` for 0.2.0
/// and later.
#define ADVSTEP_VERSION_NUMBER \\
    (ADVSTEP_VERSION_MAJOR * 1000000 + ADVSTEP_VERSION_MINOR * 1000 + ADVSTEP_VERSION_PATCH)

#ifdef __cplusplus
extern "C" {{
#endif

/// Returns the version of the library that the program runs with, which may be another one than
/// that of the headers. It may be called before aclInit.
/// @retval ACL_ERROR_INVALID_PARAM  majorVersion, minorVersion or patchVersion is NULL
ADVSTEP_API aclError advstepGetVersion(int32_t* majorVersion, int32_t* minorVersion,
                                       int32_t* patchVersion);

#ifdef __cplusplus
}}
#endif

#endif /* ADVSTEP_ADVANCE_STEP_VERSION_H_ */
"""
PROJECT = re.compile(r"^project\(advance_step VERSION (\d+)\.(\d+)\.(\d+) ", re.M)
RETVAL = re.compile(r"@retval\s+((?:ACL|ACLNN)_ERR\w+)\s+(.*)")
PARAM = re.compile(r"@param\[([\w,]+)\]\s+(\w+)\s+(.*)")
TENSOR = re.compile(r"((?:bool|int32|int64)(?: or (?:bool|int32|int64))?)\s+(\[[^\]]*\])\s+(.*)")
TABLE = re.compile(r"(<!-- arguments: (\w+\.h) -->\n)((?:\|[^\n]*\n)*)")
STALE = "is not what the catalogue and the headers say: src/catalogue/make_pages.py --update writes it"
OUTPUTS = ("workspaceSize", "executor")
DIRECTIONS = {"in": "in", "in,out": "in/out", "out": "out"}


def supported_calls(catalogue, words):
    functions = [function for function in catalogue.functions if function.family.title]
    counts = collections.Counter({state: 0 for state in STATES})
    for function in functions:
        counts[function.support] += len(function.names())
    text = words["head"] + words["counts"].format(all=sum(counts.values()), **counts)
    for family in catalogue.families.values():
        here = [function for function in functions if function.family is family]
        if here:
            note = getattr(family, words["note"])
            text += f"\n## {getattr(family, words['title'])}\n\n"
            text += f"{note}\n\n" if note else ""
            text += words["columns"] + "\n"
            for function in here:
                text += f"| {function.name} | {words['states'][function.support]} | {function.since} |\n"
    text += words["census"]
    for client in sorted({client for function in functions for client in function.clients}, key=str.lower):
        used = [function for function in functions if client in function.clients]
        absent = [function.name for function in used if not function.there]
        refuse = sum(function.support == "refuses" for function in used)
        text += f"| {client} | {len(used) - len(absent)} / {len(used)} | {refuse} | "
        text += f"{', '.join(absent) or words['none']} |\n"
    return text


def error_causes(catalogue):
    numbers = {}
    rows = collections.defaultdict(list)
    for header in catalogue.headers:
        text = header.read_text(encoding="utf-8")
        numbers.update(CODE.findall(text))
        for comment, call in DOCUMENTED.findall(text):
            for match, cause in read_comment(comment, RETVAL):
                rows[match[1]].append((call, cause.replace("|", "\\|")))
    page = CAUSES_HEAD
    for name in sorted(rows, key=lambda name: numbers[name]):
        page += f"\n## {numbers[name]} {name}\n\n| call | cause |\n| --- | --- |\n"
        page += "".join(f"| {call} | {cause} |\n" for call, cause in rows[name])
    return page


def cells(row):
    return [cell.strip() for cell in row.strip().strip("|").split(" |")]


def arguments_table(header, shown=""):
    """The arguments of phase one, whose comment is the first of the header with parameters.

    Columns of the shown table behind the fifth are written by hand; they are kept.
    """
    kept = {row[0]: row[5:] for row in map(cells, shown.splitlines())}
    further = kept.get("argument", [])
    for comment, _ in DOCUMENTED.findall(header.read_text(encoding="utf-8")):
        parameters = read_comment(comment, PARAM)
        if parameters:
            break
    rows = [" | ".join(["| argument | shape | dtype | direction | meaning", *further, ""]).rstrip(),
            "|" + " --- |" * (5 + len(further))]
    for match, text in parameters:
        if match[2] not in OUTPUTS:
            tensor = TENSOR.match(text)
            dtype, shape, meaning = tensor.groups() if tensor else ("int64", "attribute", text)
            own = kept.get(match[2], [])
            own += [""] * (len(further) - len(own))
            rows.append(" | ".join([f"| {match[2]}", shape, dtype.upper().replace(" OR ", " or "), DIRECTIONS[match[1]],
                                    meaning, *own, ""]).rstrip())
    return "\n".join(rows) + "\n"


def version_header(catalogue):
    major, minor, patch = PROJECT.search((catalogue.root / "CMakeLists.txt").read_text(encoding="utf-8")).groups()
    return VERSION_HEADER.format(major=major, minor=minor, patch=patch)


def pages(catalogue):
    """(file, text) of each page."""
    yield catalogue.root / VERSION_FILE, version_header(catalogue)
    for words in (ENGLISH, CHINESE):
        yield catalogue.root / words["file"], supported_calls(catalogue, words)
    yield catalogue.root / "docs/error_causes.md", error_causes(catalogue)
    operators = catalogue.root / "include/aclnnop"
    for page in sorted((catalogue.root / "docs/operators").glob("*.md")):
        text = page.read_text(encoding="utf-8")
        yield page, TABLE.sub(lambda match: match[1] + arguments_table(operators / match[2], match[3]), text)


def stale(catalogue):
    """(page, text) of each page that is out of date."""
    for page, text in pages(catalogue):
        if not page.exists() or page.read_text(encoding="utf-8") != text:
            yield page, text


def main():
    catalogue = Catalogue()
    bad = False
    for page, text in stale(catalogue):
        name = page.relative_to(catalogue.root)
        if sys.argv[1:] == ["--update"]:
            page.write_text(text, encoding="utf-8")
            print(f"{name} is written")
        else:
            print(f"{name} {STALE}")
            bad = True
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
