// SPDX-License-Identifier: Apache-2.0
// Opens shared objects by the dynamic linker, by paths that it does not know, and looks for their
// own symbols.

#include "src/runtime/kernels/shared_object.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/high_descriptor.h"
#include "src/base/never_destroyed.h"
#include "src/base/no_cancellation.h"
#include "src/base/open_file.h"
#include "src/runtime/kernels/elf_check.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/page_pool.h"

namespace advstep {
namespace {

// The paths by which the dynamic linker opens files.

struct OpenedFile {
    struct stat state;
    std::string loaded;
};

struct OpenedFiles {
    std::mutex mutex;  // guards the map
    std::map<std::string, OpenedFile> byPath;
};

OpenedFiles& TheOpenedFiles() {
    static NeverDestroyed<OpenedFiles> files;
    return *files;
}

// A replaced file has another inode. One that is renamed or changed has another time.
bool IsSameFile(const struct stat& a, const struct stat& b) {
    return a.st_dev == b.st_dev && a.st_ino == b.st_ino && a.st_ctim.tv_sec == b.st_ctim.tv_sec &&
           a.st_ctim.tv_nsec == b.st_ctim.tv_nsec;
}

// Returns a path to the same file that no earlier call has returned. The dynamic linker takes a
// path that it knows for the object that it has already loaded from there, and looks at the file
// only if the path is new to it. So steps that lead nowhere follow the first slash of `path`, which
// is absolute and has none. A path that gets too long stays as it is.
std::string NewLoaderPath(const std::string& path) {
    static std::atomic<uint64_t> calls{0};  // goes on in the child of a fork, as the linker's paths
    std::string result = "/";
    for (uint64_t rest = calls.fetch_add(1) + 2; rest > 1; rest /= 2) {
        result += (rest & 1) != 0 ? "/" : "./";
    }
    result.append(path, 1, std::string::npos);
    return result.size() < PATH_MAX ? result : path;
}

// Returns the path by which an earlier call opened this very file, or a new one. A file keeps its
// path, because the dynamic linker keeps all paths of an open object. `file` is the state of the
// file at `path`.
std::string LoaderPathOf(const std::string& path, const struct stat& file) {
    OpenedFiles& files = TheOpenedFiles();
    const std::lock_guard<std::mutex> lock(files.mutex);
    const auto found = files.byPath.find(path);
    return found != files.byPath.end() && IsSameFile(found->second.state, file)
               ? found->second.loaded
               : NewLoaderPath(path);
}

// Notes that `loaded`, a result of LoaderPathOf, has opened a file. It forgets the path if another
// file than `file` is at `path` by now, because the dynamic linker may have seen that one.
void NoteLoaderPath(const std::string& path, const struct stat& file, const std::string& loaded) {
    struct stat now {};
    const bool same = stat(path.c_str(), &now) == 0 && IsSameFile(now, file);
    OpenedFiles& files = TheOpenedFiles();
    const std::lock_guard<std::mutex> lock(files.mutex);
    const auto found = files.byPath.find(path);
    if (same) {
        files.byPath.insert_or_assign(path, OpenedFile{file, loaded});
    } else if (found != files.byPath.end() && found->second.loaded == loaded) {
        files.byPath.erase(found);
    }
}

// The checks and the opening of a file.

/// A file's bytes, mapped for the check.
class MappedFile {
 public:
    MappedFile(int descriptor, size_t bytes)
        : address_(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, descriptor, 0)), bytes_(bytes) {}
    ~MappedFile() {
        if (address_ != MAP_FAILED) {
            (void)munmap(address_, bytes_);
        }
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;
    const unsigned char* data() const {
        return address_ != MAP_FAILED ? static_cast<const unsigned char*>(address_) : nullptr;
    }

 private:
    void* const address_;
    const size_t bytes_;
};

Status Unreadable(const char* path, int error) {
    return Error(ACL_ERROR_RT_PARAM_INVALID, "binPath {} cannot be read: {}; expected a file", path,
                 std::strerror(error));
}

Status CheckFile(const char* path, struct stat* state) {
    const Descriptor file(OpenFile(path, O_RDONLY));
    if (!file.Usable() || fstat(file.Get(), state) != 0) {
        return Unreadable(path, errno);
    }
    if (!S_ISREG(state->st_mode) || state->st_size == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "binPath {} is {}; expected a file with a shared object", path,
                     S_ISREG(state->st_mode) ? "empty" : "no regular file");
    }
    const auto bytes = static_cast<size_t>(state->st_size);
    const MappedFile mapped(file.Get(), bytes);
    return mapped.data() != nullptr ? CheckElf(path, mapped.data(), bytes)
                                    : Unreadable(path, errno);
}

Status Open(const std::string& name, const std::string& path, bool lazy, void** handle) {
    *handle = dlopen(path.c_str(), (lazy ? RTLD_LAZY : RTLD_NOW) | RTLD_LOCAL);
    if (*handle != nullptr) {
        return {};
    }
    const char* const error = dlerror();
    std::string reason = error != nullptr ? error : "no reason given";
    const std::string start = path + ": ";  // no path that the caller knows
    if (reason.compare(0, start.size(), start) == 0) {
        reason.erase(0, start.size());
    }
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "{} cannot be loaded: {}; expected a shared object whose symbols are all found",
                 name, reason);
}

