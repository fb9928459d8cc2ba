// SPDX-License-Identifier: Apache-2.0
// Lays out argument blocks, and finds them by their handles: those of threads, and those in memory
// of the program.

#include "src/runtime/kernels/kernel_args.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/kernels/kernel_binaries.h"
#include "src/runtime/kernels/kernel_blocks.h"

namespace advstep {
namespace {

constexpr size_t kSlot = 8;  // parameters of cores begin at its multiples

Handle ParameterHandle(uint32_t number, uint32_t index) {
    return Handle{number} << 32 | Handle{index} << 8 |
           static_cast<uint8_t>(HandleKind::kKernelParameter);
}

/// The block of a thread, or an object that waits for one. mutex guards the other members.
struct ThreadArgs {
    struct Storage {
        ArgsBlock block;
        alignas(16) unsigned char bytes[kMostArgs];
    };
    std::mutex mutex;
    Handle handle = 0;
    std::unique_ptr<Storage> storage;  // kept for the next thread

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;
};

struct ThreadArgsTable : HandleTable<ThreadArgs> {
    ThreadArgsTable() : HandleTable(HandleKind::kKernelArgs) {}
};

HandleTable<ThreadArgs>& TheThreadArgs() {
    static NeverDestroyed<ThreadArgsTable> table;
    return *table;
}

/// The addresses that have been blocks of the program. mutex guards them and the blocks there.
struct UserArgs {
    std::mutex mutex;
    std::unordered_set<const void*> known;
};

UserArgs& TheUserArgs() {
    static NeverDestroyed<UserArgs> args;
    return *args;
}

// The object with the block of the calling thread.
thread_local ThreadArgs* ownArgs = nullptr;

// The objects of the parent are not in the child's table.
const ForkHook forgetOwnArgs([](void*) noexcept { ownArgs = nullptr; });

void CloseOwnArgs() {
    ThreadArgs* const object = std::exchange(ownArgs, nullptr);
    if (object != nullptr) {
        {
            const std::lock_guard<std::mutex> lock(object->mutex);
            object->handle = 0;
        }
        TheThreadArgs().Release(object);
    }
}

// The block of a thread ends with it.
struct ArgsOfThread {
    ~ArgsOfThread() { CloseOwnArgs(); }
};

// Returns the block in the program's memory, which begins at the first address that is aligned.
ArgsBlock* BlockAt(void* memory) {
    const auto address = reinterpret_cast<uintptr_t>(memory);
    constexpr uintptr_t kAlign = alignof(ArgsBlock);
    return reinterpret_cast<ArgsBlock*>((address + kAlign - 1) / kAlign * kAlign);
}

}  // namespace

void ArgsBlock::Open(const KernelFunction& function, unsigned char* bytes, size_t capacity) {
    static std::atomic<uint32_t> blocks{0};
    function_ = function.handle;
    bytes_ = bytes;
    capacity_ = std::min(capacity, kMostArgs);
    used_ = 0;
    number_ = blocks.fetch_add(1, std::memory_order_relaxed) + 1;
    count_ = 0;
    packed_ = function.cores == CoreKind::kCpu;
    hasBuffer_ = sealed_ = finished_ = false;
}

Status ArgsBlock::Append(const void* value, size_t bytes, Handle* parameter) {
    ADVSTEP_RETURN_IF_ERROR(CheckAppend());
    if (bytes == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "paramSize is 0; expected at least 1");
    }
    ADVSTEP_RETURN_IF_ERROR(Add(bytes, false, parameter));
    std::memcpy(bytes_ + parameters_[count_ - 1].at, value, bytes);
    return {};
}

Status ArgsBlock::AppendPlaceholder(Handle* parameter) {
    ADVSTEP_RETURN_IF_ERROR(CheckAppend());
    ADVSTEP_RETURN_IF_ERROR(Add(sizeof(void*), true, parameter));
    std::memset(bytes_ + parameters_[count_ - 1].at, 0, sizeof(void*));
    return {};
}

Status ArgsBlock::CheckAppend() const {
    if (sealed_ || hasBuffer_) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "argsHandle has {}; expected parameters before that",
                     sealed_ ? "been finalized" : "the buffer of a placeholder");
    }
    return count_ < kMostParameters ? Status()
                                    : Error(ACL_ERROR_RT_PARAM_INVALID,
                                            "argsHandle has {} parameters; expected at most {}",
                                            count_ + 1, kMostParameters);
}

Status ArgsBlock::Add(size_t bytes, bool placeholder, Handle* parameter) {
    Parameter added{};
    ADVSTEP_RETURN_IF_ERROR(Take(bytes, &added.at));
    added.bytes = static_cast<uint32_t>(bytes);
    added.placeholder = placeholder;
    parameters_[count_] = added;
    *parameter = ParameterHandle(number_, count_);
    ++count_;
    return {};
}

Status ArgsBlock::Take(size_t bytes, uint32_t* at) {
    const size_t begin = packed_ ? used_ : (used_ + kSlot - 1) / kSlot * kSlot;
    if (begin > capacity_ || bytes > capacity_ - begin) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} bytes more than the {} in use are asked for; expected at most {} in all",
                     bytes, begin, capacity_);
    }
    std::memset(bytes_ + used_, 0, begin - used_);
    *at = static_cast<uint32_t>(begin);
    used_ = static_cast<uint32_t>(begin + bytes);
    return {};
}

