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

// A shared object of the host: a segment with all of it, at address 0, and its dynamic section. It
// has a constructor.
struct ElfParts {
    ElfW(Ehdr) header;
    ElfW(Phdr) segments[2];
    ElfW(Dyn) dynamic[14];
    ElfW(Sym) symbols[1];
    ElfW(Rela) relocations[1];
    uint64_t constructors[1];
    uint32_t hashes[4];
    uint32_t code[2];
    char names[8];
};

enum Entry { kNames, kNamesSize, kSymbols, kHash, kRela, kRelaSize, kRelaEntry, kInit, kInitSize };

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
    parts.segments[0].p_flags = PF_R | PF_W | PF_X;
    parts.segments[0].p_filesz = sizeof(parts);
    parts.segments[1].p_type = PT_DYNAMIC;
    parts.segments[1].p_offset = parts.segments[1].p_vaddr = offsetof(ElfParts, dynamic);
    parts.segments[1].p_filesz = sizeof(parts.dynamic);
    const struct {
        Entry entry;
        int64_t tag;
        uint64_t value;
    } entries[] = {{kNames, DT_STRTAB, offsetof(ElfParts, names)},
                   {kNamesSize, DT_STRSZ, sizeof(parts.names)},
                   {kSymbols, DT_SYMTAB, offsetof(ElfParts, symbols)},
                   {kHash, DT_HASH, offsetof(ElfParts, hashes)},
                   {kRela, DT_RELA, offsetof(ElfParts, relocations)},
                   {kRelaSize, DT_RELASZ, sizeof(parts.relocations)},
                   {kRelaEntry, DT_RELAENT, sizeof(parts.relocations[0])},
                   {kInit, DT_INIT_ARRAY, offsetof(ElfParts, constructors)},
                   {kInitSize, DT_INIT_ARRAYSZ, sizeof(parts.constructors)}};
    for (const auto& one : entries) {
        parts.dynamic[one.entry].d_tag = one.tag;
        parts.dynamic[one.entry].d_un.d_val = one.value;
    }
    parts.relocations[0] = {offsetof(ElfParts, constructors), 8, offsetof(ElfParts, code)};
    parts.hashes[0] = parts.hashes[1] = 1;
    parts.code[0] = 0xC3C3C3C3;
    return parts;
}

void Add(ElfParts* parts, int64_t tag, uint64_t value) {
    ElfW(Dyn)* at = parts->dynamic;
    while (at->d_tag != DT_NULL) {
        ++at;
    }
    at->d_tag = tag;
    at->d_un.d_val = value;
}

struct ElfCase {
    const char* name;
    void (*spoil)(ElfParts*);
    const char* says;
};

constexpr char kCutOff[] =
    "data has 488 bytes, and its ELF headers name more; expected a whole "
    "shared object";

constexpr char kNoNames[] =
    "data is damaged: its table of names is missing; expected a whole shared object";
constexpr char kNoHashes[] =
    "data is damaged: its table of hashes is missing; expected a whole shared object";
constexpr char kNoRelocations[] =
    "data is damaged: its table of relocations is missing; expected a whole shared object";
constexpr char kNoFunction[] =
    "data is damaged: a function that runs at its start or end is missing; expected a whole shared "
    "object";

