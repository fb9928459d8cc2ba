// SPDX-License-Identifier: Apache-2.0
// Batches of copies, reductions and copies with an offset, on buffers that no other thread touches.
#include <cstring>
#include <vector>

#include "chaos/actions.h"
#include "chaos/buffers.h"
#include "chaos/disturb.h"

namespace chaos {
namespace {

constexpr size_t kValues = 1000;
constexpr size_t kBytes = kValues * sizeof(int32_t);

// Queues one of the calls, of which each adds or copies once.
int QueueOne(Worker& worker, void* to, void* from, bool* adds) {
    const aclrtStream stream = worker.ownStream;
    aclrtMemcpyBatchAttr attributes = {};
    const auto device = static_cast<uint32_t>(worker.index);
    attributes.dstLoc = attributes.srcLoc = {device, ACL_MEM_LOCATION_TYPE_HOST};
    size_t size = kBytes;
    size_t index = 0;
    size_t failed = 0;
    const void* source = from;
    switch (worker.random.Between(0, 4)) {
        case 0:
            return CHAOS_CALL(aclrtMemcpyBatch, &to, &size, &from, &size, 1, &attributes, &index, 1,
                              &failed);
        case 1:
            return CHAOS_CALL(aclrtMemcpyBatchAsync, &to, &size, &from, &size, 1, &attributes,
                              &index, 1, &failed, stream);
        case 2:
            return CHAOS_CALL(aclrtMemcpyAsyncWithOffset, &to, size, 0, &source, size, 0,
                              ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, stream);
        case 3:
            return CHAOS_CALL(aclrtMemcpyAsyncWithCondition, to, size, from, size,
                              ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
        default:
            *adds = true;
            return CHAOS_CALL(aclrtReduceAsync, to, from, size, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                              ACL_INT32, stream, nullptr);
    }
}

}  // namespace

void CopyOtherwise(Worker& worker) {
    const Quiet quiet(worker.world);
    if (!worker.MakeOwnIdle()) {
        return;
    }
    const auto number = static_cast<int32_t>(worker.random.Between(1, 1000));
    const std::vector<int32_t> source(kValues, number);
    const std::vector<int32_t> before(kValues, 5);
    Buffers buffers(&worker);
    void* const from = buffers.Add(source.data(), kBytes);
    void* const to = buffers.Add(before.data(), kBytes);
    if (from == nullptr || to == nullptr) {
        return;
    }
    bool adds = false;
    const int queued = QueueOne(worker, to, from, &adds);
    const int synchronized = CHAOS_CALL(aclrtSynchronizeStream, worker.ownStream);
    if (!buffers.Release()) {
        return;
    }
    const bool isQuiet = quiet.Lasts();
    const std::vector<int32_t> after(kValues, adds ? number + 5 : number);
    const bool isDone = std::memcmp(buffers.At(1), after.data(), kBytes) == 0;
    const bool isUntouched = std::memcmp(buffers.At(1), before.data(), kBytes) == 0;
    if (!isDone && (!isUntouched || (isQuiet && queued == 0 && synchronized == 0))) {
        Fail(worker.world,
             isUntouched ? "a copy or a reduction has not run" : "a copy or a reduction is wrong");
    }
    worker.world.verified += 1;
}

}  // namespace chaos
