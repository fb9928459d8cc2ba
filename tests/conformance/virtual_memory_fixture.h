// SPDX-License-Identifier: Apache-2.0
// Owners of reservations, physical memory and mappings.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_VIRTUAL_MEMORY_FIXTURE_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_VIRTUAL_MEMORY_FIXTURE_H_

#include <gtest/gtest.h>

#include "acl/acl.h"
#include "support/handles.h"
#include "support/runtime_test.h"

namespace conformance {

inline constexpr size_t kUnit = size_t{2} << 20;  // the granularity

inline aclrtPhysicalMemProp Property(uint32_t deviceId = 0) {
    aclrtPhysicalMemProp prop{};
    prop.handleType = ACL_MEM_HANDLE_TYPE_NONE;
    prop.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
    prop.memAttr = ACL_HBM_MEM_HUGE;
    prop.location.id = deviceId;
    prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    return prop;
}

class VirtualMemoryFixture : public support::DeviceTest {
 protected:
    class Range : public support::Owned<&aclrtReleaseMemAddress> {
     public:
        using Owned::Owned;
        char* At(size_t byte) const { return static_cast<char*>(Get()) + byte; }
    };
    using PhysicalHandle = support::Owned<&aclrtFreePhysical>;

    static Range Reserve(size_t size, size_t alignment = 0) {
        void* address = nullptr;
        EXPECT_TRUE(support::IsOk(aclrtReserveMemAddress(&address, size, alignment, nullptr, 0)));
        return Range(address);
    }
    static PhysicalHandle Physical(size_t size, uint32_t deviceId = 0) {
        const aclrtPhysicalMemProp prop = Property(deviceId);
        aclrtDrvMemHandle handle = nullptr;
        EXPECT_TRUE(support::IsOk(aclrtMallocPhysical(&handle, size, &prop, 0)));
        return PhysicalHandle(handle);
    }
    static size_t FreeBytes() {
        size_t free = 0, total = 0;
        EXPECT_TRUE(support::IsOk(aclrtGetMemInfo(ACL_HBM_MEM, &free, &total)));
        return free;
    }

    // A range with memory mapped at its whole length.
    struct Mapped {
        Range range;
        PhysicalHandle memory;
        support::Owned<&aclrtUnmapMem> mapping;  // goes first

        explicit Mapped(size_t size, uint32_t deviceId = 0)
            : range(Reserve(size)), memory(Physical(size, deviceId)) {
            EXPECT_TRUE(support::IsOk(aclrtMapMem(range.Get(), size, 0, memory.Get(), 0)));
            mapping = support::Owned<&aclrtUnmapMem>(range.Get());
        }
        void Unmap() { EXPECT_TRUE(support::IsOk(aclrtUnmapMem(mapping.Release()))); }
    };
};

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_VIRTUAL_MEMORY_FIXTURE_H_
