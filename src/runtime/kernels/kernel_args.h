// SPDX-License-Identifier: Apache-2.0
// Argument blocks of kernel launches, built parameter by parameter.

#pragma once

#include <cstddef>
#include <cstdint>

#include "src/base/status.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

struct ArgumentPlaceholder;
struct KernelFunction;

/// The most bytes of a launch's arguments, and the most parameters of a block.
inline constexpr size_t kMostArgs = 65536;
inline constexpr uint32_t kMostParameters = 128;

/// An argument block. It is plain data: some blocks are in memory of the program. KernelArgs guards
/// it.
class ArgsBlock {
 public:
    void Open(const KernelFunction& function, unsigned char* bytes, size_t capacity);

    /// Codes as the calls of acl/rt/kernel_args.h.
    Status Append(const void* value, size_t bytes, Handle* parameter);
    Status AppendPlaceholder(Handle* parameter);
    Status GetBuffer(Handle parameter, size_t bytes, void** buffer);
    Status Update(Handle parameter, const void* value, size_t bytes);
    Status Finish();

    /// 107000: the block is not finished, or was made for another function.
    Status CheckLaunch(Handle function) const;

    const unsigned char* bytes() const { return bytes_; }
    uint32_t size() const { return used_; }
    /// Lists the placeholders, kMostParameters at most, and returns how many there are.
    uint32_t ListPlaceholders(ArgumentPlaceholder* placeholders) const;

 private:
    struct Parameter {
        uint32_t at;
        uint32_t bytes;
        bool placeholder;
        uint32_t data;  // of a placeholder: where its data is; 0: it has none
    };

    Status CheckAppend() const;
    Status Take(size_t bytes, uint32_t* at);
    Status Add(size_t bytes, bool placeholder, Handle* parameter);
    Status FindParameter(Handle handle, Parameter** parameter);

    Handle function_;
    unsigned char* bytes_;
    size_t capacity_;
    uint32_t used_;
    uint32_t number_;  // of the block; its parameters' handles have it
    uint32_t count_;
    bool packed_;
    bool hasBuffer_;
    bool sealed_;    // has been finished
    bool finished_;  // and not updated since
    Parameter parameters_[kMostParameters];
};

/// Finds blocks by their handles. Each thread has a block of its own, in an object of a
/// HandleTable. The others are in memory of the program, whose address is the handle; an address is
/// known from its first use on. A lock is held while a block is used: that of the thread's object,
/// or one for all blocks of the program.
class KernelArgs {
 public:
    /// Makes the thread's block, in place of the one it had.
    static Status Make(const void* function, Handle* args);
    /// 107000: `bytes` is 0.
    static Status MakeAt(const void* function, void* args, void* memory, size_t bytes);
    static size_t HandleBytes();

    /// Calls use(ArgsBlock&), which returns a Status. 107017: `args` is no block.
    template <typename Use>
    static Status With(const void* args, Use use) {
        return WithBlock(
            args,
            [](void* target, ArgsBlock* block) -> Status {
                return (*static_cast<Use*>(target))(*block);
            },
            &use);
    }

 private:
    static Status WithBlock(const void* args, Status (*use)(void* target, ArgsBlock* block),
                            void* target);
};

}  // namespace advstep