Status ArgsBlock::GetBuffer(Handle handle, size_t bytes, void** buffer) {
    Parameter* parameter = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindParameter(handle, &parameter));
    if (sealed_) {
        return Error(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                     "argsHandle has been finalized; expected buffers before that");
    }
    if (!parameter->placeholder || parameter->data != 0) {
        return Error(
            ACL_ERROR_RT_PARAM_INVALID,
            "paramHandle is {}; expected a placeholder that has no buffer",
            parameter->placeholder ? "a placeholder with a buffer" : "an ordinary parameter");
    }
    if (bytes == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID, "dataSize is 0; expected at least 1");
    }
    uint32_t at = 0;
    ADVSTEP_RETURN_IF_ERROR(Take(bytes, &at));
    parameter->data = at;  // not 0: the placeholder is before it
    hasBuffer_ = true;
    std::memset(bytes_ + at, 0, bytes);
    *buffer = bytes_ + at;
    return {};
}

Status ArgsBlock::Update(Handle handle, const void* value, size_t bytes) {
    Parameter* parameter = nullptr;
    ADVSTEP_RETURN_IF_ERROR(FindParameter(handle, &parameter));
    if (parameter->placeholder) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "paramHandle is a placeholder; expected an ordinary parameter");
    }
    if (parameter->bytes != bytes) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "paramSize is {}; expected that of the parameter = {}", bytes,
                     parameter->bytes);
    }
    std::memcpy(bytes_ + parameter->at, value, bytes);
    finished_ = false;
    return {};
}

Status ArgsBlock::FindParameter(Handle handle, Parameter** parameter) {
    const uint32_t index = IndexOf(handle);
    if (index >= count_ || handle != ParameterHandle(number_, index)) {
        return Error(ACL_ERROR_RT_INVALID_HANDLE,
                     "paramHandle {} is no parameter of argsHandle; expected one of "
                     "aclrtKernelArgsAppend or aclrtKernelArgsAppendPlaceHolder",
                     ToPointer(handle));
    }
    *parameter = &parameters_[index];
    return {};
}

Status ArgsBlock::Finish() {
    for (uint32_t index = 0; index < count_; ++index) {
        if (parameters_[index].placeholder && parameters_[index].data == 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "parameter {} is a placeholder without a buffer; expected "
                         "aclrtKernelArgsGetPlaceHolderBuffer before",
                         index);
        }
    }
    sealed_ = finished_ = true;
    return {};
}

Status ArgsBlock::CheckLaunch(Handle function) const {
    if (function_ != function) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "argsHandle was made for function {}; expected one for {}",
                     ToPointer(function_), ToPointer(function));
    }
    return finished_
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "argsHandle is not finalized; expected aclrtKernelArgsFinalize before");
}

uint32_t ArgsBlock::ListPlaceholders(ArgumentPlaceholder* placeholders) const {
    uint32_t found = 0;
    for (uint32_t index = 0; index < count_; ++index) {
        if (parameters_[index].placeholder) {
            placeholders[found++] = {parameters_[index].at, parameters_[index].data};
        }
    }
    return found;
}

Status KernelArgs::Make(const void* functionHandle, Handle* args) {
    KernelFunction function;
    ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(functionHandle, &function));
    thread_local const ArgsOfThread untilTheEnd;
    (void)untilTheEnd;
    const auto fresh = TheThreadArgs().Acquire();
    try {
        const std::lock_guard<std::mutex> lock(fresh.object->mutex);
        if (fresh.object->storage == nullptr) {
            fresh.object->storage = std::make_unique<ThreadArgs::Storage>();
        }
        ThreadArgs::Storage& storage = *fresh.object->storage;
        storage.block.Open(function, storage.bytes, sizeof(storage.bytes));
        fresh.object->handle = fresh.handle;
    } catch (...) {
        TheThreadArgs().Release(fresh.object);
        throw;
    }
    CloseOwnArgs();
    ownArgs = fresh.object;
    *args = fresh.handle;
    return {};
}

Status KernelArgs::MakeAt(const void* functionHandle, void* args, void* memory, size_t bytes) {
    KernelFunction function;
    ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(functionHandle, &function));
    if (bytes == 0) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "actualArgsSize is 0; expected the size of aclrtKernelArgsGetMemSize");
    }
    UserArgs& users = TheUserArgs();
    const std::lock_guard<std::mutex> lock(users.mutex);
    users.known.insert(args);
    BlockAt(args)->Open(function, static_cast<unsigned char*>(memory), bytes);
    return {};
}

size_t KernelArgs::HandleBytes() { return sizeof(ArgsBlock) + alignof(ArgsBlock); }

Status KernelArgs::WithBlock(const void* args, Status (*use)(void* target, ArgsBlock* block),
                             void* target) {
    UserArgs& users = TheUserArgs();
    {
        const std::lock_guard<std::mutex> lock(users.mutex);
        if (users.known.count(args) != 0) {
            return use(target, BlockAt(const_cast<void*>(args)));
        }
    }
    ThreadArgs* const object = TheThreadArgs().Find(ToHandle(args));
    if (object != nullptr) {
        const std::lock_guard<std::mutex> lock(object->mutex);
        if (object->handle == ToHandle(args)) {
            return use(target, &object->storage->block);
        }
    }
    return Error(ACL_ERROR_RT_INVALID_HANDLE,
                 "argsHandle {} is no argument block, or its thread has made another one; expected "
                 "one of aclrtKernelArgsInit",
                 args);
}

}  // namespace advstep
