// SPDX-License-Identifier: Apache-2.0
// Keeps the tables of binaries and functions, and closes unloaded binaries when no work needs them.

#include "src/runtime/kernels/kernel_binaries.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/kernels/kernel_blocks.h"

namespace advstep {
namespace {

using Lock = std::unique_lock<std::shared_mutex>;

bool ReachedAll(std::vector<Ticket>* pending) {
    while (!pending->empty() && Reached(pending->back())) {
        pending->pop_back();
    }
    return pending->empty();
}

}  // namespace

KernelBinaries& TheKernelBinaries() {
    static NeverDestroyed<KernelBinaries> binaries;
    return *binaries;
}

Handle KernelBinaries::NextHandleLocked(HandleKind kind) {
    return ++handles_ << 8 | static_cast<uint8_t>(kind);
}

Status KernelBinaries::FindBinaryLocked(const void* handle, Binary** binary) {
    const auto found = binaries_.find(ToHandle(handle));
    if (found == binaries_.end()) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "binHandle {} is no binary or has been unloaded; expected one of "
                     "aclrtBinaryLoadFromFile",
                     handle);
    }
    *binary = &found->second;
    return {};
}

void KernelBinaries::TakeUnusedLocked(std::vector<SharedObject>* unused) {
    const auto rest = std::remove_if(retired_.begin(), retired_.end(), [&](Retired& retired) {
        const bool ended = ReachedAll(&retired.pending);
        if (ended) {
            unused->push_back(std::move(retired.object));
        }
        return ended;
    });
    retired_.erase(rest, retired_.end());
}

Handle KernelBinaries::Add(SharedObject object, CoreKind cores) {
    DescribeKernelCrashes();
    const Lock lock(mutex_);
    const Handle handle = NextHandleLocked(HandleKind::kBinary);
    Binary& binary = binaries_[handle];
    binary.object = std::move(object);
    binary.cores = cores;
    return handle;
}

void KernelBinaries::CloseUnused() {
    std::vector<SharedObject> unused;  // closed after the lock is released
    const Lock lock(mutex_);
    unused.reserve(retired_.size());
    TakeUnusedLocked(&unused);
}

Status KernelBinaries::Unload(const void* handle) {
    std::vector<SharedObject> unused;  // closed after the lock is released
    const Lock lock(mutex_);
    Binary* binary = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindBinaryLocked(handle, &binary));
    std::vector<Ticket> pending = PendingPlaces(nullptr);
    retired_.reserve(retired_.size() + 1);
    unused.reserve(retired_.size() + 1);
    // Nothing needs memory from here on.
    for (const auto& [name, function] : binary->functions) {
        functions_.erase(function);
    }
    retired_.push_back({std::move(binary->object), std::move(pending)});
    binaries_.erase(ToHandle(handle));
    TakeUnusedLocked(&unused);
    return {};
}

Handle KernelBinaries::AddFunctionLocked(Handle handle, Binary* binary, const char* name,
                                         void* entry) {
    KernelFunction function;
    function.binary = handle;
    function.cores = binary->cores;
    function.entry = entry;
    function.program = ProgramOfKernel(name);
    function.handle = NextHandleLocked(HandleKind::kFunction);
    const auto added = binary->functions.emplace(name, function.handle).first;
    try {
        functions_.emplace(function.handle, function);
    } catch (...) {
        binary->functions.erase(added);
        throw;
    }
    return function.handle;
}

Handle KernelBinaries::FindNamedLocked(Handle handle, Binary* binary, const char* name) {
    const auto known = binary->functions.find(name);
    if (known != binary->functions.end()) {
        return known->second;
    }
    // The functions of CPU kernels have an entry of another type, and are added one by one.
    void* const entry =
        binary->cores != CoreKind::kCpu ? binary->object.FindFunction(name) : nullptr;
    return entry != nullptr ? AddFunctionLocked(handle, binary, name, entry) : 0;
}

