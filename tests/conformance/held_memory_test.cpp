// SPDX-License-Identifier: Apache-2.0
// Memory that a synchronous copy touches, while another thread frees it, unmaps it or resets the
// device: it stays until the copy has ended.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "support/handles.h"
#include "support/held_page.h"
#include "support/runtime_test.h"
#include "support/table.h"

namespace conformance {
namespace {

using support::DeviceBuffer;
using support::HeldPage;
using support::IsOk;
using support::PinnedArray;

constexpr size_t kBytes = HeldPage::kBytes;

// A copy of a page into `to` that has been checked, and has begun, and does not go on before End().
class CopyUnderWay {
 public:
    using Copy = std::function<aclError(void* to, const void* from)>;

    CopyUnderWay(void* to, const Copy& copy) {
        std::fill_n(page_.Get(), kBytes, 'c');
        page_.Arm();
        copier_ = std::thread([this, to, copy] {
            aclrtContext own = nullptr;  // a reset of the device leaves it alone
            EXPECT_TRUE(IsOk(aclrtCreateContext(&own, 0)));
            code_ = copy(to, page_.Get());
            EXPECT_TRUE(IsOk(aclrtDestroyContext(own)));
        });
        page_.WaitUntilTouched();
    }
    ~CopyUnderWay() { End(); }
    CopyUnderWay(const CopyUnderWay&) = delete;
    CopyUnderWay& operator=(const CopyUnderWay&) = delete;

    void LetGo() const { page_.Release(); }
    aclError Code() {
        copier_.join();
        return code_;
    }
    aclError End() {
        if (copier_.joinable()) {
            LetGo();
            copier_.join();
        }
        return code_;
    }

