// SPDX-License-Identifier: Apache-2.0
// Mapped memory as DeviceMemory knows it: neighbours in one reservation are one allocation.
#include <iterator>
#include <utility>

#include "src/runtime/memory/device_memory.h"

namespace advstep {

uint64_t DeviceMemory::EnterReserved(uintptr_t begin, size_t bytes) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    DropStaleLocked(begin, bytes);
    return epoch();
}

void DeviceMemory::EnterMapped(const Allocation& range) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    DropStaleLocked(range.begin, range.bytes);
    const auto joins = [&](const Allocation& other) {
        return other.origin == MemoryOrigin::kMapped && other.reservation == range.reservation &&
               other.device == range.device;
    };
    const auto next = live_.find(range.end());
    const bool joinsNext = next != live_.end() && joins(next->second);
    const auto before = LastBefore(range.begin, range.begin - 1);
    const size_t bytes = range.bytes + (joinsNext ? next->second.bytes : 0);
    if (before != live_.end() && joins(before->second)) {
        before->second.bytes += bytes;
    } else {
        live_.emplace(range.begin, range).first->second.bytes = bytes;
    }
    if (joinsNext) {
        live_.erase(next);
    }
}

void DeviceMemory::LeaveMapped(uintptr_t begin, size_t bytes) {
    const std::unique_lock<std::shared_mutex> lock(mutex_);
    const auto found = LastBefore(begin + 1, begin);
    Allocation& whole = found->second;
    if (whole.end() > begin + bytes) {
        Allocation rest = whole;
        rest.begin = begin + bytes;
        rest.bytes = whole.end() - rest.begin;
        if (whole.begin == begin) {
            auto node = live_.extract(found);  // needs no memory, so a device's end cannot fail
            node.key() = rest.begin;
            node.mapped() = rest;
            live_.insert(std::move(node));
            epoch_.fetch_add(1, std::memory_order_release);
            return;
        }
        live_.emplace(rest.begin, rest);  // what may throw comes first
    }
    if (whole.begin < begin) {
        whole.bytes = begin - whole.begin;
    } else {
        live_.erase(found);
    }
    epoch_.fetch_add(1, std::memory_order_release);
}

}  // namespace advstep
