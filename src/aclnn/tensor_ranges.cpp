// SPDX-License-Identifier: Apache-2.0
// Checks ranges of device memory, and keeps recent results for each thread.

#include "src/aclnn/tensor_ranges.h"

#include <array>

#include "src/base/thread_memory.h"
#include "src/runtime/memory/memories.h"

namespace advstep {
namespace {

// A range that the calling thread has found: `bytes` from `address` on are usable by the device, as
// long as the epoch of DeviceMemory is the same. It is plain data, so that calls from global
// destructors can still use it.
struct KnownRange {
    uintptr_t address;
    uint64_t epoch;
    const Device* device;
    uint64_t bytes;
};

constexpr size_t kKnownRanges = 64;  // of one thread: more than the tensors of a decode step

using KnownRanges = std::array<KnownRange, kKnownRanges>;

// Returns the place of an address in KnownRanges.
size_t PlaceOf(uintptr_t address) {
    constexpr uint64_t kGolden = 0x9E3779B97F4A7C15;  // spreads addresses that differ in few bits
    constexpr int kTopBits = 58;
    static_assert(kKnownRanges == size_t{1} << (64 - kTopBits));
    return (address * kGolden) >> kTopBits;
}

Status FindRange(const Device& device, const char* name, const void* address, uint64_t bytes,
                 uint64_t* left) {
    Allocation allocation;
    if (!TheDeviceMemory().Find(address, &allocation) || !allocation.UsableOnDevice() ||
        (allocation.OfDevice() && allocation.device != &device)) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} is at {}, which lies in no allocation of device {}; expected device or "
                     "registered memory there",
                     name, address, device.id());
    }
    *left = allocation.BytesFrom(address);
    if (*left < bytes) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "{} takes {} bytes at {}, where a device range of {} bytes is left; expected "
                     "it inside one allocation",
                     name, bytes, address, *left);
    }
    return {};
}

}  // namespace

Status CheckRange(const Device& device, const char* name, const void* address, uint64_t bytes) {
    uint64_t left = 0;
    return FindRange(device, name, address, bytes, &left);
}

Status CheckTensorRanges(aclOpExecutor* executor) {
    const uint64_t epoch = TheDeviceMemory().epoch();
    if (executor->checkedEpoch == epoch) {
        return {};
    }
    const Device* const device = executor->launch.device;
    KnownRanges* const ranges = ThreadMemory<KnownRanges>();
    for (int32_t index = 0; index < executor->tensorCount; ++index) {
        const PlannedTensor& tensor = executor->tensors[index];
        const auto address = reinterpret_cast<uintptr_t>(tensor.address);
        const auto bytes = static_cast<uint64_t>(tensor.spanBytes);
        if (!executor->aligned && address % static_cast<uintptr_t>(tensor.itemSize) != 0) {
            return Error(ACL_ERROR_RT_PARAM_INVALID, "{} is at {:#x}; expected a multiple of {}",
                         executor->slots[index].name, address, tensor.itemSize);
        }
        KnownRange unknown{};
        KnownRange& known = ranges != nullptr ? (*ranges)[PlaceOf(address)] : unknown;
        if (bytes == 0 || (known.address == address && known.epoch == epoch &&
                           known.device == device && known.bytes >= bytes)) {
            continue;
        }
        uint64_t left = 0;
        ADVSTEP_RETURN_IF_ERROR(
            // NOLINTNEXTLINE(clang-analyzer-core.NonNullParamChecker): every plan has its device
            FindRange(*device, executor->slots[index].name, tensor.address, bytes, &left));
        known = {address, epoch, device, left};  // the epoch was read before the check
    }
    executor->checkedEpoch = epoch;
    return {};
}

}  // namespace advstep
