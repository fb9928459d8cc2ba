// SPDX-License-Identifier: Apache-2.0
// Functions of the program that a stream runs as it runs kernels, with arguments that they own.

#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/recorder.h"
#include "src/runtime/task/task.h"

namespace advstep {

class Device;

/// A function of the program with its arguments. It does not change while it is shared. It is
/// counted: its maker, each queued task and each captured model has a share, and the last one to
/// drop its share destroys it, on whatever thread. No lock is held then.
class HostWork {
 public:
    HostWork(const HostWork&) = delete;
    HostWork& operator=(const HostWork&) = delete;

    void Own() noexcept { owners_.fetch_add(1, std::memory_order_relaxed); }
    void Drop() noexcept {
        if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
            delete this;
        }
    }
    /// Returns whether there are other shares than the caller's. If not, the caller may change the
    /// work: whoever dropped a share is done with it.
    bool IsShared() const noexcept { return owners_.load(std::memory_order_acquire) > 1; }

    /// Returns the name in messages and in the trace, static text.
    const char* name() const { return name_; }

    /// Calls the function in the default floating-point environment. A failure has the function's
    /// code and the message "<name>: <message>". 500001: the function has thrown an exception.
    Status Run(void* workspace) const noexcept;

    virtual void ListUses(std::vector<Use>* uses) const = 0;

 protected:
    explicit HostWork(const char* name) : name_(name) {}
    virtual ~HostWork() = default;

 private:
    /// Returns 0, or a code with a message, a text that ends with 0.
    virtual int32_t Call(void* workspace, char* message, size_t size) const = 0;

    std::atomic<uint32_t> owners_{1};
    const char* const name_;
};

/// The deleter of a std::unique_ptr that has a share.
struct DropShare {
    void operator()(HostWork* work) const noexcept { work->Drop(); }
};

/// Calls the function of the program that releases arguments; null: there is none. An exception
/// goes to the log.
void ReleaseHostArgs(void (*release)(void* args), void* args) noexcept;

/// How a stream runs host work.
struct HostWorkLaunch {
    TaskLength length = TaskLength::kHeavy;
    Work::Role role = Work::Role::kOther;
    const Device* device = nullptr;  // that counts the run as a launch; null: none does
    void* workspace = nullptr;
    uint64_t workspaceBytes = 0;
    uint64_t timeLimit = 0;  // of the run, in microseconds; 0: none. It needs a device
    MemoryCheck memory;      // of the memory that the run uses
    int32_t failure = 0;     // the code with which the task fails instead of a run; 0: it runs
};

/// Queues a run of the work, and takes over the caller's share, also on failure. The task drops the
/// share after the run, or when it is skipped. A model that records the run keeps the share. Codes
/// as Stream::Enqueue. 507034, in the stream: the run has taken longer than the limit.
Status EnqueueHostWork(const StreamRef& stream, HostWork* work, const HostWorkLaunch& launch);

}  // namespace advstep
