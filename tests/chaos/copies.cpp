// SPDX-License-Identifier: Apache-2.0
// Copies between registered buffers, compared with the bytes that must come of them.
#include <cstring>

#include "chaos/actions.h"
#include "chaos/buffers.h"
#include "chaos/disturb.h"

namespace chaos {
namespace {

constexpr size_t kPitch = 256;

// Queues one copy of the first size bytes, a multiple of the pitch.
int QueueCopy(Worker& worker, void* to, void* from, size_t size) {
    const aclrtStream stream = worker.ownStream;
    switch (worker.random.Between(0, 3)) {
        case 0:
            return CHAOS_CALL(aclrtMemcpyAsync, to, size, from, size, ACL_MEMCPY_DEVICE_TO_DEVICE,
                              stream);
        case 1:
            return CHAOS_CALL(aclrtMemcpyAsync, to, size, from, size, ACL_MEMCPY_DEFAULT, stream);
        case 2:
            return CHAOS_CALL(aclrtMemcpy2dAsync, to, kPitch, from, kPitch, kPitch, size / kPitch,
                              ACL_MEMCPY_DEVICE_TO_DEVICE, stream);
        default:
            return CHAOS_CALL(aclrtMemcpy, to, size, from, size, ACL_MEMCPY_DEVICE_TO_DEVICE);
    }
}

}  // namespace

void Copy(Worker& worker) {
    const Quiet quiet(worker.world);
    if (!worker.MakeOwnIdle()) {
        return;
    }
    Bytes bytes(kPitch * static_cast<size_t>(worker.random.Size(2000)));
    for (size_t i = 0; i < bytes.size(); i += 64) {
        bytes[i] = static_cast<char>(worker.random.Between(1, 100));
    }
    const Bytes before(bytes.size(), '\x55');
    Buffers buffers(&worker);
    void* const from = buffers.Add(bytes.data(), bytes.size());
    void* const to = buffers.Add(before.data(), before.size());
    if (from == nullptr || to == nullptr) {
        return;
    }
    const int queued = QueueCopy(worker, to, from, bytes.size());
    const int synchronized = CHAOS_CALL(aclrtSynchronizeStream, worker.ownStream);
    if (!buffers.Release()) {
        return;
    }
    const bool isQuiet = quiet.Lasts();
    const bool isCopied = std::memcmp(buffers.At(1), bytes.data(), bytes.size()) == 0;
    const bool isUntouched = std::memcmp(buffers.At(1), before.data(), before.size()) == 0;
    if (std::memcmp(buffers.At(0), bytes.data(), bytes.size()) != 0) {
        Fail(worker.world, "a copy has changed its source");
    }
    if (!isCopied && !isUntouched) {
        Fail(worker.world, "a copy has written a part of its bytes");
    }
    if (isQuiet && queued == 0 && synchronized == 0 && !isCopied) {
        Fail(worker.world, "a copy has not run");
    }
    worker.world.verified += 1;
}

}  // namespace chaos
