#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check_lengths.py finds the functions of every form, and nothing else."""
import sys

sys.dont_write_bytecode = True
import check_lengths  # noqa: E402

BODY = "{\n" + "    f();\n" * 70 + "}"
ONE = [  # a function of the length of BODY each, which begins in the line that is given
    (1, "void F() BODY"),
    (1, "extern \"C\" void F(void) BODY"),
    (2, "extern \"C\" {\nvoid F(void) BODY\n}"),
    (2, "namespace a::b {\nvoid F() BODY\n}"),
    (1, "A::A(int x) try : a_(x) BODY"),
    (1, "void F() ADVSTEP_NOEXCEPT BODY"),
    (1, "void F() const ADVSTEP_REQUIRES(mutex_) noexcept BODY"),
    (1, "void F() __attribute__((noinline)) BODY"),
    (1, "[[nodiscard]] static int F() BODY"),
    (1, "struct tm F() BODY"),
    (1, "static struct tm* F() BODY"),
    (1, "enum Kind F(int a) BODY"),
    (1, "A::A(int x) : a_{x}, b_{1} BODY"),
    (1, "A::A(int x) : B<C>{x}, a_(x) BODY"),
    (1, "A::A(int x) noexcept : B(x), a_{x} BODY"),
    (1, "const auto f = [](int x) BODY;"),
    (1, "const auto f = [] BODY;"),
    (1, "const Hook hook([](void*) noexcept BODY);"),
    (1, "const AtLoad hook([] BODY);"),
    (1, "const Row rows[] = {{\"a\", [](int x) -> int BODY}};"),
    (1, "auto F() -> std::pair<int, int> BODY"),
    (1, "bool operator==(const A& a) const BODY"),
    (1, "A& operator=(const A& a) & BODY"),
    (1, "void operator()(int a) const BODY"),
    (1, "A::operator bool() const BODY"),
    (1, "A::~A() BODY"),
    (1, "TEST_F(A, B) BODY"),
    (1, "void F(A a = {}, B b = {1, 2}) BODY"),
    (2, "struct A {\nvoid F() const noexcept override BODY\n};"),
    (2, "class A : public B<C()> {\nA() = default; int F() BODY\n};"),
    (2, "class ADVSTEP_CAPABILITY(\"mutex\") A {\nvoid F() BODY\n};"),
    (2, "struct {\nvoid F() BODY\n} a;"),
]
NONE = [
    "static const int k[] = BODY;",
    "const std::map<int, std::function<void(int)>> kTable BODY;",
    "const Table table = Make(BODY);",
    "struct A : B<C()> BODY;",
    "class ADVSTEP_CAPABILITY(\"mutex\") A final : public B BODY;",
    "struct alignas(64) A BODY;",
    "template <class T>\nstruct [[gnu::visibility(\"hidden\")]] A BODY;",
    "enum class A : int BODY;",
    "template <class T, class = std::enable_if_t<(sizeof(T) > 4)>> struct A BODY;",
    "namespace BODY",
    "extern \"C\" BODY",
    "int a; // void F() BODY",
]


def main():
    bad = []
    lines = BODY.count("\n") + 1
    for line, text in ONE:
        found = list(check_lengths.functions_of_c(text.replace("BODY", BODY) + "\n"))
        if found != [(line, lines)]:
            bad.append(f"{text}: found {found}; expected a function of {lines} lines in line {line}")
    # What is before the body, and a handler behind it, counts.
    for text, more in (("template <class T>\nvoid F(T t) BODY", 1), ("template <class T = int>\nvoid F(T t) BODY", 1),
                       ("A::A() : f_(Do([](int x) {\nf();\n})),\nb_{1} BODY", 3), ("void\nF(int a,\n  int b) BODY", 2), ("void F() try BODY catch (...) {\n}", 1),
                       ("void F() try BODY catch (int) {\n} catch (...) {\n}", 2)):
        found = list(check_lengths.functions_of_c(text.replace("BODY", BODY) + "\n"))
        if found[-1:] != [(1, lines + more)]:
            bad.append(f"{text}: found {found}; expected a function of {lines + more} lines")
    for text in NONE:
        found = list(check_lengths.functions_of_c(text.replace("BODY", BODY) + "\n"))
        if found:
            bad.append(f"{text}: found {found}; expected none")
    print("\n".join(bad) or f"{len(ONE) + 6} forms of functions are found, and {len(NONE)} others are none")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
