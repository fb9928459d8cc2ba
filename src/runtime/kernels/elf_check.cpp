// SPDX-License-Identifier: Apache-2.0
// Compares the headers of a shared object with this machine and with its size, and checks the parts
// that the dynamic linker uses unseen.

#include "src/runtime/kernels/elf_check.h"

#include <elf.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <set>
#include <vector>

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

// The dynamic section. Its tables lie at addresses, which segments of the file fill.

Status Damaged(const char* name, const char* what) {
    return Error(ACL_ERROR_RT_PARAM_INVALID, "{} is damaged: {}; expected a whole shared object",
                 name, what);
}

/// A slot of the object that the linker fills, and what it adds to the address of the object there.
struct Filled {
    uint64_t slot;
    uint64_t target;
    uint64_t symbol;  // whose address is added as well; 0: none
};

class Image {
 public:
    Image(const unsigned char* bytes, const std::vector<ElfW(Phdr)>& parts)
        : bytes_(bytes), parts_(parts) {}

    /// Returns the bytes of the file at an address. Null: not all `size` bytes are there, or the
    /// address is 0, where no table is.
    const unsigned char* At(uint64_t address, uint64_t size) const {
        if (address == 0) {
            return nullptr;
        }
        for (const ElfW(Phdr) & part : parts_) {
            if (part.p_type == PT_LOAD && address >= part.p_vaddr &&
                Inside(address - part.p_vaddr, size, part.p_filesz)) {
                return bytes_ + part.p_offset + (address - part.p_vaddr);
            }
        }
        return nullptr;
    }

    template <typename T>
    bool Read(uint64_t address, T* value) const {
        const unsigned char* const found = At(address, sizeof(T));
        if (found != nullptr) {
            std::memcpy(value, found, sizeof(T));
        }
        return found != nullptr;
    }

    /// Returns whether instructions are at an address. No instruction of any machine is 0.
    bool HasCode(uint64_t address) const {
        if (kMachine == EM_PPC64) {
            return true;  // the address may be that of a description of the function
        }
        uint32_t code = 0;
        return std::any_of(parts_.begin(), parts_.end(),
                           [&](const ElfW(Phdr) & part) {
                               return part.p_type == PT_LOAD && (part.p_flags & PF_X) != 0 &&
                                      address - part.p_vaddr < part.p_filesz;
                           }) &&
               Read(address, &code) && code != 0;
    }

 private:
    const unsigned char* const bytes_;
    const std::vector<ElfW(Phdr)>& parts_;
};

class DynamicSection {
 public:
    explicit DynamicSection(const Image& image) : image_(image) {}

    /// False: the section has no end.
    bool Read(uint64_t address, uint64_t size) {
        ElfW(Dyn) entry;
        for (uint64_t at = 0; at + sizeof(entry) <= size; at += sizeof(entry)) {
            if (!image_.Read(address + at, &entry)) {
                return false;
            }
            if (entry.d_tag == DT_NULL) {
                return true;
            }
            entries_.push_back(entry);
        }
        return false;
    }

    /// Returns what is wrong, or null.
    const char* Check() {
        if (const char* const wrong = CheckSymbols(); wrong != nullptr) {
            return wrong;
        }
        if (const char* const wrong = ReadRelocations(); wrong != nullptr) {
            return wrong;
        }
        if (!KnowsVersions()) {
            return "a version of a symbol is missing";
        }
        if (Has(DT_INIT) && !image_.HasCode(Value(DT_INIT))) {
            return "the function of DT_INIT is missing";
        }
        if (Has(DT_FINI) && !image_.HasCode(Value(DT_FINI))) {
            return "the function of DT_FINI is missing";
        }
        if (!CallsFunctions(DT_INIT_ARRAY, DT_INIT_ARRAYSZ) ||
            !CallsFunctions(DT_FINI_ARRAY, DT_FINI_ARRAYSZ)) {
            return "a function that runs at its start or end is missing";
        }
        return nullptr;
    }

 private:
    const ElfW(Dyn) * Find(int64_t tag) const {
        const auto found =
            std::find_if(entries_.begin(), entries_.end(),
                         [&](const ElfW(Dyn) & entry) { return entry.d_tag == tag; });
        return found != entries_.end() ? &*found : nullptr;
    }
    bool Has(int64_t tag) const { return Find(tag) != nullptr; }
    uint64_t Value(int64_t tag) const {
        const ElfW(Dyn)* const found = Find(tag);
        return found != nullptr ? found->d_un.d_val : 0;
    }
    /// Returns whether there is a whole table, or none. `size` is the tag of its bytes.
    bool IsWhole(int64_t table, int64_t size) const {
        return Has(table) == Has(size) &&
               (Value(size) == 0 || image_.At(Value(table), Value(size)) != nullptr);
    }

