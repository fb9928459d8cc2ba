// SPDX-License-Identifier: Apache-2.0
// Compares the headers of a shared object with this machine and with its size.

#include "src/runtime/kernels/elf_check.h"

#include <elf.h>
#include <link.h>

#include <cstring>

#include "acl/acl_base.h"

namespace advstep {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#elif defined(__riscv)
constexpr uint16_t kMachine = EM_RISCV;
#elif defined(__powerpc64__)
constexpr uint16_t kMachine = EM_PPC64;
#elif defined(__s390x__)
constexpr uint16_t kMachine = EM_S390;
#elif defined(__loongarch__)
constexpr uint16_t kMachine = 258;  // EM_LOONGARCH, which older headers lack
#else
#error "name the ELF machine of this architecture"
#endif
constexpr unsigned char kByteOrder =
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? ELFDATA2LSB : ELFDATA2MSB;

// Returns whether `size` bytes at `offset` lie within `length`.
bool Inside(uint64_t offset, uint64_t size, size_t length) {
    return offset <= length && size <= length - offset;
}

Status CutOff(const char* name, size_t length) {
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} has {} bytes, and its ELF headers name more; expected a whole shared object",
                 name, length);
}

Status CheckIdentity(const char* name, const unsigned char* bytes, size_t length) {
    if (length < SELFMAG || std::memcmp(bytes, ELFMAG, SELFMAG) != 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is no ELF file; expected a shared object for the host", name);
    }
    if (length < sizeof(ElfW(Ehdr))) {
        return CutOff(name, length);
    }
    ElfW(Ehdr) header;
    std::memcpy(&header, bytes, sizeof(header));
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != kByteOrder ||
        header.e_machine != kMachine) {
        return Error(
            ACL_ERROR_RT_PARAM_INVALID,
            "{} is an ELF file of class {}, byte order {} and machine {}; expected one for "
            "the host: class {}, byte order {} and machine {}",
            name, header.e_ident[EI_CLASS], header.e_ident[EI_DATA], header.e_machine, ELFCLASS64,
            kByteOrder, kMachine);
    }
    return header.e_type == ET_DYN
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "{} is an ELF file of type {}; expected a shared object, type {}, as the "
                       "linker makes by -shared",
                       name, header.e_type, ET_DYN);
}

}  // namespace

Status CheckElf(const char* name, const unsigned char* bytes, size_t length) {
    ADVSTEP_RETURN_IF_ERROR(CheckIdentity(name, bytes, length));
    ElfW(Ehdr) header;
    std::memcpy(&header, bytes, sizeof(header));
    const uint64_t tableBytes = uint64_t{header.e_phnum} * sizeof(ElfW(Phdr));
    if (header.e_phentsize != sizeof(ElfW(Phdr)) || !Inside(header.e_phoff, tableBytes, length)) {
        return CutOff(name, length);
    }
    bool dynamic = false;
    for (uint16_t index = 0; index < header.e_phnum; ++index) {
        ElfW(Phdr) part;
        std::memcpy(&part, bytes + header.e_phoff + index * sizeof(part), sizeof(part));
        if (!Inside(part.p_offset, part.p_filesz, length)) {
            return CutOff(name, length);
        }
        dynamic = dynamic || part.p_type == PT_DYNAMIC;
    }
    return dynamic ? Status()
                   : Error(ACL_ERROR_RT_PARAM_INVALID,
                           "{} has no dynamic section; expected a shared object", name);
}

}  // namespace advstep