// Writes a file in memory. Its size is set first, because a write beyond the limit of the size of
// files would send a signal that ends the program.
Status WriteAll(int descriptor, const unsigned char* data, size_t length) {
    const auto refused = [length] {
        return Error(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                     "data of {} bytes cannot be kept: {}; expected room for it in memory", length,
                     std::strerror(errno));
    };
    if (!SetFileSize(descriptor, length)) {
        return refused();
    }
    while (length > 0) {
        const ssize_t written = write(descriptor, data, length);
        if (written < 0 && errno != EINTR) {
            return refused();
        }
        const size_t done = written < 0 ? 0 : static_cast<size_t>(written);
        data += done;
        length -= done;
    }
    return {};
}

}  // namespace

// The functions of the header.

SharedObject::SharedObject(SharedObject&& other) noexcept
    : handle_(std::exchange(other.handle_, nullptr)) {}

SharedObject& SharedObject::operator=(SharedObject&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
}

SharedObject::~SharedObject() {
    if (handle_ != nullptr) {
        const NoCancellation noCancellation;  // destructors might be cancellation points
        (void)dlclose(handle_);
    }
}

Status SharedObject::OpenFile(const char* path, bool lazy, SharedObject* object) {
    const NoCancellation noCancellation;
    struct stat file {};
    ADVSTEP_RETURN_IF_ERROR(CheckFile(path, &file));
    // The path must have a slash, because the dynamic linker searches its folders for a bare name.
    const std::unique_ptr<char, void (*)(void*)> whole(realpath(path, nullptr), &std::free);
    if (whole == nullptr) {
        return Unreadable(path, errno);
    }
    const std::string loaded = LoaderPathOf(whole.get(), file);
    ADVSTEP_RETURN_IF_ERROR(Open(std::string("binPath ") + path, loaded, lazy, &object->handle_));
    NoteLoaderPath(whole.get(), file, loaded);
    return {};
}

Status SharedObject::OpenData(const void* data, size_t length, bool lazy, SharedObject* object) {
    const NoCancellation noCancellation;
    const auto* const bytes = static_cast<const unsigned char*>(data);
    if (length == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "length is 0; expected the bytes of a binary");
    }
    ADVSTEP_RETURN_IF_ERROR(CheckElf("data", bytes, length));
    const Descriptor file(
        OpenHigh([] { return memfd_create("advance_step binary", MFD_CLOEXEC); }));
    if (!file.Usable()) {
        return Error(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                     "a file in memory cannot be made: {}; expected a free descriptor",
                     std::strerror(errno));
    }
    ADVSTEP_RETURN_IF_ERROR(WriteAll(file.Get(), bytes, length));
    // Descriptors are used again.
    const std::string path = NewLoaderPath("/proc/self/fd/" + std::to_string(file.Get()));
    return Open("data", path, lazy, &object->handle_);
}

void* SharedObject::Find(const char* name, bool function) const {
    void* const address = dlsym(handle_, name);
    link_map* own = nullptr;
    if (address == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &own) != 0) {
        return nullptr;
    }
    Dl_info info{};
    link_map* home = nullptr;
    if (dladdr1(address, &info, reinterpret_cast<void**>(&home), RTLD_DL_LINKMAP) == 0 ||
        home != own) {
        return nullptr;
    }
    const ElfW(Sym)* symbol = nullptr;
    if (dladdr1(address, &info, reinterpret_cast<void**>(const_cast<ElfW(Sym)**>(&symbol)),
                RTLD_DL_SYMENT) == 0 ||
        symbol == nullptr) {
        return address;  // an indirect function, whose symbol is elsewhere
    }
    const bool data = ELF64_ST_TYPE(symbol->st_info) == STT_OBJECT;
    return data == function ? nullptr : address;
}

}  // namespace advstep