 private:
    HeldPage page_;
    std::thread copier_;
    aclError code_ = ACL_SUCCESS;
};

aclError CopyPage(void* to, const void* from) {
    return aclrtMemcpy(to, kBytes, from, kBytes, ACL_MEMCPY_DEFAULT);
}

aclError CopyRowsOfPage(void* to, const void* from) {
    return aclrtMemcpy2d(to, kBytes / 2, from, kBytes / 2, kBytes / 2, 2, ACL_MEMCPY_DEFAULT);
}

aclError CopyPageInBatch(void* to, const void* from) {
    size_t bytes = kBytes, first = 0, failed = 0;
    auto* source = const_cast<void*>(from);
    aclrtMemcpyBatchAttr attribute{};
    attribute.dstLoc.type = ACL_MEM_LOCATION_TYPE_DEVICE;
    attribute.srcLoc.type = ACL_MEM_LOCATION_TYPE_HOST;
    return aclrtMemcpyBatch(&to, &bytes, &source, &bytes, 1, &attribute, &first, 1, &failed);
}

struct CopyCase {
    std::string name;
    aclError (*copy)(void* to, const void* from);
};

class HeldMemoryTest : public support::DeviceTest, public testing::WithParamInterface<CopyCase> {
 protected:
    // Nobody else gets the place while the copy is under way.
    static void ExpectNobodyGets(const void* place) {
        std::vector<DeviceBuffer> others;
        for (int i = 0; i < 8; ++i) {
            others.emplace_back(kBytes);
            EXPECT_NE(others.back().Get(), place);
        }
    }
};

TEST_P(HeldMemoryTest, AFreedBlockStaysUntilTheCopyHasEnded) {
    void* const block = DeviceBuffer(kBytes).Release();
    CopyUnderWay copy(block, GetParam().copy);
    ASSERT_TRUE(IsOk(aclrtFree(block)));
    ExpectNobodyGets(block);
    EXPECT_TRUE(IsOk(copy.End()));
    EXPECT_EQ(aclrtFree(block), ACL_ERROR_RT_PARAM_INVALID) << "it was freed";
}

TEST_P(HeldMemoryTest, AResetLeavesTheMemoryToTheCopy) {
    void* const block = DeviceBuffer(kBytes).Release();
    CopyUnderWay copy(block, GetParam().copy);
    ASSERT_TRUE(IsOk(aclrtResetDeviceForce(0)));
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    ExpectNobodyGets(block);
    EXPECT_TRUE(IsOk(copy.End()));
}

INSTANTIATE_TEST_SUITE_P(Table, HeldMemoryTest,
                         testing::Values(CopyCase{"Copy", &CopyPage},
                                         CopyCase{"Rows", &CopyRowsOfPage},
                                         CopyCase{"Batch", &CopyPageInBatch}),
                         support::CaseName());

class HeldHostMemoryTest : public support::DeviceTest {};

TEST_F(HeldHostMemoryTest, FreedPinnedMemoryStaysUntilTheCopyHasEnded) {
    void* const block = PinnedArray<char>(kBytes).Release();
    CopyUnderWay copy(block, &CopyPage);
    ASSERT_TRUE(IsOk(aclrtFreeHost(block)));
    const PinnedArray<char> other(kBytes, 'o');
    EXPECT_NE(other.Get(), block);
    EXPECT_TRUE(IsOk(copy.End()));
    EXPECT_EQ(other.Values(), std::vector<char>(kBytes, 'o'));
}

// The program may free its memory after that.
TEST_F(HeldHostMemoryTest, AnUnregistrationWaitsForTheCopy) {
    alignas(kBytes) static char host[kBytes];
    void* device = nullptr;
    ASSERT_TRUE(IsOk(aclrtHostRegister(host, kBytes, ACL_HOST_REGISTER_MAPPED, &device)));
    CopyUnderWay copy(host, &CopyPage);
    std::atomic<bool> mayEnd{false};
    const aclrtContext context = support::CurrentContext();
    std::thread unregisterer([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsOk(aclrtHostUnregister(host)));
        EXPECT_TRUE(mayEnd);
    });
    mayEnd = true;
    copy.LetGo();
    EXPECT_TRUE(IsOk(copy.Code()));
    unregisterer.join();
    EXPECT_EQ(std::vector<char>(host, host + kBytes), std::vector<char>(kBytes, 'c'));
}

class HeldMappingTest : public support::DeviceTest {
 protected:
    static constexpr size_t kMapped = size_t{2} << 20;
    static aclrtDrvMemHandle Physical() {
        aclrtPhysicalMemProp wanted{};
        wanted.handleType = ACL_MEM_HANDLE_TYPE_NONE;
        wanted.allocationType = ACL_MEM_ALLOCATION_TYPE_PINNED;
        wanted.memAttr = ACL_HBM_MEM_HUGE;
        wanted.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
        aclrtDrvMemHandle memory = nullptr;
        EXPECT_TRUE(IsOk(aclrtMallocPhysical(&memory, kMapped, &wanted, 0)));
        return memory;
    }
};

// The old memory stays below the copy; what is mapped at the address next sees nothing of it.
TEST_F(HeldMappingTest, AMappingAtTheAddressWaitsForTheCopy) {
    void* place = nullptr;
    ASSERT_TRUE(IsOk(aclrtReserveMemAddress(&place, kMapped, 0, nullptr, 0)));
    aclrtDrvMemHandle const first = Physical();
    aclrtDrvMemHandle const second = Physical();
    ASSERT_TRUE(IsOk(aclrtMapMem(place, kMapped, 0, first, 0)));
    CopyUnderWay copy(place, &CopyPage);
    ASSERT_TRUE(IsOk(aclrtUnmapMem(place)));
    ASSERT_TRUE(IsOk(aclrtFreePhysical(first)));
    const aclrtContext context = support::CurrentContext();
    std::thread mapper([&] {
        EXPECT_TRUE(IsOk(aclrtSetCurrentContext(context)));
        EXPECT_TRUE(IsOk(aclrtMapMem(place, kMapped, 0, second, 0)));
    });
    copy.LetGo();
    EXPECT_TRUE(IsOk(copy.Code()));
    mapper.join();
    std::vector<char> found(kBytes, 'f');
    EXPECT_TRUE(IsOk(aclrtMemcpy(found.data(), kBytes, place, kBytes, ACL_MEMCPY_DEVICE_TO_HOST)));
    EXPECT_EQ(found, std::vector<char>(kBytes, 0));
    EXPECT_TRUE(IsOk(aclrtUnmapMem(place)));
    EXPECT_TRUE(IsOk(aclrtFreePhysical(second)));
    EXPECT_TRUE(IsOk(aclrtReleaseMemAddress(place)));
}

}  // namespace
}  // namespace conformance
