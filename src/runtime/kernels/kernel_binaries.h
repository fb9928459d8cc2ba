// SPDX-License-Identifier: Apache-2.0
// The device binaries of the process, and their functions.

#pragma once

#include <cstdint>
#include <map>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "op_kernel/common/kernel.h"
#include "src/base/status.h"
#include "src/runtime/kernels/shared_object.h"
#include "src/runtime/task/handle_table.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// The cores that a binary is made for.
enum class CoreKind : uint8_t { kAiCore, kCube, kVector, kCpu };

/// A function of a live binary, as look-ups and launches know it.
struct KernelFunction {
    Handle handle = 0;
    Handle binary = 0;
    CoreKind cores = CoreKind::kAiCore;
    void* entry = nullptr;  // code of the binary
    /// The name and the phases. It is never freed: records of unloaded functions refer to it.
    const KernelProgram* program = nullptr;

    const char* name() const { return program->call; }
};

/// The device binaries of the process. A binary belongs to no device.
///
/// An unloaded binary leaves the tables at once. A later call closes its shared object, after the
/// work that was queued at the unload has ended (PendingPlaces). mutex_ guards everything. A launch
/// or a replay shares it from the look at its functions until it is queued, so it either finds a
/// function dead or is among the pending work. Models' and streams' locks are taken under it.
/// Shared objects are opened and closed without it, because that runs code of the program.
class KernelBinaries {
 public:
    /// Keeps all binaries from being unloaded while it lives. A thread has one at a time.
    using Pin = std::shared_lock<std::shared_mutex>;
    Pin PinAll() const { return Pin(mutex_); }

    Handle Add(SharedObject object, CoreKind cores);

    /// Closes the unloaded objects that no work needs any more. A load does it before it opens an
    /// object: the dynamic linker would take the same file for the object of before.
    void CloseUnused();

    /// Unloads a binary. 107017: the handle is of no live binary; the look-ups return this as well.
    Status Unload(const void* binary);

    /// 107000: the binary has no such function.
    Status FindFunction(const void* binary, const char* name, Handle* function);
    Status FindFunctionByEntry(const void* binary, uint64_t entry, Handle* function);

    /// Adds a function of a binary of CPU kernels. 107000: the binary is of another kind, has no
    /// such symbol, or has another function of that name.
    Status AddCpuFunction(const void* binary, const char* symbol, const char* name,
                          Handle* function);

    /// 107017: `function` is no live function.
    Status Read(const void* function, KernelFunction* found) const;
    /// As Read, for a thread that has a Pin.
    Status ReadHeld(const void* function, KernelFunction* found) const;

    /// Descriptions of binaries in memory. 107017: there is no such description.
    struct Data {
        const void* bytes = nullptr;
        size_t length = 0;
    };
    Handle AddData(const Data& data);
    Status ReadData(const void* handle, Data* data) const;
    Status RemoveData(const void* handle);

    /// Forgets everything. No work is left. The caller closes the objects, without a lock.
    std::vector<SharedObject> TakeAll();

 private:
    struct Binary {
        SharedObject object;
        CoreKind cores = CoreKind::kAiCore;
        std::map<std::string, Handle> functions;  // by name
    };
    struct Retired {
        SharedObject object;
        std::vector<Ticket> pending;
    };

    Handle NextHandleLocked(HandleKind kind);
    Status FindBinaryLocked(const void* handle, Binary** binary);
    Handle AddFunctionLocked(Handle handle, Binary* binary, const char* name, void* entry);
    /// Returns 0 if the binary has no such function.
    Handle FindNamedLocked(Handle handle, Binary* binary, const char* name);
    /// Moves the objects that no work needs any more. *unused has room for them.
    void TakeUnusedLocked(std::vector<SharedObject>* unused);

    mutable std::shared_mutex mutex_;
    uint64_t handles_ = 0;  // ever made
    std::unordered_map<Handle, Binary> binaries_;
    std::unordered_map<Handle, KernelFunction> functions_;
    std::unordered_map<Handle, Data> data_;
    std::vector<Retired> retired_;
};

/// Never destroyed: queued work may outlive main().
KernelBinaries& TheKernelBinaries();

}  // namespace advstep