Status KernelBinaries::FindFunction(const void* handle, const char* name, Handle* function) {
    const Lock lock(mutex_);
    Binary* binary = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindBinaryLocked(handle, &binary));
    const Handle found = FindNamedLocked(ToHandle(handle), binary, name);
    if (found == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "kernelName is {}, which the binary does not have; expected a function that "
                     "it exports",
                     name);
    }
    *function = found;
    return {};
}

Status KernelBinaries::FindFunctionByEntry(const void* handle, uint64_t entry, Handle* function) {
    const std::string symbol = "advstepKernelEntry_" + std::to_string(entry);
    const Lock lock(mutex_);
    Binary* binary = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindBinaryLocked(handle, &binary));
    const auto* const name = static_cast<const char*>(binary->object.FindData(symbol.c_str()));
    if (name == nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "funcEntry is {}, which the binary does not have; expected a number of "
                     "ADVSTEP_KERNEL_ENTRY",
                     entry);
    }
    const Handle found = FindNamedLocked(ToHandle(handle), binary, name);
    if (found == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "funcEntry is {}, whose function {} the binary does not have; expected a "
                     "number of a function that it exports",
                     entry, name);
    }
    *function = found;
    return {};
}

Status KernelBinaries::AddCpuFunction(const void* handle, const char* symbol, const char* name,
                                      Handle* function) {
    const Lock lock(mutex_);
    Binary* binary = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindBinaryLocked(handle, &binary));
    if (binary->cores != CoreKind::kCpu) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "handle {} is a binary of kernels for cores; expected one that was loaded "
                     "with cpuKernelMode 2",
                     handle);
    }
    void* const entry = binary->object.FindFunction(symbol);
    if (entry == nullptr) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "funcName is {}, which the binary does not have; expected a function that it "
                     "exports",
                     symbol);
    }
    const auto known = binary->functions.find(name);
    if (known == binary->functions.end()) {
        *function = AddFunctionLocked(ToHandle(handle), binary, name, entry);
        return {};
    }
    if (functions_.at(known->second).entry != entry) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "kernelName is {}, which is another function of the binary already; expected "
                     "a name of its own",
                     name);
    }
    *function = known->second;
    return {};
}

Status KernelBinaries::ReadHeld(const void* handle, KernelFunction* function) const {
    const auto found = functions_.find(ToHandle(handle));
    if (found == functions_.end()) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "funcHandle {} is no function or its binary has been unloaded; expected one "
                     "of aclrtBinaryGetFunction",
                     handle);
    }
    *function = found->second;
    return {};
}

Status KernelBinaries::Read(const void* handle, KernelFunction* function) const {
    const Pin pin = PinAll();
    return ReadHeld(handle, function);
}

Handle KernelBinaries::AddData(const Data& data) {
    const Lock lock(mutex_);
    const Handle handle = NextHandleLocked(HandleKind::kBinaryData);
    data_.emplace(handle, data);
    return handle;
}

Status KernelBinaries::ReadData(const void* handle, Data* data) const {
    const Pin pin = PinAll();
    const auto found = data_.find(ToHandle(handle));
    if (found == data_.end()) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "binary {} is unknown or has been destroyed; expected one of "
                     "aclrtCreateBinary",
                     handle);
    }
    *data = found->second;
    return {};
}

Status KernelBinaries::RemoveData(const void* handle) {
    Data data;
    ADVSTEP_RETURN_IF_ERROR(ReadData(handle, &data));
    const Lock lock(mutex_);
    data_.erase(ToHandle(handle));
    return {};
}

std::vector<SharedObject> KernelBinaries::TakeAll() {
    const Lock lock(mutex_);
    std::vector<SharedObject> objects;
    objects.reserve(binaries_.size() + retired_.size());
    for (auto& [handle, binary] : binaries_) {
        objects.push_back(std::move(binary.object));
    }
    for (Retired& retired : retired_) {
        objects.push_back(std::move(retired.object));
    }
    binaries_.clear();
    functions_.clear();
    data_.clear();
    retired_.clear();
    return objects;
}

}  // namespace advstep
