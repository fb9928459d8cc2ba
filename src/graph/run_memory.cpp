// SPDX-License-Identifier: Apache-2.0
// Finds blocks that no queued work uses, and makes new ones.

#include "src/graph/run_memory.h"

#include <algorithm>
#include <cstring>

#include "src/graph/device.h"

namespace advstep::graph {
namespace {

size_t SizeFor(size_t bytes) {
    size_t size = 64;
    while (size < bytes && size <= SIZE_MAX / 2) {
        size *= 2;
    }
    return std::max(size, bytes);
}

// Returns whether all work of the stream has ended, as far as the calling thread can ask.
bool HasNoWork(const RunStream& stream) {
    const KeepContext keep;
    // A context that has ended has no streams. Any other failure says nothing about the work.
    const aclError current = aclrtSetCurrentContext(stream.context);
    bool hasNone = current == ACL_ERROR_RT_PARAM_INVALID;
    if (current == ACL_SUCCESS) {
        aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
        const aclError code = aclrtStreamQuery(stream.stream, &status);
        hasNone = code == ACL_SUCCESS ? status == ACL_STREAM_STATUS_COMPLETE
                                      : code == ACL_ERROR_RT_INVALID_HANDLE;
    }
    // A stream that is captured or has ended is no failure of the run.
    (void)aclrtGetLastError(ACL_RT_THREAD_LEVEL);
    (void)aclGetRecentErrMsg();
    return hasNone;
}

}  // namespace

Outcome RunMemory::Take(const RunStream& stream, size_t bytes, Blocks* blocks) {
    const size_t size = SizeFor(bytes);
    Blocks taken;
    if (!stream.isCaptured) {
        const std::lock_guard<std::mutex> lock(mutex_);
        auto found = std::find_if(free_.begin(), free_.end(), [&](const Block& block) {
            return block.size == size && block.stream.IsSame(stream);
        });
        if (found == free_.end()) {
            found = std::find_if(free_.begin(), free_.end(), [&](const Block& block) {
                return block.size == size && HasNoWork(block.stream);
            });
        }
        if (found != free_.end()) {
            taken.splice(taken.end(), free_, found);
        }
    }
    if (taken.empty()) {
        taken.emplace_back();
        taken.back().memory = std::make_unique<SessionMemory>(size);
        taken.back().size = size;
    }
    taken.back().stream = stream;
    blocks->splice(blocks->end(), taken);
    return blocks->back().memory->Register();
}

void RunMemory::GiveBack(Blocks* blocks) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    free_.splice(free_.end(), *blocks);
}

Outcome RunMemory::Constant(size_t node, const ge::Tensor& value, uint8_t** address) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::unique_ptr<SessionMemory>& memory = constants_[node];
    if (memory == nullptr) {
        memory = std::make_unique<SessionMemory>(value.GetSize());
        if (value.GetSize() > 0) {
            std::memcpy(memory->address(), value.GetData(), value.GetSize());
        }
    }
    *address = memory->address();
    return memory->Register();
}

}  // namespace advstep::graph
