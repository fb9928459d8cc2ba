#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/supported_calls.md, also in Chinese, is made of a table that fits the exports.

check_supported_calls.py LIBRARY   compares the table with the exports, and with the libraries of the
                                   prefix; the pages with the table
check_supported_calls.py --update  writes the pages anew
"""
import csv
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "docs/supported_calls.csv"
STATES = ("yes", "kept", "refuses", "absent")
# Sections whose functions are in libraries that only the prefix of component cann has. Their lists of
# names are held against the libraries by check_cann_names.py.
OTHER_LIBRARIES = {"operators_old"}
NAMES = ROOT / "src/cann/names"

SECTIONS = {
    "start": ("Start, end, errors, log", "启动、结束、错误、日志"),
    "identity": ("Versions and identity", "版本与标识"),
    "devices": ("Devices and contexts", "设备与上下文"),
    "faults": ("Faults of devices", "设备故障"),
    "options": ("Options", "选项"),
    "streams": ("Streams, callbacks, synchronisations", "流、回调、同步"),
    "events": ("Events, notifies, value waits", "事件、通知、值等待"),
    "memory": ("Memory and copies", "内存与拷贝"),
    "processes": ("Memory, events and notifies of other processes", "进程间的内存、事件与通知"),
    "models": ("Capture and replay", "捕获与重放"),
    "queues": ("More of streams, events and graphs", "流、事件与图的其他调用"),
    "dump": ("Dump", "Dump"),
    "buffers": ("Data buffers, tensor descriptions, half precision", "数据缓冲、张量描述、半精度"),
    "aclnn": ("aclnn: tensors and executors", "aclnn：张量与执行器"),
    "operators": ("aclnn: operators", "aclnn：算子"),
    "kernels": ("Kernels of the program", "程序自己的核函数"),
    "operators_old": ("Single-operator calls", "单算子调用"),
    "left_out": ("Left out", "不提供"),
}
NOTES = {
    "operators_old": (
        "Only the libraries of [the prefix like CANN's](packaging.md#a-prefix-like-canns) have these calls.",
        "只有[与 CANN 同形的安装目录](packaging.md#a-prefix-like-canns)中的库提供这些函数。"),
}

ENGLISH = {
    "file": "docs/supported_calls.md",
    "head": """# Supported calls

Every function of acl, aclrt, aclmdlRI and aclnn that the project knows of. The table is made of
`supported_calls.csv` in this folder, and a test compares it with what the library exports.
[中文](supported_calls.zh.md)

| support | meaning |
| --- | --- |
| yes | does what it is for |
| kept | checks its arguments and keeps what it is given, for getters where there are some; it has no other effect |
| refuses | checks its arguments and returns an error, with a message |
| absent | the library has no such function |

The interface is the version of acl that the signature and the codes follow, or "own" for an interface of the
project. A name with * stands for all
functions that begin so.
""",
    "columns": "| function | support | interface |\n| --- | --- | --- |",
    "states": {"yes": "yes", "kept": "kept", "refuses": "refuses", "absent": "absent"},
    "counts": "\n{all} functions: {yes} yes, {kept} kept, {refuses} refuse, {absent} absent.\n",
    "census": """
## Clients

The functions beyond the usual ones of devices, streams, events, memory and capture, by the published clients
that use them, as far as their sources tell. Functions that are absent are named. "examples" are those of CANN.

| client | present of used | absent |
| --- | --- | --- |
""",
    "none": "none",
}
CHINESE = {
    "file": "docs/supported_calls.zh.md",
    "head": """# 支持的调用

本项目所知的 acl、aclrt、aclmdlRI 与 aclnn 的全部函数。此表由本目录的 `supported_calls.csv` 生成，
并有测试将其与库的导出符号对照。[English](supported_calls.md)

| 支持 | 含义 |
| --- | --- |
| 支持 | 实现其功能 |
| 仅保存 | 检查参数并保存所给的值，有 getter 时可读回；没有其他效果 |
| 拒绝 | 检查参数并返回错误与消息 |
| 没有 | 库中没有此函数 |

“接口”是签名与返回码所依据的 acl 版本，own 表示本项目自己的接口。带 * 的名字代表以此开头的全部函数。
""",
    "columns": "| 函数 | 支持 | 接口 |\n| --- | --- | --- |",
    "states": {"yes": "支持", "kept": "仅保存", "refuses": "拒绝", "absent": "没有"},
    "counts": "\n共 {all} 个函数：支持 {yes}，仅保存 {kept}，拒绝 {refuses}，没有 {absent}。\n",
    "census": """
