// SPDX-License-Identifier: Apache-2.0
// A few bytes that processes share: the state of a notify or of an event.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/memory/page_pool.h"
#include "src/runtime/task/ticket.h"

namespace advstep {

/// Bytes of this process that others may map, alone in their pages, or bytes of another one. They
/// stay valid until the object is destroyed, even if the process that made them ends before.
class SharedState {
 public:
    /// Makes bytes that are zero. 207001: the host has no memory for them.
    static Status Make(size_t bytes, std::unique_ptr<SharedState>* state);
    /// Maps the state of a key, of `bytes` bytes. `argument` is the name of the argument that has
    /// the key. Codes as FetchShared.
    static Status Import(ShareKind kind, const ShareKey& key, const char* argument, size_t bytes,
                         std::unique_ptr<SharedState>* state);

    SharedState() = default;
    SharedState(const SharedState&) = delete;
    SharedState& operator=(const SharedState&) = delete;
    ~SharedState();

    void* Get() const { return begin_; }
    bool Imported() const { return pages_ == nullptr; }

    /// Exports the state, which is not imported, or finds its key if it is exported already. The
    /// caller's lock guards the calls of one object.
    Status Export(ShareKind kind, bool open, ShareKey* key);
    /// Ends the export.
    void Withdraw() noexcept;
    /// Returns whether it is exported.
    bool Exported() const { return name_ != 0; }
    /// Lets processes import it. Codes as ShareServer::Allow.
    Status Allow(ShareKind kind, const int32_t* pids, size_t count, const char* argument) const;

 private:
    void* begin_ = nullptr;
    PageRange* pages_ = nullptr;  // null: of another process
    size_t bytes_ = 0;
    uint64_t name_ = 0;       // of the export; 0: there is none
    void* mapped_ = nullptr;  // of another process
    size_t mappedBytes_ = 0;
    Descriptor file_;  // of another process: the child of a fork maps it anew
    ForkRecord* forkRange_ = nullptr;
};

/// Keeps the states of destroyed objects until the work that was queued before has run. mutex_
/// guards everything; the locks of the page pool and the server are taken after it.
class RetiredStates {
 public:
    /// Takes the state. A call that throws leaves it with the caller.
    void Add(std::unique_ptr<SharedState>* state, std::vector<Ticket>&& pending);
    /// Frees the states whose work has run.
    void Reclaim() noexcept;

 private:
    struct Retired {
        std::unique_ptr<SharedState> state;
        std::vector<Ticket> pending;
    };

    void ReclaimLocked() noexcept;

    std::mutex mutex_;
    std::vector<Retired> retired_;
};

}  // namespace advstep
