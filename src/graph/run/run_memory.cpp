// SPDX-License-Identifier: Apache-2.0
// Registers memory with the runtime, finds blocks that no queued work uses, and makes new ones.

#include "src/graph/run/run_memory.h"

#include <algorithm>
#include <cstring>
#include <new>
#include <system_error>
#include <thread>

#include "src/base/library_thread.h"
#include "src/graph/run/device.h"

namespace advstep::graph {
namespace {

constexpr std::align_val_t kPage{4096};  // aclrtHostRegister takes whole pages

size_t SizeFor(size_t bytes) {
    size_t size = 64;
    while (size < bytes && size <= SIZE_MAX / 2) {
        size *= 2;
    }
    return std::max(size, bytes);
}

// Returns whether all work of the stream has ended. A failure is of the calling thread.
bool HasNoWork(const RunStream& stream) {
    // A context that has ended has no streams. Any other failure says nothing about the work.
    const aclError current = aclrtSetCurrentContext(stream.context);
    if (current != ACL_SUCCESS) {
        return current == ACL_ERROR_RT_PARAM_INVALID;
    }
    aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
    const aclError code = aclrtStreamQuery(stream.stream, &status);
    return code == ACL_SUCCESS ? status == ACL_STREAM_STATUS_COMPLETE
                               : code == ACL_ERROR_RT_INVALID_HANDLE;
}

// Finds a block of the size whose stream has no work. A thread of its own asks, because a question
// that fails, about a stream that is captured or has ended, replaces the last error and the message
// of its thread, and those of the program's thread must stay.
RunMemory::Blocks::iterator FindIdle(RunMemory::Blocks& blocks, size_t size) {
    const auto fits = [&](const RunMemory::Block& block) { return block.size == size; };
    auto found = std::find_if(blocks.begin(), blocks.end(), fits);
    if (found == blocks.end()) {
        return found;
    }
    try {
        StartThread("advstep-graph", [&] {
            aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
            (void)aclmdlRICaptureThreadExchangeMode(&mode);
            found = std::find_if(found, blocks.end(), [&](const RunMemory::Block& block) {
                return fits(block) && HasNoWork(block.stream);
            });
        }).join();
    } catch (const std::system_error&) {  // there are too many threads; new memory will do
        return blocks.end();
    }
    return found;
}

}  // namespace

SessionMemory::SessionMemory(size_t bytes)
    : size_(std::max<size_t>(bytes, 1)), bytes_(MakeHostBytes(size_, kPage)) {
    std::memset(bytes_.get(), 0, size_);
}

SessionMemory::~SessionMemory() {
    const int32_t code = isRegistered_ ? aclrtHostUnregister(bytes_.get()) : ACL_SUCCESS;
    if (code != ACL_SUCCESS && code != ACL_ERROR_HOST_MEMORY_NOT_REGISTERED) {
        // A host function destroys the session. Work that is queued may still use the memory, which
        // therefore stays.
        static_cast<void>(bytes_.release());
    }
}

Outcome SessionMemory::Register() {
    aclrtPtrAttributes attributes{};
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckAcl("aclrtPointerGetAttributes",
                                           aclrtPointerGetAttributes(bytes_.get(), &attributes)));
    if (attributes.location.type != ACL_MEM_LOCATION_TYPE_UNREGISTERED) {
        return {};
    }
    void* device = nullptr;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        CheckAcl("aclrtHostRegister",
                 aclrtHostRegister(bytes_.get(), size_, ACL_HOST_REGISTER_MAPPED, &device)));
    isRegistered_ = true;
    return {};
}

Outcome RunMemory::Take(const RunStream& stream, size_t bytes, Blocks* blocks) {
    const size_t size = SizeFor(bytes);
    Blocks taken;
    if (!stream.isCaptured) {
        const std::lock_guard<std::mutex> lock(mutex_);
        auto found = std::find_if(free_.begin(), free_.end(), [&](const Block& block) {
            return block.size == size && block.stream.IsSame(stream);
        });
        if (found == free_.end()) {
            found = FindIdle(free_, size);
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