## 客户程序

除设备、流、事件、内存与捕获的常用函数之外，已发布的客户程序（依其源码所知）还使用下列函数；缺少的函数列出名字。
“examples” 是 CANN 的示例。

| 客户程序 | 已有 / 使用 | 缺少 |
| --- | --- | --- |
""",
    "none": "无",
}


def read_rows():
    with DATA.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def make_page(rows, words):
    text = words["head"]
    counts = {state: sum(row["support"] == state for row in rows) for state in STATES}
    text += words["counts"].format(all=len(rows), **counts)
    language = 0 if words is ENGLISH else 1
    for section, titles in SECTIONS.items():
        here = [row for row in rows if row["section"] == section]
        if here:
            note = NOTES[section][language] + "\n\n" if section in NOTES else ""
            text += f"\n## {titles[language]}\n\n{note}{words['columns']}\n"
            for row in here:
                text += f"| {row['name']} | {words['states'][row['support']]} | {row['interface']} |\n"
    text += words["census"]
    for client in sorted({user for row in rows for user in row["users"].split()}, key=str.lower):
        used = [row for row in rows if client in row["users"].split()]
        absent = [row["name"] for row in used if row["support"] == "absent"]
        text += (f"| {client} | {len(used) - len(absent)} / {len(used)} | "
                 f"{', '.join(absent) or words['none']} |\n")
    return text


def read_exports(library):
    listing = subprocess.run(["nm", "-D", "--defined-only", library], check=True,
                             capture_output=True, text=True).stdout
    lines = [line.split() for line in listing.splitlines()]
    return {words[-1].split("@")[0] for words in lines if words[-2] != "A"}


def read_prefix_names():
    """Returns the functions that the prefix's libraries define themselves."""
    lines = [line.split() for path in sorted(NAMES.glob("*.txt")) for line in path.read_text().splitlines()]
    return {words[0] for words in lines if words[1:] == ["own"]}


def check_rows(rows, exported):
    wrong = []
    prefix = read_prefix_names()
    names = [row["name"] for row in rows]
    for row in rows:
        name = row["name"]
        if row["support"] not in STATES or row["section"] not in SECTIONS or not row["interface"]:
            wrong.append(f"{DATA.name}: the row of {name} has an unknown word, or none")
        if name.endswith("*"):
            there = any(one.startswith(name[:-1]) for one in exported)
        else:
            there = name in exported
        elsewhere = row["section"] in OTHER_LIBRARIES
        if elsewhere and (name in prefix) != (row["support"] != "absent"):
            wrong.append(f"{DATA.name}: {name} is said to be {row['support']}, but the prefix "
                         f"{'has' if name in prefix else 'does not have'} it")
        if there != (row["support"] != "absent" and not elsewhere):
            wrong.append(f"{DATA.name}: {name} is said to be {row['support']}, but the library "
                         f"{'exports' if there else 'does not export'} it")
        if names.count(name) > 1:
            wrong.append(f"{DATA.name}: {name} has {names.count(name)} rows")
    for name in sorted(one for one in prefix - set(names) if one.startswith("acl")):
        wrong.append(f"{DATA.name}: {name} is in the prefix and has no row")
    for name in sorted(exported - set(names)):
        # The project's own functions have pages of their own, and so have operators.
        if not name.startswith(("advstep", "aclnn")):
            wrong.append(f"{DATA.name}: {name} is exported and has no row")
    return wrong


def main():
    rows = read_rows()
    if sys.argv[1:] == ["--update"]:
        for words in (ENGLISH, CHINESE):
            (ROOT / words["file"]).write_text(make_page(rows, words), encoding="utf-8")
        return 0
    wrong = check_rows(rows, read_exports(sys.argv[1]))
    for words in (ENGLISH, CHINESE):
        path = ROOT / words["file"]
        if not path.exists() or path.read_text(encoding="utf-8") != make_page(rows, words):
            wrong.append(f"{words['file']} is not what {DATA.name} makes: "
                         "check_supported_calls.py --update writes it")
    print("\n".join(wrong) or f"{len(rows)} functions are supported as the table says")
    return 1 if wrong or len(rows) < 300 else 0


if __name__ == "__main__":
    sys.exit(main())
