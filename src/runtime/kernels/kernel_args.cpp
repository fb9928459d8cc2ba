// SPDX-License-Identifier: Apache-2.0
// Finds argument blocks by their handles: those of threads, and those in memory of the program.

#include "src/runtime/kernels/kernel_args.h"

#include <memory>
#include <mutex>
#include <unordered_set>
#include <utility>

#include "acl/acl_base.h"
#include "src/base/fork.h"
#include "src/base/never_destroyed.h"
#include "src/runtime/kernels/kernel_binaries.h"

namespace advstep {
namespace {

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

HandleTable<ThreadArgs>& AllThreadArgs() {
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
        AllThreadArgs().Release(object);
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

size_t KernelArgs::HandleBytes() { return sizeof(ArgsBlock) + alignof(ArgsBlock); }

Status KernelArgs::Make(const void* functionHandle, Handle* args) {
    KernelFunction function;
    ADVSTEP_RETURN_IF_ERROR(TheKernelBinaries().Read(functionHandle, &function));
    thread_local const ArgsOfThread untilTheEnd;
    (void)untilTheEnd;
    const auto fresh = AllThreadArgs().Acquire();
    try {
        const std::lock_guard<std::mutex> lock(fresh.object->mutex);
        if (fresh.object->storage == nullptr) {
            fresh.object->storage = std::make_unique<ThreadArgs::Storage>();
        }
        ThreadArgs::Storage& storage = *fresh.object->storage;
        storage.block.Open(function, storage.bytes, sizeof(storage.bytes));
        fresh.object->handle = fresh.handle;
    } catch (...) {
        AllThreadArgs().Release(fresh.object);
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

Status KernelArgs::WithBlock(const void* args, Status (*use)(void* target, ArgsBlock* block),
                             void* target) {
    UserArgs& users = TheUserArgs();
    {
        const std::lock_guard<std::mutex> lock(users.mutex);
        if (users.known.count(args) != 0) {
            return use(target, BlockAt(const_cast<void*>(args)));
        }
    }
    ThreadArgs* const object = AllThreadArgs().Find(ToHandle(args));
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