    const char* CheckSymbols() const {
        const uint64_t size = Value(DT_STRSZ);
        const unsigned char* const texts =
            Has(DT_STRTAB) && size > 0 ? image_.At(Value(DT_STRTAB), size) : nullptr;
        if (texts == nullptr || texts[size - 1] != '\0') {
            return "its table of names is missing";
        }
        for (const ElfW(Dyn) & entry : entries_) {
            const bool names = entry.d_tag == DT_NEEDED || entry.d_tag == DT_SONAME ||
                               entry.d_tag == DT_RPATH || entry.d_tag == DT_RUNPATH;
            if (names && entry.d_un.d_val >= size) {
                return "a name is outside of its table of names";
            }
        }
        if (!Has(DT_SYMTAB) || image_.At(Value(DT_SYMTAB), sizeof(ElfW(Sym))) == nullptr) {
            return "its table of symbols is missing";
        }
        if (!HasHashes()) {
            return "its table of hashes is missing";
        }
        return HasVersions() ? nullptr : "its table of versions is missing";
    }

    // A version for each symbol, and the names of the versions; or neither.
    bool HasVersions() const {
        const bool versions = Has(DT_VERNEED) || Has(DT_VERDEF);
        bool whole = versions == Has(DT_VERSYM) && Has(DT_VERNEED) == Has(DT_VERNEEDNUM) &&
                     Has(DT_VERDEF) == Has(DT_VERDEFNUM);
        for (const int64_t table : {DT_VERSYM, DT_VERNEED, DT_VERDEF}) {
            whole = whole && (!Has(table) || image_.At(Value(table), sizeof(uint16_t)) != nullptr);
        }
        return whole;
    }

    bool HasHashes() const {
        if (Has(DT_GNU_HASH)) {
            struct {
                uint32_t buckets, firstSymbol, words, shift;
            } head;
            return image_.Read(Value(DT_GNU_HASH), &head) && head.buckets > 0 && head.words > 0 &&
                   (head.words & (head.words - 1)) == 0 &&
                   image_.At(Value(DT_GNU_HASH), sizeof(head) +
                                                     uint64_t{head.words} * sizeof(ElfW(Addr)) +
                                                     uint64_t{head.buckets} * 4) != nullptr;
        }
        // Its entries have 8 bytes on s390x.
        struct {
            uint32_t buckets, symbols;
        } head;
        return Has(DT_HASH) && image_.Read(Value(DT_HASH), &head) &&
               (kMachine == EM_S390 || head.buckets > 0);
    }

    const char* ReadRelocations() {
        static constexpr char kMissing[] = "its table of relocations is missing";
        if (!IsWhole(DT_RELA, DT_RELASZ) || !IsWhole(DT_JMPREL, DT_PLTRELSZ) ||
            !IsWhole(kRelr, kRelrSize) ||
            (Has(DT_RELA) && Value(DT_RELAENT) != sizeof(ElfW(Rela))) ||
            (Has(DT_JMPREL) && Value(DT_PLTREL) != DT_RELA)) {
            return kMissing;
        }
        ReadTable(DT_RELA, DT_RELASZ);
        ReadTable(DT_JMPREL, DT_PLTRELSZ);
        ReadPackedRelocations();
        std::sort(filled_.begin(), filled_.end(),
                  [](const Filled& a, const Filled& b) { return a.slot < b.slot; });
        return nullptr;
    }

    void ReadTable(int64_t table, int64_t size) {
        ElfW(Rela) entry;
        for (uint64_t at = 0; at + sizeof(entry) <= Value(size); at += sizeof(entry)) {
            (void)image_.Read(Value(table) + at, &entry);
            if (entry.r_info != 0) {
                const uint64_t symbol = ELF64_R_SYM(entry.r_info);
                filled_.push_back({entry.r_offset, static_cast<uint64_t>(entry.r_addend), symbol});
            }
        }
    }

