// SPDX-License-Identifier: Apache-2.0
// Memory of a session that the device uses, and blocks of it for the runs of a graph.

#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <mutex>

#include "acl/acl.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/ir/tensor.h"

namespace advstep::graph {

/// Zeroed memory that the device can use once it is registered. It is host memory of the library,
/// which survives resets. Memory of aclrtMalloc would not do: a reset of the device frees it, and
/// another allocation may get its address, so a session could neither use it safely nor free it.
class SessionMemory {
 public:
    /// Throws std::bad_alloc.
    explicit SessionMemory(size_t bytes);
    /// Waits for the work that is queued in any stream, if the memory was registered.
    ~SessionMemory();
    SessionMemory(const SessionMemory&) = delete;
    SessionMemory& operator=(const SessionMemory&) = delete;

    uint8_t* address() const { return bytes_.get(); }

    /// Makes the memory usable as device memory, until aclFinalize; then it can be called again.
    Outcome Register();

 private:
    size_t size_;
    HostBytes bytes_;
    bool isRegistered_ = false;
};

/// The stream of a run, and its context: the default stream, null, has that of its context only.
struct RunStream {
    aclrtContext context = nullptr;
    aclrtStream stream = nullptr;
    bool isCaptured = false;

    bool IsSame(const RunStream& other) const {
        return context == other.context && stream == other.stream;
    }
};

/// The constants of one graph, which its prepared runs share, and blocks for intermediate values
/// and workspaces. A block that a run gives back may still be used by work of that run's stream,
/// and only a wait for all streams could free it (SessionMemory). So it stays, for a later run of
/// the same stream, or of any stream when that one has no more work. Sizes are powers of two, so
/// that the blocks of runs that differ in size are of few kinds. Each may be called by several
/// threads.
class RunMemory {
 public:
    struct Block {
        std::unique_ptr<SessionMemory> memory;
        size_t size = 0;
        RunStream stream;
    };
    using Blocks = std::list<Block>;

    RunMemory() = default;
    /// Waits for the work that is queued in any stream, if there are blocks.
    ~RunMemory() = default;
    RunMemory(const RunMemory&) = delete;
    RunMemory& operator=(const RunMemory&) = delete;

    /// Appends a block of at least so many bytes, for work of the stream that is queued from now
    /// on. Its bytes are arbitrary. A capture gets a new one, since its replays follow no stream.
    Outcome Take(const RunStream& stream, size_t bytes, Blocks* blocks);
    /// Takes the blocks back. Work that uses them may be queued, but no more of it will be.
    void GiveBack(Blocks* blocks) noexcept;

    /// Finds the bytes of the constant at this place of the model.
    Outcome Constant(size_t node, const ge::Tensor& value, uint8_t** address);

 private:
    std::mutex mutex_;  // guards both; taken before locks of the runtime, which never take it
    Blocks free_;
    std::map<size_t, std::unique_ptr<SessionMemory>> constants_;
};

}  // namespace advstep::graph