const ElfCase kElfCases[] = {
    {"the table of segments begins after the end",
     [](ElfParts* p) { p->header.e_phoff = sizeof(*p) + 1; }, kCutOff},
    {"the table ends one byte after the end",
     [](ElfParts* p) { p->header.e_phoff = sizeof(*p) - sizeof(p->segments) + 1; }, kCutOff},
    {"the end of the table wraps around",
     [](ElfParts* p) { p->header.e_phoff = UINT64_MAX - sizeof(p->segments) + 1; }, kCutOff},
    {"the table has more segments than bytes", [](ElfParts* p) { p->header.e_phnum = 10; },
     kCutOff},
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
    {"the dynamic section has no end",
     [](ElfParts* p) { p->segments[1].p_filesz = 4 * sizeof(p->dynamic[0]); },
     "data is damaged: its dynamic section is in no segment or has no end; expected a whole shared "
     "object"},
    {"the dynamic section is empty", [](ElfParts* p) { p->dynamic[kNames].d_tag = DT_NULL; },
     kNoNames},
    {"the names are outside", [](ElfParts* p) { p->dynamic[kNamesSize].d_un.d_val = 9; }, kNoNames},
    {"the names are at 0", [](ElfParts* p) { p->dynamic[kNames].d_un.d_val = 0; }, kNoNames},
    {"the last name has no end", [](ElfParts* p) { p->names[7] = 'x'; }, kNoNames},
    {"a name is none of them", [](ElfParts* p) { Add(p, DT_NEEDED, 8); },
     "data is damaged: a name is outside of its table of names; expected a whole shared object"},
    {"no symbols", [](ElfParts* p) { p->dynamic[kSymbols].d_tag = DT_DEBUG; },
     "data is damaged: its table of symbols is missing; expected a whole shared object"},
    {"no hashes", [](ElfParts* p) { p->dynamic[kHash].d_tag = DT_DEBUG; }, kNoHashes},
    {"hashes of another kind that are zeros", [](ElfParts* p) { Add(p, DT_GNU_HASH, 600); },
     kNoHashes},
    {"versions without names", [](ElfParts* p) { Add(p, DT_VERSYM, offsetof(ElfParts, code)); },
     "data is damaged: its table of versions is missing; expected a whole shared object"},
    {"relocations without size", [](ElfParts* p) { p->dynamic[kRelaSize].d_tag = DT_DEBUG; },
     kNoRelocations},
    {"relocations outside", [](ElfParts* p) { p->dynamic[kRela].d_un.d_val = sizeof(*p) - 8; },
     kNoRelocations},
    {"another kind of relocations", [](ElfParts* p) { p->dynamic[kRelaEntry].d_un.d_val = 16; },
     kNoRelocations},
    {"calls without their kind",
     [](ElfParts* p) {
         Add(p, DT_JMPREL, offsetof(ElfParts, relocations));
         Add(p, DT_PLTRELSZ, sizeof(p->relocations));
     },
     kNoRelocations},
    {"no code for DT_INIT", [](ElfParts* p) { Add(p, DT_INIT, offsetof(ElfParts, code) + 4); },
     "data is damaged: the function of DT_INIT is missing; expected a whole shared object"},
    {"no code for DT_FINI", [](ElfParts* p) { Add(p, DT_FINI, sizeof(*p)); },
     "data is damaged: the function of DT_FINI is missing; expected a whole shared object"},
    {"no code for a constructor", [](ElfParts* p) { p->code[0] = 0; }, kNoFunction},
    {"a constructor that nothing fills", [](ElfParts* p) { p->relocations[0] = {}; }, kNoFunction},
    {"a constructor that is data", [](ElfParts* p) { p->segments[0].p_flags = PF_R; }, kNoFunction},
    {"constructors without number", [](ElfParts* p) { p->dynamic[kInitSize].d_tag = DT_DEBUG; },
     kNoFunction},
};

Status CheckParts(const ElfParts& parts, size_t length = sizeof(ElfParts)) {
    return CheckElf("data", reinterpret_cast<const unsigned char*>(&parts), length);
}

TEST(ElfCheckTest, ARangeOutsideTheBytesIsRefused) {
    static_assert(sizeof(ElfParts) == 488);
    ASSERT_TRUE(CheckParts(WholeElf()).ok());
    for (const ElfCase& one : kElfCases) {
        ElfParts parts = WholeElf();
        one.spoil(&parts);
        const Status status = CheckParts(parts);
        EXPECT_EQ(status.code(), ACL_ERROR_RT_PARAM_INVALID) << one.name;
        EXPECT_STREQ(status.message(), one.says) << one.name;
    }
}

TEST(ElfCheckTest, ATailOfZerosIsRefused) {
    for (size_t begin = offsetof(ElfParts, dynamic); begin <= offsetof(ElfParts, code);
         begin += 8) {
        ElfParts parts = WholeElf();
        std::memset(reinterpret_cast<char*>(&parts) + begin, 0, sizeof(parts) - begin);
        EXPECT_EQ(CheckParts(parts).code(), ACL_ERROR_RT_PARAM_INVALID) << begin;
    }
}

TEST(ElfCheckTest, PackedRelocationsFillConstructorsToo) {
    ElfParts parts = WholeElf();
    parts.relocations[0] = {};
    parts.constructors[0] = offsetof(ElfParts, code);
    parts.symbols[0].st_value = offsetof(ElfParts, constructors);  // a table of one word
    Add(&parts, 36, offsetof(ElfParts, symbols) + offsetof(ElfW(Sym), st_value));
    Add(&parts, 35, sizeof(uint64_t));
    EXPECT_TRUE(CheckParts(parts).ok());
    parts.constructors[0] = offsetof(ElfParts, code) + 4;
    EXPECT_EQ(CheckParts(parts).code(), ACL_ERROR_RT_PARAM_INVALID);
}

TEST(ElfCheckTest, EveryCutIsRefused) {
    const ElfParts parts = WholeElf();
    for (size_t length = 0; length < sizeof(parts); ++length) {
        EXPECT_EQ(CheckParts(parts, length).code(), ACL_ERROR_RT_PARAM_INVALID) << length;
    }
}

}  // namespace
}  // namespace advstep
