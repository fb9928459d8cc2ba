// SPDX-License-Identifier: Apache-2.0
// Tests of the check of device binaries, on headers of a few bytes with wrong ranges.
#include "src/runtime/kernels/elf_check.h"

#include <gtest/gtest.h>
#include <link.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <string>

#include "acl/acl_base.h"

namespace advstep {
namespace {

// A shared object of the host: two segments, which both have the bytes after the headers.
struct ElfParts {
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[2];
    unsigned char bytes[16];
};

ElfParts WholeElf() {
    ElfParts parts{};
    // Class, byte order and machine are those of this program.
    std::ifstream program("/proc/self/exe", std::ios::binary);
    program.read(reinterpret_cast<char*>(&parts.header), sizeof(parts.header));
    parts.header.e_type = ET_DYN;
    parts.header.e_phoff = sizeof(parts.header);
    parts.header.e_phentsize = sizeof(parts.segments[0]);
    parts.header.e_phnum = 2;
    parts.segments[0].p_type = PT_LOAD;
    parts.segments[1].p_type = PT_DYNAMIC;
    for (ElfW(Phdr) & segment : parts.segments) {
        segment.p_offset = offsetof(ElfParts, bytes);
        segment.p_filesz = sizeof(parts.bytes);
    }
    return parts;
}

struct ElfCase {
    const char* name;
    void (*spoil)(ElfParts*);
    const char* says;
};

constexpr char kCutOff[] =
    "data has 192 bytes, and its ELF headers name more; expected a whole "
    "shared object";

const ElfCase kElfCases[] = {
    {"the table of segments begins after the end",
     [](ElfParts* p) { p->header.e_phoff = sizeof(*p) + 1; }, kCutOff},
    {"the table ends one byte after the end",
     [](ElfParts* p) { p->header.e_phoff = sizeof(*p) - sizeof(p->segments) + 1; }, kCutOff},
    {"the end of the table wraps around",
     [](ElfParts* p) { p->header.e_phoff = UINT64_MAX - sizeof(p->segments) + 1; }, kCutOff},
    {"the table has more segments than bytes", [](ElfParts* p) { p->header.e_phnum = 3; }, kCutOff},
    {"an entry has another size", [](ElfParts* p) { p->header.e_phentsize = 8; }, kCutOff},
    {"a segment begins after the end",
     [](ElfParts* p) { p->segments[0].p_offset = sizeof(*p) + 1, p->segments[0].p_filesz = 0; },
     kCutOff},
    {"a segment ends one byte after the end", [](ElfParts* p) { ++p->segments[0].p_filesz; },
     kCutOff},
    {"the end of a segment wraps around",
     [](ElfParts* p) { p->segments[1].p_filesz = UINT64_MAX - p->segments[1].p_offset + 1; },
     kCutOff},
    {"no segment is dynamic", [](ElfParts* p) { p->segments[1].p_type = PT_NOTE; },
     "data has no dynamic section; expected a shared object"},
};

Status CheckParts(const ElfParts& parts, size_t length = sizeof(ElfParts)) {
    return CheckElf("data", reinterpret_cast<const unsigned char*>(&parts), length);
}

TEST(ElfCheckTest, ARangeOutsideTheBytesIsRefused) {
    static_assert(sizeof(ElfParts) == 192);
    ASSERT_TRUE(CheckParts(WholeElf()).ok());
    for (const ElfCase& one : kElfCases) {
        ElfParts parts = WholeElf();
        one.spoil(&parts);
        const Status status = CheckParts(parts);
        EXPECT_EQ(status.code(), ACL_ERROR_RT_PARAM_INVALID) << one.name;
        EXPECT_STREQ(status.message(), one.says) << one.name;
    }
}

TEST(ElfCheckTest, EveryCutIsRefused) {
    const ElfParts parts = WholeElf();
    for (size_t length = 0; length < sizeof(parts); ++length) {
        EXPECT_EQ(CheckParts(parts, length).code(), ACL_ERROR_RT_PARAM_INVALID) << length;
    }
}

}  // namespace
}  // namespace advstep