    // The linker looks for the name of the version of each symbol that it looks for.
    bool KnowsVersions() const {
        if (!Has(DT_VERSYM)) {
            return true;
        }
        std::set<uint16_t> known = {VER_NDX_LOCAL, VER_NDX_GLOBAL};
        ListDefined(&known);
        ListNeeded(&known);
        return std::all_of(filled_.begin(), filled_.end(), [&](const Filled& one) {
            uint16_t version = VER_NDX_LOCAL;
            return one.symbol == 0 ||
                   (image_.Read(Value(DT_VERSYM) + one.symbol * sizeof(version), &version) &&
                    known.count(version & 0x7FFF) != 0);
        });
    }

    void ListDefined(std::set<uint16_t>* known) const {
        ElfW(Verdef) entry;
        uint64_t at = Value(DT_VERDEF);
        for (uint64_t left = Value(DT_VERDEFNUM); left > 0 && image_.Read(at, &entry); --left) {
            known->insert(entry.vd_ndx);
            at += entry.vd_next;
        }
    }

    void ListNeeded(std::set<uint16_t>* known) const {
        ElfW(Verneed) file;
        uint64_t at = Value(DT_VERNEED);
        for (uint64_t left = Value(DT_VERNEEDNUM); left > 0 && image_.Read(at, &file); --left) {
            ElfW(Vernaux) entry;
            uint64_t inside = at + file.vn_aux;
            for (uint16_t rest = file.vn_cnt; rest > 0 && image_.Read(inside, &entry); --rest) {
                known->insert(entry.vna_other);
                inside += entry.vna_next;
            }
            at += file.vn_next;
        }
    }

    // An even word is the address of a slot. The bits of an odd one are slots after the last.
    void ReadPackedRelocations() {
        constexpr uint64_t kSlot = sizeof(ElfW(Addr));
        uint64_t next = 0;
        const auto fill = [&](uint64_t slot) {
            uint64_t target = 0;
            if (image_.Read(slot, &target)) {
                filled_.push_back({slot, target, 0});
            }
        };
        for (uint64_t at = 0; at + kSlot <= Value(kRelrSize); at += kSlot) {
            uint64_t word = 0;
            (void)image_.Read(Value(kRelr) + at, &word);
            if ((word & 1) == 0) {
                fill(word);
                next = word + kSlot;
                continue;
            }
            for (uint64_t bit = 1; bit < 64; ++bit) {
                if ((word >> bit & 1) != 0) {
                    fill(next + (bit - 1) * kSlot);
                }
            }
            next += 63 * kSlot;
        }
    }

    // The linker calls the functions of an array, which it has filled before.
    bool CallsFunctions(int64_t array, int64_t size) const {
        if (!IsWhole(array, size)) {
            return false;
        }
        for (uint64_t at = 0; at < Value(size); at += sizeof(ElfW(Addr))) {
            const uint64_t slot = Value(array) + at;
            const auto found = std::lower_bound(
                filled_.begin(), filled_.end(), slot,
                [](const Filled& one, uint64_t wanted) { return one.slot < wanted; });
            if (found == filled_.end() || found->slot != slot ||
                (found->symbol == 0 && !image_.HasCode(found->target))) {
                return false;
            }
        }
        return true;
    }

    // DT_RELR and DT_RELRSZ, which older headers lack.
    static constexpr int64_t kRelr = 36;
    static constexpr int64_t kRelrSize = 35;

    const Image& image_;
    std::vector<ElfW(Dyn)> entries_;
    std::vector<Filled> filled_;
};

Status CheckDynamic(const char* name, const unsigned char* bytes,
                    const std::vector<ElfW(Phdr)>& parts) {
    const auto found = std::find_if(parts.begin(), parts.end(), [](const ElfW(Phdr) & part) {
        return part.p_type == PT_DYNAMIC;
    });
    if (found == parts.end()) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} has no dynamic section; expected a shared object", name);
    }
    const Image image(bytes, parts);
    DynamicSection section(image);
    if (!section.Read(found->p_vaddr, found->p_filesz)) {
        return Damaged(name, "its dynamic section is in no segment or has no end");
    }
    const char* const wrong = section.Check();
    return wrong == nullptr ? Status() : Damaged(name, wrong);
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
    std::vector<ElfW(Phdr)> parts(header.e_phnum);
    for (uint16_t index = 0; index < header.e_phnum; ++index) {
        ElfW(Phdr)* const part = &parts[index];
        std::memcpy(part, bytes + header.e_phoff + index * sizeof(*part), sizeof(*part));
        if (!Inside(part->p_offset, part->p_filesz, length)) {
            return CutOff(name, length);
        }
    }
    return CheckDynamic(name, bytes, parts);
}

}  // namespace advstep
